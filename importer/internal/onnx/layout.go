package onnx

import (
	"fmt"
	"slices"

	"ripc/graph"
	"ripc/importer/internal/kit"
)

// tensor is a tensor of the file. A constant has konst, all others have value.
type tensor struct {
	shape []int // as the file has it
	konst *array
	// value holds the elements of a tensor that is no constant. Axis d of its shape is axis perm[d]
	// of shape; nil is the file's own order.
	value *graph.Value
	perm  []int
	// flat, if not nil, says how the columns of a tensor [N, F] are ordered: value's is that of a
	// stored image.
	flat *flattened
	// integers, if not nil, are the parameters of a quantized tensor. value holds real numbers
	// then.
	integers *quantParams
	clipped  *clipped // not nil for the result of a Clip of integers
	cond     *condition
	truth    bool     // value holds truth values
	windows  *windows // not nil for the result of Im2Col
	// margin, if not nil, is rows and columns of -Inf around the image, which value does not have;
	// MaxPool leaves them out.
	margin *margin
	bad    bool // something was wrong where it was made
	// other orders in which value was stored too.
	orders map[string]*tensor
}

// margin is a number of rows and columns around an image.
type margin struct{ before, after [2]int }

// flattened is a pending permutation of columns: the value is a tensor of shape stored, axis 0
// being that of the rows, that was reshaped to two axes; in the file's order its axis d would be
// axis perm[d] of stored.
type flattened struct{ stored, perm []int }

// columns gives, for each stored column, its number in the file.
func (b *budget) columns(f *flattened) []int {
	n := graph.Elems(f.stored[1:])
	b.take(n, 8)
	cols := make([]int, n)
	step := kit.Permuted(strides(f.stored), f.perm)
	eachOffset(kit.Permuted(f.stored, f.perm)[1:], 0, step[1:], func(k, stored int) { cols[stored] = k })
	return cols
}

func (f *flattened) equal(o *flattened) bool {
	if f == nil || o == nil {
		return f == o
	}
	return slices.Equal(f.stored, o.stored) && slices.Equal(f.perm, o.perm)
}

// order is t's permutation, never nil.
func (t *tensor) order() []int {
	if t.perm == nil {
		return kit.Identity(len(t.shape))
	}
	return t.perm
}

// nhwc is how images are stored.
func nhwc() []int { return []int{0, 2, 3, 1} }

// last is the order with axis a at the end: NHWC for the channels of an image, else the others as
// they are.
func (t *tensor) last(a int) []int {
	p := t.order()
	if len(p) == 0 || p[len(p)-1] == a {
		return p
	}
	if len(p) == 4 && a == 1 {
		return nhwc()
	}
	q := slices.DeleteFunc(slices.Clone(p), func(x int) bool { return x == a })
	return append(q, a)
}

// derive returns a tensor of the same file shape and order as t with another value.
func (t *tensor) derive(v *graph.Value) *tensor {
	return &tensor{shape: t.shape, value: v, perm: t.perm, flat: t.flat}
}

// clone returns t as another tensor of the file.
func (t *tensor) clone() *tensor { return new(*t) }

// store returns t in the given order of axes, transposed if it is stored otherwise.
func (b *builder) store(t *tensor, perm []int) *tensor {
	t = b.orderColumns(t)
	if slices.Equal(t.order(), perm) {
		return t
	}
	key := fmt.Sprint(perm)
	if o := t.orders[key]; o != nil {
		return o
	}
	v := b.transpose(t.value, kit.Places(perm, t.order()))
	o := &tensor{shape: t.shape, value: v, perm: slices.Clone(perm), integers: t.integers, truth: t.truth}
	t.remember(key, o)
	return o
}

func (t *tensor) remember(key string, o *tensor) {
	if t.orders == nil {
		t.orders = map[string]*tensor{}
	}
	t.orders[key] = o
}

// transpose moves v's axes; where only axes of extent 1 move, the elements stay where they are.
func (b *builder) transpose(v *graph.Value, move []int) *graph.Value {
	// A transpose of a transpose is one transpose, or none. Prune removes the first one if nothing
	// else reads it.
	if p := b.g.Producer(v.Name); p != nil && p.Op == "transpose" {
		first := p.Attrs.(*graph.TransposeAttrs).Perm
		v = b.g.Graph().Values[p.Inputs[0]]
		if move = kit.Permuted(first, move); slices.IsSorted(move) {
			return v
		}
	}
	if slices.IsSorted(slices.DeleteFunc(slices.Clone(move), func(p int) bool { return v.Shape[p] == 1 })) {
		return b.emitReshape(v, kit.Permuted(v.Shape, move))
	}
	return b.emit("transpose", &graph.TransposeAttrs{Perm: move}, nil, v)
}

