package ops

import (
	"fmt"

	"ripc/graph"
	"ripc/ir"
)

// MaxPoolBits is the maximum of levels over each window, on bit planes, whole words at a time.
// Positions outside the image count as the smallest level, all bits 0 (unipolar 0, bipolar -m).
// bipolar_inv pools the complement. If a vector, of `vector` words (0: unknown), spans several
// windows, rows are pooled first, as runs of words. slice (in words) is the part of a concatenated
// output that it writes.
func MaxPoolBits(a *graph.PoolAttrs, planes int, shape []int, enc ir.EncodingKind, vector int, slice Slice) *ir.Func {
	p := bitPool{poolGeom: newPool(a, shape), planes: planes, enc: enc, words: Words(shape[3])}
	y := BitBuffer("y", planes, []int{shape[0], p.oh, p.ow, shape[3]}, enc)
	if slice.Total > 0 {
		y.Shape[4], y.Enc.Channels = slice.Total, slice.Total*WordBits
	}
	f := &ir.Func{Name: p.name(fmt.Sprintf("maxpool_a%d", planes))}
	if p.words*a.Strides[1] < vector {
		f.Params, f.Body = p.byRows(y, slice)
	} else {
		f.Params, f.Body = p.byWindows(y, slice)
	}
	return f
}

// bitPool is a max_pool of bit planes.
type bitPool struct {
	poolGeom
	planes, words int
	enc           ir.EncodingKind
}

// byWindows pools the words of a pixel, window by window.
func (p bitPool) byWindows(y ir.Buffer, slice Slice) ([]ir.Param, ir.Stmt) {
	x := BitBuffer("x", p.planes, p.shape, p.enc)
	m := buf("m", ir.U32, p.planes, p.words)
	outer, i := p.outputs()
	iy, ix, cond := p.at(i[1], i[2], ir.V("i"), ir.V("j"))
	start := p.wordNest("c0", p.words, func(c ir.Expr) []ir.Stmt { return p.zeros(m, c) })
	step := p.wordNest("c", p.words, func(c ir.Expr) []ir.Stmt {
		return p.larger(m, []ir.Expr{c}, c, func(n int) ir.Expr { return p.level(x, cond, ir.Int(n), i[0], iy, ix, c) })
	})
	finish := p.wordNest("c1", p.words, func(c ir.Expr) []ir.Stmt {
		return p.write(y, func(n int) ir.Expr { return ir.At(m, ir.Int(n), c) }, i, c, slice)
	})
	return []ir.Param{inParam(x), outParam(y)}, ir.Nest(outer,
		allocs(append([]ir.Buffer{m}, p.decided(m, p.words)...), ir.Seq(start, p.window(step), finish)))
}

// byRows pools the rows of each row of windows first. Then it pools neighbouring columns from every
// column on, and the output takes the columns at which windows begin.
func (p bitPool) byRows(y ir.Buffer, slice Slice) ([]ir.Param, ir.Stmt) {
	// words of a row and of its border
	run, before, after := p.shape[2]*p.words, p.a.Pad.Left*p.words, p.a.Pad.Right*p.words
	x := ir.Buffer{Name: "x", Type: ir.U32, Shape: []int{p.planes, p.shape[0], p.shape[1], run},
		Enc: ir.Encoding{Kind: p.enc, Channels: run * WordBits}}
	r := buf("r", ir.U32, p.planes, p.shape[0], p.oh, before+run+after)
	m := buf("m", ir.U32, p.planes, ((p.ow-1)*p.a.Strides[1]+1)*p.words)
	rows := loops("r.", loop(ir.Batch, "b", p.shape[0]), loop(ir.Row, "h", p.oh))
	i := vars(rows)
	iy, _, cond := p.at(i[1], ir.Int(0), ir.V("i"), ir.Int(p.a.Pad.Left))
	var pooled []ir.Stmt
	zero := func(name string, from, words int) {
		if words > 0 {
			pooled = append(pooled, p.wordNest(name, words, func(e ir.Expr) []ir.Stmt {
				return p.zeros(r, i[0], i[1], add(e, ir.Int(from)))
			}))
		}
	}
	zero("r.l", 0, before)
	zero("r.r", before+run, after)
	pooled = append(pooled, p.wordNest("r.c", run, func(e ir.Expr) []ir.Stmt {
		at := []ir.Expr{i[0], i[1], add(e, ir.Int(before))}
		step := p.larger(r, at, e, func(n int) ir.Expr { return p.level(x, cond, ir.Int(n), i[0], iy, e) })
		return append(p.zeros(r, at...), ir.Nest(loops("", loop(ir.TapRow, "i", p.a.Kernel[0])), ir.Seq(step...)))
	}))

	outer := loops("", loop(ir.Batch, "b", p.shape[0]), loop(ir.Row, "h", p.oh))
	o := vars(outer)
	neighbours := p.wordNest("m.c", m.Shape[1], func(e ir.Expr) []ir.Stmt {
		at := add(e, mul(ir.V("j"), ir.Int(p.words)))
		step := p.larger(m, []ir.Expr{e}, e, func(n int) ir.Expr { return ir.At(r, ir.Int(n), o[0], o[1], at) })
		return append(p.zeros(m, e), ir.Nest(loops("", loop(ir.TapCol, "j", p.a.Kernel[1])), ir.Seq(step...)))
	})
	taken := ir.Nest(loops("", loop(ir.Col, "w", p.ow)), p.wordNest("c", p.words, func(c ir.Expr) []ir.Stmt {
		from := add(mul(ir.V("w"), ir.Int(p.a.Strides[1]*p.words)), c)
		return p.write(y, func(n int) ir.Expr { return ir.At(m, ir.Int(n), from) }, append(o, ir.V("w")), c, slice)
	}))
	windows := ir.Nest(outer, allocs(append([]ir.Buffer{m}, p.decided(m, m.Shape[1])...), ir.Seq(neighbours, taken)))
	return []ir.Param{inParam(x), outParam(y)}, allocs([]ir.Buffer{r},
		ir.Seq(ir.Nest(rows, allocs(p.decided(r, run), ir.Seq(pooled...))), windows))
}

