package ops

import (
	"fmt"

	"ripc/graph"
	"ripc/ir"
)

// Conv is the Func of a fused convolution or dense layer over x of logical shape [B, H, W, In].
//
// bconv2d: P[b,h,w,o] = sum over planes n (weight 2^n), kh, kw and words of popcount(x_n ^ w); planes are added from the
// top one down, doubling the accumulator in between (Horner), so that the plane weights cost nothing. fconv2d: a chain of
// fma in the order kh, kw, c, starting from the bias. Parameters, in order: x, wt, [bias], the epilogue's, y.
// slice is the part of a concatenated output that this layer writes.
func Conv(op string, a *graph.FusedConv, enc ir.EncodingKind, batch, h, w int, slice Slice) *ir.Func {
	c := &conv{a: a, binary: op == "bconv2d", batch: batch, h: h, w: w}
	c.oh, c.ow = a.OutSize(h, w)
	c.ph, c.pw = c.oh, c.ow
	if a.Pool != nil {
		c.ph = (c.oh-a.Pool.Kernel[0])/a.Pool.Strides[0] + 1
		c.pw = (c.ow-a.Pool.Kernel[1])/a.Pool.Strides[1] + 1
	}
	c.o = a.Out
	if a.Epilogue.OutBits > 0 {
		c.o = Words(a.Out) * WordBits // padding channels exist so that whole words are written
	}
	name := fmt.Sprintf("fconv2d_%dx%ds%d_%dx%dx%d_%d", a.KH, a.KW, a.SH, h, w, a.In, a.Out)
	if c.binary {
		name = fmt.Sprintf("bconv2d_a%dw%d_%dx%ds%d_%dx%dx%d_%d", a.Planes, len(a.Coefs()), a.KH, a.KW, a.SH, h, w, a.In, a.Out)
	}
	return c.build(name, enc, slice)
}

// Slice is the part of a wider output that a layer writes: channels (or words) Offset.. of Total; Total 0 is all of it.
type Slice struct{ Offset, Total int }

type conv struct {
	a              *graph.FusedConv
	binary         bool
	batch, h, w, o int // o: output channels including padding
	oh, ow, ph, pw int
	params         []ir.Param
	bufs           []ir.Buffer
	nests          []ir.Stmt
}

func (c *conv) build(name string, enc ir.EncodingKind, slice Slice) *ir.Func {
	a := c.a
	x := buf("x", ir.F32, c.batch, c.h, c.w, a.In)
	w := buf("wt", ir.F32, a.KH, a.KW, a.GroupIn(), c.o)
	if c.binary {
		x = BitBuffer("x", a.Planes, []int{c.batch, c.h, c.w, a.In}, enc)
		w = buf("wt", ir.U32, a.KH, a.KW, a.GroupWords(), c.o)
		if len(a.WPlanes) > 1 {
			w.Shape = []int{a.KH, a.KW, a.GroupWords(), len(a.WPlanes), c.o}
		}
	}
	c.params = append(c.params, in(x), in(w))
	src := c.pad(x)
	acc := c.accumulate(src, w)
	if a.Pool != nil {
		acc = c.pool(acc)
	}
	y := c.epilogue(acc, slice)
	c.params = append(c.params, out(y))
	return &ir.Func{Name: name, Params: c.params, Body: allocs(c.bufs, ir.Seq(c.nests...))}
}

