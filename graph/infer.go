package graph

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// MaxSorted is the most elements that a top_k may look at: each row as often as elements are taken
// of it.
const MaxSorted = 1 << 34

// MaxRank is the most axes that a tensor may have, MaxElems the most elements.
const (
	MaxRank  = 6
	MaxElems = 1 << 28
)

// Infer computes the output tensor of n from its inputs' tensors, and checks ranks, types,
// attributes and weight shapes. The tensor has no name; the caller sets it. attrs are n's with the
// numbers of padding resolved: n's own, which are not written to, or a copy. (A Builder does all
// this.)
func Infer(g *Graph, n *Node) (v *Value, attrs any, err error) {
	in := make([]*Value, len(n.Inputs))
	for i, name := range n.Inputs {
		v, ok := g.Values[name]
		if !ok {
			return nil, nil, g.Errorf(n, "", "input %q is made by no earlier node and is no input of the model", name)
		}
		if len(v.Shape) < 1 || len(v.Shape) > MaxRank {
			return nil, nil, g.Errorf(n, fmt.Sprintf("tensors have 1 to %d axes", MaxRank), "input %q has shape %v",
				name, v.Shape)
		}
		in[i] = v
	}
	o, err := g.rowFor(n)
	if err == nil && o.Fused {
		err = g.Errorf(n, "", "no importer makes this op")
	}
	if err != nil {
		return nil, nil, err
	}
	for _, x := range in {
		if x.Whole && !o.whole {
			return nil, nil, g.Errorf(n, "put a dequantize node before it, which makes f32 of them",
				"input %q holds i32 integers", x.Name)
		}
	}
	m := *n
	m.Attrs = cloneAttrs(n.Attrs)
	if v, err = o.infer(g, &m, in); err != nil {
		return nil, nil, err
	}
	if err := g.checkSize(n, "output of ", v.Shape); err != nil {
		return nil, nil, err
	}
	v.Note, v.Declared = "", "" // remarks on an input are not passed on
	return v, m.Attrs, nil
}

// cloneAttrs is a copy of attributes with padding, which inference resolves, and other attributes
// as they are.
func cloneAttrs(attrs any) any {
	switch a := attrs.(type) {
	case *Conv2DAttrs:
		b := *a
		return &b
	case *ConvTranspose2DAttrs:
		b := *a
		return &b
	case *PoolAttrs:
		b := *a
		return &b
	case *IntPoolAttrs:
		b := *a
		return &b
	}
	return attrs
}

// inferMap is for ops that map each f32 element to one.
func inferMap(g *Graph, n *Node, x *Value, _ *NoAttrs) (*Value, error) { return g.floatLike(n, x) }

// floatLike is an f32 tensor of x's shape, if x is one and none of the checks failed.
func (g *Graph) floatLike(n *Node, x *Value, checks ...error) (*Value, error) {
	return &Value{Shape: slices.Clone(x.Shape), Layout: x.Layout}, cmp.Or(append(checks, g.needFloat(n, x))...)
}

func inferPRelu(g *Graph, n *Node, x *Value, _ *PReluAttrs) (*Value, error) {
	return g.floatLike(n, x, g.needWeight(n, "alpha", []int{x.Channels()}))
}

func inferBatchNorm(g *Graph, n *Node, x *Value, a *BatchNormAttrs) (*Value, error) {
	return g.floatLike(n, x, g.checkNorm(n, x, a.Epsilon, "gamma", "beta", "mean", "var"))
}

func inferClip(g *Graph, n *Node, x *Value, a *ClipAttrs) (*Value, error) {
	if !(a.Min <= a.Max) || math.IsInf(a.Min, 1) || math.IsInf(a.Max, -1) {
		return nil, g.Errorf(n, "want min <= max", "clips to %g..%g", a.Min, a.Max)
	}
	return g.floatLike(n, x)
}

func inferHardSigmoid(g *Graph, n *Node, x *Value, a *HardSigmoidAttrs) (*Value, error) {
	return g.floatLike(n, x, g.checkFinite(n, "alpha", a.Alpha), g.checkFinite(n, "beta", a.Beta))
}

