package dataflow

import (
	"math/bits"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
)

// Argmax is the place of the largest sum of each position: of equal sums the first or the last.
type Argmax struct {
	In   Shape
	Last bool
}

// maxArgmaxSums bounds the sums that argmax tries.
const maxArgmaxSums = 1 << 22

// argmax is c with the argmax that alone reads its floats. The greatest float is that of the
// greatest sum if all channels have the same float steps, and no two sums become one float.
func (f *finder) argmax(n *graph.Node, c *graph.FusedConv) (candidate, bool) {
	readers := f.index.Consumers(n.Output)
	if len(readers) != 1 || readers[0].Op != "argmax" || f.g.IsOutput(n.Output) || len(c.Epilogue.Joins) > 0 {
		return candidate{}, false
	}
	m, why := newMVU(f.g.Value(n.Inputs[0]), c, f.g.Value(n.Output).Bits, rule{})
	if why != "" || m.YBits > 0 {
		return candidate{}, false
	}
	for _, s := range c.Epilogue.Steps {
		for _, v := range s.Vectors() {
			if slices.Min(v) != slices.Max(v) {
				return candidate{}, false
			}
		}
	}
	lo, hi := c.Sums(0)
	for o := range c.Out {
		l, h := c.Sums(o)
		lo, hi = min(lo, l), max(hi, h)
	}
	value := func(sum int64) float32 { return scalar.EvalSteps(c.Epilogue.Steps, 0, float32(sum)) }
	for ; hi-lo < maxArgmaxSums && lo < hi && value(lo) < value(lo+1); lo++ {
	}
	if lo < hi {
		return candidate{}, false
	}
	m.whole, m.shift = true, int(m.Step-1)
	a := &Argmax{m.Out, readers[0].Attrs.(*graph.ArgAttrs).Last}
	return f.series(n.Name, []*graph.Node{n, readers[0]}, n.Inputs[:1], nil, m, a), true
}

// Work implements Engine.
func (a *Argmax) Work() int { return 0 }

// Output implements Engine.
func (a *Argmax) Output() Shape { return Shape{a.In.H, a.In.W, 1} }

func (a *Argmax) lag() int { return 0 }

// Eval implements Engine.
func (a *Argmax) Eval(in [][]int64) []int64 {
	var y []int64
	for x := range slices.Chunk(in[0], a.In.C) {
		best := 0
		for i, v := range x {
			if v > x[best] || a.Last && v == x[best] {
				best = i
			}
		}
		y = append(y, int64(best))
	}
	return y
}

func (a *Argmax) build(d *Design, s *Stage, in []*Stream) *Stream {
	x := d.lanes(in[0], 1)
	y := d.stream(&Stream{Tensor: s.Output, Note: "argmax", Shape: a.Output(), Bits: max(1, bits.Len(uint(a.In.C-1))),
		Lanes: 1, Taps: 1})
	u := d.unit("argmax", s.Name)
	u.Cycles = x.Beats()
	u.Params = []Param{{"W", x.Width()}, {"N", a.In.C}, {"O", y.Bits}, {"LAST", boolInt(a.Last)}}
	d.connect(u, []*Stream{x}, []*Stream{y})
	return y
}
