package graph

func inferConv(g *Graph, n *Node, x *Value, a *Conv2DAttrs) (*Value, error) {
	return g.inferConvOf(n, x, a, false)
}

func inferBitserialConv(g *Graph, n *Node, x *Value, a *Conv2DAttrs) (*Value, error) {
	return g.inferConvOf(n, x, a, true)
}

func (g *Graph) inferConvOf(n *Node, x *Value, a *Conv2DAttrs, bitserial bool) (*Value, error) {
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
	if err := g.checkBinary(n, x, a.Binary, bitserial, w.Shape[3]); err != nil {
		return nil, err
	}
	if d := a.Dilation(); max(d[0], d[1]) > MaxElems || min(a.Dilations[0], a.Dilations[1], a.Groups) < 0 {
		return nil, g.Errorf(n, "", "dilations %v, %d groups: want positive numbers up to %d", a.Dilations, a.Groups, MaxElems)
	}
	h, w2, err := window(g, n, x, [2]int{(w.Shape[0]-1)*a.Dilation()[0] + 1, (w.Shape[1]-1)*a.Dilation()[1] + 1}, a.Strides, &a.Pad)
	if err != nil {
		return nil, err
	}
	return &Value{Shape: []int{x.Shape[0], h, w2, w.Shape[3]}, Layout: "NHWC"}, nil
}

func inferDense(g *Graph, n *Node, x *Value, a *DenseAttrs) (*Value, error) {
	return g.inferDenseOf(n, x, a, false)
}

func inferBitserialDense(g *Graph, n *Node, x *Value, a *DenseAttrs) (*Value, error) {
	return g.inferDenseOf(n, x, a, true)
}

func (g *Graph) inferDenseOf(n *Node, x *Value, a *DenseAttrs, bitserial bool) (*Value, error) {
	if len(x.Shape) != 2 {
		return nil, g.Errorf(n, "put a flatten node before it", "input has shape %v, want [N, C]", x.Shape)
	}
	w := n.Weights["w"]
	if w == nil || len(w.Shape) != 2 || w.Shape[0] != x.Shape[1] {
		return nil, g.Errorf(n, "", "weight \"w\" has shape %v, want [%d, out]", shapeOf(w), x.Shape[1])
	}
	if err := g.checkBinary(n, x, a.Binary, bitserial, w.Shape[1]); err != nil {
		return nil, err
	}
	return &Value{Shape: []int{x.Shape[0], w.Shape[1]}, Layout: "NC"}, nil
}

func (g *Graph) checkBinary(n *Node, x *Value, b *BinaryAttrs, bitserial bool, out int) error {
	if bitserial != (b != nil) {
		return g.Errorf(n, "", "whether weights become bits is said by the op, and by the attributes otherwise")
	}
	if b == nil {
		if n.Weights["b"] != nil {
			if err := g.needWeight(n, "b", []int{out}); err != nil {
				return err
			}
		}
		return g.needFloat(n, x)
	}
	if b.PadValue > PadOnes {
		return g.Errorf(n, "use zero or one", "pad_value %s", b.PadValue)
	}
	switch most := map[WeightEncoding]int{BipolarWeights: MaxWeightBits, TernaryWeights: 1, AffineWeights: MaxWeightBits}[b.Enc]; {
	case most == 0:
		return g.Errorf(n, "use bipolar, ternary or affine", "weight_encoding %s", b.Enc)
	case b.WeightScale > ScaleTensor:
		return g.Errorf(n, "use none, mean, max or tensor", "weight_scale %s", b.WeightScale)
	case b.Bits < 0 || b.Bits > most || b.Enc == AffineWeights && b.Bits < 1:
		return g.Errorf(n, "bipolar and affine weights have 1 to 4 bits", "weight_bits %d, %s", b.Bits, b.Enc)
	case b.OneBit() && b.WeightScale == ScaleMax || b.Enc == TernaryWeights && b.WeightScale == ScaleMax:
		return g.Errorf(n, "use none, mean or tensor", "weight_scale max is for weights of several bits")
	case !b.OneBit() && b.Enc != TernaryWeights && b.WeightScale == ScaleMean:
		return g.Errorf(n, "use none, max or tensor", "weight_scale mean is for weights of one bit and ternary ones")
	case b.Zero < 0 || b.Zero > 1<<b.Bits-1 || b.Zero > 0 && b.Enc != AffineWeights:
		return g.Errorf(n, "affine weights of n bits have a zero point from 0 to 2^n-1", "weight_zero_point %d", b.Zero)
	}
	if b.Offset {
		if err := g.needWeight(n, "offset", []int{out}); err != nil {
			return err
		}
	}
	if b.WeightScale == ScaleTensor {
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
	out.Shape, out.Layout = []int{x.Shape[0], h, w, x.Shape[3]}, "NHWC"
	return &out, nil
}

// SamePadding is what padding "same" adds before and after size positions for a kernel of extent k with stride s, so that
// there are ceil(size/s) windows: of an odd number, the larger part comes after.
func SamePadding(size, k, s int) (before, after int) {
	total := max(0, ((size+s-1)/s-1)*s+k-size)
	return total / 2, total - total/2
}

// window gives the output's height and width for a kernel over x, and resolves the padding p.
func window(g *Graph, n *Node, x *Value, kernel, strides [2]int, p *Padding) (h, w int, err error) {
	var out, before, after [2]int
	given := [2][2]int{{p.Top, p.Bottom}, {p.Left, p.Right}}
	for d := range 2 {
		size, k, s := x.Shape[1+d], kernel[d], strides[d]
		if k < 1 || s < 1 {
			return 0, 0, g.Errorf(n, "", "kernel %v, strides %v: want positive numbers", kernel, strides)
		}
		if k > MaxElems || s > MaxElems {
			return 0, 0, g.Errorf(n, "", "kernel %v, strides %v: want numbers up to %d", kernel, strides, MaxElems)
		}
		switch p.Mode {
		case PadValid:
		case PadSame:
			before[d], after[d] = SamePadding(size, k, s)
		case PadExplicit:
			before[d], after[d] = given[d][0], given[d][1]
		default:
			return 0, 0, g.Errorf(n, "use valid, same or explicit", "padding %s", p.Mode)
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
