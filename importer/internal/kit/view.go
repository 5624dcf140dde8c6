package kit

import (
	"fmt"
	"slices"

	"ripc/graph"
)

// View is a tensor of a file. Its elements may lie in another order in Value, which holds them.
//
// The shape is cut into factors, extents above 1. Each axis is the product of adjacent factors.
// Memory holds the factors in an order of its own. So a permutation of axes and most changes of
// shape are views: elements move when a layer asks for an order of axes (Kit.StoreView).
type View struct {
	Value   *graph.Value
	Shape   []int
	factors []int                   // in the order of Shape
	order   []int                   // factor order[i] is the i-th in memory
	stored  map[string]*graph.Value // by order of axes: the view in that order
}

// ViewIn returns the view with axis d of v as its axis axes[d].
func ViewIn(v *graph.Value, axes []int) *View {
	t := &View{Value: v, Shape: make([]int, len(axes))}
	for d, axis := range axes {
		t.Shape[axis] = v.Shape[d]
	}
	place := make([]int, len(axes)) // of each axis among the factors
	for axis, extent := range t.Shape {
		if place[axis] = len(t.factors); extent > 1 {
			t.factors = append(t.factors, extent)
		}
	}
	for _, axis := range axes {
		if t.Shape[axis] > 1 {
			t.order = append(t.order, place[axis])
		}
	}
	return t
}

// ViewOf returns v as a view with the axes of v.
func ViewOf(v *graph.Value) *View { return ViewIn(v, Identity(len(v.Shape))) }

// ImageView returns v, NHWC, as a view NCHW.
func ImageView(v *graph.Value) *View { return ViewIn(v, ImageAxes()) }

// ImageAxes is the order in which memory holds the axes of an image NCHW.
func ImageAxes() []int { return []int{0, 2, 3, 1} }

// Derived returns the view of v. Its elements must lie where those of t lie.
func (t *View) Derived(v *graph.Value) *View {
	return &View{Value: v, Shape: t.Shape, factors: t.factors, order: t.order}
}

// SameOrder reports whether t and o have one shape and lie in memory in one order.
func (t *View) SameOrder(o *View) bool {
	return slices.Equal(t.Shape, o.Shape) && slices.Equal(t.factors, o.factors) && slices.Equal(t.order, o.order)
}

// runs returns, for each axis, the range of its factors.
func (t *View) runs() [][2]int {
	runs, at := make([][2]int, len(t.Shape)), 0
	for d, extent := range t.Shape {
		runs[d][0] = at
		for product := 1; product < extent; at++ {
			product *= t.factors[at]
		}
		runs[d][1] = at
	}
	return runs
}

// Permuted returns the view with axis perm[d] of t as its axis d.
func (t *View) Permuted(perm []int) *View {
	runs := t.runs()
	out := &View{Value: t.Value, Shape: Permuted(t.Shape, perm), order: slices.Clone(t.order)}
	for _, axis := range perm {
		for f := runs[axis][0]; f < runs[axis][1]; f++ {
			out.order[slices.Index(t.order, f)] = len(out.factors)
			out.factors = append(out.factors, t.factors[f])
		}
	}
	return out
}

// Axes returns the order in which memory holds the axes. whole is false if memory holds the factors
// of an axis apart, or in another order. Axes of extent 1 stand where Value has them.
func (t *View) Axes() (axes []int, whole bool) {
	var long, units []int
	for d, extent := range t.Shape {
		if extent == 1 {
			units = append(units, d)
		}
	}
	runs := t.runs()
	for i := 0; i < len(t.order); {
		d := slices.IndexFunc(runs, func(r [2]int) bool { return r[0] <= t.order[i] && t.order[i] < r[1] })
		for f := runs[d][0]; f < runs[d][1]; f++ {
			if i == len(t.order) || t.order[i] != f {
				return nil, false
			}
			i++
		}
		long = append(long, d)
	}
	for _, extent := range t.Value.Shape {
		list := &long
		if extent == 1 {
			list = &units
		}
		if len(*list) > 0 {
			axes, *list = append(axes, (*list)[0]), (*list)[1:]
		}
	}
	return slices.Concat(axes, long, units), true
}

// AxisLast returns an order of all axes with one axis at the end: NHWC for the channels of an
// image, else the order in memory.
func (t *View) AxisLast(axis int) []int {
	axes, whole := t.Axes()
	switch {
	case whole && axes[len(axes)-1] == axis:
		return axes
	case len(t.Shape) == 4 && axis == 1:
		return ImageAxes()
	case !whole:
		axes = Identity(len(t.Shape))
	}
	return append(slices.DeleteFunc(axes, func(d int) bool { return d == axis }), axis)
}

// reshaped returns t with another shape without a move of elements. ok is false if the extents of
// the two shapes do not share factors.
func (t *View) reshaped(shape []int) (out *View, ok bool) {
	parts := make([][]int, len(t.factors)) // that each factor is cut into
	at, left := 0, 1
	if len(t.factors) > 0 {
		left = t.factors[0]
	}
	for _, extent := range shape {
		for extent > 1 {
			if left == 1 {
				at++
				left = t.factors[at]
			}
			part := min(extent, left)
			if extent%part != 0 || left%part != 0 {
				return nil, false
			}
			parts[at] = append(parts[at], part)
			extent, left = extent/part, left/part
		}
	}
	out = &View{Value: t.Value, Shape: slices.Clone(shape), factors: slices.Concat(parts...)}
	first := make([]int, len(parts)+1)
	for f, list := range parts {
		first[f+1] = first[f] + len(list)
	}
	for _, f := range t.order {
		out.order = append(out.order, Identity(first[f+1])[first[f]:]...)
	}
	return out, true
}

