package onnx

import (
	"slices"

	"ripc/graph"
)

// dense multiplies rows t [M, K] by w [K, N], whose rows follow the order in which t's columns are stored.
func (b *builder) dense(t *tensor, w *array, bias *graph.Tensor) (*tensor, error) {
	if t.shape[1] != w.shape[0] || w.len() == 0 {
		return nil, b.n.fail("", "a matrix of shape %v times one of shape %v", t.shape, w.shape)
	}
	if t.flat == nil {
		var err error
		if t, err = b.asFile(t); err != nil {
			return nil, err
		}
	}
	if err := b.mem.take(w.len(), 4); err != nil {
		return nil, err
	}
	n := w.shape[1]
	data := make([]float32, w.len())
	rows := identity(w.shape[0])
	if t.flat != nil {
		var err error
		if rows, err = b.mem.columns(t.flat); err != nil {
			return nil, err
		}
	}
	src := w.floats()
	for j, k := range rows {
		copy(data[j*n:(j+1)*n], src[k*n:])
	}
	weights := map[string]*graph.Tensor{"w": {Shape: slices.Clone(w.shape), Data: data}}
	if bias != nil {
		weights["b"] = bias
	}
	v, err := b.emit("dense", &graph.DenseAttrs{}, weights, t.value)
	if err != nil {
		return nil, err
	}
	return &tensor{shape: []int{t.shape[0], n}, value: v}, nil
}

// lowerGemm computes alpha*A*B + beta*C with a constant B.
func lowerGemm(n *node) ([]*tensor, error) {
	b, a := n.b, n.in[0]
	w, err := n.konst(1, "B")
	if err != nil {
		return nil, err
	}
	var trans [2]int
	for i, name := range []string{"transA", "transB"} {
		if trans[i], err = n.intAttr(name, 0); err != nil {
			return nil, err
		}
	}
	var factor [2]float32
	for i, name := range []string{"alpha", "beta"} {
		if factor[i], err = n.floatAttr(name, 1); err != nil {
			return nil, err
		}
	}
	if len(w.shape) != 2 || len(a.shape) != 2 {
		return nil, n.fail("", "A has shape %v and B %v, want matrices", a.shape, w.shape)
	}
	if trans[0] != 0 {
		if a, err = b.plain(a); err != nil {
			return nil, err
		}
		a = &tensor{shape: []int{a.shape[1], a.shape[0]}, value: a.value, perm: swapped(a.order())}
	}
	if trans[1] != 0 {
		if w, err = b.mem.permuted(w, []int{1, 0}); err != nil {
			return nil, err
		}
	}
	c := n.input(2)
	bias, err := b.bias(n, c, w.shape[1], factor)
	if err != nil {
		return nil, err
	}
	y, err := b.dense(a, w, bias)
	if err != nil {
		return nil, err
	}
	if factor[0] != 1 {
		if y, err = b.scalar("mul", y, factor[0]); err != nil {
			return nil, err
		}
	}
	if c == nil || bias != nil || factor[1] == 0 {
		return []*tensor{y}, nil
	}
	if shape, err := broadcastShape(y.shape, c.shape); err != nil || !slices.Equal(shape, y.shape) {
		return nil, n.fail("", "C of shape %v does not fit a product of shape %v", c.shape, y.shape)
	}
	if factor[1] != 1 {
		if c, err = b.times(c, factor[1]); err != nil {
			return nil, err
		}
	}
	return one(b.binary("add", y, c))
}

// bias is C as a dense layer's bias, nil if it is none: one number or one for each column, and alpha is 1.
func (b *builder) bias(n *node, c *tensor, out int, factor [2]float32) (*graph.Tensor, error) {
	if c == nil || c.konst == nil || factor[0] != 1 || factor[1] == 0 {
		return nil, nil
	}
	k := c.konst
	if k.len() != 1 && (k.len() != out || extentFromEnd(k.shape, 1) != out) || len(k.shape) > 2 {
		return nil, nil
	}
	if err := b.mem.take(out, 4); err != nil {
		return nil, err
	}
	t := &graph.Tensor{Shape: []int{out}, Data: make([]float32, out)}
	for j := range t.Data {
		t.Data[j] = factor[1] * k.floats()[min(j, k.len()-1)]
	}
	return t, nil
}

// times is c, constant or not, times a number.
func (b *builder) times(c *tensor, f float32) (*tensor, error) {
	if c.konst == nil {
		return b.scalar("mul", c, f)
	}
	out, err := b.mem.newArray(dtFloat, c.konst.shape)
	if err != nil {
		return nil, err
	}
	for i, v := range c.konst.floats() {
		out.f[i] = v * f
	}
	return &tensor{shape: out.shape, konst: out}, nil
}

// swapped renames the axes of a matrix.
func swapped(perm []int) []int { return []int{1 - perm[0], 1 - perm[1]} }

// lowerMatMul multiplies by a constant matrix on the right; all axes of the left side but the last are rows.
func lowerMatMul(n *node) ([]*tensor, error) {
	b, x := n.b, n.in[0]
	if x.konst != nil {
		return nil, n.fail("transpose the product, so that the constant is on the right", "its left side is constant; only the right one may be")
	}
	w, err := n.konst(1, "right side")
	if err != nil {
		return nil, err
	}
	matrix := w
	switch {
	case len(w.shape) == 1:
		matrix = w.view([]int{w.shape[0], 1})
	case len(w.shape) < 1 || graph.Elems(w.shape[:len(w.shape)-2]) != 1:
		return nil, n.fail("", "its right side has shape %v; only one matrix is supported there", w.shape)
	case len(w.shape) > 2:
		matrix = w.view(w.shape[len(w.shape)-2:])
	}
	rank := len(x.shape)
	if len(w.shape) > max(rank, 2) {
		return nil, n.fail("", "its right side has shape %v, the left one %v", w.shape, x.shape)
	}
	if rank == 2 {
		y, err := b.dense(x, matrix, nil)
		if err == nil && len(w.shape) == 1 {
			y, err = b.reshape(y, []int{x.shape[0]})
		}
		return one(y, err)
	}
	k := rank - 1
	t, err := b.stored(x, x.last(k))
	if err != nil {
		return nil, err
	}
	order := t.order()
	s := t.value.Shape
	v, err := b.reshaped(t.value, []int{graph.Elems(s[:k]), s[k]})
	if err != nil {
		return nil, err
	}
	y, err := b.dense(&tensor{shape: v.Shape, value: v}, matrix, nil)
	if err != nil {
		return nil, err
	}
	shape := append(slices.Clone(x.shape[:k]), matrix.shape[1])
	if v, err = b.reshaped(y.value, append(slices.Clone(s[:k]), matrix.shape[1])); err != nil {
		return nil, err
	}
	out := &tensor{shape: shape, value: v, perm: order}
	if len(w.shape) == 1 {
		return one(b.reshape(out, x.shape[:k]))
	}
	return []*tensor{out}, nil
}
