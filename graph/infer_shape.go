package graph

import (
	"fmt"

	"ripc/internal/human"
)

// reshaped is a tensor of v's elements in another shape. The caller sees its levels as bytes.
func (v *Value) reshaped(shape []int) *Value {
	out := *v
	out.Shape, out.View, out.Layout = append([]int(nil), shape...), Bytes, LayoutOf(shape)
	return &out
}

func inferConstant(g *Graph, n *Node, in []*Value, _ *ConstantAttrs) *Value {
	g.failIf(len(in) != 0, n, "", "has %s, want none", human.Count(len(in), "input"))
	w := n.Weights["value"]
	g.failIf(w == nil, n, "", "needs a weight \"value\"")
	g.failIf(len(w.Shape) < 1 || len(w.Shape) > MaxRank, n, "a single number has shape [1]",
		"weight \"value\" has shape %v, want 1 to %d axes", w.Shape, MaxRank)
	return (&Value{}).reshaped(w.Shape)
}

func inferTranspose(g *Graph, n *Node, x *Value, a *TransposeAttrs) *Value {
	shape, label, seen := make([]int, len(x.Shape)), []byte(x.Layout), map[int]bool{}
	for d, p := range a.Perm {
		g.failIf(len(a.Perm) != len(x.Shape) || p < 0 || p >= len(x.Shape) || seen[p], n, "",
			"perm %v does not order the %d axes of %v", a.Perm, len(x.Shape), x.Shape)
		seen[p] = true
		if shape[d] = x.Shape[p]; len(x.Layout) == len(x.Shape) {
			label[d] = x.Layout[p]
		}
	}
	g.failIf(len(a.Perm) != len(x.Shape), n, "", "perm %v does not order the %d axes of %v", a.Perm, len(x.Shape),
		x.Shape)
	out := x.reshaped(shape)
	if out.Layout = string(label); out.Layout != "NC" && out.Layout != "NHWC" && out.Layout != "NCHW" {
		out.Layout = ""
	}
	return out
}

func inferPad(g *Graph, n *Node, x *Value, a *SpatialPadAttrs) *Value {
	g.failIf(len(x.Shape) != 4, n, "", "input has shape %v, want NHWC", x.Shape)
	p := a.Pad
	g.failIf(min(p.Top, p.Bottom, p.Left, p.Right) < 0, n, "", "padding %s: want numbers from 0", p)
	if x.Encoded() {
		if _, ok := x.Level(a.Value); !ok {
			panic(g.Errorf(n, "pad with one of the tensor's own values, or dequantize before it",
				"value %g is none of the %d-bit %s levels of scale %g and offset %g", a.Value, x.Bits, x.Enc, x.Scale,
				x.Offset))
		}
	}
	g.failIf(a.Value-a.Value != 0, n, "", "value %g: want a finite number", a.Value)
	if most := MaxElems; max(p.Top, p.Bottom, p.Left, p.Right) > most {
		panic(g.Errorf(n, "", "padding %s: want at most %d", p, most))
	}
	return x.reshaped([]int{x.Shape[0], x.Shape[1] + p.Top + p.Bottom, x.Shape[2] + p.Left + p.Right, x.Shape[3]})
}

func inferSlice(g *Graph, n *Node, x *Value, a *SliceAttrs) *Value {
	rank := len(x.Shape)
	g.failIf(len(a.Begin) != rank || len(a.Size) != rank || len(a.Stride) != rank, n, "",
		"begin, size and strides have %d, %d and %d entries, want one for each axis of %v", len(a.Begin), len(a.Size),
		len(a.Stride), x.Shape)
	for d, size := range x.Shape {
		g.failIf(a.Begin[d] < 0 || a.Size[d] < 1 || a.Stride[d] < 1 || a.Stride[d] > MaxElems ||
			a.Begin[d] >= size || (a.Size[d]-1) > (size-1-a.Begin[d])/a.Stride[d], n, "",
			"axis %d: %d positions from %d in steps of %d do not lie in 0..%d", d, a.Size[d], a.Begin[d], a.Stride[d],
			size-1)
	}
	out := x.reshaped(a.Size)
	out.Layout = x.Layout
	return out
}

func inferReshape(g *Graph, n *Node, x *Value, a *ReshapeAttrs) *Value {
	g.failIf(len(a.Shape) < 1 || len(a.Shape) > MaxRank, n, fmt.Sprintf("want 1 to %d axes", MaxRank),
		"shape %v has %s", a.Shape, human.Count(len(a.Shape), "axis"))
	g.checkSize(n, "", a.Shape)
	if want, got := x.Elems(), (&Tensor{Shape: a.Shape}).Elems(); want != got {
		panic(g.Errorf(n, "", "shape %v has %s, the input's %v has %d", a.Shape, human.Count(got, "element"),
			x.Shape, want))
	}
	return x.reshaped(a.Shape)
}
