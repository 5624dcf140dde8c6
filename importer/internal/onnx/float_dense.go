package onnx

import (
	"slices"

	"ripc/graph"
	"ripc/importer/internal/kit"
)

// dense multiplies t [M, K] by w [K, N]. The rows of w follow the stored order of t's columns. of,
// if not nil, holds the integers that w was dequantized from.
func (b *builder) dense(t *tensor, w *array, bias *graph.Tensor, of *scaled) *tensor {
	b.n.failIf(t.shape[1] != w.shape[0] || w.len() == 0,
		"", "a matrix of shape %v times one of shape %v", t.shape, w.shape)
	if t.flat == nil {
		t = b.storeAsFile(t)
	}
	n := w.shape[1]
	if t.flat != nil {
		w = b.mem.rows(w, t.flat)
	}
	weights := map[string]*graph.Tensor{"w": {Shape: slices.Clone(w.shape), Data: w.numbers()}}
	if bias != nil {
		weights["b"] = bias
	}
	v := b.emit("dense", &graph.DenseAttrs{}, weights, t.value)
	if of != nil {
		if of.x, of.bias = t.value, bias; t.flat != nil {
			of.ints = b.mem.rows(of.ints, t.flat)
		}
		of.emit = func(i *graph.IntegerAttrs, weights map[string]*graph.Tensor, x *graph.Value) *graph.Value {
			return b.emit("int_dense", &graph.DenseAttrs{Integer: i}, weights, x)
		}
		b.sumsOf(v, of)
	}
	return &tensor{shape: []int{t.shape[0], n}, value: v}
}

// lowerGemm computes alpha*A*B + beta*C: a dense layer where B is constant.
func lowerGemm(n *node) *tensor {
	b, a, right, w := n.b, n.in[0], n.in[1], n.in[1].konst
	var trans [2]int
	for i, name := range []string{"transA", "transB"} {
		trans[i] = n.intAttr(name, 0)
	}
	var factor [2]float32
	for i, name := range []string{"alpha", "beta"} {
		factor[i] = n.floatAttr(name, 1)
	}
	n.failIf(len(right.shape) != 2 || len(a.shape) != 2,
		"", "A has shape %v and B %v, want matrices", a.shape, right.shape)
	if trans[0] != 0 {
		a = b.permuteAxes(a, []int{1, 0})
	}
	c := n.input(2)
	var bias *graph.Tensor
	var y *tensor
	if w == nil {
		if trans[1] != 0 {
			right = b.permuteAxes(right, []int{1, 0})
		}
		y = b.product(a, right)
	} else {
		if trans[1] != 0 {
			w = b.mem.permute(w, []int{1, 0})
		}
		bias = b.bias(n, c, w.shape[1], factor)
		var of *scaled
		if factor == [2]float32{1, 1} {
			of = n.matrixOf(1-min(1, trans[1]), trans[1] != 0)
		}

		y = b.dense(a, w, bias, of)
	}
	if factor[0] != 1 {
		y = b.scalar("mul", y, factor[0])
	}
	if c == nil || bias != nil || factor[1] == 0 {
		return y
	}
	n.failIf(!broadcastsTo(c.shape, y.shape), "", "C of shape %v does not fit a product of shape %v", c.shape, y.shape)
	if factor[1] != 1 {
		c = b.times(c, factor[1])
	}
	return b.binary("add", y, c)
}

// matrixOf returns the integers that the matrix in input 1 was dequantized from, transposed if
// asked for. outputs is the axis of its columns. The result is nil if the matrix is float in the
// file.
func (n *node) matrixOf(outputs int, transpose bool) *scaled {
	w := n.weightsOf(1, outputs)
	if w == nil {
		return nil
	}
	s := &scaled{n: n, w: w, ints: w.ints.view(w.ints.shape[len(w.ints.shape)-2:]), biasOf: n.scaledBias(2), factor: 1}
	if transpose {
		s.ints = n.b.mem.permute(s.ints, []int{1, 0})
	}
	return s
}

// bias is C as a dense layer's bias, nil if it is none: one number or one for each column, and
// alpha is 1.
func (b *builder) bias(n *node, c *tensor, out int, factor [2]float32) *graph.Tensor {
	if c == nil || c.konst == nil || factor[0] != 1 || factor[1] == 0 {
		return nil
	}
	k := c.konst
	if k.len() != 1 && (k.len() != out || extentFromEnd(k.shape, 1) != out) || len(k.shape) > 2 {
		return nil
	}
	b.mem.take(out, 4)
	bias := make([]float32, out)
	for j := range bias {
		bias[j] = factor[1] * float32(k.number(min(j, k.len()-1)))
	}
	return &graph.Tensor{Shape: []int{out}, Data: graph.NumbersOf(bias)}
}

