package onnx

import (
	"ripc/graph"
	"ripc/importer/internal/kit"
	"ripc/internal/f32"
)

func lowerQLinearAdd(n *node) *tensor { return n.linearPair((*builder).intAdd) }

func lowerQLinearMul(n *node) *tensor { return n.linearPair((*builder).intMul) }

// intPair emits what is made of levels x and y of parameters p and q, as levels of parameters r.
type intPair func(b *builder, p, q, r *quantParams, x, y *graph.Value) *graph.Value

// linearPair makes integers of those of two tensors. Inputs: a, its scale and zero point, b, its own, scale and zero point of y.
func (n *node) linearPair(emit intPair) *tensor {
	var q [3]*quantParams
	for k := range q {
		q[k] = n.params([]int{1, 4, 6}[k], []int{2, 5, 7}[k], n.held([]int{0, 3, 0}[k]))
	}
	like := n.firstComputed(0, 3)
	var levels [2]*tensor
	for k, i := range []int{0, 3} {
		levels[k] = n.integers(i, q[k], like)
	}
	x, y := n.b.alike(levels[0], levels[1])
	v := emit(n.b, q[0], q[1], q[2], x.value, y.value)
	shape := kit.Must(broadcastShape(x.shape, y.shape))
	return n.b.result(&tensor{shape: shape, value: v, perm: x.perm, flat: x.flat}, q[2])
}

// intAdd is the intPair of a sum: onnxruntime's, which adds what does not depend on the levels up first.
func (b *builder) intAdd(p, q, r *quantParams, x, y *graph.Value) *graph.Value {
	one, two := p.scale/r.scale, q.scale/r.scale
	rest := float32(r.zero) - f32.Fma(one, float32(p.zero), f32.Mul(two, float32(q.zero)))
	return b.emit("int_add", &graph.IntAddAttrs{IntPair: pairOf(r), A: float64(one), B: float64(two), C: float64(rest)}, nil, x, y)
}

// intMul is the intPair of a product.
func (b *builder) intMul(p, q, r *quantParams, x, y *graph.Value) *graph.Value {
	return b.emit("int_mul", &graph.IntMulAttrs{IntPair: pairOf(r), By: float64(f32.Mul(p.scale, q.scale) / r.scale)}, nil, x, y)
}

// pairOf are all levels of parameters r.
func pairOf(r *quantParams) graph.IntPair {
	t := r.levelType()
	return graph.IntPair{Form: graph.FloatRequantization, LevelType: t, High: t.Top()}
}
