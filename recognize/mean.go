package recognize

import (
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
)

// maxMean bounds the elements of a window: each is read by a slice of its own.
const maxMean = 16

// window is the window of an average pool.
type window struct {
	kernel, strides, out [2]int
}

// poolWindow returns the window of n if n is an average pool with all windows inside the image.
func (r *rewriter) poolWindow(n *graph.Node) (window, bool) {
	if n.Op != "avg_pool" && n.Op != "global_avg_pool" {
		return window{}, false
	}
	in := r.g.Value(n.Inputs[0]).Shape
	if len(in) != 4 {
		return window{}, false
	}
	if a, ok := n.Attrs.(*graph.PoolAttrs); ok {
		out := r.g.Value(n.Output).Shape
		return window{a.Kernel, a.Strides, [2]int{out[1], out[2]}}, !a.Pad.Any()
	}
	return window{[2]int{in[1], in[2]}, [2]int{1, 1}, [2]int{1, 1}}, true
}

// mean returns the type of the means of levels that average pool n computes: the type of sums, with
// the scale divided by the number of elements.
func (r *rewriter) mean(n *graph.Node) (*graph.Value, graph.Verdict) {
	float := verdictAt(graph.WhyMakesReals, n)
	x, _ := r.source(n.Inputs[0])
	w, ok := r.poolWindow(n)
	if x == nil || !ok {
		return nil, float
	}
	count := w.kernel[0] * w.kernel[1]
	wide := verdictAt(graph.WhyWideMean, n)
	wide.Args.Count, wide.Args.Bits, wide.Args.Most = int64(count), x.Bits, graph.MaxWeightBits
	if count > maxMean {
		return nil, wide
	}
	types := slices.Repeat([]scalar.LevelType{x.LevelType}, count)
	fault := scalar.SumExact
	sum := pairwise(types, func(a, b scalar.LevelType) scalar.LevelType {
		if fault != scalar.SumExact {
			return a
		}
		var s scalar.Sum
		s, fault = scalar.SumOf(a, b, false)
		return s.Type
	})
	switch {
	case fault == scalar.SumTooWide:
		return nil, wide
	case fault != scalar.SumExact:
		return nil, float
	case count == 1:
		return x, graph.Verdict{}
	}
	if v := r.inferLevels(divideSum(n, "", count), sum); v != nil {
		return v, graph.Verdict{}
	}
	return nil, float
}

// divideSum returns a node for n, an average pool, that divides sum, a sum of count levels.
func divideSum(n *graph.Node, sum string, count int) *graph.Node {
	d := withConstant(n.Name+".mean", "div", sum, scalarTensor(float32(count)))
	d.Pos = n.Pos
	return d
}

// inferLevels returns the type that node n makes of levels of type t, or nil if it makes no levels.
func (r *rewriter) inferLevels(n *graph.Node, t scalar.LevelType) *graph.Value {
	const in = "levels"
	n.Inputs = []string{in}
	g := &graph.Graph{Values: map[string]*graph.Value{in: {Name: in, Shape: []int{1, 1}, LevelType: t}}}
	v, _, err := graph.Infer(g, n)
	if err != nil || !v.Encoded() {
		return nil
	}
	return v
}

// meanLevels adds the levels that average pool n reads, and returns the levels of the means.
// Readers of real numbers keep the pool.
func (r *rewriter) meanLevels(n *graph.Node) string {
	l := r.sink(n.Inputs[0])
	w, _ := r.poolWindow(n)
	behind := r.inserter(n)
	var sums []string
	shape := r.g.Value(l).Shape
	for i := range w.kernel[0] {
		for j := range w.kernel[1] {
			a := &graph.SliceAttrs{Begin: []int{0, i, j, 0}, Size: []int{shape[0], w.out[0], w.out[1], shape[3]},
				Stride: []int{1, w.strides[0], w.strides[1], 1}}
			sums = append(sums, behind(&graph.Node{Op: "slice", Attrs: a, Inputs: []string{l}}, ".part"))
		}
	}
	mean := pairwise(sums, func(a, b string) string {
		return behind(&graph.Node{Op: "add", Attrs: &graph.BinaryOpAttrs{}, Inputs: []string{a, b}}, ".sum")
	})
	if count := w.kernel[0] * w.kernel[1]; count > 1 {
		mean = behind(divideSum(n, mean, count), ".mean")
	}
	if out := r.g.Value(n.Output); !slices.Equal(r.g.Value(mean).Shape, out.Shape) {
		mean = behind(&graph.Node{Op: "reshape", Attrs: &graph.ReshapeAttrs{Shape: out.Shape},
			Inputs: []string{mean}}, ".levels")
	}
	return mean
}

// averagesLevels reports whether n averages levels and yields levels.
func (r *rewriter) averagesLevels(n *graph.Node) bool {
	if _, ok := r.poolWindow(n); !ok {
		return false
	}
	v, _ := r.mean(n)
	return v != nil
}
