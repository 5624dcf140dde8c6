package strategy

import (
	"fmt"
	"slices"

	"ripc/ir"
	"ripc/ir/arith"
	"ripc/schedule"
	"ripc/schedule/cost"
	"ripc/schedule/steps"
)

// byLane is the knob of float sums whose inputs come as vectors, the lanes of which are multiplied with vectors of weights: a load
// brings several inputs, where else each is a load of its own.
const byLane = "by_lane"

// floatKnobs are partedKnobs with the channels and the tile whose loads and products take least, where loads count: on cores that work in
// order, for which a load takes the place of a product (windows of one tap gained nothing where that was tried), and where inputs
// come as vectors, which take registers.
func floatKnobs(l *Layer) []Knob {
	ks := partedKnobs(l)
	w, ok := l.inputVectors()
	channels, n := slices.IndexFunc(ks, func(k Knob) bool { return k.Name == part || k.Name == lanes }), l.out.extent(ir.Bit)
	if !l.packed {
		n = l.out.extent(ir.Channel)
	}
	parts := []int{n}
	if channels >= 0 {
		parts = slices.DeleteFunc(slices.Clone(ks[channels].Domain), func(k int) bool { return k > cost.PowerOfTwo(n) })
	}
	if t := slices.IndexFunc(ks, func(k Knob) bool { return k.Name == tileW }); !ok && channels >= 0 && ks[channels].Name == lanes {
		ks[t].Default = l.ownTile(ks[channels].Default, ks[t].Default)
	}
	if t := slices.IndexFunc(ks, func(k Knob) bool { return k.Name == tileW }); !ok && l.packed && !l.scattered && !l.pool.exists() {
		ks[t].Default = cost.ComparedTile(l.Target, l.out.extent(ir.Col), l.levelBits(), ks[t].Default)
	}
	if !ok {
		if !l.Target.InOrder || channels < 0 || ks[channels].Name != part || w.Rows*w.Cols == 1 {
			return ks
		}
	}
	if ok {
		parts = slices.DeleteFunc(parts, func(k int) bool { return k != cost.PowerOfTwo(k) }) // others are no registers
	}
	best, tile := cost.Part(l.Target, parts, n, w)
	if best == 0 {
		return ks
	}
	if channels >= 0 {
		ks[channels].Default = best
	}
	for i, k := range ks {
		if k.Name == tileW && !l.scattered {
			ks[i].Domain, ks[i].Default = upTo(min(w.Width, 2*tile)), tile
		}
	}
	if ok {
		ks = append(ks, Knob{byLane, "bring inputs as vectors, and multiply with their lanes", []int{0, 1}, 1})
	}
	return ks
}

// inputVectors is what float sums read, and how it may come as vectors; ok is false where it may not. A row of the image is a run of numbers
// where windows read all of its channels, without gaps.
func (l *Layer) inputVectors() (w cost.Window, ok bool) {
	w = cost.Window{
		Rows: l.sum.extent(ir.TapRow), Cols: l.sum.extent(ir.TapCol), Channels: l.sum.extent(ir.Reduce), Stride: 1,
		Width: l.out.extent(ir.Col), PoolRows: max(1, l.pool.extent(ir.TapRow)), PoolCols: max(1, l.pool.extent(ir.TapCol)),
	}
	x := l.read()
	if !l.Target.MultipliesByLane() || x == nil || len(x.Idx) < 3 || l.scattered || w.Width == 1 {
		return w, false
	}
	last := len(x.Idx) - 1
	if row := coefficients(x.Idx[last-2])[l.sum.loop(ir.Row)]; w.PoolRows > 1 && row > 1 {
		return w, false // rows that nothing reads are between those of a tile
	}
	col, channel := coefficients(x.Idx[last-1]), coefficients(x.Idx[last])
	w.Stride = int(col[l.sum.loop(ir.Col)])
	channels := l.buffers[x.Buf].Shape[last]
	whole := !l.pad.exists() // a copy has no more than what is read of it; of the image more may be loaded
	switch {
	case channel[l.sum.loop(ir.Reduce)] != 1 || w.Stride < 1:
		return w, false
	case w.Channels%l.lanesOfFloats() == 0 && (w.Stride == 1 || whole):
		w.Vectors = cost.PixelVectors
	case w.Channels == channels && (w.Cols == 1 || col[l.sum.loop(ir.TapCol)] == 1) && (w.Stride <= w.Cols || whole):
		w.Vectors = cost.RowVectors
	default:
		return w, false
	}
	return w, true
}

// lanesOfFloats is how many floats a vector has.
func (l *Layer) lanesOfFloats() int { return l.Target.VectorBits / ir.F32.Bits() }

// read is the load of the input of a product of floats, nil if there is none of its own, or if weights are made of bits first: to do that for each
// of the products that stand side by side makes too much code.
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

// coefficients are those of loops' variables in a sum.
func coefficients(e ir.Expr) map[string]int64 {
	out := map[string]int64{}
	for _, t := range arith.ToAffine(e).Terms {
		if v, ok := t.Atom.(*ir.Var); ok {
			out[v.Name] = t.Coef
		}
	}
	return out
}

// byLane makes registers of the sums of a tile, and vectors of what they read.
func (b *builder) byLane(loops []string, t tiled) {
	w, _ := b.Layer.inputVectors()
	x := b.read()
	reduce, lanes := b.sum.loop(ir.Reduce), b.lanesOfFloats()
	around := []string{b.sum.loop(ir.TapRow), t.home} // whose iterations read vectors of their own, if it is there
	if w.Vectors == cost.PixelVectors {
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
	if w.Vectors == cost.RowVectors {
		b.must(steps.Flatten(x.Buf, last-1))
		b.must(steps.Flatten(near, last-1))
		if cols := b.readLoop(near, last-1); cols != "" && run != "" {
			run = b.fuse(cols, run, near+".r")
		} else if run == "" {
			run = cols
		}
		for _, l := range on(b.serial(b.sum.buf), ir.TapCol, ir.Reduce) {
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

// readLoop is the loop of what cache_read made that goes along a dimension, "" if that has one element.
func (b *builder) readLoop(buf string, dim int) string {
	if name := fmt.Sprintf("%s.r%d", buf, dim); b.find(name) != nil {
		return name
	}
	return ""
}
