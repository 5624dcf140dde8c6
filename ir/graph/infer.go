package graph

import (
	"ripc/ir"
)

// Infer computes the output tensor of n from its inputs' tensors, resolves padding, and checks ranks, types and weight
// shapes. The result has no name; the caller sets it.
func Infer(g *Graph, n *Node) (*Value, error) {
	in := make([]*Value, len(n.Inputs))
	for i, name := range n.Inputs {
		v, ok := g.Values[name]
		if !ok {
			return nil, g.Errorf(n, "", "input %q is made by no earlier node and is no input of the model", name)
		}
		in[i] = v
	}
	if n.Op == "concat" {
		return inferConcat(g, n, in)
	}
	if _, ok := n.Attrs.(*BinaryOpAttrs); ok {
		return inferBinaryOp(g, n, in)
	}
	if len(in) != 1 {
		return nil, g.Errorf(n, "", "has %d inputs, want 1", len(in))
	}
	x := in[0]
	out := &Value{DType: ir.F32, Shape: append([]int(nil), x.Shape...), Layout: x.Layout}
	switch a := n.Attrs.(type) {
	case *Conv2DAttrs:
		return inferConv(g, n, x, a)
	case *DenseAttrs:
		return inferDense(g, n, x, a)
	case *PoolAttrs:
		return inferPool(g, n, x, a)
	case *SpatialPadAttrs:
		return inferPad(g, n, x, a)
	case *SliceAttrs:
		return inferSlice(g, n, x, a)
	case *ReshapeAttrs:
		return inferReshape(g, n, x, a)
	case *PReluAttrs:
		if err := g.needWeight(n, "alpha", []int{x.Channels()}); err != nil {
			return nil, err
		}
		return out, g.needFloat(n, x)
	case *BatchNormAttrs:
		for _, k := range []string{"gamma", "beta", "mean", "var"} {
			if err := g.needWeight(n, k, []int{x.Channels()}); err != nil {
				return nil, err
			}
		}
		return out, g.needFloat(n, x)
	case *QuantizeAttrs:
		if a.Bits < 1 || a.Bits > 8 {
			return nil, g.Errorf(n, "use 1 to 8 bits", "bits %d", a.Bits)
		}
		if a.Zero < 0 || a.Zero >= 1<<a.Bits || a.Zero > 0 && a.Enc != ir.Unipolar {
			return nil, g.Errorf(n, "the zero point is one of the levels", "zero point %d with %d bits", a.Zero, a.Bits)
		}
		out.DType, out.Enc, out.Bits, out.Scale, out.Zero = ir.U8, a.Enc, a.Bits, a.Scale, a.Zero
		if a.Signed {
			out.DType = ir.I8
		}
		return out, g.needFloat(n, x)
	case *ShiftNormAttrs:
		for _, k := range []string{"mean", "var"} {
			if err := g.needWeight(n, k, []int{x.Channels()}); err != nil {
				return nil, err
			}
		}
		if a.Bits < 1 || a.Bits > 8 {
			return nil, g.Errorf(n, "use 1 to 8 bits", "bits %d", a.Bits)
		}
		out.DType, out.Enc, out.Bits, out.Scale = ir.U8, ir.Unipolar, a.Bits, 1/float64(int(1)<<a.Bits-1)
		return out, g.needFloat(n, x)
	}
	switch n.Op {
	case "relu", "relu6", "hard_tanh":
		return out, g.needFloat(n, x)
	case "softmax":
		return out, g.needFloat(n, x)
	case "global_avg_pool":
		if len(x.Shape) != 4 {
			return nil, g.Errorf(n, "", "input has shape %v, want NHWC", x.Shape)
		}
		out.Shape, out.Layout = []int{x.Shape[0], x.Shape[3]}, "NC"
		return out, g.needFloat(n, x)
	case "flatten":
		c := 1
		for _, d := range x.Shape[1:] {
			c *= d
		}
		*out = *x
		out.Shape, out.Layout, out.Packed = []int{x.Shape[0], c}, "NC", false
		return out, nil
	case "bitpack", "unpack":
		*out = *x
		out.Packed = n.Op == "bitpack"
		return out, g.needEncoded(n, x)
	case "dequantize":
		return out, g.needEncoded(n, x)
	}
	return nil, g.Errorf(n, "", "unknown op")
}

