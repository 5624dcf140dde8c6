package ops

import (
	"math"
	"slices"

	"ripc/ir"
	"ripc/lower/layout"
)

// across looks counts up for all positions of a block of rows at once.
type across struct{ *lookups }

// sumType is wider than a byte: byte sums stay in registers, and memory holds wider ones.
func (c *across) sumType() ir.Type {
	if c.t.Largest(c.FusedConv) < math.MaxUint16 {
		return ir.U16
	}
	return ir.I32
}

// accumulate adds the nests of counts from tables across positions. An entry of a table lies side
// by side for all positions of a block of rows, so one look-up serves them all. x holds bits of
// levels, [planes, b, h, w, words], without padding.
//
//	xf [planes, b, block, group, position]       bits of a group's channels, padding included
//	th [b, block, group, half, entry, position]  counts of half a group against the bits of an entry
//	tb [b, block, group, entry, position]        sums of both halves
//	found [b, block, o, vector, lane]            sums, row after row of the block, with unused positions in between
//	acc [b, block, position, o]                  the same, the sums of a position side by side
func (c *across) accumulate(x ir.Buffer) ir.Buffer {
	words := (c.KH*c.KW + layout.TapsPerWord - 1) / layout.TapsPerWord
	wt := weights(c.conv, "wt", ir.U32, c.t.Words, 0, words, c.t.Each)
	found := c.sumsAcross(c.tablesAcross(c.groupBits(x)), wt)
	t := c.t.Across
	acc := allocBuffer(ir.RoleValue, "acc", found.Type, c.batch, t.Blocks, t.Positions, c.o)
	ls := loops("acc.", loop(ir.Batch, "b", c.batch), loop(ir.Row, "t", t.Blocks),
		loop(ir.Col, "v", t.Positions/t.Lanes), loop(ir.Part, "l", t.Lanes), loop(ir.Channel, "o", c.o))
	i := vars(ls)
	c.fill(acc, ls, set(acc, ir.At(found, i[0], i[1], i[4], i[2], i[3]), i[0], i[1],
		add(mul(i[2], ir.Int(t.Lanes)), i[3]), i[4]))
	return acc
}

// groupBits are the bits of the channels of each group at the positions that a block of rows reads,
// whole rows of them.
func (c *across) groupBits(x ir.Buffer) ir.Buffer {
	t, a := c.t, c.t.Across
	rows := (a.Read + a.Width - 1) / a.Width
	y := allocBuffer(ir.RolePad, "xf", ir.U8, c.k.Planes, c.batch, a.Blocks, t.Chunks*t.PerChunk, rows*a.Width)
	ls := loops("xf.", loop(ir.Plane, "n", c.k.Planes), loop(ir.Batch, "b", c.batch), loop(ir.Row, "t", a.Blocks),
		loop(ir.TapRow, "h", rows), loop(ir.Col, "w", a.Width), loop(ir.Word, "c", t.Chunks),
		loop(ir.Part, "j", t.PerChunk))
	i := vars(ls)
	row := add(mul(i[2], ir.Int(a.Rows)), i[3])
	within := append(rangeChecks(row, c.Pad.Top, c.h, (a.Blocks-1)*a.Rows+rows),
		rangeChecks(i[4], c.Pad.Left, c.w, a.Width)...)
	group := c.group(i[6], i[5], func(k ir.Expr) ir.Expr {
		word := ir.At(x, i[0], i[1], sub(row, ir.Int(c.Pad.Top)), sub(i[4], ir.Int(c.Pad.Left)), k)
		if len(within) == 0 {
			return word
		}
		return &ir.Select{Cond: all(within...), A: word, B: levelWord(c.In, c.k.Planes, c.k.PadLevel, i[0], k)}
	})
	c.fill(y, ls, set(y, group, i[0], i[1], i[2], add(mul(i[5], ir.Int(t.PerChunk)), i[6]),
		add(mul(i[3], ir.Int(a.Width)), i[4])))
	return y
}

