package dataflow

import (
	"fmt"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
)

// mean is int_avg_pool as an engine with weights of 1. Floats are added one after the other. Their
// mean is a function of the sum of levels if no order of addends changes the level.
func (f *finder) mean(n *graph.Node) (candidate, string) {
	a, x := n.Attrs.(*graph.IntPoolAttrs), f.g.Value(n.Inputs[0])
	if a.Pad.Any() {
		return candidate{}, "its means at the border are of fewer positions"
	}
	count := a.Kernel[0] * a.Kernel[1]
	levels, why := meanLevels(a, x.LevelType, count)
	if why != "" {
		return candidate{}, why
	}
	c := sumOf(x, a.Kernel, a.Strides)
	m, why := newMVU(x, c, a.Bits, rule{level: func(_ int, sum int64) int { return levels[int(sum)-count*c.X.Min] }})
	if why != "" {
		return candidate{}, why
	}
	return f.single(n, m)
}

// sumOf sums up the integers of x in windows, for each channel.
func sumOf(x *graph.Value, kernel, strides [2]int) *graph.FusedConv {
	n := x.Channels()
	return &graph.FusedConv{KH: kernel[0], KW: kernel[1], SH: strides[0], SW: strides[1], Groups: n, In: n, Out: n,
		X: graph.IntegersOf(x.LevelType), Ints: graph.NumbersOf(slices.Repeat([]int8{1}, kernel[0]*kernel[1]*n))}
}

// maxMeanLevels bounds the sum of levels of a mean.
const maxMeanLevels = 1 << 12

// meanLevels is the level of a mean of count levels of type x, by their sum. It follows the least
// and the greatest float that each sum can become. Both rise with the floats before.
func meanLevels(a *graph.IntPoolAttrs, x scalar.LevelType, count int) (levels []int, why string) {
	if count*x.Top() > maxMeanLevels {
		return nil, fmt.Sprintf("its means are of %d levels of %d bits", count, x.Bits)
	}
	type span struct{ least, most float32 }
	sums := []span{{}} // by the sum of levels
	for i := range count {
		next := make([]span, (i+1)*x.Top()+1)
		for l := range x.Top() + 1 {
			real := x.Float(l)
			for s, v := range sums {
				to, v := &next[s+l], span{v.least + real, v.most + real}
				if l == 0 || s == len(sums)-1 { // the first of its sum
					*to = v
				}
				to.least, to.most = min(to.least, v.least), max(to.most, v.most)
			}
		}
		sums = next
	}
	for _, v := range sums {
		level := a.Quantizer().Eval(v.least / float32(count))
		if a.Quantizer().Eval(v.most/float32(count)) != level {
			return nil, "its means lie so near to halves that the order of floats shows"
		}
		levels = append(levels, level)
	}
	return levels, ""
}
