package ops

import (
	"fmt"
	"slices"

	"ripc/ir"
	"ripc/lower/layout"
)

// windowTable stores levels that a constant has of whole windows.
type windowTable struct {
	*counting
	t *layout.WindowLevels
}

func (c *windowTable) name(size string) string {
	return fmt.Sprintf("tconv2d_a%dw%d_%s", c.k.Planes, c.t.Bits, size)
}

// output is the nest that stores, for each position, the levels that a constant has of its window.
func (c *windowTable) output(x ir.Buffer, slice Slice) ir.Buffer {
	t := c.t
	rows := buf("wt", ir.U32, 1<<t.Bits, c.Epilogue.OutBits, Words(c.Out))
	if t.Classed() {
		rows.Shape = append([]int{t.Rows.Count(), t.Cols.Count()}, rows.Shape...)
	}
	c.params = append(c.params, in(rows))
	c.consts = append(c.consts, Const{rows.Name, constantData(t.Packed)})
	window := c.windowBits(x)
	y, outer := c.packed(slice)
	i := vars(outer)
	at := []ir.Expr{ir.CastTo(ir.I64, ir.Bin(ir.And, window(i), ir.Const(ir.U32, int64(1)<<t.Bits-1)))} // a bound that can be seen
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

// windowBits is the word of all bits of the window at a position.
func (c *counting) windowBits(x ir.Buffer) func(i []ir.Expr) ir.Expr {
	if c.words = x; !layout.OnePixel(c.FusedConv) {
		c.words = c.windowWords(x)
	}
	return func(i []ir.Expr) ir.Expr {
		var window ir.Expr
		for n := range c.k.Planes {
			bits := c.wholeWindow(ir.Int(n), i)
			if by := n * c.Products(); by > 0 {
				bits = ir.Bin(ir.Shl, bits, ir.Const(ir.U32, int64(by)))
			}
			window = either(window, bits)
		}
		return window
	}
}

// splitTable stores levels that two constants have of the parts of windows.
type splitTable struct {
	*counting
	t *layout.SplitLevels
}

func (c *splitTable) name(size string) string {
	return fmt.Sprintf("tconv2d_a%dw%dw%d_%s", c.k.Planes, c.t.Bits[0], c.t.Bits[1], size)
}

// output is the nest that compares, for each position, what one constant has of the first part of its window with what another has of the second. Added up
// with a carry of 1 the first number's complement and the second carry where the second is no less.
func (c *splitTable) output(x ir.Buffer, slice Slice) ir.Buffer {
	t := c.t
	var tables [2]ir.Buffer
	for k, name := range []string{"wt", "wu"} {
		tables[k] = buf(name, ir.U32, 1<<t.Bits[k], t.Planes, Words(c.Out))
		c.params = append(c.params, in(tables[k]))
		c.consts = append(c.consts, Const{name, constantData(t.Packed[k])})
	}
	window := c.windowBits(x)
	y, outer := c.packed(slice)
	i := vars(outer)
	row := func(k int) ir.Expr {
		bits := window(i)
		if k > 0 {
			bits = ir.Bin(ir.Shr, bits, ir.Const(ir.U32, int64(t.Bits[0])))
		}
		return ir.CastTo(ir.I64, ir.Bin(ir.And, bits, ir.Const(ir.U32, int64(1)<<t.Bits[k]-1)))
	}
	first, second := row(0), row(1)
	var carry ir.Expr
	for n := range t.Planes {
		a, b := ir.At(tables[0], first, ir.Int(n), i[3]), ir.At(tables[1], second, ir.Int(n), i[3])
		if carry == nil {
			carry = ir.Bin(ir.Or, a, b)
		} else {
			carry = ir.Bin(ir.Xor, a, ir.Bin(ir.And, ir.Bin(ir.Xor, a, b), ir.Bin(ir.Xor, a, carry)))
		}
	}
	c.nests = append(c.nests, ir.Nest(outer, set(y, carry, ir.Int(0), i[0], i[1], i[2], add(i[3], ir.Int(slice.Offset)))))
	return y
}
