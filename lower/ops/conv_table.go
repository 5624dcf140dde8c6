package ops

import (
	"ripc/ir"
)

// tables is the nest of the tables of the positions of x, bits of levels, that the windows read: [b, h, w, group, entry]. An entry
// is what its group counts against that many bits of weights, over all planes.
func (c *conv) tables(x ir.Buffer) ir.Buffer {
	t := c.Tables
	shape := append([]int{}, x.Shape[1:4]...)
	tb := buf("tb", ir.U8, append(shape, t.Chunks*t.PerChunk, t.Entries())...)
	ls := loops("tb.", over(ir.Batch, "b", shape[0]), over(ir.Row, "h", shape[1]), over(ir.Col, "w", shape[2]),
		over(ir.Word, "c", t.Chunks), over(ir.Part, "j", t.PerChunk), over(ir.Entry, "e", t.Entries()))
	i := vars(ls)
	chunk := ir.U32
	if t.Chunk > 1 {
		chunk = ir.U64
	}
	first := mul(ir.CastTo(chunk, i[4]), ir.Const(chunk, int64(t.Bits)))
	var count ir.Expr
	for n := range c.Counts.Planes {
		var channels ir.Expr
		for k := range t.Chunk {
			word := ir.CastTo(chunk, ir.At(x, ir.Int(n), i[0], i[1], i[2], add(mul(i[3], ir.Int(t.Chunk)), ir.Int(k))))
			if k == 0 {
				channels = word
			} else {
				channels = ir.Bin(ir.Or, channels, ir.Bin(ir.Shl, word, ir.Const(chunk, int64(k*WordBits))))
			}
		}
		group := ir.CastTo(ir.U8, ir.Bin(ir.And, ir.Bin(ir.Shr, channels, first), ir.Const(chunk, int64(t.Entries()-1))))
		differ := ir.Un(ir.Popcount, ir.Bin(ir.Xor, group, ir.CastTo(ir.U8, i[5])))
		if count == nil {
			count = differ
		} else {
			count = add(count, ir.Bin(ir.Shl, differ, ir.Const(ir.U8, int64(n))))
		}
	}
	c.bufs = append(c.bufs, tb)
	at := append(append([]ir.Expr{}, i[:3]...), add(mul(i[3], ir.Int(t.PerChunk)), i[4]), i[5])
	c.nests = append(c.nests, ir.Nest(ls, set(tb, count, at...)))
	return tb
}

// lookUp is what filters look up for the bits of their weights w at row h, column w and group g of tables tb.
func (c *conv) lookUp(tb ir.Buffer, weights ir.Expr, b, h, w, g ir.Expr) ir.Expr {
	entries := int64(c.Tables.Entries())
	found := ir.At(tb, b, h, w, g, ir.CastTo(ir.I64, ir.Bin(ir.And, weights, ir.Const(ir.U8, entries-1))))
	if c.Tables.Bounded {
		return &ir.Select{Cond: ir.Bin(ir.Lt, weights, ir.Const(ir.U8, entries)), A: found, B: ir.Const(ir.U8, 0)}
	}
	return found
}
