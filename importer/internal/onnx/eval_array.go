package onnx

import (
	"fmt"
	"math"
	"slices"

	"ripc/graph"
	"ripc/importer/internal/kit"
	"ripc/internal/f32"
	"ripc/internal/stop"
)

// array is a constant tensor. Its elements lie in row-major order in the slice for their type.
type array struct {
	dt    dtype
	shape []int
	f     []float32 // float, float16 and bfloat16
	d     []float64 // double
	bytes []byte    // booleans and integers of 8 bits, perhaps in the file's own memory
	i     []int64   // wider integers
	// levels are floats that are computed when they are read; f, d, bytes and i are empty then.
	levels *levels
	// fourBits says that dt, of 8 bits, stands for the type of 4 bits that the file has.
	fourBits bool
	from     *made // the source that DequantizeLinear made it of, nil for other arrays
}

// levels are the floats that DequantizeLinear makes of integers of 8 bits. Element k has number
// k/run%len(scale) of scale and zero. Without zero nothing is subtracted.
type levels struct {
	ints        *array
	scale, zero []float32
	run         int
}

// axis is the axis of shape along which scales differ, or -1 if none is.
func (l *levels) axis(shape []int) int {
	for d, s := range strides(shape) {
		if s == l.run && shape[d] == len(l.scale) {
			return d
		}
	}
	return -1
}

func (l *levels) number(k int) float32 {
	v, c := float32(l.ints.integer(k)), k/l.run%len(l.scale)
	if len(l.zero) > 0 {
		v -= l.zero[c]
	}
	return v * l.scale[c]
}

// newArray makes an array of zeros.
func (b *budget) newArray(dt dtype, shape []int) *array {
	n := stop.Must(elements(shape))
	a := &array{dt: dt, shape: slices.Clone(shape)}
	switch {
	case dt == dtDouble:
		b.take(n, 8)
		a.d = make([]float64, n)
	case dt.float():
		b.take(n, 4)
		a.f = make([]float32, n)
	case dt.size() == 1:
		b.take(n, 1)
		a.bytes = make([]byte, n)
	default:
		b.take(n, 8)
		a.i = make([]int64, n)
	}
	return a
}

// len is the number of elements.
func (a *array) len() int {
	if a.levels != nil {
		return a.levels.ints.len()
	}
	return len(a.f) + len(a.d) + len(a.bytes) + len(a.i)
}

// integer returns element k of an array of integers.
func (a *array) integer(k int) int64 {
	switch {
	case a.bytes == nil:
		return a.i[k]
	case a.dt == dtInt8:
		return int64(int8(a.bytes[k]))
	}
	return int64(a.bytes[k])
}

// setInteger sets element k of an array of integers to v, brought into the range of their type.
func (a *array) setInteger(k int, v int64) {
	if v = a.dt.wrap(v); a.bytes != nil {
		a.bytes[k] = byte(v)
	} else {
		a.i[k] = v
	}
}

// number returns element k as a float64.
func (a *array) number(k int) float64 {
	switch {
	case a.f != nil:
		return float64(a.f[k])
	case a.d != nil:
		return a.d[k]
	case a.levels != nil:
		return float64(a.levels.number(k))
	}
	return float64(a.integer(k))
}

// set stores v, rounded (or cut off to an integer) to a's type.
func (a *array) set(k int, v float64) {
	switch {
	case a.f != nil:
		a.f[k] = float32(a.dt.round(v))
	case a.d != nil:
		a.d[k] = v
	case a.dt == dtBool:
		a.bytes[k] = 0
		if v != 0 {
			a.bytes[k] = 1
		}
	default:
		a.setInteger(k, truncate(v))
	}
}

// truncate is the integer part of v. Numbers outside of int64 become the nearest int64, NaN becomes
// 0.
func truncate(v float64) int64 {
	switch {
	case v != v:
		return 0
	case v >= math.MaxInt64:
		return math.MaxInt64
	case v <= math.MinInt64:
		return math.MinInt64
	}
	return int64(v)
}

// copyFrom sets element k to element j of o, an array of a's type.
func (a *array) copyFrom(k int, o *array, j int) {
	switch {
	case o.levels != nil:
		a.f[k] = o.levels.number(j)
	case a.f != nil:
		a.f[k] = o.f[j]
	case a.d != nil:
		a.d[k] = o.d[j]
	case a.bytes != nil:
		a.bytes[k] = o.bytes[j]
	case a.i != nil:
		a.i[k] = o.i[j]
	}
}

// view is a with another shape of equal size.
func (a *array) view(shape []int) *array {
	v := *a
	v.from = nil
	v.shape = slices.Clone(shape)
	return &v
}

// numbers returns a's elements as f32, without a copy where graph.Numbers can hold their type.
func (a *array) numbers() graph.Numbers {
	switch l := a.levels; {
	case l != nil:
		return graph.Dequantized(l.ints.numbers(), l.scale, l.zero, l.run)
	case a.bytes == nil:
		return graph.NumbersOf(a.floats())
	case a.dt == dtInt8:
		return graph.NumbersOf(f32.Int8s(a.bytes))
	}
	return graph.NumbersOf(a.bytes)
}

// floats returns a's elements as f32: a copy, unless a holds f32.
func (a *array) floats() []float32 {
	switch {
	case a.f != nil || a.len() == 0:
		return a.f
	case a.levels != nil:
		return a.numbers().Floats()
	}
	out := make([]float32, a.len())
	for k := range out {
		out[k] = float32(a.number(k))
	}
	return out
}

