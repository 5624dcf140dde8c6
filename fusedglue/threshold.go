package fusedglue

import (
	"slices"
	"sort"
	"strconv"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// thresholdsOf replaces f's float steps and the quantizer q behind them by thresholds on the popcount. The level is
// q(steps(f32(a))), each operation rounded as the float layer would: thresholds are searched on that very function.
// Channels in which it decreases have their filter negated. The steps must not be turning.
func thresholdsOf(f *graph.FusedConv, enc ir.EncodingKind, q quantizer) {
	steps := f.Epilogue.Steps
	flipped := make([]bool, f.Out)
	for o := range flipped {
		for _, s := range steps {
			if s.Turns() && s.A[o] < 0 {
				flipped[o] = !flipped[o]
			}
		}
	}
	if slices.Contains(flipped, true) {
		f.WBits, f.DotBase = slices.Clone(f.WBits), slices.Clone(f.DotBase)
		if f.PadCorr != nil {
			k := *f.PadCorr
			k.Corr = slices.Clone(k.Corr)
			f.PadCorr = &k
		}
	}
	for o, yes := range flipped {
		if yes {
			flipFilter(f, enc, o)
		}
	}
	search(f, q.bits, q.enc, func(o int) func(int64) int {
		return func(dot int64) int {
			if flipped[o] {
				dot = -dot
			}
			return q.level(o, scalar.EvalSteps(steps, o, float32(dot)))
		}
	})
}

// turning says why the steps behind f are no monotone function of finite numbers, so that no thresholds on the sums equal
// them: a prelu of negative slope turns around where it passes 0, and constants can make infinities or NaN of the sums. The
// steps being monotone, all values lie between those of the smallest and the largest sum. No reason if thresholds can be found.
func turning(f *graph.FusedConv) graph.Verdict {
	for _, s := range f.Epilogue.Steps {
		if s.Kind == scalar.PRelu && slices.ContainsFunc(s.A, func(v float32) bool { return v < 0 }) {
			return graph.Verdict{Kind: graph.Binary, Reason: graph.WhyNegativeSlope, Where: s.From}
		}
	}
	for o := range f.Out {
		most := int64(f.DotBase[o])
		for _, dot := range []int64{most, most - int64(f.DotMul)*f.MaxP()} {
			x := float32(dot)
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

// search sets f's epilogue to the thresholds of level(o), a function of the dot product that never decreases:
// level >= j iff P <= Thresholds[j-1][o], where the dot product is DotBase - DotMul*P.
func search(f *graph.FusedConv, bits int, enc ir.EncodingKind, level func(o int) func(a int64) int) {
	maxP := f.MaxP()
	t := make([][]int32, 1<<bits-1)
	for j := range t {
		t[j] = make([]int32, f.Out)
	}
	for o := range f.Out {
		lv, base, mul := level(o), int64(f.DotBase[o]), int64(f.DotMul)
		for j := range t {
			// The first popcount at which the level falls below j+1; levels fall as P grows.
			n := sort.Search(int(maxP)+1, func(p int) bool { return lv(base-mul*int64(p)) < j+1 })
			t[j][o] = int32(n) - 1
		}
	}
	f.Epilogue = graph.Epilogue{OutBits: bits, OutEnc: enc, Thresholds: t}
}