// wordNest returns a nest over the given number of words.
func (p bitPool) wordNest(name string, words int, ss func(e ir.Expr) []ir.Stmt) ir.Stmt {
	return ir.Nest(loops("", loop(ir.Word, name, words)), ir.Seq(ss(ir.V(name))...))
}

// zeros sets word at of each plane of m to the smallest levels.
func (p bitPool) zeros(m ir.Buffer, at ...ir.Expr) (ss []ir.Stmt) {
	for n := range p.planes {
		ss = append(ss, set(m, ir.Const(ir.U32, 0), append([]ir.Expr{ir.Int(n)}, at...)...))
	}
	return ss
}

// level returns a word of x with levels that rise with the values; if cond is not nil and does not
// hold, the smallest levels.
func (p bitPool) level(x ir.Buffer, cond ir.Expr, idx ...ir.Expr) ir.Expr {
	v := ir.At(x, idx...)
	if p.enc == ir.BipolarInv { // the largest value has the smallest level
		v = ir.Un(ir.Not, v)
	}
	return orElse(cond, v, ir.Const(ir.U32, 0))
}

// larger updates word at of each plane of m to the larger levels of m and x. It compares whole
// words from the top plane down. Word e of above marks the channels with a greater new level so
// far, and below those with a smaller one. Where neither is decided, the maximum has either level's
// bit.
func (p bitPool) larger(m ir.Buffer, at []ir.Expr, e ir.Expr, x func(n int) ir.Expr) (ss []ir.Stmt) {
	plane := func(n int) []ir.Expr { return append([]ir.Expr{ir.Int(n)}, at...) }
	if p.planes == 1 {
		return []ir.Stmt{update(ir.OrTo, m, x(0), plane(0)...)}
	}
	above, below := p.decided(m, 0)[0], p.decided(m, 0)[1]
	and := func(a, b ir.Expr) ir.Expr { return ir.Bin(ir.And, a, b) }
	except := func(a ir.Expr, b ir.Buffer) ir.Expr { return and(a, ir.Un(ir.Not, ir.At(b, e))) }
	ss = append(ss, set(above, ir.Const(ir.U32, 0), e), set(below, ir.Const(ir.U32, 0), e))
	for n := p.planes - 1; n >= 0; n-- {
		mv := ir.At(m, plane(n)...)
		if n > 0 {
			ss = append(ss, update(ir.OrTo, above, except(and(x(n), ir.Un(ir.Not, mv)), below), e),
				update(ir.OrTo, below, except(and(mv, ir.Un(ir.Not, x(n))), above), e))
		}
		ss = append(ss, set(m, ir.Bin(ir.Or, except(mv, above), except(x(n), below)), plane(n)...))
	}
	return ss
}

// decided returns the buffers above and below of larger for m, with the given number of words.
func (p bitPool) decided(m ir.Buffer, words int) []ir.Buffer {
	if p.planes == 1 {
		return nil
	}
	return []ir.Buffer{buf(m.Name+".above", ir.U32, words), buf(m.Name+".below", ir.U32, words)}
}

// write stores word c of a pixel of y; v returns the word of a plane.
func (p bitPool) write(y ir.Buffer, v func(n int) ir.Expr, pixel []ir.Expr, c ir.Expr, slice Slice) (ss []ir.Stmt) {
	for n := range p.planes {
		word := v(n)
		if p.enc == ir.BipolarInv {
			word = ir.Bin(ir.And, ir.Un(ir.Not, word), onesWord(p.shape[3], c))
		}
		ss = append(ss, set(y, word, ir.Int(n), pixel[0], pixel[1], pixel[2], add(c, ir.Int(slice.Offset))))
	}
	return ss
}
