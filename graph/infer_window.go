package graph

import (
	"strings"

	"ripc/internal/human"
)

func inferConv(g *Graph, n *Node, x *Value, a *Conv2DAttrs) *Value {
	w := g.checkKernel(n, x, a.Dilations, a.Groups, a.Binary, a.Integer)
	h, w2 := window(g, n, x, [2]int{(w.Shape[0]-1)*a.Dilation()[0] + 1, (w.Shape[1]-1)*a.Dilation()[1] + 1},
		a.Strides, &a.Pad)
	return &Value{Shape: []int{x.Shape[0], h, w2, w.Shape[3]}, Layout: "NHWC"}
}

// checkKernel checks the weights of a convolution over x, and gives w.
func (g *Graph) checkKernel(n *Node, x *Value, dilations [2]int, groups int, b *BinaryAttrs,
	i *IntegerAttrs) *Tensor {
	g.failIf(len(x.Shape) != 4, n, "", "input has shape %v, want NHWC", x.Shape)
	w := n.Weights["w"]
	parts := max(1, groups)
	g.failIf(x.Shape[3]%parts != 0, n, "", "%d groups do not divide the %s", parts,
		human.Count(x.Shape[3], "input channel"))
	g.failIf(w == nil || len(w.Shape) != 4 || w.Shape[2] != x.Shape[3]/parts, n, "",
		"weight \"w\" has shape %v, want [kh, kw, %d, out]", shapeOf(w), x.Shape[3]/parts)
	g.failIf(w.Shape[3]%parts != 0, n, "", "%d groups do not divide the %s", parts,
		human.Count(w.Shape[3], "output channel"))
	g.checkForm(n, x, b, i, w.Shape[3])
	g.failIf(max(dilations[0], dilations[1]) > MaxElems || min(dilations[0], dilations[1], groups) < 0, n, "",
		"dilations %v, %d groups: want positive numbers up to %d", dilations, groups, MaxElems)
	return w
}

// maxPhases is the most places that a pixel of a transposed convolution's result may have between
// those of its input.
const maxPhases = 1 << 12

// inferConvTranspose resolves the padding: with "same" the output is as large as the input times
// the strides, an odd pad goes to the end.
func inferConvTranspose(g *Graph, n *Node, x *Value, a *ConvTranspose2DAttrs) *Value {
	w := g.checkKernel(n, x, a.Dilations, a.Groups, a.Binary, nil)
	g.failIf(min(w.Shape[0], w.Shape[1], a.Strides[0], a.Strides[1]) < 1 ||
		max(w.Shape[0], w.Shape[1], a.Strides[0], a.Strides[1]) > MaxElems, n, "",
		"kernel %v, strides %v: want numbers from 1 to %d", w.Shape[:2], a.Strides, MaxElems)
	if phases := a.Strides[0] * a.Strides[1]; phases > maxPhases ||
		phases*((w.Shape[0]-1)/a.Strides[0]+1)*((w.Shape[1]-1)/a.Strides[1]+1) > MaxWeights/max(1,
			w.Shape[2]*w.Shape[3]) {
		const fault = "strides %v and weights %v: want strides with a product of at most %d, " +
			"and at most %d weights for all of their phases"
		panic(g.Errorf(n, "", fault, a.Strides, w.Shape, maxPhases, MaxWeights))
	}
	g.failIf(a.Binary != nil && a.Binary.Offset, n, "leave weight_offset out",
		"its weights have an offset, which transposed convolutions do not know")
	p, shape := &a.Pad, []int{x.Shape[0], 0, 0, w.Shape[3]}
	before, after, given := [2]int{p.Top, p.Left}, [2]int{p.Bottom, p.Right}, a.OutputPad
	for d := range 2 {
		size, s, span := x.Shape[1+d], a.Strides[d], (w.Shape[d]-1)*a.Dilation()[d]+1
		switch p.Mode {
		case PadValid:
			before[d], after[d] = 0, 0
		case PadSame:
			if given != [2]int{} && given[d] != max(0, s-span) {
				panic(g.Errorf(n, "leave one of them out", "output_padding %v with padding same", given))
			}
			total := max(0, span-s)
			before[d], after[d] = total/2, total-total/2
		case PadExplicit:
		default:
			panic(g.Errorf(n, "use valid, same or explicit", "padding %s", p.Mode))
		}
		if min(before[d], after[d], a.OutputPad[d]) < 0 || max(before[d], after[d]) > MaxElems ||
			a.OutputPad[d] > max(s, a.Dilation()[d])-1 && p.Mode != PadSame {
			const fault = "padding %d and %d, output_padding %d: want numbers from 0, " +
				"and an output_padding less than the stride or the dilation"
			panic(g.Errorf(n, "", fault, before[d], after[d], a.OutputPad[d]))
		}
		if p.Mode == PadSame {
			a.OutputPad[d] = max(0, s-span)
		}
		shape[1+d] = (size-1)*s + span - before[d] - after[d] + a.OutputPad[d]
		g.failIf(shape[1+d] < 1, n, "", "padding %d and %d leaves nothing of %d positions", before[d], after[d],
			(size-1)*s+span)
	}
	p.Top, p.Bottom, p.Left, p.Right = before[0], after[0], before[1], after[1]
	whole := []int{x.Shape[0], x.Shape[1]*a.Strides[0] + w.Shape[0]*a.Dilation()[0],
		x.Shape[2]*a.Strides[1] + w.Shape[1]*a.Dilation()[1], w.Shape[3]}
	g.checkSize(n, "with all that is cut off, ", whole)
	return &Value{Shape: shape, Layout: "NHWC"}
}