// Reshaped returns t with another shape of as many elements.
func (k *Kit) Reshaped(t *View, shape []int) *View {
	if slices.Equal(shape, t.Shape) {
		return t
	}
	if out, ok := t.reshaped(shape); ok {
		return out
	}
	v := k.StoreView(t, Identity(len(t.Shape)))
	return ViewOf(k.Reshape(v, shape))
}

// StoreView returns a value that holds t with its axes in the given order.
func (k *Kit) StoreView(t *View, axes []int) *graph.Value {
	key := fmt.Sprint(axes)
	if v := t.stored[key]; v != nil {
		return v
	}
	var want []int
	runs := t.runs()
	for _, d := range axes {
		want = append(want, Identity(runs[d][1])[runs[d][0]:]...)
	}
	v := t.Value
	if !slices.Equal(want, t.order) {
		v = k.move(t, axes, want)
	}
	v = k.Reshape(v, Permuted(t.Shape, axes))
	if t.stored == nil {
		t.stored = map[string]*graph.Value{}
	}
	t.stored[key] = v
	return v
}

// move emits a transpose that brings the factors of t into the order want, which is that of axes.
func (k *Kit) move(t *View, axes, want []int) *graph.Value {
	if now, whole := t.Axes(); whole {
		return k.Transpose(k.Reshape(t.Value, Permuted(t.Shape, now)), places(axes, now))
	}
	var shape, first []int // runs of factors that stay together
	for i, f := range t.order {
		at := slices.Index(want, f)
		if i > 0 && at > 0 && want[at-1] == t.order[i-1] {
			shape[len(shape)-1] *= t.factors[f]
			continue
		}
		shape, first = append(shape, t.factors[f]), append(first, f)
	}
	var moved []int
	for _, f := range want {
		if slices.Contains(first, f) {
			moved = append(moved, f)
		}
	}
	return k.Transpose(k.Reshape(t.Value, shape), places(moved, first))
}

// places returns where list has each element of of.
func places(of, list []int) []int {
	at := make([]int, len(of))
	for i, v := range of {
		at[i] = slices.Index(list, v)
	}
	return at
}

// InMemory returns the elements of c in the order in which memory holds those of t, and the extents
// of the factors in that order. shape, that of c, has the axes of t or an extent of 1 in their
// place.
func (t *View) InMemory(shape []int, c []float32) (extents []int, out []float32) {
	factors := make([]int, 0, len(t.factors))
	for d, run := range t.runs() {
		for f := run[0]; f < run[1]; f++ {
			if shape[d] == 1 {
				factors = append(factors, 1)
			} else {
				factors = append(factors, t.factors[f])
			}
		}
	}
	return Permuted(factors, t.order), PermuteArray(factors, c, t.order)
}

// PermuteArray returns the elements of an array of a shape with the axes in another order.
func PermuteArray[T any](shape []int, data []T, perm []int) []T {
	step, n := make([]int, len(shape)), 1
	for d := len(shape) - 1; d >= 0; d-- {
		step[d] = n
		n *= shape[d]
	}
	out := make([]T, 0, len(data))
	var walk func(d, at int)
	walk = func(d, at int) {
		if d == len(perm) {
			out = append(out, data[at])
			return
		}
		for i := range shape[perm[d]] {
			walk(d+1, at+i*step[perm[d]])
		}
	}
	walk(0, 0)
	return out
}

// Extent returns the extent of a factor in the order of memory. Negative places count from the end.
func (t *View) Extent(place int) int {
	if place < 0 {
		place += len(t.order)
	}
	return t.factors[t.order[place]]
}

// Columns returns t as a matrix with the last axis as its columns, if memory holds the elements of
// each row together, in an order of their own: column i of the matrix is column columns[i] of t.
// It returns nil if elements of rows lie in the file's order, or apart.
func (k *Kit) Columns(t *View) (matrix *graph.Value, columns []int) {
	last := len(t.Shape) - 1
	run := t.runs()[last]
	rows := len(t.order) - (run[1] - run[0])
	if !slices.IsSorted(t.order[:rows]) || slices.ContainsFunc(t.order[:rows], func(f int) bool {
		return f >= run[0]
	}) || slices.IsSorted(t.order) {
		return nil, nil
	}
	n := t.Shape[last]
	inner := make([]int, 0, run[1]-run[0])
	for _, f := range t.order[rows:] {
		inner = append(inner, f-run[0])
	}
	columns = PermuteArray(t.factors[run[0]:], Identity(n), inner)
	return k.Reshape(t.Value, []int{graph.Elems(t.Shape[:last]), n}), columns
}

// PermuteRows returns the rows of a matrix in another order: row i of the result is row rows[i].
func PermuteRows(data []float32, rows []int) []float32 {
	width, out := len(data)/len(rows), make([]float32, 0, len(data))
	for _, r := range rows {
		out = append(out, data[r*width:(r+1)*width]...)
	}
	return out
}
