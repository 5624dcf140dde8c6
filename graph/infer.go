package graph

import (
	"fmt"
	"math"
	"slices"

	"ripc/internal/stop"
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
func Infer(g *Graph, n *Node) (_ *Value, attrs any, err error) {
	defer stop.Catch(&err)
	in := make([]*Value, len(n.Inputs))
	for i, name := range n.Inputs {
		v, ok := g.Values[name]
		g.failIf(!ok, n, "", "input %q is made by no earlier node and is no input of the model", name)
		g.failIf(len(v.Shape) < 1 || len(v.Shape) > MaxRank, n, fmt.Sprintf("tensors have 1 to %d axes", MaxRank),
			"input %q has shape %v", name, v.Shape)
		in[i] = v
	}
	o := stop.Must(g.rowFor(n))
	g.failIf(o.Fused, n, "", "no importer makes this op")
	for _, x := range in {
		g.failIf(x.Whole && !o.whole, n, "put a dequantize node before it, which makes f32 of them",
			"input %q holds i32 integers", x.Name)
	}
	m := *n
	m.Attrs = cloneAttrs(n.Attrs)
	v := o.infer(g, &m, in)
	g.checkSize(n, "output of ", v.Shape)
	v.Note, v.Declared = "", "" // remarks on an input are not passed on
	return v, m.Attrs, nil
}

// failIf ends the inference of n with an error if bad.
func (g *Graph) failIf(bad bool, n *Node, help, format string, args ...any) {
	if bad {
		panic(g.Errorf(n, help, format, args...))
	}
}

// cloneAttrs is a copy of attributes with padding, which inference resolves, and other attributes
// as they are.
func cloneAttrs(attrs any) any {
	switch a := attrs.(type) {
	case *Conv2DAttrs:
		return new(*a)
	case *ConvTranspose2DAttrs:
		return new(*a)
	case *PoolAttrs:
		return new(*a)
	case *IntPoolAttrs:
		return new(*a)
	}
	return attrs
}

// inferMap is for ops that map each f32 element to one.
func inferMap(g *Graph, n *Node, x *Value, _ *NoAttrs) *Value { return g.floatLike(n, x) }

// floatLike is an f32 tensor of x's shape, if x is one.
func (g *Graph) floatLike(n *Node, x *Value) *Value {
	g.needFloat(n, x)
	return &Value{Shape: slices.Clone(x.Shape), Layout: x.Layout}
}

func inferPRelu(g *Graph, n *Node, x *Value, _ *PReluAttrs) *Value {
	g.needWeight(n, "alpha", []int{x.Channels()})
	return g.floatLike(n, x)
}

func inferBatchNorm(g *Graph, n *Node, x *Value, a *BatchNormAttrs) *Value {
	g.checkNorm(n, x, a.Epsilon, "gamma", "beta", "mean", "var")
	return g.floatLike(n, x)
}

func inferClip(g *Graph, n *Node, x *Value, a *ClipAttrs) *Value {
	g.failIf(!(a.Min <= a.Max) || math.IsInf(a.Min, 1) || math.IsInf(a.Max, -1), n, "want min <= max",
		"clips to %g..%g", a.Min, a.Max)
	return g.floatLike(n, x)
}

func inferHardSigmoid(g *Graph, n *Node, x *Value, a *HardSigmoidAttrs) *Value {
	g.checkFinite(n, "alpha", a.Alpha)
	g.checkFinite(n, "beta", a.Beta)
	return g.floatLike(n, x)
}

func inferElu(g *Graph, n *Node, x *Value, a *EluAttrs) *Value {
	g.checkFinite(n, "alpha", a.Alpha)
	return g.floatLike(n, x)
}

func inferRound(g *Graph, n *Node, x *Value, a *RoundAttrs) *Value {
	g.checkRounding(n, a.Mode)
	return g.floatLike(n, x)
}

func inferFakeQuant(g *Graph, n *Node, x *Value, a *FakeQuantAttrs) *Value {
	g.checkFakeQuant(n, x, a)
	return g.floatLike(n, x)
}

func inferGlobalPool(g *Graph, n *Node, x *Value, _ *NoAttrs) *Value {
	g.failIf(len(x.Shape) != 4, n, "", "input has shape %v, want NHWC", x.Shape)
	g.needFloat(n, x)
	return &Value{Shape: []int{x.Shape[0], x.Shape[3]}, Layout: "NC"}
}

func inferFlatten(g *Graph, n *Node, x *Value, _ *NoAttrs) *Value {
	g.failIf(len(x.Shape) < 2, n, "use reshape", "input has shape %v, want 2 axes or more", x.Shape)
	return x.reshaped([]int{x.Shape[0], x.Elems() / x.Shape[0]})
}

func inferDequantize(g *Graph, n *Node, x *Value, _ *NoAttrs) *Value {
	if !x.Whole {
		g.needEncoded(n, x)
	}
	return &Value{Shape: slices.Clone(x.Shape), Layout: x.Layout}
}

func inferArg(g *Graph, n *Node, x *Value, a *ArgAttrs) *Value {
	shape := slices.Clone(x.Shape)
	last := len(shape) - 1
	if shape[last] = 1; a.Drop {
		if shape = shape[:last]; last == 0 {
			panic(g.Errorf(n, "keep it (keepdims)", "drops the only axis of its input"))
		}
	}
	g.needFloat(n, x)
	return &Value{Shape: shape, Layout: LayoutOf(shape), Whole: true}
}

func inferTopK(g *Graph, n *Node, x *Value, a *TopKAttrs) *Value {
	c := x.Channels()
	g.failIf(a.K < 1 || a.K > c, n, "", "k is %d; the last axis of %v has %d elements", a.K, x.Shape, c)
	if rows := x.Elems() / c; int64(a.K)*int64(c) > MaxSorted/int64(rows) {
		panic(g.Errorf(n, "ask for fewer elements",
			"takes the %d first of %d elements of %d rows: more than %d steps", a.K, c, rows, int64(MaxSorted)))
	}
	shape := slices.Clone(x.Shape)
	shape[len(shape)-1] = a.K
	g.needFloat(n, x)
	return &Value{Shape: shape, Layout: x.Layout}
}

func inferTopKIndices(g *Graph, n *Node, x *Value, a *TopKAttrs) *Value {
	v := inferTopK(g, n, x, a)
	v.Whole = true
	return v
}

func inferConcat(g *Graph, n *Node, in []*Value, _ *ConcatAttrs) *Value {
	g.failIf(len(in) < 1, n, "", "has no inputs")
	out := *in[0]
	out.Shape = append([]int(nil), in[0].Shape...)
	last := len(out.Shape) - 1
	for _, x := range in[1:] {
		if x.View != out.View {
			out = *out.reshaped(out.Shape) // only the caller's view of them differs
			x = x.reshaped(x.Shape)
		}
		g.failIf(len(x.Shape) != len(out.Shape) || x.LevelType != out.LevelType, n, "quantize the inputs alike",
			"inputs differ in rank, type, encoding, bits, scale, zero point or offset")
		for d := range last {
			g.failIf(x.Shape[d] != out.Shape[d], n, "",
				"inputs have shapes %v and %v, which differ before the last axis", in[0].Shape, x.Shape)
		}
		out.Shape[last] += x.Channels()
	}
	return &out
}
