package ops

import (
	"fmt"
	"slices"

	"ripc/ir"
	"ripc/lower/layout"
)

// lookups adds up counts that are looked up in tables.
type lookups struct {
	*counting
	t *layout.Tables
}

func (c *lookups) name(size string) string {
	reach := ""
	switch {
	case c.t.Halves:
		reach = "h"
	case c.t.Across != nil:
		reach = "x"
	}
	return fmt.Sprintf("tconv2d_a%dt%d%s_%s", c.k.Planes, c.t.Bits, reach, size)
}

func (c *lookups) sumType() ir.Type { return narrowest(c.t.Largest(c.FusedConv)) }

func (c *lookups) element(acc ir.Buffer, b, h, w, o ir.Expr) ir.Expr {
	if !c.t.Halves {
		return ir.At(acc, b, h, w, o)
	}
	half := ir.Int(c.half())
	return ir.At(acc, b, h, ir.Bin(ir.Mod, w, half), ir.Bin(ir.Div, w, half), o)
}

// tables adds the tables of the positions that the windows read: [b, h, w, group, entry]. x holds
// bits of levels. An entry is the count of its group against the entry's bits, over all planes.
// With Halves, it also holds the count of the pixel half a row further, or of the last pixel.
func (c *lookups) tables(x ir.Buffer) ir.Buffer {
	t := c.t
	shape := append([]int{}, x.Shape[1:4]...)
	if t.Halves {
		_, dw := c.Dilation()
		shape[2] = (c.half()-1)*c.SW + (c.KW-1)*dw + 1
	}
	tb := allocBuffer(ir.RoleTable, "tb", ir.U8, append(shape, t.Chunks*t.PerChunk, t.Entries())...)
	if !t.Halves { // two counts
		tb.Range = ir.Range{From: 0, To: int64(t.Most)}
	}
	ls := loops("tb.", loop(ir.Batch, "b", shape[0]), loop(ir.Row, "h", shape[1]), loop(ir.Col, "w", shape[2]),
		loop(ir.Word, "c", t.Chunks), loop(ir.Part, "j", t.PerChunk), loop(ir.Entry, "e", t.Entries()))
	i := vars(ls)
	count := c.entry(x, i)
	if t.Halves {
		there := slices.Clone(i)
		there[2] = add(i[2], ir.Int(c.half()*c.SW))
		if last := shape[2] - 1 + c.half()*c.SW; last >= x.Shape[3] { // the second half of the row has a position less
			there[2] = ir.Bin(ir.Min, there[2], ir.Int(x.Shape[3]-1))
		}
		count = add(count, ir.Bin(ir.Shl, c.entry(x, there), ir.Const(ir.U8, layout.HalfBits)))
	}
	at := append(append([]ir.Expr{}, i[:3]...), add(mul(i[3], ir.Int(t.PerChunk)), i[4]), i[5])
	c.fill(tb, ls, set(tb, count, at...))
	return tb
}

// half returns the number of positions in the first half of a row, the larger one.
func (c *lookups) half() int { return (c.ow + 1) / 2 }

// entry returns the count of group i[4] of chunk i[3] of pixel i[:3] of x against the bits of entry
// i[5].
func (c *lookups) entry(x ir.Buffer, i []ir.Expr) ir.Expr {
	return c.differing(i[5], func(n int) ir.Expr {
		return c.group(i[4], i[3], func(k ir.Expr) ir.Expr { return ir.At(x, ir.Int(n), i[0], i[1], i[2], k) })
	})
}

// differing counts the bits of a group that differ from those of entry e, over all planes.
func (c *lookups) differing(e ir.Expr, group func(plane int) ir.Expr) ir.Expr {
	var count ir.Expr
	for n := range c.k.Planes {
		differ := ir.Un(ir.Popcount, ir.Bin(ir.Xor, group(n), ir.CastTo(ir.U8, e)))
		if n > 0 {
			differ = ir.Bin(ir.Shl, differ, ir.Const(ir.U8, int64(n)))
		}
		if count == nil {
			count = differ
		} else {
			count = add(count, differ)
		}
	}
	return count
}

