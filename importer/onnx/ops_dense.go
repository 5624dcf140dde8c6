package onnx

import (
	"slices"

	"ripc/graph"
)

// dense multiplies rows t [M, K] by w [K, N], whose rows follow the order in which t's columns are stored. Where w was made of
// integers, of has them.
func (b *builder) dense(t *tensor, w *array, bias *graph.Tensor, of *scaled) (*tensor, error) {
	if t.shape[1] != w.shape[0] || w.len() == 0 {
		return nil, b.n.fail("", "a matrix of shape %v times one of shape %v", t.shape, w.shape)
	}
	if t.flat == nil {
		var err error
		if t, err = b.asFile(t); err != nil {
			return nil, err
		}
	}
	n := w.shape[1]
	if t.flat != nil {
		var err error
		if w, err = b.mem.rows(w, t.flat); err != nil {
			return nil, err
		}
	}
	weights := map[string]*graph.Tensor{"w": {Shape: slices.Clone(w.shape), Data: w.numbers()}}
	if bias != nil {
		weights["b"] = bias
	}
	v, err := b.emit("dense", &graph.DenseAttrs{}, weights, t.value)
	if err != nil {
		return nil, err
	}
	if of != nil {
		if of.x, of.bias = t.value, bias; t.flat != nil {
			if of.ints, err = b.mem.rows(of.ints, t.flat); err != nil {
				return nil, err
			}
		}
		of.emit = func(i *graph.IntegerAttrs, weights map[string]*graph.Tensor, x *graph.Value) (*graph.Value, error) {
			return b.emit("int_dense", &graph.DenseAttrs{Integer: i}, weights, x)
		}
		b.sumsOf(v, of)
	}
	return &tensor{shape: []int{t.shape[0], n}, value: v}, nil
}

