package onnx

import (
	"math"
	"slices"
)

// narrowed is c, an operand that is broadcast to shape, with extent 1 along the axes where it says the same again and again:
// exporters compute the expand_as of training code, which makes a number for each element of one for each channel. Axes along
// which shape itself has to be repeated stay.
func (b *budget) narrowed(c *array, shape []int) *array {
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
	return a.at(k) == a.at(j)
}
