package pt2

import (
	"fmt"
	"math"
	"slices"

	"ripc/importer/internal/kit"
)

// Constants are f32. Integers are kept so, too: f32 has all of them up to maxExact.
const (
	maxExact    = 1 << 24
	maxElements = math.MaxInt32 // of one tensor
	maxRank     = 16
)

// count returns the number of elements of a shape of the file.
func count(shape []int) int {
	n := kit.Count(shape, maxElements)
	if n > maxElements || len(shape) > maxRank {
		panic(fmt.Errorf("a tensor of shape %v is too large", shape))
	}
	return n
}

// load reads a tensor of the file.
func (b *builder) load(name string) *tensor {
	p, ok := b.archive.weights[name]
	switch {
	case !ok:
		panic(errorf(b.archive.file, "copy the file again", "the archive has no data of tensor %q", name))
	case p.Pickle || p.Meta == nil:
		panic(errorf(b.archive.file, "make it a plain tensor", "tensor %q is pickled; pickles are not read", name))
	}
	fault := func(format string, args ...any) {
		panic(errorf(b.archive.file, "", "tensor %q: %s", name, fmt.Sprintf(format, args...)))
	}
	data, ok := b.archive.entries[p.Path]
	size := dtypes[p.Meta.DType].size
	if !ok {
		fault("the archive has no entry %q", p.Path)
	}
	if size == 0 {
		fault("holds elements of %v, which are not read", p.Meta.DType)
	}
	shape, open := p.Meta.shape()
	n := count(shape)
	offset, steps := 0, make([]int, len(p.Meta.Strides))
	last := 0 // the last element that is read
	for d, s := range append(slices.Clone(p.Meta.Strides), p.Meta.Offset) {
		if offset, ok = s.extent(); !ok {
			fault("a stride or an offset is no number from 0")
		}
		if d < len(steps) {
			steps[d] = offset
		}
	}
	if len(steps) != len(shape) || len(open) > 0 {
		fault("has %d strides for shape %v", len(steps), shape)
	}
	for d, step := range steps {
		if last += step * max(0, shape[d]-1); last > maxElements {
			fault("strides %v reach beyond its data", steps)
		}
	}
	if n > 0 && last+offset >= len(data)/size {
		fault("shape %v with strides %v from element %d on reaches beyond its %d bytes",
			shape, steps, offset, len(data))
	}
	b.Take(2 * n)
	raw := make([]byte, 0, n*size)
	var walk func(d, at int)
	walk = func(d, at int) {
		if d == len(shape) {
			raw = append(raw, data[at*size:(at+1)*size]...)
			return
		}
		for i := range shape[d] {
			walk(d+1, at+i*steps[d])
		}
	}
	walk(0, offset)
	return b.Decode(dtypes[p.Meta.DType].onnx, shape, raw)
}

// filled returns a constant of one number.
func (b *builder) filled(shape []int, v float64) *tensor {
	n := count(shape)
	b.Take(n)
	return b.Constant(slices.Clone(shape), slices.Repeat([]float32{float32(v)}, n))
}
