package strategy

import (
	"fmt"
	"slices"

	"ripc/ir"
	"ripc/ir/arith"
	"ripc/schedule"
	"ripc/schedule/steps"
)

// byLane is a knob of float sums. One load brings a vector of inputs, and each of its lanes is
// multiplied by a vector of weights. Otherwise each input is a load of its own.
const byLane = "by_lane"

// floatKnobs returns partedKnobs, and by_lane where inputs may come as vectors.
func floatKnobs(l *Layer) []Knob {
	ks := partedKnobs(l)
	if _, ok := l.inputVectors(); ok {
		ks = append(ks, Knob{byLane, "bring inputs as vectors, and multiply with their lanes", []int{0, 1}})
	}
	return ks
}

// vectorForm says which inputs make a vector for multiplication by lane.
type vectorForm uint8

// The forms.
const (
	rowVectors   vectorForm = iota // the row of the image that a tile's windows cover is a run of numbers
	pixelVectors                   // a vector has neighbouring channels of a pixel
)

// inputVectors returns how the inputs of float sums come as vectors; ok is false where they do not.
// A row of the image is a run of numbers where windows read all of its channels, without gaps.
func (l *Layer) inputVectors() (form vectorForm, ok bool) {
	x := l.read()
	if !l.Target.MultipliesByLane() || x == nil || len(x.Idx) < 3 || l.scattered || l.out.extent(ir.Col) == 1 {
		return 0, false
	}
	last := len(x.Idx) - 1
	if row := coefficients(x.Idx[last-2])[l.sum.loop(ir.Row)]; l.pool.extent(ir.TapRow) > 1 && row > 1 {
		return 0, false // a tile has unread rows between those that it reads
	}
	col, channel := coefficients(x.Idx[last-1]), coefficients(x.Idx[last])
	stride, window, read := int(col[l.sum.loop(ir.Col)]), l.sum.extent(ir.TapCol), l.sum.extent(ir.Reduce)
	channels := l.buffers[x.Buf].Shape[last]
	whole := !l.pad.exists() // a load may pass the elements that a window reads in the image, but not in a copy
	switch {
	case channel[l.sum.loop(ir.Reduce)] != 1 || stride < 1:
		return 0, false
	case read%l.lanesOfFloats() == 0 && (stride == 1 || whole):
		return pixelVectors, true
	case read == channels && (window == 1 || col[l.sum.loop(ir.TapCol)] == 1) && (stride <= window || whole):
		return rowVectors, true
	}
	return 0, false
}

// lanesOfFloats returns the number of floats in a vector.
func (l *Layer) lanesOfFloats() int { return l.Target.VectorBits / ir.F32.Bits() }

// read returns the load of the input of a float product. It is nil if there are several, or if
// weights are unpacked from bits: repeated for each product, that code would be too large.
func (l *Layer) read() *ir.Load {
	var found *ir.Load
	for _, ld := range loads(l.term()) {
		switch {
		case ld.Buf == l.sum.buf:
		case !ld.T.IsFloat():
			return nil
		case chosenBy(ld.Idx, l.sum.loop(ir.Channel)):
		case found != nil:
			return nil
		default:
			found = ld
		}
	}
	return found
}

// coefficients returns the coefficients of loop variables in an affine expression.
func coefficients(e ir.Expr) map[string]int64 {
	out := map[string]int64{}
	for _, t := range arith.ToAffine(e).Terms {
		if v, ok := t.Atom.(*ir.Var); ok {
			out[v.Name] = t.Coef
		}
	}
	return out
}

// byLane brings the sums of a tile into registers, and their inputs into vectors.
func (b *builder) byLane(loops []string, t tiled) {
	form, _ := b.Layer.inputVectors()
	x := b.read()
	reduce, lanes := b.sum.loop(ir.Reduce), b.lanesOfFloats()
	around := []string{b.sum.loop(ir.TapRow), t.home} // the loops that may load vectors, the first that exists
	if form == pixelVectors {
		around = []string{b.sum.loop(ir.TapCol), b.sum.loop(ir.TapRow), t.home}
		if b.extent(reduce) > lanes {
			groups, lane := reduce+".g", reduce+".l"
			b.must(steps.SplitAs(reduce, lanes, schedule.TailPerfect, groups, lane))
			i := slices.Index(loops, reduce)
			loops = slices.Replace(slices.Clone(loops), i, i+1, groups, lane)
			around = append([]string{groups}, around...)
			reduce = lane
		}
	}
	b.reorder(loops...)
	b.registers(b.sum.buf)
	at := slices.IndexFunc(around, func(l string) bool { return b.find(l) != nil })
	if at < 0 {
		b.errorf("no loop is left that reads vectors")
		return
	}
	near, last := x.Buf+".v", len(x.Idx)-1
	b.must(steps.CacheRead(x.Buf, around[at], near))
	run := b.readLoop(near, last)
	if form == rowVectors {
		b.must(steps.Flatten(x.Buf, last-1))
		b.must(steps.Flatten(near, last-1))
		if cols := b.readLoop(near, last-1); cols != "" && run != "" {
			run = b.fuse(cols, run, near+".r")
		} else if run == "" {
			run = cols
		}
		for _, l := range loopsOf(b.serial(b.sum.buf), ir.TapCol, ir.Reduce) {
			b.must(steps.Unroll(l.Var))
		}
	} else if b.find(reduce) != nil {
		b.must(steps.Unroll(reduce))
	}
	if run != "" {
		b.vectorize(run, lanes)
	}
	for _, l := range b.serial(near) {
		b.must(steps.Unroll(l.Var))
	}
}

// readLoop returns the loop of cache_read that goes along a dimension, or "" if that has one
// element.
func (b *builder) readLoop(buf string, dim int) string {
	if name := fmt.Sprintf("%s.r%d", buf, dim); b.find(name) != nil {
		return name
	}
	return ""
}