func inferConcat(g *Graph, n *Node, in []*Value) (*Value, error) {
	if len(in) < 1 {
		return nil, g.Errorf(n, "", "has no inputs")
	}
	out := *in[0]
	out.Shape = append([]int(nil), in[0].Shape...)
	last := len(out.Shape) - 1
	for _, x := range in[1:] {
		if len(x.Shape) != len(out.Shape) || x.DType != out.DType || x.Enc != out.Enc || x.Bits != out.Bits || x.Scale != out.Scale || x.Zero != out.Zero {
			return nil, g.Errorf(n, "quantize the inputs alike", "inputs differ in rank, type, encoding, bits, scale or zero point")
		}
		for d := 0; d < last; d++ {
			if x.Shape[d] != out.Shape[d] {
				return nil, g.Errorf(n, "", "inputs have shapes %v and %v, which differ before the last axis", in[0].Shape, x.Shape)
			}
		}
		out.Shape[last] += x.Channels()
	}
	return &out, nil
}

func inferConv(g *Graph, n *Node, x *Value, a *Conv2DAttrs) (*Value, error) {
	if len(x.Shape) != 4 {
		return nil, g.Errorf(n, "", "input has shape %v, want NHWC", x.Shape)
	}
	w := n.Weights["w"]
	groups := a.GroupCount()
	if x.Shape[3]%groups != 0 {
		return nil, g.Errorf(n, "", "%d groups do not divide the %d input channels", groups, x.Shape[3])
	}
	if w == nil || len(w.Shape) != 4 || w.Shape[2] != x.Shape[3]/groups {
		return nil, g.Errorf(n, "", "weight \"w\" has shape %v, want [kh, kw, %d, out]", shapeOf(w), x.Shape[3]/groups)
	}
	if w.Shape[3]%groups != 0 {
		return nil, g.Errorf(n, "", "%d groups do not divide the %d output channels", groups, w.Shape[3])
	}
	if err := g.checkBinary(n, x, a.Binary, w.Shape[3]); err != nil {
		return nil, err
	}
	h, w2, err := window(g, n, x, [2]int{(w.Shape[0]-1)*a.Dilation()[0] + 1, (w.Shape[1]-1)*a.Dilation()[1] + 1}, a.Strides, &a.Pad)
	if err != nil {
		return nil, err
	}
	return &Value{DType: ir.F32, Shape: []int{x.Shape[0], h, w2, w.Shape[3]}, Layout: "NHWC"}, nil
}

func inferDense(g *Graph, n *Node, x *Value, a *DenseAttrs) (*Value, error) {
	if len(x.Shape) != 2 {
		return nil, g.Errorf(n, "put a flatten node before it", "input has shape %v, want [N, C]", x.Shape)
	}
	w := n.Weights["w"]
	if w == nil || len(w.Shape) != 2 || w.Shape[0] != x.Shape[1] {
		return nil, g.Errorf(n, "", "weight \"w\" has shape %v, want [%d, out]", shapeOf(w), x.Shape[1])
	}
	if err := g.checkBinary(n, x, a.Binary, w.Shape[1]); err != nil {
		return nil, err
	}
	return &Value{DType: ir.F32, Shape: []int{x.Shape[0], w.Shape[1]}, Layout: "NC"}, nil
}

