package ops

import (
	"fmt"

	"ripc/graph"
	"ripc/ir"
	"ripc/lower/layout"
)

// poolGeom is the geometry of a pooling op over [batch, h, w, c].
type poolGeom struct {
	a      *graph.PoolAttrs
	shape  []int // logical input
	oh, ow int
}

func newPool(a *graph.PoolAttrs, shape []int) poolGeom {
	return poolGeom{a: a, shape: shape,
		oh: (shape[1]+a.Pad.Top+a.Pad.Bottom-a.Kernel[0])/a.Strides[0] + 1,
		ow: (shape[2]+a.Pad.Left+a.Pad.Right-a.Kernel[1])/a.Strides[1] + 1}
}

func (p poolGeom) name(op string) string {
	return fmt.Sprintf("%s_%dx%ds%d_%dx%dx%d", op, p.a.Kernel[0], p.a.Kernel[1], p.a.Strides[0], p.shape[1], p.shape[2], p.shape[3])
}

// at is the input position under window element (i, j) of output (h, w), and the condition that it is in the image.
func (p poolGeom) at(h, w, i, j ir.Expr) (y, x, cond ir.Expr) {
	y, x = add(mul(h, ir.Int(p.a.Strides[0])), i), add(mul(w, ir.Int(p.a.Strides[1])), j)
	hp, wp := p.shape[1]+p.a.Pad.Top+p.a.Pad.Bottom, p.shape[2]+p.a.Pad.Left+p.a.Pad.Right
	cs := append(inside(y, p.a.Pad.Top, p.shape[1], hp), inside(x, p.a.Pad.Left, p.shape[2], wp)...)
	y, x = sub(y, ir.Int(p.a.Pad.Top)), sub(x, ir.Int(p.a.Pad.Left))
	if len(cs) > 0 {
		cond = all(cs...)
	}
	return y, x, cond
}

// window is the nest of what is done at each position of a window.
func (p poolGeom) window(s ir.Stmt) ir.Stmt {
	return ir.Nest(loops("", over(ir.TapRow, "i", p.a.Kernel[0]), over(ir.TapCol, "j", p.a.Kernel[1])), s)
}

// channels is the nest of what is done for each channel.
func (p poolGeom) channels(name string, s func(c ir.Expr) ir.Stmt) ir.Stmt {
	return ir.Nest(loops("", over(ir.Channel, name, p.shape[3])), s(ir.V(name)))
}

func orElse(cond, v, other ir.Expr) ir.Expr {
	if cond == nil {
		return v
	}
	return &ir.Select{Cond: cond, A: v, B: other}
}

