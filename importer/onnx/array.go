package onnx

import (
	"fmt"
	"math"
	"slices"

	"ripc/graph"
)

// array is a constant tensor. Elements lie in row-major order in the slice that fits the type: f for float, float16 and
// bfloat16, d for double, i for integers and booleans.
type array struct {
	dt    dtype
	shape []int
	f     []float32
	d     []float64
	i     []int64
	// fourBits says that dt, of 8 bits, stands for the type of 4 bits that the file has.
	fourBits bool
	from     *made // what DequantizeLinear made it of, nil for other arrays
}

// newArray makes an array of zeros.
func (b *budget) newArray(dt dtype, shape []int) (*array, error) {
	n, err := elements(shape)
	if err != nil {
		return nil, err
	}
	a := &array{dt: dt, shape: slices.Clone(shape)}
	switch {
	case dt == dtDouble:
		if err = b.take(n, 8); err == nil {
			a.d = make([]float64, n)
		}
	case dt.float():
		if err = b.take(n, 4); err == nil {
			a.f = make([]float32, n)
		}
	default:
		if err = b.take(n, 8); err == nil {
			a.i = make([]int64, n)
		}
	}
	return a, err
}

// len is the number of elements.
func (a *array) len() int { return len(a.f) + len(a.d) + len(a.i) }

// at is element k as a float64.
func (a *array) at(k int) float64 {
	switch {
	case a.f != nil:
		return float64(a.f[k])
	case a.d != nil:
		return a.d[k]
	}
	return float64(a.i[k])
}

// set stores v, rounded (or cut off to an integer) to a's type.
func (a *array) set(k int, v float64) {
	switch {
	case a.f != nil:
		a.f[k] = float32(a.dt.round(v))
	case a.d != nil:
		a.d[k] = v
	case a.dt == dtBool:
		a.i[k] = 0
		if v != 0 {
			a.i[k] = 1
		}
	default:
		a.i[k] = a.dt.wrap(truncate(v))
	}
}

// truncate is the integer part of v; what no int64 holds becomes the nearest one, NaN 0.
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
	case a.f != nil:
		a.f[k] = o.f[j]
	case a.d != nil:
		a.d[k] = o.d[j]
	case a.i != nil:
		a.i[k] = o.i[j]
	}
}

// view is a with another shape of as many elements.
func (a *array) view(shape []int) *array {
	v := *a
	v.from = nil
	v.shape = slices.Clone(shape)
	return &v
}

// floats are a's elements as f32.
func (a *array) floats() []float32 {
	if a.f != nil || a.len() == 0 {
		return a.f
	}
	out := make([]float32, a.len())
	for k := range out {
		out[k] = float32(a.at(k))
	}
	return out
}

// ints are the elements of an integer array.
func (a *array) ints() ([]int, error) {
	if a.dt.float() {
		return nil, fmt.Errorf("is %s, want int64", a.dt)
	}
	out := make([]int, len(a.i))
	for k, v := range a.i {
		out[k] = int(v)
	}
	return out, nil
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

// gather makes an array of another shape whose element at index x is a's at offset base + sum of x[d]*step[d].
func (b *budget) gather(a *array, shape []int, base int, step []int) (*array, error) {
	out, err := b.newArray(a.dt, shape)
	if err != nil {
		return nil, err
	}
	out.fourBits = a.fourBits
	eachOffset(shape, base, step, func(k, from int) { out.copyFrom(k, a, from) })
	return out, nil
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

// permuted is a with axis d of the result being axis perm[d].
func (b *budget) permuted(a *array, perm []int) (*array, error) {
	s := strides(a.shape)
	shape, step := make([]int, len(perm)), make([]int, len(perm))
	for d, p := range perm {
		shape[d], step[d] = a.shape[p], s[p]
	}
	return b.gather(a, shape, 0, step)
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