// strides are the distances, in elements, of neighbours along each axis.
func strides(shape []int) []int {
	s := make([]int, len(shape))
	n := 1
	for d := len(shape) - 1; d >= 0; d-- {
		s[d] = n
		n *= shape[d]
	}
	return s
}

// gather makes an array of another shape. Its element at index x is element base + sum of
// x[d]*step[d] of a.
func (b *budget) gather(a *array, shape []int, base int, step []int) *array {
	out := b.newArray(a.dt, shape)
	out.fourBits = a.fourBits
	eachOffset(shape, base, step, func(k, from int) { out.copyFrom(k, a, from) })
	return out
}

// pick makes an array of elements of a: positions lists, for each axis, which position of a the
// result's positions hold. A position outside of a holds value.
func (b *budget) pick(a *array, positions [][]int, value float64) *array {
	shape, s := make([]int, len(positions)), strides(a.shape)
	for d, list := range positions {
		shape[d] = len(list)
	}
	out := b.newArray(a.dt, shape)
	for k := range out.len() {
		at, inside, rest := 0, true, k
		for d := len(shape) - 1; d >= 0; d-- {
			p := positions[d][rest%shape[d]]
			rest /= shape[d]
			inside = inside && p >= 0 && p < a.shape[d]
			at += p * s[d]
		}
		if inside {
			out.copyFrom(k, a, at)
		} else {
			out.set(k, value)
		}
	}
	return out
}

// eachOffset calls f with every element's number in row-major order and its offset by step.
func eachOffset(shape []int, base int, step []int, f func(k, offset int)) {
	next := walk(shape, base, step)
	for k := range graph.Elems(shape) {
		f(k, next())
	}
}

// walk yields the offsets of a shape's elements by step in row-major order, one for each call.
func walk(shape []int, base int, step []int) func() int {
	idx := make([]int, len(shape))
	off := base
	return func() int {
		now := off
		for d := len(shape) - 1; d >= 0; d-- {
			idx[d]++
			off += step[d]
			if idx[d] < shape[d] {
				break
			}
			off -= step[d] * shape[d]
			idx[d] = 0
		}
		return now
	}
}

// permute returns a with axis d of the result being axis perm[d].
func (b *budget) permute(a *array, perm []int) *array {
	if l := a.levels; l != nil {
		axis := l.axis(a.shape)
		if len(l.scale) == 1 || axis >= 0 {
			ints := b.permute(l.ints.view(a.shape), perm)
			to := &levels{ints: ints, scale: l.scale, zero: l.zero, run: 1}
			if axis >= 0 {
				to.run = strides(ints.shape)[slices.Index(perm, axis)]
			}
			return &array{dt: a.dt, shape: ints.shape, levels: to}
		}
	}
	return b.gather(a, kit.Permuted(a.shape, perm), 0, kit.Permuted(strides(a.shape), perm))
}

// broadcastShape is the shape of an elementwise operation on two shapes.
func broadcastShape(a, b []int) ([]int, error) {
	out := make([]int, max(len(a), len(b)))
	for d := range out {
		x, y := extentFromEnd(a, len(out)-d), extentFromEnd(b, len(out)-d)
		switch {
		case x == y || y == 1:
			out[d] = x
		case x == 1:
			out[d] = y
		default:
			return nil, fmt.Errorf("shapes %v and %v cannot be broadcast", a, b)
		}
	}
	return out, nil
}

// broadcastsTo reports whether an array of shape from can be repeated over one of shape to.
func broadcastsTo(from, to []int) bool {
	shape, err := broadcastShape(to, from)
	return err == nil && slices.Equal(shape, to)
}

func extentFromEnd(s []int, back int) int {
	if back > len(s) {
		return 1
	}
	return s[len(s)-back]
}

// broadcastSteps are the steps that repeat an array of the given shape over a larger one.
func broadcastSteps(from, to []int) []int {
	s, step := strides(from), make([]int, len(to))
	for d := range to {
		if k := d - (len(to) - len(from)); k >= 0 && from[k] != 1 {
			step[d] = s[k]
		}
	}
	return step
}

// narrow returns c, an operand that is broadcast to shape, with extent 1 along the axes where it
// says the same again and again: exporters compute the expand_as of training code, which makes a
// number for each element of one for each channel. Axes along which shape itself has to be repeated
// stay.
func (b *budget) narrow(c *array, shape []int) *array {
	for d, e := range c.shape {
		if e < 2 || c.len() == 0 || extentFromEnd(shape, len(c.shape)-d) != e || !c.repeats(d) {
			continue
		}
		to := slices.Clone(c.shape)
		to[d] = 1
		n := b.newArray(c.dt, to)
		inner := strides(c.shape)[d]
		for k := range n.len() {
			n.copyFrom(k, c, k/inner*inner*e+k%inner)
		}
		c = n
	}
	return c
}

// repeats reports whether all of a's parts along axis d have the bits of the first.
func (a *array) repeats(d int) bool {
	inner := strides(a.shape)[d]
	block := inner * a.shape[d]
	for k := range a.len() {
		if !a.sameBits(k, k/block*block+k%inner) {
			return false
		}
	}
	return true
}

// sameBits reports whether elements k and j are one, a NaN and the sign of a zero included.
func (a *array) sameBits(k, j int) bool {
	switch {
	case a.f != nil:
		return math.Float32bits(a.f[k]) == math.Float32bits(a.f[j])
	case a.d != nil:
		return math.Float64bits(a.d[k]) == math.Float64bits(a.d[j])
	}
	return a.number(k) == a.number(j)
}
