package recognize

import (
	"ripc/graph"
	"ripc/graph/scalar"
)

// sum is the type of levels that the sum or difference of two tensors of levels has, as in residual
// networks: f32 adds up their real values to those of these levels, or nearly so.
func (r *rewriter) sum(n *graph.Node) (v *graph.Value, why graph.Verdict) {
	float := because(graph.WhyMakesReals, n)
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
		return nil, because(graph.WhyMixedScales, n)
	case scalar.SumTooWide:
		why = because(graph.WhyWideLevels, n)
		why.Args.Bits = s.Type.Bits
		return nil, why
	}
	return nil, float
}

// sumLevels adds the levels up that the operands of the sum n are made from, and gives the levels
// of the sum. Who reads real numbers keeps the sum in f32, which has roundings of its own.
func (r *rewriter) sumLevels(n *graph.Node) (string, error) {
	in := make([]string, len(n.Inputs))
	for i := range in {
		var err error
		if in[i], err = r.sink(n.Inputs[i]); err != nil {
			return "", err
		}
	}
	l := r.TensorName(n.Output + ".levels")
	return l, r.insert(n, &graph.Node{Name: n.Name + ".levels", Op: n.Op, Attrs: &graph.BinaryOpAttrs{}, Inputs: in}, l)
}
