package graph

import (
	"slices"

	"ripc/graph/scalar"
)

func inferBinaryOp(g *Graph, n *Node, in []*Value, a *BinaryOpAttrs) (*Value, error) {
	b := n.Weights["b"]
	if len(in) != 2 && (len(in) != 1 || b == nil) {
		return nil, g.Errorf(n, "give a second input or a weight \"b\"", "has %d inputs, want 2, or 1 and a weight", len(in))
	}
	if len(in) == 2 && (b != nil || a.Reverse) {
		return nil, g.Errorf(n, "", "has 2 inputs: a weight \"b\", or its order, is for one input")
	}
	out := &Value{Shape: slices.Clone(in[0].Shape), Layout: in[0].Layout}
	if len(in) == 1 {
		if err := g.needVector(n, "b", in[0].Channels()); err != nil || !in[0].Encoded() {
			return out, err
		}
		return g.scaled(n, a, in[0])
	}
	if err := g.typeOfTwo(n, in[0], in[1], out); err != nil {
		return nil, err
	}
	x, y := in[0].Shape, in[1].Shape
	ok := len(x) == len(y)
	for d := 0; ok && d < len(x); d++ {
		ok = x[d] == y[d] || x[d] == 1 || y[d] == 1
		out.Shape[d] = max(x[d], y[d])
	}
	if !ok {
		return nil, g.Errorf(n, "only axes of extent 1 are repeated; reshape the input with fewer axes", "inputs have shapes %v and %v, want equal ones", x, y)
	}
	return out, nil
}

// typeOfTwo sets out's type: that of the sum or difference of x and y where both are levels; else they must be f32.
func (g *Graph) typeOfTwo(n *Node, x, y, out *Value) error {
	if !x.Encoded() || !y.Encoded() || n.Op != "add" && n.Op != "sub" {
		if err := g.needFloat(n, x); err != nil {
			return err
		}
		return g.needFloat(n, y)
	}
	s, fault := scalar.SumOf(x.LevelType, y.LevelType, n.Op == "sub")
	switch {
	case fault == scalar.SumScales:
		return g.Errorf(n, "quantize both with scales whose quotient is a power of two, or put dequantize nodes before it",
			"inputs %q and %q hold levels of scales %g and %g, which add up to no levels", x.Name, y.Name, x.Scale, y.Scale)
	case fault == scalar.SumTooWide:
		return g.Errorf(n, "use fewer bits, or put dequantize nodes before it", "the levels of inputs %q and %q add up to levels of %d bits, want at most %d",
			x.Name, y.Name, s.Type.Bits, scalar.MaxLevelBits)
	case fault != scalar.SumExact || !(s.Type.Scale >= MinScale && s.Type.Scale <= MaxScale):
		return g.Errorf(n, "", "inputs %q and %q hold levels of scales %g and %g: want %g to %g", x.Name, y.Name, x.Scale, y.Scale, MinScale, MaxScale)
	}
	out.LevelType = s.Type
	return nil
}

// scaled is x, levels, times or by one number above 0: the same levels with another scale.
func (g *Graph) scaled(n *Node, a *BinaryOpAttrs, x *Value) (*Value, error) {
	f, one := float64(n.Weights["b"].Data[0]), n.Weights["b"].Data
	switch {
	case n.Op != "mul" && n.Op != "div" || n.Op == "div" && a.Reverse:
		return nil, g.needFloat(n, x)
	case slices.ContainsFunc(one, func(v float32) bool { return v != one[0] }) || !(f > 0):
		return nil, g.Errorf(n, "levels may be multiplied by one number above 0, which changes their scale; for all else put a dequantize node before it",
			"input %q holds %d-bit %s levels, want f32", x.Name, x.Bits, x.Enc)
	case n.Op == "div":
		f = 1 / f
	}
	t := x.Times(f)
	if !(t.Scale >= MinScale && t.Scale <= MaxScale) {
		return nil, g.Errorf(n, "", "scale %g: want %g to %g", t.Scale, MinScale, MaxScale)
	}
	out := x.moved(x.Shape)
	out.Layout, out.LevelType = x.Layout, t
	return out, nil
}
