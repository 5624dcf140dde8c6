package ops

import (
	"slices"

	"ripc/ir"
	"ripc/lower/layout"
)

// windowLevels is the nest that stores, for each position, the levels that a constant has of its window.
func (c *conv) windowLevels(x ir.Buffer, slice Slice) ir.Buffer {
	t := c.Levels
	rows := buf("wt", ir.U32, 1<<t.Bits, c.Epilogue.OutBits, Words(c.Out))
	if t.Classed() {
		rows.Shape = append([]int{t.Rows.Count(), t.Cols.Count()}, rows.Shape...)
	}
	c.params = append(c.params, in(rows))
	c.consts = append(c.consts, Const{rows.Name, t.Packed})
	word := func(n int, i []ir.Expr) ir.Expr {
		h, w := c.pixel(i[1], i[2], ir.Int(0), ir.Int(0))
		return ir.At(x, ir.Int(n), i[0], h, w, ir.Int(0))
	}
	if !layout.OnePixel(c.FusedConv) {
		xd := c.windowWords(x)
		word = func(n int, i []ir.Expr) ir.Expr { return ir.At(xd, ir.Int(n), i[0], i[1], i[2], ir.Int(0)) }
	}
	y, outer := c.packed(slice)
	i := vars(outer)
	var window ir.Expr
	for n := range c.Counts.Planes {
		bits := word(n, i)
		if by := n * c.Products(); by > 0 {
			bits = ir.Bin(ir.Shl, bits, ir.Const(ir.U32, int64(by)))
		}
		window = either(window, bits)
	}
	at := []ir.Expr{ir.CastTo(ir.I64, ir.Bin(ir.And, window, ir.Const(ir.U32, int64(1)<<t.Bits-1)))} // a bound that can be seen
	if t.Classed() {
		at = append([]ir.Expr{class(i[1], t.Rows), class(i[2], t.Cols)}, at...)
	}
	var stores []ir.Stmt
	for n := range c.Epilogue.OutBits {
		levels := append(slices.Clone(at), ir.Int(n), i[3])
		stores = append(stores, set(y, ir.At(rows, levels...), ir.Int(n), i[0], i[1], i[2], add(i[3], ir.Int(slice.Offset))))
	}
	c.nests = append(c.nests, ir.Nest(outer, ir.Seq(stores...)))
	return y
}
