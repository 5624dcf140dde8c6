package ops

import (
	"fmt"
	"math"
	"slices"

	"ripc/ir"
	"ripc/lower/layout"
)

// floatSums adds up products in f32: a chain of fma.
type floatSums struct {
	*conv
	f *layout.FloatSums
}

func (c *floatSums) name(size string) string {
	switch {
	case c.X.Encoded():
		return fmt.Sprintf("fconv2d_a%d_%s", c.X.Bits, size)
	case c.f.Packed != nil:
		return fmt.Sprintf("fconv2d_w%d_%s", c.f.Packed.Bits, size)
	}
	return "fconv2d_" + size
}

func (c *floatSums) output(x ir.Buffer, slice Slice) ir.Buffer { return c.outputOfSums(x, slice) }

func (c *floatSums) sumType() ir.Type { return ir.F32 }

func (c *floatSums) accumulate(x ir.Buffer) ir.Buffer {
	wt := c.weights()
	x = c.input(x)
	acc, outer := c.accumulators(c.sumType())
	i := vars(outer)
	channel, ch := c.channel(i[3])
	red := loops("acc.", loop(ir.TapRow, "kh", c.KH), loop(ir.TapCol, "kw", c.KW), loop(ir.Reduce, ch, c.GroupIn()))
	h, w := c.pixel(i[1], i[2], ir.V("acc.kh"), ir.V("acc.kw"))
	var weight, start ir.Expr = nil, ir.Float(0)
	if c.f.Packed != nil {
		weight = c.unpackedWeight(wt, vars(red), i[3])
	} else {
		weight = ir.At(wt, append(vars(red), i[3])...)
	}
	if c.f.Bias != nil {
		start = ir.At(constant(c.conv, "bias", ir.F32, c.f.Bias, 0), i[3])
	}
	step := set(acc, &ir.Fma{A: ir.At(x, i[0], h, w, channel), B: weight, C: ir.At(acc, i...)}, i...)
	c.nests = append(c.nests, ir.Nest(outer, ir.Seq(set(acc, start, i...), ir.Nest(red, step))))
	return acc
}

// weights adds the parameter of the weights.
func (c *floatSums) weights() ir.Buffer {
	if p := c.f.Packed; p != nil {
		return constant(c.conv, "wt", ir.U32, p.Words, 0, len(p.Words)/c.Out)
	}
	return weights(c.conv, "wt", ir.F32, c.f.Weights, 0, c.KH, c.KW, c.GroupIn())
}

// input makes the copy of the input that the windows read, padded or of floats, or gives the input
// itself.
func (c *floatSums) input(x ir.Buffer) ir.Buffer {
	switch {
	case c.From.Bytewise():
		return c.unpackedBytes(x)
	case c.X.Encoded():
		return c.unpacked(x)
	}
	return c.padInput(x, func([]ir.Expr) ir.Expr { return ir.Float(c.f.Pad) })
}

func (c *floatSums) element(acc ir.Buffer, b, h, w, o ir.Expr) ir.Expr { return ir.At(acc, b, h, w, o) }

func (c *floatSums) raw(acc ir.Buffer, b, h, w, o ir.Expr) ir.Expr {
	p := c.element(acc, b, h, w, o)
	if c.f.Border == nil {
		return p
	}
	return add(p, classed(c.conv, "border", ir.F32, c.f.Border, c.f.Rows, c.f.Cols, h, w, o))
}

func (c *floatSums) largest() ir.StoreOp { return ir.MaxTo }

func (c *floatSums) thresholds(_ []ir.Expr, o ir.Expr) (threshold func(j int) ir.Expr, reached ir.BinOp) {
	t := constant(c.conv, "t", ir.F32, slices.Concat(c.f.Thresholds...), float32(math.Inf(1)),
		len(c.Epilogue.Thresholds))
	return func(j int) ir.Expr { return ir.At(t, ir.Int(j), o) }, ir.Ge
}

func (c *floatSums) sum(p, o ir.Expr) ir.Expr { return c.withAddend(ir.CastTo(ir.I32, p), c.f.Add, o) }

func (c *floatSums) real(p, o ir.Expr) ir.Expr {
	if c.f.Add == nil {
		return p
	}
	return ir.CastTo(ir.F32, c.sum(p, o))
}

