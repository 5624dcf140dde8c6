package graph

import (
	"math"
	"slices"
)

// checkFinite wants an attribute to be a number that f32 has.
func (g *Graph) checkFinite(n *Node, name string, v float64) {
	g.failIf(!(math.Abs(v) <= math.MaxFloat32), n, "want a finite number", "%s %g", name, v)
}

func (g *Graph) needWeight(n *Node, key string, shape []int) {
	w := n.Weights[key]
	g.failIf(w == nil, n, "", "needs a weight %q of shape %v", key, shape)
	g.failIf(!slices.Equal(w.Shape, shape), n, "", "weight %q has shape %v, want %v", key, w.Shape, shape)
}

// checkNorm wants weights of normalization, with variances that have a square root to divide by.
func (g *Graph) checkNorm(n *Node, x *Value, epsilon float64, keys ...string) {
	g.failIf(!(epsilon >= 0 && epsilon <= MaxScale), n, "", "epsilon %g: want 0 to %g", epsilon, MaxScale)
	for _, key := range keys {
		g.needWeight(n, key, []int{x.Channels()})
	}
	for c, v := range n.Weights["var"].Data.All() {
		if !(v >= 0 && float64(v)+epsilon > 0) {
			panic(g.Errorf(n, "", "variance %v of channel %d with epsilon %v: want var >= 0 and var + epsilon > 0", v,
				c, epsilon))
		}
	}
}

// NotFinite finds an element of a weight that is not a number or, except in thresholds, constants
// and operands, infinite; -1 if there is none.
func NotFinite(op string, t *Tensor) int {
	o := OpNamed(op)
	infinite := o != nil && o.Infinite
	for i, v := range t.Data.All() {
		if v != v || v-v != 0 && !infinite {
			return i
		}
	}
	return -1
}

// needVector wants a weight of one value for each channel, or one for all.
func (g *Graph) needVector(n *Node, key string, channels int) {
	if w := n.Weights[key]; w == nil || !slices.Equal(w.Shape, []int{1}) {
		g.needWeight(n, key, []int{channels})
	}
}

func (g *Graph) needFloat(n *Node, x *Value) {
	g.failIf(x.Encoded(), n, "put a dequantize node before it", "input %q holds %d-bit %s levels, want f32", x.Name,
		x.Bits, x.Enc)
}

func (g *Graph) needEncoded(n *Node, x *Value) {
	g.failIf(!x.Encoded(), n, "put a quantize node before it",
		"input %q is f32, want levels (the output of quantize or shift_norm)", x.Name)
}

func shapeOf(t *Tensor) any {
	if t == nil {
		return "(missing)"
	}
	return t.Shape
}

// checkSize wants extents from 1, and at most MaxElems elements.
func (g *Graph) checkSize(n *Node, what string, shape []int) {
	elems := 1
	for _, d := range shape {
		g.failIf(d < 1, n, "", "%sshape %v: want extents from 1", what, shape)
		g.failIf(elems > MaxElems/d, n, "", "%sshape %v has more than %d elements", what, shape, MaxElems)
		elems *= d
	}
}
