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
// The level is q(steps(f32(a))), with each operation rounded as the float layer would: thresholds
// are searched on that very function. Channels in which it decreases are falling ones. The steps
// must not be turning. It reports whether thresholds exist such that those of any two border
// classes differ by an integer shift only.
func thresholdsOf(f *graph.FusedConv, q quantizer) bool {
	steps := f.Epilogue.Steps
	return search(f, q.bits, q.enc, fallingChannels(f), classes(f), func(o int) func(int64) int {
		return func(sum int64) int { return q.level(o, scalar.EvalSteps(steps, o, float32(sum))) }
	})
}

// fallingChannels reports the channels in which f's steps fall as the sum grows. It returns nil if
// there are none.
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

// classes returns the number of border classes that f's steps distinguish.
func classes(f *graph.FusedConv) int {
	n := 1
	for _, s := range f.Epilogue.Steps {
		for _, v := range s.Vectors() {
			n = max(n, len(v)/f.Out)
		}
	}
	return n
}

// turning returns the reason why the steps behind f are no monotone function of finite numbers.
// Then no thresholds on the sums equal them. For example, a prelu of negative slope turns around at
// 0, and constants can produce infinities or NaN. If the steps are monotone, all values lie between
// those of the smallest and the largest sum. It returns no reason if thresholds exist.
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
// decreases, or, in falling channels, never increases. Channel o of class k is number k*Out + o. If
// the thresholds of one class are not those of another shifted by an integer, search changes
// nothing and returns false.
func search(f *graph.FusedConv, bits int, enc ir.EncodingKind, falling []bool, classes int,
	level func(o int) func(sum int64) int) bool {
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
		main := all[fullestRow(all, lo, hi)]
		for j, v := range main {
			if f.Add != nil { // thresholds apply to the sums without it
				v -= sign * int64(f.Add[o])
			}
			t[j][o] = int32(v)
		}
		for k, row := range all {
			by, ok := shiftBetween(main, row, lo, hi)
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

// fullestRow returns the row with the most thresholds that lie inside lo..hi: some sums reach them,
// and some do not.
func fullestRow(rows [][]int64, lo, hi int64) int {
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

// shiftBetween returns the integer that shifts thresholds from to thresholds to, for sums from lo
// to hi.
func shiftBetween(from, to []int64, lo, hi int64) (by int64, ok bool) {
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
