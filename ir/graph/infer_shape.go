package graph

import (
	"math"

	"ripc/ir"
)

func inferBinaryOp(g *Graph, n *Node, in []*Value) (*Value, error) {
	if len(in) != 2 {
		return nil, g.Errorf(n, "", "has %d inputs, want 2", len(in))
	}
	for _, x := range in {
		if err := g.needFloat(n, x); err != nil {
			return nil, err
		}
	}
	if !equal(in[0].Shape, in[1].Shape) {
		return nil, g.Errorf(n, "nothing is broadcast; use batch_norm or prelu for one value a channel", "inputs have shapes %v and %v, want equal ones", in[0].Shape, in[1].Shape)
	}
	return &Value{DType: ir.F32, Shape: append([]int(nil), in[0].Shape...), Layout: in[0].Layout}, nil
}

func inferPad(g *Graph, n *Node, x *Value, a *SpatialPadAttrs) (*Value, error) {
	if len(x.Shape) != 4 {
		return nil, g.Errorf(n, "", "input has shape %v, want NHWC", x.Shape)
	}
	p := a.Pad
	if min(p.Top, p.Bottom, p.Left, p.Right) < 0 {
		return nil, g.Errorf(n, "", "padding %s: want numbers from 0", p)
	}
	if x.Encoded() {
		if _, ok := x.LevelOf(a.Value); !ok {
			return nil, g.Errorf(n, "pad with one of the tensor's own values, or dequantize before it",
				"value %g is none of the %d-bit %s levels of scale %g", a.Value, x.Bits, x.Enc, x.Scale)
		}
	}
	out := *x
	out.Shape = []int{x.Shape[0], x.Shape[1] + p.Top + p.Bottom, x.Shape[2] + p.Left + p.Right, x.Shape[3]}
	out.Packed = false
	return &out, nil
}

// LevelOf is the level whose real value is exactly v (in float64, to the nearest integer of the encoding).
func (v *Value) LevelOf(real float64) (level int, ok bool) {
	i := math.RoundToEven(real / v.Scale)
	m := float64(int(1)<<v.Bits - 1)
	switch v.Enc {
	case ir.Unipolar:
		i += float64(v.Zero)
	case ir.Bipolar:
		i = (i + m) / 2
	case ir.BipolarInv:
		i = (m - i) / 2
	}
	level = int(math.Max(0, math.Min(i, m)))
	return level, math.Abs(v.RealOf(level)-real) <= 1e-6*v.Scale
}

// RealOf is the real value of a level.
func (v *Value) RealOf(level int) float64 {
	m := int(1)<<v.Bits - 1
	switch v.Enc {
	case ir.Unipolar:
		level -= v.Zero
	case ir.Bipolar:
		level = 2*level - m
	case ir.BipolarInv:
		level = m - 2*level
	}
	return v.Scale * float64(level)
}

func inferSlice(g *Graph, n *Node, x *Value, a *SliceAttrs) (*Value, error) {
	rank := len(x.Shape)
	if len(a.Begin) != rank || len(a.Size) != rank || len(a.Stride) != rank {
		return nil, g.Errorf(n, "", "begin, size and strides have %d, %d and %d entries, want one for each axis of %v", len(a.Begin), len(a.Size), len(a.Stride), x.Shape)
	}
	for d, size := range x.Shape {
		if a.Begin[d] < 0 || a.Size[d] < 1 || a.Stride[d] < 1 || a.Begin[d] >= size || (a.Size[d]-1) > (size-1-a.Begin[d])/a.Stride[d] {
			return nil, g.Errorf(n, "", "axis %d: %d positions from %d in steps of %d do not lie in 0..%d", d, a.Size[d], a.Begin[d], a.Stride[d], size-1)
		}
	}
	out := *x
	out.Shape, out.Packed = append([]int(nil), a.Size...), false
	return &out, nil
}

func inferReshape(g *Graph, n *Node, x *Value, a *ReshapeAttrs) (*Value, error) {
	want, got := (&Tensor{Shape: x.Shape}).Elems(), (&Tensor{Shape: a.Shape}).Elems()
	if len(a.Shape) != 2 && len(a.Shape) != 4 {
		return nil, g.Errorf(n, "want [N, H, W, C] or [N, C]", "shape %v has %d axes", a.Shape, len(a.Shape))
	}
	if want != got || min(a.Shape[0], a.Shape[1]) < 1 {
		return nil, g.Errorf(n, "", "shape %v has %d elements, the input's %v has %d", a.Shape, got, x.Shape, want)
	}
	out := *x
	out.Shape, out.Packed, out.Layout = append([]int(nil), a.Shape...), false, "NHWC"
	if len(a.Shape) == 2 {
		out.Layout = "NC"
	}
	return &out, nil
}