// MaxPoolBits is the maximum of levels over each window, on bit planes: for one plane an OR, for more a comparison of
// whole words from the top plane down. above marks the channels whose new level is greater by the planes so far, below those where it is
// less; where neither is decided, either level's bit is the maximum's. Positions outside the image count as the smallest level, all bits 0
// (unipolar 0, bipolar -m). bipolar_inv does the same to the complement.
// slice (in words) is the part of a concatenated output that it writes.
func MaxPoolBits(a *graph.PoolAttrs, planes int, shape []int, enc ir.EncodingKind, slice Slice) *ir.Func {
	p := newPool(a, shape)
	x := BitBuffer("x", planes, shape, enc)
	words := x.Shape[4]
	y := BitBuffer("y", planes, []int{shape[0], p.oh, p.ow, shape[3]}, enc)
	if slice.Total > 0 {
		y.Shape[4], y.Enc.Channels = slice.Total, slice.Total*WordBits
	}
	m := buf("m", ir.U32, planes, words)
	above, below := buf("above", ir.U32, words), buf("below", ir.U32, words)
	outer := loops("", over(ir.Batch, "b", shape[0]), over(ir.Row, "h", p.oh), over(ir.Col, "w", p.ow))
	i := vars(outer)
	iy, ix, cond := p.at(i[1], i[2], ir.V("i"), ir.V("j"))
	xv := func(n int, c ir.Expr) ir.Expr {
		v := ir.At(x, ir.Int(n), i[0], iy, ix, c)
		if enc == ir.BipolarInv { // the largest value has the smallest level
			v = ir.Un(ir.Not, v)
		}
		return orElse(cond, v, ir.Const(ir.U32, 0))
	}
	per := func(name string, ss func(c ir.Expr) []ir.Stmt) ir.Stmt {
		return ir.Nest(loops("", over(ir.Word, name, words)), ir.Seq(ss(ir.V(name))...))
	}
	start := per("c0", func(c ir.Expr) (ss []ir.Stmt) {
		for n := range planes {
			ss = append(ss, set(m, ir.Const(ir.U32, 0), ir.Int(n), c))
		}
		return ss
	})
	step := per("c", func(c ir.Expr) (ss []ir.Stmt) {
		if planes == 1 {
			return []ir.Stmt{update(ir.OrTo, m, xv(0, c), ir.Int(0), c)}
		}
		ss = append(ss, set(above, ir.Const(ir.U32, 0), c), set(below, ir.Const(ir.U32, 0), c))
		and := func(a, b ir.Expr) ir.Expr { return ir.Bin(ir.And, a, b) }
		except := func(a ir.Expr, b ir.Buffer) ir.Expr { return and(a, ir.Un(ir.Not, ir.At(b, c))) }
		for n := planes - 1; n >= 0; n-- {
			mv := ir.At(m, ir.Int(n), c)
			if n > 0 {
				ss = append(ss, update(ir.OrTo, above, except(and(xv(n, c), ir.Un(ir.Not, mv)), below), c),
					update(ir.OrTo, below, except(and(mv, ir.Un(ir.Not, xv(n, c))), above), c))
			}
			ss = append(ss, set(m, ir.Bin(ir.Or, except(mv, above), except(xv(n, c), below)), ir.Int(n), c))
		}
		return ss
	})
	finish := per("c1", func(c ir.Expr) (ss []ir.Stmt) {
		for n := range planes {
			v := ir.At(m, ir.Int(n), c)
			if enc == ir.BipolarInv {
				v = ir.Bin(ir.And, ir.Un(ir.Not, v), onesWord(shape[3], c))
			}
			ss = append(ss, set(y, v, ir.Int(n), i[0], i[1], i[2], add(c, ir.Int(slice.Offset))))
		}
		return ss
	})
	bufs := []ir.Buffer{m}
	if planes > 1 {
		bufs = append(bufs, above, below)
	}
	body := ir.Nest(outer, allocs(bufs, ir.Seq(start, p.window(step), finish)))
	return &ir.Func{Name: p.name(fmt.Sprintf("maxpool_a%d", planes)), Params: []ir.Param{in(x), out(y)}, Body: body}
}

// MaxPoolBytes is MaxPoolBits where levels lie one a byte; slice is in channels.
func MaxPoolBytes(a *graph.PoolAttrs, x layout.Tensor, slice Slice) *ir.Func {
	p, t := newPool(a, x.Shape), x.Stored()
	least, best := 0, ir.MaxTo
	if t.Enc == ir.BipolarInv { // the largest value has the smallest level
		least, best = t.Top(), ir.MinTo
	}
	src, channels := tensorBuffer("x", x, x.Shape), x.Shape[3]
	y := tensorBuffer("y", x, []int{x.Shape[0], p.oh, p.ow, max(channels, slice.Total)})
	f := p.maximum(src, y, best, byteOf(ir.Const(ir.I32, int64(least)), t), slice.Offset)
	f.Name = p.name(fmt.Sprintf("maxpool_a%d_%s", x.Bits, y.Type))
	return f
}

