package ops

import (
	"math"
	"slices"

	"ripc/ir"
	"ripc/lower/layout"
)

// windowWords returns the buffer of the counted words, repacked from x where the algorithm needs
// it.
func (c *counting) windowWords(x ir.Buffer) ir.Buffer {
	switch counted := c.k.Counted; {
	case !counted.Dense, c.k.Parts && layout.OnePixel(c.FusedConv):
		return c.padInput(x)
	case counted.Columns(c.FusedConv):
		return c.denseWords(c.columnWords(x))
	}
	return c.denseWords(c.padInput(x))
}

// residualRow returns the number in the residual bits (layout.Counts.Rest) of the window at i, [b,
// h, w]. It is less than 2^Rest by construction.
func (c *counting) residualRow(i []ir.Expr) ir.Expr {
	k := c.k
	word := ir.Bin(ir.Shr, c.wholeWindow(ir.Int(0), i), ir.Const(ir.U32, int64(k.Words*k.Counted.Bits)))
	return ir.CastTo(ir.I64, ir.Bin(ir.And, word, ir.Const(ir.U32, int64(1)<<k.Rest-1)))
}

// wholeWindow returns the word of all bits of plane n of the window at i, [b, h, w], if counted
// words are parts of it (layout.Counts.Parts).
func (c *counting) wholeWindow(n ir.Expr, i []ir.Expr) ir.Expr {
	if layout.OnePixel(c.FusedConv) {
		h, w := c.pixel(i[1], i[2], ir.Int(0), ir.Int(0))
		return ir.At(c.words, n, i[0], h, w, ir.Int(0))
	}
	return ir.At(c.words, append([]ir.Expr{n, i[0], i[1]}, c.denseWord(i[2], ir.Int(0))...)...)
}

// windowWord returns counted word k, of plane n and tap kh, kw, for the sums at i, [b, h, w, o].
func (c *counting) windowWord(n ir.Expr, i []ir.Expr, kh, kw, k ir.Expr) ir.Expr {
	h, w := c.pixel(i[1], i[2], kh, kw)
	counted := c.k.Counted
	switch {
	case c.k.Parts:
		return ir.CastTo(wordType(counted), ir.Bin(ir.Shr, c.wholeWindow(n, i),
			ir.CastTo(ir.U32, mul(k, ir.Int(counted.Bits)))))
	case counted.Dense:
		return ir.At(c.words, append([]ir.Expr{n, i[0], i[1]}, c.denseWord(i[2], c.ofGroup(i[3], c.k.Words, k))...)...)
	}
	return ir.At(c.words, n, i[0], h, w, c.ofGroup(i[3], c.k.Words, k))
}

// pixel returns the row and column in the padded input of tap kh, kw of the window at h, w.
func (c *conv) pixel(h, w, kh, kw ir.Expr) (row, col ir.Expr) {
	dh, dw := c.Dilation()
	return add(mul(h, ir.Int(c.SH)), mul(kh, ir.Int(dh))), add(mul(w, ir.Int(c.SW)), mul(kw, ir.Int(dw)))
}

// ofGroup returns the index of word or table k in the group of output channel o. Each group has n
// of them.
func (c *conv) ofGroup(o ir.Expr, n int, k ir.Expr) ir.Expr {
	if c.GroupCount() == 1 {
		return k
	}
	return ir.Bin(ir.Min, add(mul(c.groupOf(o, 1), ir.Int(n)), k), ir.Int(c.GroupCount()*n-1))
}

// groupOf returns the group of output channel o, counting `together` groups as one. Padding
// channels read the last group's words. The group is clamped, not the channel, so that vectors of
// channels read the same with and without padding.
func (c *conv) groupOf(o ir.Expr, together int) ir.Expr {
	g := ir.Bin(ir.Div, o, ir.Int(together*c.GroupOut()))
	if c.o == c.Out {
		return g
	}
	return ir.Bin(ir.Min, g, ir.Int(c.GroupCount()/together-1))
}

// denseWord is the index of word q of column w in words of layout.Dense.
func (c *counting) denseWord(w, q ir.Expr) []ir.Expr {
	if c.k.Rowwise {
		return []ir.Expr{q, w}
	}
	return []ir.Expr{w, q}
}

// wordType is the type of the words of k.
func wordType(k layout.Counted) ir.Type {
	switch k.Bits {
	case 8:
		return ir.U8
	case 16:
		return ir.U16
	}
	return ir.U32
}