// times is c, constant or not, times a number.
func (b *builder) times(c *tensor, f float32) *tensor {
	if c.konst == nil {
		return b.scalar("mul", c, f)
	}
	out := b.mem.newArray(dtFloat, c.konst.shape)
	for i, v := range c.konst.floats() {
		out.f[i] = v * f
	}
	return &tensor{shape: out.shape, konst: out}
}

// lowerMatMul multiplies by a constant matrix, a dense layer, or two tensors.
func lowerMatMul(n *node) *tensor {
	b, x, y := n.b, n.in[0], n.in[1]
	switch {
	case y.konst != nil && isMatrix(y.shape) && len(y.shape) <= max(len(x.shape), 2):
		return n.timesMatrix(x, y.konst)
	case x.konst != nil && len(x.shape) == 2 && len(y.shape) >= 2: // (y' x')'
		w := b.mem.permute(x.konst, []int{1, 0})
		swap := kit.Identity(len(y.shape))
		swap[len(swap)-2], swap[len(swap)-1] = swap[len(swap)-1], swap[len(swap)-2]
		return b.permuteAxes(n.timesMatrix(b.permuteAxes(y, swap), w), swap)
	}
	return b.product(x, y)
}

// isMatrix reports whether a tensor of this shape is one matrix, or one column.
func isMatrix(shape []int) bool {
	return len(shape) > 0 && graph.Elems(shape[:max(0, len(shape)-2)]) == 1
}

// product is MatMul of two tensors. One of them may be constant. A tensor of one axis is a row on
// the left, and a column on the right.
func (b *builder) product(x, y *tensor) *tensor {
	left, right := len(x.shape), len(y.shape)
	rank := max(left, right, 2)
	b.n.failIf(left < 1 || right < 1 || rank > 4,
		"reshape them to at most two axes of batches", "a product of tensors of shapes %v and %v", x.shape, y.shape)
	var values [2]*graph.Value
	var shapes [2][]int
	for i, t := range []*tensor{x, y} {
		shape := append(slices.Repeat([]int{1}, rank-len(t.shape)), t.shape...)
		if i == 1 && right == 1 {
			shape[rank-2], shape[rank-1] = t.shape[0], 1
		}
		if t.konst != nil {
			values[i], shapes[i] = b.constantNode(t.konst.view(shape)), shape
			continue
		}
		values[i], shapes[i] = b.storeAsFile(b.reshape(t, shape)).value, shape
	}
	v := b.emit("matmul", &graph.NoAttrs{}, nil, values[:]...)
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
	b.n.failIf(len(out) == 0, "keep one axis", "its result is a single number without axes")
	return b.reshape(&tensor{shape: v.Shape, value: v}, out)
}

// timesMatrix multiplies by a constant matrix on the right; all axes of the left side but the last
// are rows.
func (n *node) timesMatrix(x *tensor, w *array) *tensor {
	b, matrix := n.b, w
	if len(w.shape) == 1 {
		matrix = w.view([]int{w.shape[0], 1})
	} else if len(w.shape) > 2 {
		matrix = w.view(w.shape[len(w.shape)-2:])
	}
	rank := len(x.shape)
	var of *scaled
	if len(w.shape) >= 2 && n.input(1) != nil && n.in[1].konst == w {
		of = n.matrixOf(len(w.shape)-1, false)
	}
	if rank == 2 {
		y := b.dense(x, matrix, nil, of)
		if len(w.shape) == 1 {
			y = b.reshape(y, []int{x.shape[0]})
		}
		return y
	}
	k := rank - 1
	t := b.store(x, x.last(k))
	v := b.Rows(t.value, func(rows *graph.Value) *graph.Value {
		return b.dense(&tensor{shape: rows.Shape, value: rows}, matrix, nil, of).value
	})
	shape := append(slices.Clone(x.shape[:k]), matrix.shape[1])
	out := &tensor{shape: shape, value: v, perm: t.order()}
	if len(w.shape) == 1 {
		return b.reshape(out, x.shape[:k])
	}
	return out
}
