package graph

import (
	"fmt"
	"math"
)

// MaxRank is the most axes that a tensor may have, MaxElems the most elements.
const (
	MaxRank  = 6
	MaxElems = 1 << 28
)

// Infer computes the output tensor of n from its inputs' tensors, and checks ranks, types, attributes and weight shapes. The
// tensor has no name; the caller sets it. attrs are n's with the numbers of padding resolved: n's own, which are not written
// to, or a copy. (A Builder does all this.)
func Infer(g *Graph, n *Node) (v *Value, attrs any, err error) {
	in := make([]*Value, len(n.Inputs))
	for i, name := range n.Inputs {
		v, ok := g.Values[name]
		if !ok {
			return nil, nil, g.Errorf(n, "", "input %q is made by no earlier node and is no input of the model", name)
		}
		if len(v.Shape) < 1 || len(v.Shape) > MaxRank {
			return nil, nil, g.Errorf(n, fmt.Sprintf("tensors have 1 to %d axes", MaxRank), "input %q has shape %v", name, v.Shape)
		}
		in[i] = v
	}
	m := *n
	m.Attrs = unresolved(n.Attrs)
	if v, err = infer(g, &m, in); err != nil {
		return nil, nil, err
	}
	if err := g.checkSize(n, "output of ", v.Shape); err != nil {
		return nil, nil, err
	}
	return v, m.Attrs, nil
}

// unresolved is a copy of attributes with padding, which inference resolves, and other attributes as they are.
func unresolved(attrs any) any {
	switch a := attrs.(type) {
	case *Conv2DAttrs:
		b := *a
		return &b
	case *PoolAttrs:
		b := *a
		return &b
	}
	return attrs
}

func infer(g *Graph, n *Node, in []*Value) (*Value, error) {
	switch a := n.Attrs.(type) {
	case *ConcatAttrs:
		return inferConcat(g, n, in)
	case *BinaryOpAttrs:
		return inferBinaryOp(g, n, in, a)
	case *ConstantAttrs:
		return inferConstant(g, n, in)
	}
	if len(in) != 1 {
		return nil, g.Errorf(n, "", "has %d inputs, want 1", len(in))
	}
	x := in[0]
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
	case *TransposeAttrs:
		return inferTranspose(g, n, x, a)
	case *QuantizeAttrs:
		return inferQuantize(g, n, x, a)
	case *ThresholdAttrs:
		return inferThreshold(g, n, x, a)
	case *ShiftNormAttrs:
		return inferShiftNorm(g, n, x, a)
	case *BitpackAttrs:
		return inferPacking(g, n, x, a.Int32)
	case *NoAttrs:
		return inferPlain(g, n, x)
	}
	out := &Value{Shape: append([]int(nil), x.Shape...), Layout: x.Layout}
	if err := checkFloatOp(g, n, x); err != nil {
		return nil, err
	}
	return out, g.needFloat(n, x)
}

// checkFloatOp checks the attributes and weights of an op that maps each f32 element to one.
func checkFloatOp(g *Graph, n *Node, x *Value) error {
	channel := []int{x.Channels()}
	switch a := n.Attrs.(type) {
	case *PReluAttrs:
		return g.needWeight(n, "alpha", channel)
	case *BatchNormAttrs:
		return g.checkNorm(n, x, a.Epsilon, "gamma", "beta", "mean", "var")
	case *ClipAttrs:
		if !(a.Min <= a.Max) || math.IsInf(a.Min, 1) || math.IsInf(a.Max, -1) {
			return g.Errorf(n, "want min <= max", "clips to %g..%g", a.Min, a.Max)
		}
		return nil
	case *RoundAttrs:
		return g.checkRounding(n, a.Mode)
	case *FakeQuantAttrs:
		return g.checkFakeQuant(n, x, a)
	}
	return g.Errorf(n, "", "unknown op")
}

// inferPlain is for ops without attributes.
func inferPlain(g *Graph, n *Node, x *Value) (*Value, error) {
	out := &Value{Shape: append([]int(nil), x.Shape...), Layout: x.Layout}
	switch n.Op {
	case "relu", "relu6", "hard_tanh", "sign", "softmax":
		return out, g.needFloat(n, x)
	case "global_avg_pool":
		if len(x.Shape) != 4 {
			return nil, g.Errorf(n, "", "input has shape %v, want NHWC", x.Shape)
		}
		out.Shape, out.Layout = []int{x.Shape[0], x.Shape[3]}, "NC"
		return out, g.needFloat(n, x)
	case "flatten":
		if len(x.Shape) < 2 {
			return nil, g.Errorf(n, "use reshape", "input has shape %v, want 2 axes or more", x.Shape)
		}
		return x.moved([]int{x.Shape[0], x.Elems() / x.Shape[0]}), nil
	case "bitpack", "unpack":
		return inferPacking(g, n, x, false)
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
		if x.View != out.View {
			out = *out.moved(out.Shape) // only what the caller sees of them differs
			x = x.moved(x.Shape)
		}
		if len(x.Shape) != len(out.Shape) || x.LevelType != out.LevelType {
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