// lowerGemm computes alpha*A*B + beta*C: a dense layer where B is constant.
func lowerGemm(n *node) ([]*tensor, error) {
	b, a, right, w := n.b, n.in[0], n.in[1], n.in[1].konst
	var err error
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
	if len(right.shape) != 2 || len(a.shape) != 2 {
		return nil, n.fail("", "A has shape %v and B %v, want matrices", a.shape, right.shape)
	}
	if trans[0] != 0 {
		if a, err = b.moved(a, []int{1, 0}); err != nil {
			return nil, err
		}
	}
	c := n.input(2)
	var bias *graph.Tensor
	var y *tensor
	if w == nil {
		if trans[1] != 0 {
			if right, err = b.moved(right, []int{1, 0}); err != nil {
				return nil, err
			}
		}
		y, err = b.product(a, right)
	} else {
		if trans[1] != 0 {
			if w, err = b.mem.permuted(w, []int{1, 0}); err != nil {
				return nil, err
			}
		}
		if bias, err = b.bias(n, c, w.shape[1], factor); err != nil {
			return nil, err
		}
		var of *scaled
		if factor == [2]float32{1, 1} {
			of, err = n.matrixOf(1-min(1, trans[1]), trans[1] != 0)
		}
		if err == nil {
			y, err = b.dense(a, w, bias, of)
		}
	}
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

// matrixOf is what input 1, a matrix whose columns are axis outputs, or the only one of several, was made of, transposed if asked for; nil
// if of no integers.
func (n *node) matrixOf(outputs int, transpose bool) (*scaled, error) {
	w := n.weightsOf(1, outputs)
	if w == nil {
		return nil, nil
	}
	s := &scaled{n: n, w: w, ints: w.ints.view(w.ints.shape[len(w.ints.shape)-2:]), biasOf: n.scaledBias(2), factor: 1}
	if transpose {
		var err error
		if s.ints, err = n.b.mem.permuted(s.ints, []int{1, 0}); err != nil {
			return nil, err
		}
	}
	return s, nil
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
	bias := make([]float32, out)
	for j := range bias {
		bias[j] = factor[1] * float32(k.at(min(j, k.len()-1)))
	}
	return &graph.Tensor{Shape: []int{out}, Data: graph.NumbersOf(bias)}, nil
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

// lowerMatMul multiplies by a constant matrix, a dense layer, or two tensors.
func lowerMatMul(n *node) ([]*tensor, error) {
	b, x, y := n.b, n.in[0], n.in[1]
	switch {
	case y.konst != nil && isMatrix(y.shape) && len(y.shape) <= max(len(x.shape), 2):
		return n.timesMatrix(x, y.konst)
	case x.konst != nil && len(x.shape) == 2 && len(y.shape) >= 2: // (y' x')'
		w, err := b.mem.permuted(x.konst, []int{1, 0})
		if err != nil {
			return nil, err
		}
		swap := identity(len(y.shape))
		swap[len(swap)-2], swap[len(swap)-1] = swap[len(swap)-1], swap[len(swap)-2]
		t, err := b.moved(y, swap)
		if err != nil {
			return nil, err
		}
		outs, err := n.timesMatrix(t, w)
		if err != nil {
			return nil, err
		}
		return one(b.moved(outs[0], swap))
	}
	return one(b.product(x, y))
}

// isMatrix reports whether a tensor of this shape is one matrix, or one column.
func isMatrix(shape []int) bool {
	return len(shape) > 0 && graph.Elems(shape[:max(0, len(shape)-2)]) == 1
}

// product is MatMul of tensors, of which one may be constant: those of one axis are a row on the left and a column on the right.
func (b *builder) product(x, y *tensor) (*tensor, error) {
	left, right := len(x.shape), len(y.shape)
	rank := max(left, right, 2)
	if left < 1 || right < 1 || rank > 4 {
		return nil, b.n.fail("reshape them to at most two axes of batches", "a product of tensors of shapes %v and %v", x.shape, y.shape)
	}
	var values [2]*graph.Value
	var shapes [2][]int
	for i, t := range []*tensor{x, y} {
		shape := append(slices.Repeat([]int{1}, rank-len(t.shape)), t.shape...)
		if i == 1 && right == 1 {
			shape[rank-2], shape[rank-1] = t.shape[0], 1
		}
		if t.konst != nil {
			v, err := b.constantNode(t.konst.view(shape))
			if err != nil {
				return nil, err
			}
			values[i], shapes[i] = v, shape
			continue
		}
		t, err := b.reshape(t, shape)
		if err != nil {
			return nil, err
		}
		if t, err = b.asFile(t); err != nil {
			return nil, err
		}
		values[i], shapes[i] = t.value, shape
	}
	v, err := b.emit("matmul", &graph.NoAttrs{}, nil, values[:]...)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(v.Shape)
	if right == 1 {
		out = out[:rank-1]
	}
	if left == 1 {
		at := len(out) - 2 // the row
		if right == 1 {
			at++
		}
		out = slices.Delete(out, at, at+1)
	}
	if len(out) == 0 {
		return nil, b.n.fail("keep one axis", "its result is a single number without axes")
	}
	return b.reshape(&tensor{shape: v.Shape, value: v}, out)
}

// timesMatrix multiplies by a constant matrix on the right; all axes of the left side but the last are rows.
func (n *node) timesMatrix(x *tensor, w *array) ([]*tensor, error) {
	b, matrix := n.b, w
	if len(w.shape) == 1 {
		matrix = w.view([]int{w.shape[0], 1})
	} else if len(w.shape) > 2 {
		matrix = w.view(w.shape[len(w.shape)-2:])
	}
	rank := len(x.shape)
	var of *scaled
	if len(w.shape) >= 2 && n.input(1) != nil && n.in[1].konst == w {
		var err error
		if of, err = n.matrixOf(len(w.shape)-1, false); err != nil {
			return nil, err
		}
	}
	if rank == 2 {
		y, err := b.dense(x, matrix, nil, of)
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
	y, err := b.dense(&tensor{shape: v.Shape, value: v}, matrix, nil, of)
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