// orderColumns returns t with its columns in the file's order.
func (b *builder) orderColumns(t *tensor) *tensor {
	if t.flat == nil {
		return t
	}
	if o := t.orders["plain"]; o != nil {
		return o
	}
	v := b.emitReshape(b.transpose(b.emitReshape(t.value, t.flat.stored), t.flat.perm), t.shape)
	o := &tensor{shape: t.shape, value: v, integers: t.integers, truth: t.truth}
	t.remember("plain", o)
	return o
}

// storeAsFile returns t stored as the file has it.
func (b *builder) storeAsFile(t *tensor) *tensor { return b.store(t, kit.Identity(len(t.shape))) }

// emitReshape returns v with another shape of equal size, and its elements in the same order.
func (b *builder) emitReshape(v *graph.Value, shape []int) *graph.Value {
	// A reshape of a reshape is one reshape. Prune removes the first one if nothing else reads it.
	if p := b.g.Producer(v.Name); p != nil && p.Op == "reshape" {
		v = b.g.Graph().Values[p.Inputs[0]]
	}
	if len(shape) == 0 && b.scalars {
		shape = []int{1}
	}
	if slices.Equal(v.Shape, shape) {
		return v
	}
	return b.emit("reshape", &graph.ReshapeAttrs{Shape: slices.Clone(shape)}, nil, v)
}

// reshape gives t another shape. The axes of both shapes fall into groups of the same elements. A
// group stays in its place if memory holds its axes as neighbours and in the file's order.
// Otherwise the axes are transposed first. An image that becomes a matrix is not transposed: flat
// remembers the order of its columns.
func (b *builder) reshape(t *tensor, shape []int) *tensor {
	if slices.Equal(t.shape, shape) {
		return t
	}
	t = b.orderColumns(t)
	groups := splitAxes(t.shape, shape)
	at := t.order()
	if !t.inPlace(groups) {
		if len(shape) == 2 && shape[0] == t.shape[0] && at[0] == 0 {
			v := b.emitReshape(t.value, shape)
			back := kit.Places(kit.Identity(len(at)), at)
			return &tensor{shape: slices.Clone(shape), value: v, integers: t.integers, truth: t.truth,
				flat: &flattened{stored: slices.Clone(t.value.Shape), perm: back}}
		}
		var want []int
		for _, g := range storedOrder(groups, t.shape, at) {
			want = append(want, g.in...)
		}
		t = b.store(t, want)
		at = t.order()
	}
	var perm []int
	for _, g := range storedOrder(groups, t.shape, at) {
		perm = append(perm, g.out...)
	}
	v := b.emitReshape(t.value, kit.Permuted(shape, perm))
	return &tensor{shape: slices.Clone(shape), value: v, perm: perm, integers: t.integers, truth: t.truth}
}

// group is a run of axes that a reshape turns into another run of equal size.
type group struct{ in, out []int }

// splitAxes finds the smallest groups. Axes of extent 1 join the group before or around them.
func splitAxes(from, to []int) []group {
	var groups []group
	i, j := 0, 0
	for i < len(from) || j < len(to) {
		g := group{}
		x, y := 1, 1
		if i < len(from) {
			x = from[i]
			g.in = append(g.in, i)
			i++
		}
		if j < len(to) {
			y = to[j]
			g.out = append(g.out, j)
			j++
		}
		for x != y {
			if x < y && i < len(from) || j >= len(to) {
				x *= from[i]
				g.in = append(g.in, i)
				i++
			} else {
				y *= to[j]
				g.out = append(g.out, j)
				j++
			}
		}
		groups = append(groups, g)
	}
	return groups
}

// inPlace reports whether the axes of each group, but for those of extent 1, are stored side by
// side in the file's order.
func (t *tensor) inPlace(groups []group) bool {
	short := func(d int) bool { return t.shape[d] == 1 }
	at := slices.DeleteFunc(slices.Clone(t.order()), short)
	for _, g := range groups {
		long := slices.DeleteFunc(slices.Clone(g.in), short)
		if len(long) == 0 {
			continue
		}
		if first := slices.Index(at, long[0]); first+len(long) > len(at) ||
			!slices.Equal(at[first:first+len(long)], long) {
			return false
		}
	}
	return true
}

// storedOrder sorts groups by where their first axis that counts is stored; groups without axes
// stay at the end.
func storedOrder(groups []group, shape, at []int) []group {
	place := func(g group) int {
		if len(g.in) == 0 {
			return len(at)
		}
		for _, d := range g.in {
			if shape[d] != 1 {
				return slices.Index(at, d)
			}
		}
		return slices.Index(at, g.in[0])
	}
	out := slices.Clone(groups)
	slices.SortStableFunc(out, func(a, b group) int { return place(a) - place(b) })
	return out
}
