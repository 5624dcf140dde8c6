package fusedglue

import (
	"slices"
	"sort"
	"strconv"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// thresholdsOf replaces f's float steps and the quantizer q behind them by thresholds on the sums. The level is
// q(steps(f32(a))), each operation rounded as the float layer would: thresholds are searched on that very function.
// Channels in which it decreases are falling ones. The steps must not be turning.
func thresholdsOf(f *graph.FusedConv, q quantizer) {
	steps := f.Epilogue.Steps
	falling := make([]bool, f.Out)
	for o := range falling {
		for _, s := range steps {
			if s.Turns() && s.A[o] < 0 {
				falling[o] = !falling[o]
			}
		}
	}
	if !slices.Contains(falling, true) {
		falling = nil
	}
	search(f, q.bits, q.enc, falling, func(o int) func(int64) int {
		return func(sum int64) int { return q.level(o, scalar.EvalSteps(steps, o, float32(sum))) }
	})
}

// turning says why the steps behind f are no monotone function of finite numbers, so that no thresholds on the sums equal
// them: a prelu of negative slope, for one, turns around where it passes 0, and constants can make infinities or NaN of the sums. The
// steps being monotone, all values lie between those of the smallest and the largest sum. No reason if thresholds can be found.
func turning(f *graph.FusedConv) graph.Verdict {
	for _, s := range f.Epilogue.Steps {
		if !s.Monotone() {
			return graph.Verdict{Kind: graph.Binary, Reason: graph.WhyNotMonotone, Where: s.From}
		}
	}
	for o := range f.Out {
		lo, hi := f.Sums(o)
		for _, sum := range []int64{hi, lo} {
			x := float32(sum)
			for i, s := range f.Epilogue.Steps {
				if x = scalar.EvalSteps(f.Epilogue.Steps[i:i+1], o, x); x-x != 0 {
					args := ir.Args{Value: strconv.FormatFloat(float64(x), 'g', -1, 32), Channel: o}
					return graph.Verdict{Kind: graph.Binary, Reason: graph.WhyNotFinite, Where: s.From, Args: args}
				}
			}
		}
	}
	return graph.Verdict{}
}

// search sets f's epilogue to the thresholds of level(o), a function of the sum that never decreases, or, in falling channels,
// never increases.
func search(f *graph.FusedConv, bits int, enc ir.EncodingKind, falling []bool, level func(o int) func(sum int64) int) {
	t := make([][]int32, 1<<bits-1)
	for j := range t {
		t[j] = make([]int32, f.Out)
	}
	for o := range f.Out {
		lv, sign := level(o), int64(1)
		lo, hi := f.Sums(o)
		if falling != nil && falling[o] {
			sign, lo, hi = -1, -hi, -lo
		}
		for j := range t {
			// The first of lo..hi at which the level reaches j+1; hi+1 if none does.
			n := sort.Search(int(hi-lo)+1, func(i int) bool { return lv(sign*(lo+int64(i))) >= j+1 })
			t[j][o] = int32(lo + int64(n))
		}
	}
	f.Epilogue = graph.Epilogue{OutBits: bits, OutEnc: enc, Thresholds: t, Falling: falling}
}