func inferElu(g *Graph, n *Node, x *Value, a *EluAttrs) (*Value, error) {
	return g.floatLike(n, x, g.checkFinite(n, "alpha", a.Alpha))
}

func inferRound(g *Graph, n *Node, x *Value, a *RoundAttrs) (*Value, error) {
	return g.floatLike(n, x, g.checkRounding(n, a.Mode))
}

func inferFakeQuant(g *Graph, n *Node, x *Value, a *FakeQuantAttrs) (*Value, error) {
	return g.floatLike(n, x, g.checkFakeQuant(n, x, a))
}

func inferGlobalPool(g *Graph, n *Node, x *Value, _ *NoAttrs) (*Value, error) {
	if len(x.Shape) != 4 {
		return nil, g.Errorf(n, "", "input has shape %v, want NHWC", x.Shape)
	}
	return &Value{Shape: []int{x.Shape[0], x.Shape[3]}, Layout: "NC"}, g.needFloat(n, x)
}

func inferFlatten(g *Graph, n *Node, x *Value, _ *NoAttrs) (*Value, error) {
	if len(x.Shape) < 2 {
		return nil, g.Errorf(n, "use reshape", "input has shape %v, want 2 axes or more", x.Shape)
	}
	return x.reshaped([]int{x.Shape[0], x.Elems() / x.Shape[0]}), nil
}

func inferDequantize(g *Graph, n *Node, x *Value, _ *NoAttrs) (*Value, error) {
	if x.Whole {
		return &Value{Shape: slices.Clone(x.Shape), Layout: x.Layout}, nil
	}
	return &Value{Shape: slices.Clone(x.Shape), Layout: x.Layout}, g.needEncoded(n, x)
}

func inferArg(g *Graph, n *Node, x *Value, a *ArgAttrs) (*Value, error) {
	shape := slices.Clone(x.Shape)
	last := len(shape) - 1
	if shape[last] = 1; a.Drop {
		if shape = shape[:last]; last == 0 {
			return nil, g.Errorf(n, "keep it (keepdims)", "drops the only axis of its input")
		}
	}
	return &Value{Shape: shape, Layout: LayoutOf(shape), Whole: true}, g.needFloat(n, x)
}

func inferTopK(g *Graph, n *Node, x *Value, a *TopKAttrs) (*Value, error) {
	c := x.Channels()
	if a.K < 1 || a.K > c {
		return nil, g.Errorf(n, "", "k is %d; the last axis of %v has %d elements", a.K, x.Shape, c)
	}
	if rows := x.Elems() / c; int64(a.K)*int64(c) > MaxSorted/int64(rows) {
		return nil, g.Errorf(n, "ask for fewer elements",
			"takes the %d first of %d elements of %d rows: more than %d steps", a.K, c, rows, int64(MaxSorted))
	}
	shape := slices.Clone(x.Shape)
	shape[len(shape)-1] = a.K
	return &Value{Shape: shape, Layout: x.Layout}, g.needFloat(n, x)
}

func inferTopKIndices(g *Graph, n *Node, x *Value, a *TopKAttrs) (*Value, error) {
	v, err := inferTopK(g, n, x, a)
	if v != nil {
		v.Whole = true
	}
	return v, err
}

func inferConcat(g *Graph, n *Node, in []*Value, _ *ConcatAttrs) (*Value, error) {
	if len(in) < 1 {
		return nil, g.Errorf(n, "", "has no inputs")
	}
	out := *in[0]
	out.Shape = append([]int(nil), in[0].Shape...)
	last := len(out.Shape) - 1
	for _, x := range in[1:] {
		if x.View != out.View {
			out = *out.reshaped(out.Shape) // only the caller's view of them differs
			x = x.reshaped(x.Shape)
		}
		if len(x.Shape) != len(out.Shape) || x.LevelType != out.LevelType {
			return nil, g.Errorf(n, "quantize the inputs alike",
				"inputs differ in rank, type, encoding, bits, scale, zero point or offset")
		}
		for d := 0; d < last; d++ {
			if x.Shape[d] != out.Shape[d] {
				return nil, g.Errorf(n, "", "inputs have shapes %v and %v, which differ before the last axis",
					in[0].Shape, x.Shape)
			}
		}
		out.Shape[last] += x.Channels()
	}
	return &out, nil
}