func (g *Graph) checkBinary(n *Node, x *Value, b *BinaryAttrs, out int) error {
	if b == nil {
		if n.Weights["b"] != nil {
			if err := g.needWeight(n, "b", []int{out}); err != nil {
				return err
			}
		}
		return g.needFloat(n, x)
	}
	switch {
	case b.Enc == "" && b.WeightScale == "max" || b.Enc == "ternary" && b.WeightScale == "max":
		return g.Errorf(n, "use none, mean or tensor", "weight_scale max is for weights of several bits")
	case b.Enc != "" && b.Enc != "ternary" && b.WeightScale == "mean":
		return g.Errorf(n, "use none, max or tensor", "weight_scale mean is for weights of one bit and ternary ones")
	case b.Zero < 0 || b.Zero > 1<<b.Bits-1 || b.Zero > 0 && b.Enc != "affine":
		return g.Errorf(n, "affine weights of n bits have a zero point from 0 to 2^n-1", "weight_zero_point %d", b.Zero)
	}
	if b.WeightScale == "tensor" {
		if err := g.needWeight(n, "scale", []int{out}); err != nil {
			return err
		}
	}
	return g.needEncoded(n, x)
}

func inferPool(g *Graph, n *Node, x *Value, a *PoolAttrs) (*Value, error) {
	if len(x.Shape) != 4 {
		return nil, g.Errorf(n, "", "input has shape %v, want NHWC", x.Shape)
	}
	if n.Op == "avg_pool" {
		if err := g.needFloat(n, x); err != nil {
			return nil, err
		}
	}
	h, w, err := window(g, n, x, a.Kernel, a.Strides, &a.Pad)
	if err != nil {
		return nil, err
	}
	out := *x
	out.Shape = []int{x.Shape[0], h, w, x.Shape[3]}
	return &out, nil
}

// window resolves the padding of a kernel over x and gives the output's height and width.
func window(g *Graph, n *Node, x *Value, kernel, strides [2]int, p *Padding) (h, w int, err error) {
	var out, before, after [2]int
	given := [2][2]int{{p.Top, p.Bottom}, {p.Left, p.Right}}
	for d := range 2 {
		size, k, s := x.Shape[1+d], kernel[d], strides[d]
		if k < 1 || s < 1 {
			return 0, 0, g.Errorf(n, "", "kernel %v, strides %v: want positive numbers", kernel, strides)
		}
		switch p.Mode {
		case "valid":
		case "same":
			total := max(0, ((size+s-1)/s-1)*s+k-size)
			before[d], after[d] = total/2, total-total/2
		case "explicit":
			before[d], after[d] = given[d][0], given[d][1]
		default:
			return 0, 0, g.Errorf(n, "use valid, same or explicit", "padding %q", p.Mode)
		}
		if before[d] < 0 || after[d] < 0 || before[d] >= k || after[d] >= k {
			return 0, 0, g.Errorf(n, "", "padding %d and %d: want 0 to %d (less than the kernel)", before[d], after[d], k-1)
		}
		if size+before[d]+after[d] < k {
			return 0, 0, g.Errorf(n, "", "kernel %d is larger than the padded input %d", k, size+before[d]+after[d])
		}
		out[d] = (size+before[d]+after[d]-k)/s + 1
	}
	p.Top, p.Bottom, p.Left, p.Right = before[0], after[0], before[1], after[1]
	return out[0], out[1], nil
}

func (g *Graph) needWeight(n *Node, key string, shape []int) error {
	w := n.Weights[key]
	if w == nil {
		return g.Errorf(n, "", "needs a weight %q of shape %v", key, shape)
	}
	if !equal(w.Shape, shape) {
		return g.Errorf(n, "", "weight %q has shape %v, want %v", key, w.Shape, shape)
	}
	return nil
}

func (g *Graph) needFloat(n *Node, x *Value) error {
	if x.Encoded() || x.DType != ir.F32 {
		return g.Errorf(n, "put a dequantize node before it", "input %q holds %d-bit %s levels, want f32", x.Name, x.Bits, x.Enc)
	}
	return nil
}

func (g *Graph) needEncoded(n *Node, x *Value) error {
	if !x.Encoded() {
		return g.Errorf(n, "put a quantize node before it", "input %q is %s, want levels (the output of quantize or shift_norm)", x.Name, x.DType)
	}
	return nil
}

func shapeOf(t *Tensor) any {
	if t == nil {
		return "(missing)"
	}
	return t.Shape
}

func equal(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
