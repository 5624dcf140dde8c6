package fusedglue

import (
	"slices"
	"sort"
	"strconv"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// thresholdsOf replaces f's float steps and the quantizer q behind them by thresholds on the sums.
// The level is q(steps(f32(a))), each operation rounded as the float layer would: thresholds are
// searched on that very function. Channels in which it decreases are falling ones. The steps must
// not be turning. It reports whether there are thresholds from which those of each class of
// positions differ by an integer.
func thresholdsOf(f *graph.FusedConv, q quantizer) bool {
	steps := f.Epilogue.Steps
	return search(f, q.bits, q.enc, fallingChannels(f), classes(f), func(o int) func(int64) int {
		return func(sum int64) int { return q.level(o, scalar.EvalSteps(steps, o, float32(sum))) }
	})
}

// fallingChannels says in which channels f's steps fall as the sum grows; nil if in none.
func fallingChannels(f *graph.FusedConv) []bool {
	falling := make([]bool, f.Out)
	for o := range falling {
		for _, s := range f.Epilogue.Steps {
			if s.Turns() && s.A[o%len(s.A)] < 0 {
				falling[o] = !falling[o]
			}
		}
	}
	if !slices.Contains(falling, true) {
		return nil
	}
	return falling
}

// classes is the number of classes of positions that f's steps tell apart.
func classes(f *graph.FusedConv) int {
	n := 1
	for _, s := range f.Epilogue.Steps {
		for _, v := range s.Vectors() {
			n = max(n, len(v)/f.Out)
		}
	}
	return n
}

// turning says why the steps behind f are no monotone function of finite numbers, so that no
// thresholds on the sums equal them: a prelu of negative slope, for one, turns around where it
// passes 0, and constants can make infinities or NaN of the sums. The steps being monotone, all
// values lie between those of the smallest and the largest sum. No reason if thresholds can be
// found.
func turning(f *graph.FusedConv) graph.Verdict {
	for _, s := range f.Epilogue.Steps {
		if !s.Monotone() {
			return graph.Verdict{Kind: graph.Binary, Reason: graph.WhyNotMonotone, Where: s.From}
		}
	}
	for o := range classes(f) * f.Out {
		lo, hi := f.Sums(o % f.Out)
		for _, sum := range []int64{hi, lo} {
			x := float32(sum)
			for i, s := range f.Epilogue.Steps {
				if x = scalar.EvalSteps(f.Epilogue.Steps[i:i+1], o, x); x-x != 0 {
					args := ir.Args{Value: strconv.FormatFloat(float64(x), 'g', -1, 32), Channel: o % f.Out}
					return graph.Verdict{Kind: graph.Binary, Reason: graph.WhyNotFinite, Where: s.From, Args: args}
				}
			}
		}
	}
	return graph.Verdict{}
}

// search sets f's epilogue to the thresholds of level(o), a function of the sum that never
// decreases, or, in falling channels, never increases; channel o of class k is number k*Out + o. It
// changes nothing and gives false where the thresholds of a class are not those of another one, all
// moved by one integer.
func search(f *graph.FusedConv, bits int, enc ir.EncodingKind, falling []bool, classes int, level func(o int) func(sum int64) int) bool {
	t := make([][]int32, 1<<bits-1)
	for j := range t {
		t[j] = make([]int32, f.Out)
	}
	border := make([]int32, classes*f.Out)
	for o := range f.Out {
		sign := int64(1)
		lo, hi := f.Sums(o)
		if falling != nil && falling[o] {
			sign, lo, hi = -1, -hi, -lo
		}
		all := make([][]int64, classes)
		for k := range all {
			lv := level(k*f.Out + o)
			for j := range t {
				// The first of lo..hi at which the level reaches j+1; hi+1 if none does.
				n := sort.Search(int(hi-lo)+1, func(i int) bool { return lv(sign*(lo+int64(i))) >= j+1 })
				all[k] = append(all[k], lo+int64(n))
			}
		}
		main := all[inside(all, lo, hi)]
		for j, v := range main {
			if f.Add != nil { // thresholds are of the sums without it
				v -= sign * int64(f.Add[o])
			}
			t[j][o] = int32(v)
		}
		for k, row := range all {
			by, ok := shift(main, row, lo, hi)
			if !ok {
				return false
			}
			border[k*f.Out+o] = int32(-sign * by)
		}
	}
	f.Epilogue, f.Add = graph.Epilogue{OutBits: bits, OutEnc: enc, Thresholds: t, Falling: falling}, nil
	if slices.ContainsFunc(border, func(v int32) bool { return v != 0 }) {
		f.Epilogue.Border = border
	}
	return true
}

// inside is the row with the most thresholds that some sums from lo to hi reach, and some do not.
func inside(rows [][]int64, lo, hi int64) int {
	best, most := 0, -1
	for k, row := range rows {
		n := 0
		for _, v := range row {
			if v > lo && v <= hi {
				n++
			}
		}
		if n > most {
			best, most = k, n
		}
	}
	return best
}

// shift is the integer by which thresholds from are moved to be thresholds to, for sums from lo to
// hi.
func shift(from, to []int64, lo, hi int64) (by int64, ok bool) {
	for i := range from {
		by, ok = to[i]-from[i], true
		for j := range from {
			ok = ok && max(lo, min(hi+1, from[j]+by)) == to[j]
		}
		if ok {
			return by, true
		}
	}
	return 0, false
}