// tablesAcross adds the tables of groups with bits xf: the sums of the tables of both halves.
func (c *across) tablesAcross(xf ir.Buffer) ir.Buffer {
	t := c.t.Across
	bits := c.t.Bits / 2
	entries := 1 << bits
	halves := allocBuffer(ir.RolePad, "th", ir.U8, c.batch, t.Blocks, c.t.Each, 2, entries, t.Read)
	halves.Range = ir.Range{From: 0, To: int64(c.t.Most / 2)}
	ls := loops("th.", loop(ir.Batch, "b", c.batch), loop(ir.Row, "t", t.Blocks), loop(ir.Reduce, "g", c.t.Each),
		loop(ir.Half, "k", 2), loop(ir.Entry, "e", entries/2), loop(ir.Col, "p", t.Read))
	i := vars(ls)
	first := mul(ir.CastTo(ir.U8, i[3]), ir.Const(ir.U8, int64(bits)))
	count := c.differing(i[4], func(n int) ir.Expr {
		return ir.Bin(ir.And, ir.Bin(ir.Shr, ir.At(xf, ir.Int(n), i[0], i[1], i[2], i[5]), first),
			ir.Const(ir.U8, int64(entries-1)))
	})
	other := slices.Clone(i)
	other[4] = sub(ir.Int(entries-1), i[4])
	c.fill(halves, ls, ir.Seq(set(halves, count, i...),
		set(halves, sub(ir.Const(ir.U8, halves.Range.To), count), other...)))

	tables := allocBuffer(ir.RoleTable, "tb", ir.U8, c.batch, t.Blocks, c.t.Each, c.t.Entries(), t.Read)
	tables.Range = ir.Range{From: 0, To: int64(c.t.Most)}
	ls = loops("tb.", loop(ir.Batch, "b", c.batch), loop(ir.Row, "t", t.Blocks), loop(ir.Reduce, "g", c.t.Each),
		loop(ir.Entry, "e", entries), loop(ir.Entry, "d", entries), loop(ir.Col, "p", t.Read))
	i = vars(ls)
	half := func(k int, e ir.Expr) ir.Expr { return ir.At(halves, i[0], i[1], i[2], ir.Int(k), e, i[5]) }
	c.fill(tables, ls, set(tables, add(half(0, i[4]), half(1, i[3])), i[0], i[1], i[2],
		add(mul(i[3], ir.Int(entries)), i[4]), i[5]))
	return tables
}

// sumsAcross adds the sums of look-ups by weights wt, for each filter and all positions of a block.
func (c *across) sumsAcross(tables, wt ir.Buffer) ir.Buffer {
	const perWord = layout.TapsPerWord
	t := c.t.Across
	found := allocBuffer(ir.RoleSum, "found", c.sumType(), c.batch, t.Blocks, c.o, t.Positions/t.Lanes, t.Lanes)
	outer := loops("found.", loop(ir.Batch, "b", c.batch), loop(ir.Row, "t", t.Blocks), loop(ir.Channel, "o", c.o),
		loop(ir.Col, "v", t.Positions/t.Lanes), loop(ir.Part, "l", t.Lanes))
	i := vars(outer)
	red := loops("found.", loop(ir.TapRow, "kh", c.KH), loop(ir.TapCol, "kw", c.KW), loop(ir.Reduce, "g", c.t.Each))
	k := vars(red)
	tap := add(mul(k[0], ir.Int(c.KW)), k[1])
	word := ir.At(wt, ir.Bin(ir.Div, tap, ir.Int(perWord)), k[2], i[2])
	first, next := layout.TapBit(0), layout.TapBit(1)-layout.TapBit(0)
	bit := ir.CastTo(ir.U32, add(mul(ir.Bin(ir.Mod, tap, ir.Int(perWord)), ir.Int(next)), ir.Int(first)))
	entry := ir.Bin(ir.And, ir.Bin(ir.Shr, word, bit), ir.Const(ir.U32, int64(c.t.Entries()-1)))
	dh, dw := c.Dilation()
	from := add(add(mul(i[3], ir.Int(t.Lanes)), i[4]), add(mul(k[0], ir.Int(dh*t.Width)), mul(k[1], ir.Int(dw))))
	look := update(ir.AddTo, found, ir.CastTo(found.Type,
		ir.At(tables, i[0], i[1], k[2], ir.CastTo(ir.I64, entry), from)), i...)
	c.fill(found, outer, ir.Seq(set(found, ir.Const(found.Type, 0), i...), ir.Nest(red, look)))
	return found
}

// element is the element of acc, sums of blocks, of an output.
func (c *across) element(acc ir.Buffer, b, h, w, o ir.Expr) ir.Expr {
	t := c.t.Across
	switch {
	case t.Blocks == 1:
		return ir.At(acc, b, ir.Int(0), add(mul(h, ir.Int(t.Width)), w), o)
	case t.Rows == 1:
		return ir.At(acc, b, h, w, o)
	}
	block, row := ir.Bin(ir.Div, h, ir.Int(t.Rows)), ir.Bin(ir.Mod, h, ir.Int(t.Rows))
	return ir.At(acc, b, block, add(mul(row, ir.Int(t.Width)), w), o)
}
