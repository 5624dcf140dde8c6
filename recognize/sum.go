package recognize

import (
	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// sum is the type of levels that the sum or difference of two tensors of levels of one scale has, as in residual networks:
// f32 adds up their real values to the multiples of the scale, or nearly so, and a quantizer takes them for what they are.
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
	if x.Scale != y.Scale {
		return nil, because(graph.WhyMixedScales, n)
	}
	lo, hi := x.Range()
	l, h := y.Range()
	offset := y.Offset
	if n.Op == "sub" {
		l, h, offset = -h, -l, -offset
	}
	lo, hi = lo+l, hi+h
	v = &graph.Value{LevelType: scalar.LevelType{Enc: ir.Unipolar, Bits: 1, Scale: x.Scale, Offset: x.Offset + offset}}
	if x.Enc != ir.Unipolar && y.Enc != ir.Unipolar { // odd integers: their sums are even
		lo, hi, v.Scale = lo/2, hi/2, 2*x.Scale
	}
	for hi-lo >= 1<<v.Bits {
		v.Bits++
	}
	if v.Zero = -lo; v.Bits > 8 {
		why = because(graph.WhyWideLevels, n)
		why.Args.Bits = v.Bits
		return nil, why
	}
	return v, why
}

// quantizeSum puts a quantizer behind the sum n, and gives its levels.
func (r *rewriter) quantizeSum(n *graph.Node) (string, error) {
	v, _ := r.source(n.Output)
	l := r.TensorName(n.Output + ".levels")
	a := &graph.QuantizeAttrs{LevelType: v.LevelType}
	return l, r.insert(n, &graph.Node{Name: n.Name + ".quantize", Op: "quantize", Attrs: a, Inputs: []string{n.Output}}, l)
}
