package ops

import (
	"fmt"

	"ripc/ir"
	"ripc/lower/layout"
)

// WindowBytes sums the multiplied bytes of each window and group, [B, OH, OW, Groups], for a layer
// l with layout.Parts. It sums the bytes of each pixel once, then those sums over windows.
// Parameters: x, y.
func WindowBytes(l *layout.Conv) *ir.Func {
	c := newDots(newConv(l), l.Accumulation.(*layout.Dots))
	x, y := tensorBuffer("x", c.read(), c.X.Shape), c.windowBytes()
	groups := c.GroupCount()
	ls, i := pixels("", c.sumShape(), loop(ir.Entry, "g", groups))
	f := &ir.Func{Name: fmt.Sprintf("windows_a%d_%dx%ds%d_%dx%dx%d", c.X.Bits, c.KH, c.KW, c.SH, c.h, c.w, c.In),
		Params: []ir.Param{inParam(x), outParam(y)}}
	if c.KH*c.KW == 1 && !c.Pad.Any() {
		f.Body = ir.Nest(ls, c.pixelBytes(x, y, i, "",
			[]ir.Expr{i[0], mul(i[1], ir.Int(c.SH)), mul(i[2], ir.Int(c.SW))}))
		return f
	}
	ps := buf("ps", ir.I32, c.batch, c.h, c.w, groups)
	each, at := pixels("ps.", ps.Shape, loop(ir.Entry, "g", groups))
	taps := loops("", loop(ir.TapRow, "kh", c.KH), loop(ir.TapCol, "kw", c.KW))
	row, col := c.pixel(i[1], i[2], ir.V("kh"), ir.V("kw"))
	var v ir.Expr = ir.At(ps, i[0], sub(row, ir.Int(c.Pad.Top)), sub(col, ir.Int(c.Pad.Left)), i[3])
	if c.Pad.Any() {
		outside := ir.Const(ir.I32, int64(c.GroupIn())*int64(c.d.PadLevel-c.d.Offset))
		v = &ir.Select{Cond: c.insideImage(row, col), A: v, B: outside}
	}
	window := ir.Seq(set(y, ir.Const(ir.I32, 0), i...), ir.Nest(taps, update(ir.AddTo, y, v, i...)))
	f.Body = allocs([]ir.Buffer{ps}, ir.Seq(ir.Nest(each, c.pixelBytes(x, ps, at, "ps.", at[:3])), ir.Nest(ls, window)))
	return f
}

// pixelBytes sums the bytes of group i[3] of the pixel of x at pixel into element i of y.
func (c *dots) pixelBytes(x, y ir.Buffer, i []ir.Expr, prefix string, pixel []ir.Expr) ir.Stmt {
	n := c.GroupIn()
	if c.From == layout.Planes && c.GroupCount() == 1 {
		ls := loops(prefix, loop(ir.Plane, "n", c.X.Bits), loop(ir.Reduce, "c", Words(n)))
		j := vars(ls)
		word := ir.Bin(ir.And, ir.At(x, j[0], pixel[0], pixel[1], pixel[2], j[1]), onesWord(n, j[1]))
		bits := ir.Bin(ir.Shl, ir.CastTo(ir.I32, ir.Un(ir.Popcount, word)), ir.CastTo(ir.I32, j[0]))
		return ir.Seq(set(y, ir.Const(ir.I32, -int64(n)*int64(c.d.Offset)), i...),
			ir.Nest(ls, update(ir.AddTo, y, bits, i...)))
	}
	ls := loops(prefix, loop(ir.Reduce, "c", n))
	channel := ir.V(ls[0].Var)
	var at ir.Expr = channel
	if c.GroupCount() > 1 {
		at = add(mul(i[3], ir.Int(n)), channel)
	}
	var v ir.Expr
	if c.From == layout.Planes {
		v = c.byteOf(level(x, pixel, at))
	} else {
		v = c.multiplied(ir.At(x, pixel[0], pixel[1], pixel[2], at))
	}
	total := set(y, ir.Const(ir.I32, 0), i...)
	if n%byteLanes != 0 || n == byteLanes || c.From == layout.Planes {
		return ir.Seq(total, ir.Nest(ls, update(ir.AddTo, y, ir.CastTo(ir.I32, v), i...)))
	}
	// Separate lanes are summed first, as vectors.
	m, k := buf(prefix+"m", ir.I32, byteLanes), ir.V(prefix+"k")
	lane := func(name string, s func(o ir.Expr) ir.Stmt) ir.Stmt {
		return ir.Nest(loops(prefix, loop(ir.Channel, name, byteLanes)), s(ir.V(prefix+name)))
	}
	first := lane("z", func(o ir.Expr) ir.Stmt { return set(m, ir.Const(ir.I32, 0), o) })
	v = ir.CastTo(ir.I32, ir.Subst(v, map[string]ir.Expr{ls[0].Var: add(mul(channel, ir.Int(byteLanes)), k)}))
	ls[0].Extent /= byteLanes
	lanes := ir.Nest(ls, lane("k", func(o ir.Expr) ir.Stmt { return update(ir.AddTo, m, v, o) }))
	last := ir.Nest(loops(prefix, loop(ir.Reduce, "j", byteLanes)),
		update(ir.AddTo, y, ir.At(m, ir.V(prefix+"j")), i...))
	return allocs([]ir.Buffer{m}, ir.Seq(first, lanes, total, last))
}

// byteLanes is the number of channels of a pixel that are summed side by side: bytes of a vector of
// 128 bits.
const byteLanes = 16

// windowBytes returns the parameter of the sums of the bytes of each window.
func (c *conv) windowBytes() ir.Buffer {
	return buf("bytes", ir.I32, c.batch, c.oh, c.ow, c.GroupCount())
}

// joinParts completes p, the sum of the layer's Parts, by the residual weights' share of the
// window's bytes.
func (c *dots) joinParts(p, b, h, w, o ir.Expr) ir.Expr {
	parts := c.d.Parts
	if parts.Factor != 1 {
		p = mul(p, ir.Const(ir.I32, int64(parts.Factor)))
	}
	var group ir.Expr = ir.Int(0)
	if c.GroupCount() > 1 {
		group = c.groupOf(o, 1)
	}
	rest := ir.At(constant(c.conv, "rest", ir.I32, parts.Rest, 0), o)
	return add(p, mul(rest, ir.At(c.windowBytes(), b, h, w, group)))
}