// group returns the bits of group j of a chunk of words.
func (c *lookups) group(j, chunk ir.Expr, word func(k ir.Expr) ir.Expr) ir.Expr {
	t, bits := c.t, ir.U32
	if t.Chunk > 1 {
		bits = ir.U64
	}
	var channels ir.Expr
	for k := range t.Chunk {
		w := ir.CastTo(bits, word(add(mul(chunk, ir.Int(t.Chunk)), ir.Int(k))))
		if k > 0 {
			w = ir.Bin(ir.Shl, w, ir.Const(bits, int64(k*WordBits)))
		}
		channels = orExpr(channels, w)
	}
	first := mul(ir.CastTo(bits, j), ir.Const(bits, int64(t.Bits)))
	return ir.CastTo(ir.U8, ir.Bin(ir.And, ir.Bin(ir.Shr, channels, first), ir.Const(bits, int64(t.Entries()-1))))
}

// accumulate adds the sums of look-ups in tables of x: [b, h, w, o] or, for halves of rows, [b, h,
// w, half, o].
func (c *lookups) accumulate(x ir.Buffer) ir.Buffer {
	wt := weights(c.conv, "wt", ir.U8, c.t.Weights, 0, c.KH, c.KW, c.t.Each)
	x = c.tables(c.padInput(x))
	t, axes, shape := c.sumType(), []ir.Loop{loop(ir.Batch, "b", c.batch), loop(ir.Row, "h", c.oh)}, []int{}
	if c.t.Halves {
		axes = append(axes, loop(ir.Col, "w", c.half()), loop(ir.Half, "p", 2))
	} else {
		axes = append(axes, loop(ir.Col, "w", c.ow))
	}
	outer := loops("acc.", append(axes, loop(ir.Channel, "o", c.o))...)
	for _, l := range outer {
		shape = append(shape, l.Extent)
	}
	i := vars(outer)
	red := loops("acc.", loop(ir.TapRow, "kh", c.KH), loop(ir.TapCol, "kw", c.KW), loop(ir.Reduce, "c", c.t.Each))
	tap := vars(red)
	h, w := c.pixel(i[1], i[2], tap[0], tap[1])
	g := tap[2]
	if !c.t.Merged {
		g = c.ofGroup(i[len(i)-1], c.t.Each, g)
	}
	found := c.lookUp(x, ir.At(wt, append(slices.Clone(tap), i[len(i)-1])...), i[0], h, w, g)
	if c.t.Halves {
		found = ir.Bin(ir.And, ir.Bin(ir.Shr, found, mul(ir.CastTo(ir.U8, i[3]), ir.Const(ir.U8, layout.HalfBits))),
			ir.Const(ir.U8, layout.MaxHalf))
	}
	acc := allocBuffer(ir.RoleSum, "acc", t, shape...)
	c.fill(acc, outer, ir.Seq(set(acc, ir.Const(t, 0), i...),
		ir.Nest(red, update(ir.AddTo, acc, ir.CastTo(t, found), i...))))
	return acc
}

// lookUp returns the entry for weight bits w at row h, column w and group g of tables tb.
func (c *lookups) lookUp(tb ir.Buffer, weights ir.Expr, b, h, w, g ir.Expr) ir.Expr {
	entries := int64(c.t.Entries())
	found := ir.At(tb, b, h, w, g, ir.CastTo(ir.I64, ir.Bin(ir.And, weights, ir.Const(ir.U8, entries-1))))
	if c.t.Bounded {
		return &ir.Select{Cond: ir.Bin(ir.Lt, weights, ir.Const(ir.U8, entries)), A: found, B: ir.Const(ir.U8, 0)}
	}
	return found
}
