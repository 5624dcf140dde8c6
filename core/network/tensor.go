package network

import (
	"slices"

	"ripc/core"
	"ripc/dataflow"
)

// tensor is a tensor in the memory outside: pixels with their border, each in bit planes or bytes.
type tensor struct {
	dataflow.Shape
	bits                     int // planes of a level, or of a sum
	bytes, signed            bool
	lanes                    int // channels with those that fill words, which are 0
	top, left, bottom, right int
	level                    int64 // of the border
	bordered                 bool  // level is set
	at                       int   // first word
}

// fill gives t a number of channels at least, and others that fill words and vectors of some rows.
func (t *tensor) fill(c core.Config, channels, rows int) {
	unit := c.Lanes
	if t.bytes {
		unit = max(rows, c.Lanes/8)
	}
	t.lanes = max(t.lanes, (channels+unit-1)/unit*unit)
}

// height and width include the border.
func (t *tensor) height() int { return t.top + t.H + t.bottom }
func (t *tensor) width() int  { return t.left + t.W + t.right }

// words is the size in memory.
func (t *tensor) words(c core.Config) int {
	v := t.view(c, t.height(), t.width(), t.lanes)
	return v.size * c.Rows / c.Lanes
}

// view is how an array [H, W, ...channels] of levels lies in a memory, in pieces of Rows bits.
type view struct {
	strides []int // of a dimension's index
	plane   int   // between planes of a level, or pieces of bytes
	parts   int   // planes, or pieces that hold Rows bytes
	size    int
}

// view is that of an array of t's levels, whole or a part.
func (t *tensor) view(c core.Config, shape ...int) view {
	lanes := 1
	for _, n := range shape[2:] {
		lanes *= n
	}
	v := view{parts: t.bits, plane: lanes / c.Rows}
	pixel, wide := t.bits*lanes/c.Rows, 1
	if t.bytes {
		v.parts, v.plane, wide = 8, 1, 8
		pixel = lanes * 8 / c.Rows
	}
	v.size = shape[0] * shape[1] * pixel
	v.strides = []int{shape[1] * pixel, pixel}
	for _, n := range shape[2:] {
		lanes /= n
		v.strides = append(v.strides, lanes*wide/c.Rows)
	}
	return v
}

// write puts a level at a place. memory is that outside.
func (t *tensor) write(c core.Config, memory []uint32, h, w, ch int, level int64) {
	for b, k := range t.places(c, h, w, ch) {
		memory[k/32] = memory[k/32]&^(1<<(k%32)) | uint32(level>>b&1)<<(k%32)
	}
}

// read is the level, or the sum, at a place.
func (t *tensor) read(c core.Config, memory []uint32, h, w, ch int) int64 {
	v, places := int64(0), t.places(c, h, w, ch)
	for b, k := range places {
		v |= int64(memory[k/32]>>(k%32)&1) << b
	}
	if n := 64 - len(places); t.signed {
		return v << n >> n
	}
	return v
}

// places are the bits of a level, with h and w counted from the border's corner.
func (t *tensor) places(c core.Config, h, w, ch int) []int {
	v := t.view(c, t.height(), t.width(), t.lanes)
	at := t.at*c.Lanes + (h*v.strides[0]+w*v.strides[1])*c.Rows
	var all []int
	for b := range t.bits {
		if t.bytes {
			all = append(all, at+ch*8+b)
		} else {
			all = append(all, at+b*v.plane*c.Rows+ch)
		}
	}
	return all
}

// fillBorder sets the border's levels.
func (t *tensor) fillBorder(c core.Config, memory []uint32) {
	for h := range t.height() {
		for w := range t.width() {
			if h >= t.top && h < t.top+t.H && w >= t.left && w < t.left+t.W {
				continue
			}
			for ch := range t.C {
				t.write(c, memory, h, w, ch, t.level)
			}
		}
	}
}

// set writes a picture.
func (t *tensor) set(c core.Config, memory []uint32, levels []int64) {
	for i, v := range levels {
		t.write(c, memory, t.top+i/t.C/t.W, t.left+i/t.C%t.W, i%t.C, v)
	}
}

// get is the picture.
func (t *tensor) get(c core.Config, memory []uint32) []int64 {
	all := make([]int64, t.Elems())
	for i := range all {
		all[i] = t.read(c, memory, t.top+i/t.C/t.W, t.left+i/t.C%t.W, i%t.C)
	}
	return all
}

// divisors of n, ascending.
func divisors(n int) []int {
	var all []int
	for d := 1; d*d <= n; d++ {
		if n%d == 0 {
			all = append(all, d, n/d)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