func inferDense(g *Graph, n *Node, x *Value, a *DenseAttrs) *Value {
	g.failIf(len(x.Shape) != 2, n, "put a flatten node before it", "input has shape %v, want [N, C]", x.Shape)
	w := n.Weights["w"]
	g.failIf(w == nil || len(w.Shape) != 2 || w.Shape[0] != x.Shape[1], n, "",
		"weight \"w\" has shape %v, want [%d, out]", shapeOf(w), x.Shape[1])
	g.checkForm(n, x, a.Binary, a.Integer, w.Shape[1])
	return &Value{Shape: []int{x.Shape[0], w.Shape[1]}, Layout: "NC"}
}

// checkForm checks the attributes of n's weights. n is a layer over x with out output channels.
func (g *Graph) checkForm(n *Node, x *Value, b *BinaryAttrs, i *IntegerAttrs, out int) {
	integer := n.Op == "int_conv2d" || n.Op == "int_dense"
	g.failIf(strings.HasPrefix(n.Op, "bitserial_") != (b != nil) || integer != (i != nil), n, "",
		"the op and the attributes name different kinds of weights")
	if integer {
		return // inferInteger looks at them
	}
	if b == nil {
		if n.Weights["b"] != nil {
			g.needWeight(n, "b", []int{out})
		}
		g.needFloat(n, x)
		return
	}
	g.failIf(b.PadValue > PadOnes, n, "use zero or one", "pad_value %s", b.PadValue)
	switch most := map[WeightEncoding]int{BipolarWeights: MaxWeightBits, TernaryWeights: 1,
		AffineWeights: MaxWeightBits}[b.Enc]; {
	case most == 0:
		panic(g.Errorf(n, "use bipolar, ternary or affine", "weight_encoding %s", b.Enc))
	case b.WeightScale > ScaleAP2:
		panic(g.Errorf(n, "use none, mean, max, tensor or ap2", "weight_scale %s", b.WeightScale))
	case b.Bits < 0 || b.Bits > most || b.Enc == AffineWeights && b.Bits < 1:
		panic(g.Errorf(n, "bipolar and affine weights have 1 to 8 bits", "weight_bits %d, %s", b.Bits, b.Enc))
	case b.OneBit() && b.WeightScale == ScaleMax || b.Enc == TernaryWeights && b.WeightScale == ScaleMax:
		panic(g.Errorf(n, "use none, mean, ap2 or tensor", "weight_scale max is for weights of several bits"))
	case !b.OneBit() && b.Enc != TernaryWeights && b.WeightScale == ScaleMean:
		panic(g.Errorf(n, "use none, max, ap2 or tensor", "weight_scale mean is for weights of one bit and ternary "+
			"ones"))
	case b.Zero < 0 || b.Zero > 1<<b.Bits-1 || b.Zero > 0 && b.Enc != AffineWeights:
		panic(g.Errorf(n, "affine weights of n bits have a zero point from 0 to 2^n-1", "weight_zero_point %d", b.Zero))
	}
	if b.Offset {
		g.needWeight(n, "offset", []int{out})
	}
	if b.WeightScale == ScaleTensor {
		g.needWeight(n, "scale", []int{out})
	}
	g.needEncoded(n, x)
}

func inferPool(g *Graph, n *Node, x *Value, a *PoolAttrs) *Value {
	g.failIf(len(x.Shape) != 4, n, "", "input has shape %v, want NHWC", x.Shape)
	if n.Op == "avg_pool" {
		g.needFloat(n, x)
	}
	h, w := window(g, n, x, a.Kernel, a.Strides, &a.Pad)
	out := *x
	out.Shape, out.Layout = []int{x.Shape[0], h, w, x.Shape[3]}, "NHWC"
	return &out
}

// SamePadding returns the padding before and after size positions that padding "same" adds for a
// kernel of extent k with stride s. There are ceil(size/s) windows then. The larger part of an odd
// number comes after.
func SamePadding(size, k, s int) (before, after int) {
	total := max(0, ((size+s-1)/s-1)*s+k-size)
	return total / 2, total - total/2
}

// window gives the output's height and width for a kernel over x, and resolves the padding p.
func window(g *Graph, n *Node, x *Value, kernel, strides [2]int, p *Padding) (h, w int) {
	var out, before, after [2]int
	given := [2][2]int{{p.Top, p.Bottom}, {p.Left, p.Right}}
	for d := range 2 {
		size, k, s := x.Shape[1+d], kernel[d], strides[d]
		g.failIf(k < 1 || s < 1, n, "", "kernel %v, strides %v: want positive numbers", kernel, strides)
		g.failIf(k > MaxElems || s > MaxElems, n, "", "kernel %v, strides %v: want numbers up to %d", kernel, strides,
			MaxElems)
		switch p.Mode {
		case PadValid:
		case PadSame:
			before[d], after[d] = SamePadding(size, k, s)
		case PadExplicit:
			before[d], after[d] = given[d][0], given[d][1]
		default:
			panic(g.Errorf(n, "use valid, same or explicit", "padding %s", p.Mode))
		}
		g.failIf(before[d] < 0 || after[d] < 0 || before[d] >= k || after[d] >= k, n, "",
			"padding %d and %d: want 0 to %d (less than the kernel)", before[d], after[d], k-1)
		g.failIf(size+before[d]+after[d] < k, n, "", "kernel %d is larger than the padded input %d", k,
			size+before[d]+after[d])
		out[d] = (size+before[d]+after[d]-k)/s + 1
	}
	p.Top, p.Bottom, p.Left, p.Right = before[0], after[0], before[1], after[1]
	return out[0], out[1]
}