// denseWords adds the words of layout.Dense.
func (c *counting) denseWords(x ir.Buffer) ir.Buffer {
	k := c.k.GatheredWords()
	pieces, whole := k.Pieces(c.FusedConv), k.WholeWords(c.FusedConv)
	taps := c.KH * c.KW
	columns := c.k.Counted.Columns(c.FusedConv)
	y := allocBuffer(ir.RolePad, "xd", wordType(k), c.k.Planes, c.batch, c.oh, c.ow, taps*whole+len(pieces))
	ls := loops("xd.", overAll(y.Shape)[:4]...)
	if c.k.Rowwise {
		y.Shape[3], y.Shape[4] = y.Shape[4], y.Shape[3]
	}
	i := vars(ls)
	word := func(kh, kw, q ir.Expr) ir.Expr {
		h, w := c.pixel(i[2], i[3], kh, kw)
		return ir.At(x, i[0], i[1], h, w, q)
	}
	at := func(q ir.Expr) []ir.Expr { return append(slices.Clone(i[:3]), c.denseWord(i[3], q)...) }
	var body []ir.Stmt
	if whole > 0 {
		copies := loops("xd.", loop(ir.TapRow, "kh", c.KH), loop(ir.TapCol, "kw", c.KW), loop(ir.Word, "c", whole))
		j := vars(copies)
		to := add(mul(add(mul(j[0], ir.Int(c.KW)), j[1]), ir.Int(whole)), j[2])
		body = append(body, ir.Nest(copies, set(y, word(j[0], j[1], j[2]), at(to)...)))
	}
	for q, parts := range pieces {
		var v ir.Expr
		for _, p := range parts {
			var part ir.Expr
			if columns {
				_, w := c.pixel(i[2], i[3], ir.Int(0), ir.Int(p.Part))
				part = ir.At(x, i[0], i[1], i[2], w, ir.Int(0))
			} else {
				part = word(ir.Int(p.Part/c.KW), ir.Int(p.Part%c.KW), ir.Int(p.Word))
			}
			switch {
			case p.Shift > 0:
				part = ir.Bin(ir.Shl, part, ir.Const(ir.U32, int64(p.Shift)))
			case p.Shift < 0:
				part = ir.Bin(ir.Shr, part, ir.Const(ir.U32, int64(-p.Shift)))
			}
			if p.Mask != math.MaxUint32 {
				part = ir.Bin(ir.And, part, ir.Const(ir.U32, int64(p.Mask)))
			}
			v = orExpr(v, part)
		}
		body = append(body, set(y, ir.CastTo(y.Type, v), at(ir.Int(taps*whole+q))...))
	}
	c.fill(y, ls, ir.Seq(body...))
	return y
}

// columnWords adds the words of columns that a row's windows read: one word holds all KH pixels of
// a column. It includes the padding: [planes, batch, rows of the output, columns, 1].
func (c *counting) columnWords(x ir.Buffer) ir.Buffer {
	_, last := c.pixel(ir.Int(0), ir.Int(c.ow-1), ir.Int(0), ir.Int(c.KW-1))
	y := allocBuffer(ir.RolePad, "xc", ir.U32, c.k.Planes, c.batch, c.oh, int(last.(*ir.IntImm).V)+1, 1)
	ls := loops("xc.", overAll(y.Shape)[:4]...)
	i := vars(ls)
	outside := levelWord(c.In, c.k.Planes, c.k.PadLevel, i[0], ir.Int(0))
	dh, _ := c.Dilation()
	var v ir.Expr
	for kh := range c.KH {
		h, _ := c.pixel(i[2], ir.Int(0), ir.Int(kh), ir.Int(0))
		row := sub(h, ir.Int(c.Pad.Top))
		var rows []ir.Expr
		if first := dh * kh; first < c.Pad.Top {
			rows = append(rows, ir.Bin(ir.Ge, h, ir.Int(c.Pad.Top)))
		}
		if last := (c.oh-1)*c.SH + dh*kh; last >= c.Pad.Top+c.h {
			rows = append(rows, ir.Bin(ir.Lt, h, ir.Int(c.Pad.Top+c.h)))
		}
		if len(rows) > 0 && c.k.Clamped {
			row = ir.Bin(ir.Min, ir.Bin(ir.Max, row, ir.Int(0)), ir.Int(c.h-1))
		}
		part := ir.Expr(ir.At(x, i[0], i[1], row, sub(i[3], ir.Int(c.Pad.Left)), ir.Int(0)))
		for _, within := range [][]ir.Expr{rows, rangeChecks(i[3], c.Pad.Left, c.w, y.Shape[3])} {
			if len(within) > 0 {
				part = &ir.Select{Cond: all(within...), A: part, B: outside}
			}
		}
		if by := kh * c.In; by > 0 {
			part = ir.Bin(ir.Shl, part, ir.Const(ir.U32, int64(by)))
		}
		v = orExpr(v, part)
	}
	c.fill(y, ls, set(y, v, append(i, ir.Int(0))...))
	return y
}

// orExpr returns a | b, or b if a is nil.
func orExpr(a, b ir.Expr) ir.Expr {
	if a == nil {
		return b
	}
	return ir.Bin(ir.Or, a, b)
}