// pad makes the padded copy of the input that the windows read, or gives the input itself.
func (c *conv) pad(x ir.Buffer) ir.Buffer {
	p := c.a.Pad
	if p.Top+p.Bottom+p.Left+p.Right == 0 {
		return x
	}
	hp, wp := c.h+p.Top+p.Bottom, c.w+p.Left+p.Right
	xp := x
	xp.Name, xp.Enc = "xp", ir.Encoding{}
	xp.Shape = append([]int(nil), x.Shape...)
	lead := len(xp.Shape) - 4 // 1 with a plane axis
	xp.Shape[lead+1], xp.Shape[lead+2] = hp, wp
	ls := loops("xp.", overAll(xp.Shape)...)
	idx := vars(ls)
	from := append([]ir.Expr(nil), idx...)
	from[lead+1], from[lead+2] = sub(idx[lead+1], ir.Int(p.Top)), sub(idx[lead+2], ir.Int(p.Left))
	var zero ir.Expr = ir.Float(0)
	if c.binary {
		zero = ir.Const(ir.U32, 0)
		if c.a.PadOnes {
			zero = onesWord(c.a.In, idx[len(idx)-1])
		} else if c.a.PadLevel > 0 {
			zero = levelWord(c.a.In, c.a.Planes, c.a.PadLevel, idx[0], idx[len(idx)-1])
		}
	}
	cond := all(append(inside(idx[lead+1], p.Top, c.h, hp), inside(idx[lead+2], p.Left, c.w, wp)...)...)
	v := &ir.Select{Cond: cond, A: ir.At(x, from...), B: zero}
	c.bufs = append(c.bufs, xp)
	c.nests = append(c.nests, ir.Nest(ls, set(xp, v, idx...)))
	return xp
}

// onesWord is word q of a pixel whose channels are all 1 bits.
func onesWord(channels int, q ir.Expr) ir.Expr {
	full := ir.Const(ir.U32, 0xffffffff)
	if channels%WordBits == 0 {
		return full
	}
	last := ir.Const(ir.U32, int64(1)<<(channels%WordBits)-1)
	return &ir.Select{Cond: ir.Bin(ir.Lt, q, ir.Int(Words(channels)-1)), A: full, B: last}
}

// raw is P at a position: the sum of popcounts, corrected where padding stands for exact zeros.
func (c *conv) raw(acc ir.Buffer, b, h, w, o ir.Expr) ir.Expr {
	p := ir.At(acc, b, h, w, o)
	k := c.a.PadCorr
	if k == nil {
		return p
	}
	corr := buf("corr", ir.I32, k.Rows.Count(), k.Cols.Count(), c.o)
	if c.params[len(c.params)-1].Name != "corr" {
		c.params = append(c.params, in(corr))
	}
	class := func(i ir.Expr, cl graph.Classes) ir.Expr {
		k := ir.Bin(ir.Min, i, ir.Int(cl.First))
		for j := range cl.Last { // each comparison is 0 or 1 whatever a guarded tail makes of i
			k = add(k, ir.CastTo(ir.I64, ir.Bin(ir.Ge, i, ir.Int(cl.Size-cl.Last+j))))
		}
		return k
	}
	return sub(add(p, p), ir.At(corr, class(h, k.Rows), class(w, k.Cols), o))
}

// pool takes the smallest popcount, that is the largest dot product, of each window.
func (c *conv) pool(acc ir.Buffer) ir.Buffer {
	p := c.a.Pool
	pl := buf("pl", acc.Type, c.batch, c.ph, c.pw, c.o)
	c.bufs = append(c.bufs, pl)
	outer := loops("pl.", over(ir.Batch, "b", c.batch), over(ir.Row, "h", c.ph), over(ir.Col, "w", c.pw), over(ir.Channel, "o", c.o))
	i := vars(outer)
	at := func(dh, dw ir.Expr) ir.Expr {
		return c.raw(acc, i[0], add(mul(i[1], ir.Int(p.Strides[0])), dh), add(mul(i[2], ir.Int(p.Strides[1])), dw), i[3])
	}
	win := loops("pl.", over(ir.TapRow, "i", p.Kernel[0]), over(ir.TapCol, "j", p.Kernel[1]))
	first := set(pl, at(ir.Int(0), ir.Int(0)), i...)
	rest := ir.Nest(win, update(ir.MinTo, pl, at(ir.V("pl.i"), ir.V("pl.j")), i...))
	c.nests = append(c.nests, ir.Nest(outer, ir.Seq(first, rest)))
	return pl
}
