package kit

import (
	"slices"

	"ripc/graph"
	"ripc/internal/lists"
)

// WholeSpan is the span of all positions of an axis.
func WholeSpan(extent int) Span { return Span{Count: extent, Step: 1} }

// WholeSpans are those of all axes of a shape.
func WholeSpans(shape []int) []Span {
	return lists.Map(shape, WholeSpan)
}

// Forward is s read in rising order; reversed says that s takes several positions in falling order.
func (s Span) Forward() (forward Span, reversed bool) {
	reversed = s.Step < 0 && s.Count > 1
	if s.Step < 0 {
		s.Begin, s.Step = s.Begin+(s.Count-1)*s.Step, -s.Step
	}
	if s.Count == 1 {
		s.Step = 1
	}
	return s, reversed
}

// Cut emits a slice of x by a span of each axis, with positive steps. It emits nothing if x stays
// whole.
func (k *Kit) Cut(x *graph.Value, spans []Span) *graph.Value {
	a := &graph.SliceAttrs{}
	for _, s := range spans {
		a.Begin, a.Size, a.Stride = append(a.Begin, s.Begin), append(a.Size, s.Count), append(a.Stride, s.Step)
	}
	if slices.Equal(a.Size, x.Shape) {
		return x
	}
	return k.Emit("slice", a, nil, x)
}

// CutAxis is Cut along one axis.
func (k *Kit) CutAxis(x *graph.Value, axis int, s Span) *graph.Value {
	spans := WholeSpans(x.Shape)
	spans[axis] = s
	return k.Cut(x, spans)
}

// Concat emits values one after the other along an axis.
func (k *Kit) Concat(parts []*graph.Value, axis int) *graph.Value {
	if len(parts) == 1 {
		return parts[0]
	}
	shape := slices.Clone(parts[0].Shape)
	shape[axis] = 0
	var in []*graph.Value
	for _, p := range parts {
		shape[axis] += p.Shape[axis]
		in = append(in, k.Part(p, axis))
	}
	return k.Join(in, shape)
}

// Part is x as Join takes it: where axis is not its last one, the axes behind it count as one with
// it.
func (k *Kit) Part(x *graph.Value, axis int) *graph.Value {
	if axis == len(x.Shape)-1 {
		return x
	}
	return k.Reshape(x, []int{graph.Elems(x.Shape[:axis]), graph.Elems(x.Shape[axis:])})
}

// Join emits parts one after the other, as a value of a shape.
func (k *Kit) Join(parts []*graph.Value, shape []int) *graph.Value {
	return k.Reshape(k.Emit("concat", &graph.ConcatAttrs{}, nil, parts...), shape)
}

// Pick emits the given positions of an axis of x in that order: slices, one for each run of
// positions that go up by equal steps.
func (k *Kit) Pick(x *graph.Value, axis int, positions []int) *graph.Value {
	parts := lists.Map(Runs(positions), func(run Span) *graph.Value { return k.CutAxis(x, axis, run) })
	return k.Concat(parts, axis)
}

// Repeat emits x times[d] times, one after another, along each axis d. The axes from a repeated one
// on are one pixel of an image, which a resize repeats; axes of extent 1 before it count as one
// with it. x gets axes of extent 1 in front until there is one for each of times.
func (k *Kit) Repeat(x *graph.Value, times []int) *graph.Value {
	shape := append(slices.Repeat([]int{1}, len(times)-len(x.Shape)), x.Shape...)
	for d := len(shape) - 1; d >= 0; d-- {
		first, count := d, times[d]
		if count == 1 {
			continue
		}
		for first > 0 && shape[first-1] == 1 && times[first-1] > 1 {
			first--
			count = min(count*times[first], graph.MaxElems+1)
		}
		x = k.Reshape(x, []int{graph.Elems(shape[:first]), 1, 1, graph.Elems(shape[first:])})
		x = k.Emit("resize", &graph.ResizeAttrs{Factor: [2]int{1, count}}, nil, x)
		for ; d > first; d-- {
			shape[d] *= times[d]
		}
		shape[d] *= times[d]
	}
	return k.Reshape(x, shape)
}

// Sample says how positions from of an axis of n are taken: each position times times, or a span of
// them, or, if neither is the case, as they are listed.
func Sample(n int, from []int) (times int, cut Span, listed bool) {
	out := len(from)
	follow := func(first, step, times int) bool {
		for i, p := range from {
			if p != first+i/times*step {
				return false
			}
		}
		return true
	}
	switch times, step := out/n, max(1, n/out); {
	case out == times*n && follow(0, 1, times):
		return times, WholeSpan(n), false
	case follow(from[0], step, 1):
		return 1, Span{from[0], out, step}, false
	}
	return 1, WholeSpan(n), true
}

// At emits x at positions along some axes; nil axes stay as they are. Rows and columns of an image
// are taken at once. Any other axis becomes the rows of an image, and the axes behind it become its
// pixels.
func (k *Kit) At(x *graph.Value, axes ...*Along) *graph.Value {
	axes = slices.DeleteFunc(slices.Clone(axes), func(a *Along) bool { return a == nil })
	if len(x.Shape) == 4 && !slices.ContainsFunc(axes, func(a *Along) bool { return a.Axis < 1 || a.Axis > 2 }) {
		var along [2]*Along
		for _, a := range axes {
			along[a.Axis-1] = a
		}
		return k.AtPixels(x, along[0], along[1])
	}
	for _, a := range axes {
		x = k.AsRows(x, a.Axis, func(x *graph.Value) *graph.Value { return k.AtPixels(x, a, nil) })
	}
	return x
}

// AtPixels emits image x, NHWC, at positions along its rows and columns; nil leaves an axis as it
// is.
func (k *Kit) AtPixels(x *graph.Value, rows, columns *Along) *graph.Value {
	g, i := &graph.GatherAttrs{}, &graph.InterpolateAttrs{}
	if rows != nil {
		g.Rows, i.Rows = rows.Whole, rows.Between
	}
	if columns != nil {
		g.Columns, i.Columns = columns.Whole, columns.Between
	}
	if len(g.Rows)+len(g.Columns) > 0 {
		x = k.Emit("gather", g, nil, x)
	}
	if len(i.Rows)+len(i.Columns) > 0 {
		x = k.Emit("interpolate", i, nil, x)
	}
	return x
}

// AsRows gives f an image of the elements of x, with an axis of x as its rows. The result of f gets
// the other axes of x back.
func (k *Kit) AsRows(x *graph.Value, axis int, f func(x *graph.Value) *graph.Value) *graph.Value {
	shape := slices.Clone(x.Shape)
	x = f(k.Reshape(x, ImageOf(shape, axis, 1)))
	shape[axis] = x.Shape[1]
	return k.Reshape(x, shape)
}

// Spatial emits rows and columns of value around an image, NHWC, and nothing if there are none to
// add.
func (k *Kit) Spatial(x *graph.Value, before, after [2]int, value float64) *graph.Value {
	p := explicit(before, after)
	if !p.Any() {
		return x
	}
	return k.Emit("pad", &graph.SpatialPadAttrs{Pad: p, Value: value}, nil, x)
}