// maximum is the nest of the best number of each window of x, channels of which become those of y from offset on; positions outside count
// as least.
func (p poolGeom) maximum(x, y ir.Buffer, best ir.StoreOp, least ir.Expr, offset int) *ir.Func {
	acc := buf("m", x.Type, p.shape[3])
	outer := loops("", over(ir.Batch, "b", p.shape[0]), over(ir.Row, "h", p.oh), over(ir.Col, "w", p.ow))
	i := vars(outer)
	iy, ix, cond := p.at(i[1], i[2], ir.V("i"), ir.V("j"))
	first := p.channels("c0", func(c ir.Expr) ir.Stmt { return set(acc, least, c) })
	step := p.channels("c", func(c ir.Expr) ir.Stmt { return update(best, acc, orElse(cond, ir.At(x, i[0], iy, ix, c), least), c) })
	last := p.channels("c1", func(c ir.Expr) ir.Stmt { return set(y, ir.At(acc, c), i[0], i[1], i[2], add(c, ir.Int(offset))) })
	return &ir.Func{Params: []ir.Param{in(x), out(y)}, Body: ir.Nest(outer, allocs([]ir.Buffer{acc}, ir.Seq(first, p.window(step), last)))}
}

// PoolFloat is max_pool or avg_pool on f32. The mean divides by the number of positions inside the image.
func PoolFloat(op string, a *graph.PoolAttrs, shape []int) *ir.Func {
	p := newPool(a, shape)
	x := buf("x", ir.F32, shape...)
	y := buf("y", ir.F32, shape[0], p.oh, p.ow, shape[3])
	if op == "max_pool" {
		f := p.maximum(x, y, ir.MaxTo, ir.Float(negInf()), 0)
		f.Name = p.name(op)
		return f
	}
	acc, cnt := buf("m", ir.F32, shape[3]), buf("cnt", ir.F32)
	outer := loops("", over(ir.Batch, "b", shape[0]), over(ir.Row, "h", p.oh), over(ir.Col, "w", p.ow))
	i := vars(outer)
	iy, ix, cond := p.at(i[1], i[2], ir.V("i"), ir.V("j"))
	one := update(ir.AddTo, cnt, orElse(cond, ir.Float(1), ir.Float(0)))
	first := p.channels("c0", func(c ir.Expr) ir.Stmt { return set(acc, ir.Float(0), c) })
	step := p.channels("c", func(c ir.Expr) ir.Stmt {
		return update(ir.AddTo, acc, orElse(cond, ir.At(x, i[0], iy, ix, c), ir.Float(0)), c)
	})
	last := p.channels("c1", func(c ir.Expr) ir.Stmt { return set(y, ir.Bin(ir.Div, ir.At(acc, c), ir.At(cnt)), i[0], i[1], i[2], c) })
	return &ir.Func{Name: p.name(op), Params: []ir.Param{in(x), out(y)},
		Body: ir.Nest(outer, allocs([]ir.Buffer{acc, cnt}, ir.Seq(first, set(cnt, ir.Float(0)), p.window(ir.Seq(one, step)), last)))}
}

// GlobalAvgPool is the mean over height and width, summed row by row.
func GlobalAvgPool(shape []int) *ir.Func {
	x, y := buf("x", ir.F32, shape...), buf("y", ir.F32, shape[0], shape[3])
	acc := buf("m", ir.F32, shape[3])
	b := ir.V("b")
	sum := ir.Nest(loops("", over(ir.TapRow, "row", shape[1]), over(ir.TapCol, "col", shape[2]), over(ir.Channel, "c", shape[3])),
		update(ir.AddTo, acc, ir.At(x, b, ir.V("row"), ir.V("col"), ir.V("c")), ir.V("c")))
	div := ir.Bin(ir.Div, ir.At(acc, ir.V("c1")), ir.Float(float32(shape[1]*shape[2])))
	body := ir.Nest(loops("", over(ir.Batch, "b", shape[0])), allocs([]ir.Buffer{acc}, ir.Seq(
		ir.Nest(loops("", over(ir.Channel, "c0", shape[3])), set(acc, ir.Float(0), ir.V("c0"))), sum,
		ir.Nest(loops("", over(ir.Channel, "c1", shape[3])), set(y, div, b, ir.V("c1"))))))
	return &ir.Func{Name: fmt.Sprintf("global_avg_pool_%dx%dx%d", shape[1], shape[2], shape[3]), Params: []ir.Param{in(x), out(y)}, Body: body}
}
