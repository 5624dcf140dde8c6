package recognize

import (
	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/lists"
)

// sum returns the type of the sum or difference of two tensors of levels, as in residual networks.
// The f32 sum of their real values must equal the real values of that type, or nearly so.
func (r *rewriter) sum(n *graph.Node) (v *graph.Value, why graph.Verdict) {
	float := verdictAt(graph.WhyMakesReals, n)
	if n.Op != "add" && n.Op != "sub" {
		return nil, float
	}
	x, _ := r.source(n.Inputs[0])
	y, _ := r.source(n.Inputs[1])
	if x == nil || y == nil {
		return nil, float
	}
	s, fault := scalar.SumOf(x.LevelType, y.LevelType, n.Op == "sub")
	switch fault {
	case scalar.SumExact:
		return &graph.Value{LevelType: s.Type}, graph.Verdict{}
	case scalar.SumScales:
		return nil, verdictAt(graph.WhyMixedScales, n)
	case scalar.SumTooWide:
		why = verdictAt(graph.WhyWideLevels, n)
		why.Args.Bits = s.Type.Bits
		return nil, why
	}
	return nil, float
}

// sumLevels adds the levels of the operands of sum n, and returns the levels of the sum. Readers of
// real numbers keep the f32 sum, which has roundings of its own.
func (r *rewriter) sumLevels(n *graph.Node) string {
	in := lists.Map(n.Inputs, r.sink)
	l := r.TensorName(n.Output + ".levels")
	r.insert(n, &graph.Node{Name: n.Name + ".levels", Op: n.Op, Attrs: &graph.BinaryOpAttrs{}, Inputs: in}, l)
	return l
}