// unpacked is the copy of packed levels as the f32 integers that they stand for: words of channels
// by loops q and l, the channels of a last word that they do not fill by loop r, as in packWords.
func (c *floatSums) unpacked(x ir.Buffer) ir.Buffer {
	xp := c.reals()
	ls := loops("xp.", overAll(xp.Shape)[:3]...)
	i := vars(ls)
	store := func(q, bit ir.Expr) ir.Stmt {
		return set(xp, c.level(levelIn(x, c.source(i), q, bit), i),
			append(slices.Clone(i), add(mul(q, ir.Int(WordBits)), bit))...)
	}
	var body []ir.Stmt
	if n := c.In / WordBits; n > 0 {
		word := loops("xp.", loop(ir.Word, "q", n), loop(ir.Bit, "l", WordBits))
		body = append(body, ir.Nest(word, store(ir.V("xp.q"), ir.V("xp.l"))))
	}
	if n := c.In % WordBits; n > 0 {
		body = append(body, ir.Nest(loops("xp.", loop(ir.Bit, "r", n)), store(ir.Int(c.In/WordBits), ir.V("xp.r"))))
	}
	c.fill(xp, ls, ir.Seq(body...))
	return xp
}

// unpackedBytes is unpacked of levels that lie as bytes.
func (c *floatSums) unpackedBytes(x ir.Buffer) ir.Buffer {
	xp := c.reals()
	ls := loops("xp.", overAll(xp.Shape)...)
	i := vars(ls)
	level := byteLevel(ir.At(x, append(c.source(i), i[3])...), c.read().StoredType())
	c.fill(xp, ls, set(xp, c.level(level, i), i...))
	return xp
}

// reals is the buffer of a copy of levels, with padding, as the f32 integers that they stand for.
func (c *floatSums) reals() ir.Buffer {
	p := c.Pad
	return allocBuffer(ir.RolePad, "xp", ir.F32, c.batch, c.h+p.Top+p.Bottom, c.w+p.Left+p.Right, c.In)
}

// level is the number of reals that level stands for at position i, or that of padding.
func (c *floatSums) level(level ir.Expr, i []ir.Expr) ir.Expr {
	v := ir.CastTo(ir.F32, integer(level, c.X.LevelType))
	if !c.Pad.Any() {
		return v
	}
	return &ir.Select{Cond: c.insideImage(i[1], i[2]), A: v, B: ir.Float(c.f.Pad)}
}

// channel returns the input channel that output channel o multiplies in step "acc."+loop of its
// reduction. The loop is called gc where its addresses differ from lane to lane.
func (c *floatSums) channel(o ir.Expr) (index ir.Expr, loop string) {
	if c.GroupCount() == 1 {
		return ir.V("acc.c"), "c"
	}
	if c.Depthwise() && c.o == c.Out {
		return add(o, ir.V("acc.c")), "c"
	}
	first := mul(c.groupOf(o, 1), ir.Int(c.GroupIn()))
	return ir.Bin(ir.Min, add(first, ir.V("acc.gc")), ir.Int(c.In-1)), "gc"
}

// unpackedWeight is the float that packed weight at [kh, kw, c] of output channel o stands for.
func (c *floatSums) unpackedWeight(w ir.Buffer, at []ir.Expr, o ir.Expr) ir.Expr {
	p := c.f.Packed
	k := add(mul(add(mul(at[0], ir.Int(c.KW)), at[1]), ir.Int(c.GroupIn())), at[2])
	word := ir.At(w, ir.Bin(ir.Div, k, ir.Int(p.PerWord())), o)
	first := ir.CastTo(ir.U32, mul(ir.Bin(ir.Mod, k, ir.Int(p.PerWord())), ir.Int(p.Bits)))
	if p.Bits == 1 {
		bit := ir.Bin(ir.And, word, ir.Bin(ir.Shl, ir.Const(ir.U32, 1), first))
		zero, one := constant(c.conv, "zero", ir.F32, p.Values[0], 0), constant(c.conv, "one", ir.F32, p.Values[1], 0)
		return &ir.Select{Cond: ir.Bin(ir.Ne, bit, ir.Const(ir.U32, 0)), A: ir.At(one, o), B: ir.At(zero, o)}
	}
	number := ir.CastTo(ir.I32, ir.Bin(ir.And, ir.Bin(ir.Shr, word, first), ir.Const(ir.U32, 1<<p.Bits-1)))
	integer := add(mul(number, ir.Const(ir.I32, int64(p.Step))), ir.Const(ir.I32, int64(p.Min)))
	return mul(ir.CastTo(ir.F32, integer), ir.At(constant(c.conv, "scale", ir.F32, p.Scale, 0), o))
}
