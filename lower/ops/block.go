package ops

import (
	"fmt"

	"ripc/graph"
	"ripc/ir"
	"ripc/lower/layout"
)

// DepthToSpace makes each pixel of x, of shape [B, H, W, C], a block of pixels.
func DepthToSpace(a *graph.BlockAttrs, x layout.Tensor) *ir.Func {
	c := x.Shape[3] / a.Block[0] / a.Block[1]
	to := []int{x.Shape[0], x.Shape[1] * a.Block[0], x.Shape[2] * a.Block[1], c}
	m := &blocks{name: "depth_to_space_" + a.Order.String(), x: x, to: to, small: x.Shape, block: a.Block, inner: c}
	m.from = func(p pixel, c int) []ir.Expr { return []ir.Expr{p.b, p.h, p.w, p.channel(a, c)} }
	m.at = func(p pixel, _ int) []ir.Expr { return p.large(a.Block) }
	m.read = func(i []ir.Expr, o ir.Expr) []ir.Expr { return m.from(pixelOf(i, o, a.Block), c) }
	m.whole = a.Order == graph.BlockDCR && c%WordBits == 0
	return m.build()
}

// SpaceToDepth makes each block of pixels of x, of shape [B, H, W, C], one pixel.
func SpaceToDepth(a *graph.BlockAttrs, x layout.Tensor) *ir.Func {
	c := x.Shape[3]
	to := []int{x.Shape[0], x.Shape[1] / a.Block[0], x.Shape[2] / a.Block[1], c * a.Block[0] * a.Block[1]}
	m := &blocks{name: "space_to_depth_" + a.Order.String(), x: x, to: to, small: to, block: a.Block, inner: c}
	m.from = func(p pixel, _ int) []ir.Expr { return p.large(a.Block) }
	m.at = func(p pixel, c int) []ir.Expr { return []ir.Expr{p.b, p.h, p.w, p.channel(a, c)} }
	m.read = func(i []ir.Expr, o ir.Expr) []ir.Expr {
		tap, channel := ir.Bin(ir.Div, o, ir.Int(c)), ir.Bin(ir.Mod, o, ir.Int(c))
		if a.Order != graph.BlockDCR {
			taps := ir.Int(a.Block[0] * a.Block[1])
			tap, channel = ir.Bin(ir.Mod, o, taps), ir.Bin(ir.Div, o, taps)
		}
		cols := ir.Int(a.Block[1])
		p := pixel{b: i[0], h: i[1], w: i[2], i: ir.Bin(ir.Div, tap, cols), j: ir.Bin(ir.Mod, tap, cols), c: channel}
		return m.from(p, c)
	}
	m.whole = a.Order == graph.BlockDCR && c%WordBits == 0
	return m.build()
}

// Resize repeats the pixels of x, of shape [B, H, W, C].
func Resize(a *graph.ResizeAttrs, x layout.Tensor) *ir.Func {
	to := []int{x.Shape[0], x.Shape[1] * a.Factor[0], x.Shape[2] * a.Factor[1], x.Shape[3]}
	m := &blocks{name: "resize", x: x, to: to, small: x.Shape, block: a.Factor, inner: x.Shape[3], whole: true}
	m.from = func(p pixel, _ int) []ir.Expr { return []ir.Expr{p.b, p.h, p.w, p.c} }
	m.at = func(p pixel, _ int) []ir.Expr { return p.large(a.Factor) }
	return m.build()
}

// pixel is a channel c, or a word of channels, of the pixel (i, j) of a block, which belongs to
// pixel (h, w) of the smaller image.
type pixel struct{ b, h, i, w, j, c ir.Expr }

// pixelOf finds the block in which position i, a batch, row and column, of the larger image lies.
func pixelOf(i []ir.Expr, c ir.Expr, block [2]int) pixel {
	h, w := ir.Int(block[0]), ir.Int(block[1])
	return pixel{b: i[0], h: ir.Bin(ir.Div, i[1], h), i: ir.Bin(ir.Mod, i[1], h), w: ir.Bin(ir.Div, i[2], w),
		j: ir.Bin(ir.Mod, i[2], w), c: c}
}

// large is p's position in the larger image.
func (p pixel) large(block [2]int) []ir.Expr {
	return []ir.Expr{p.b, add(mul(p.h, ir.Int(block[0])), p.i), add(mul(p.w, ir.Int(block[1])), p.j), p.c}
}

// channel is p's channel in the smaller image, where the larger one has c: or its word, where c
// counts words.
func (p pixel) channel(a *graph.BlockAttrs, c int) ir.Expr {
	if a.Order == graph.BlockCRD {
		return add(mul(add(mul(p.c, ir.Int(a.Block[0])), p.i), ir.Int(a.Block[1])), p.j)
	}
	return add(mul(add(mul(p.i, ir.Int(a.Block[1])), p.j), ir.Int(c)), p.c)
}

// blocks moves elements between an image and one with blocks for its pixels.
type blocks struct {
	name  string
	x     layout.Tensor
	to    []int // shape of the result
	small []int // of the smaller image
	block [2]int
	inner int // channels of the larger image
	// from and at are the positions in x and in the result, c being the length of the larger
	// image's last axis.
	from, at func(p pixel, c int) []ir.Expr
	// whole says that from and at are those of words, too; else read is the position in x of
	// channel o at position i of the result.
	whole bool
	read  func(i []ir.Expr, o ir.Expr) []ir.Expr
}

func (m *blocks) build() *ir.Func {
	name := fmt.Sprintf("%s_%dx%d_%d_%dx%dx%d", m.name, m.block[0], m.block[1], m.x.Bits, m.x.Shape[1], m.x.Shape[2],
		m.x.Shape[3])
	x, y := tensorBuffer("x", m.x, m.x.Shape), tensorBuffer("y", m.x, m.to)
	last, axis := m.inner, ir.Channel
	ls := []ir.Loop{loop(ir.Batch, "b", m.small[0]), loop(ir.Row, "h", m.small[1]), loop(ir.NoAxis, "i", m.block[0]),
		loop(ir.Col, "w", m.small[2]), loop(ir.NoAxis, "j", m.block[1])}
	var plane []ir.Expr
	if m.x.Form == layout.Planes {
		if !m.whole {
			return unary(name, x, y, repackLoop(x, y, func(i []ir.Expr) []ir.Expr { return m.read(i[:3], i[3]) }))
		}
		last, axis = Words(m.inner), ir.Word
		ls = append([]ir.Loop{loop(ir.Plane, "p", m.x.Bits)}, ls...)
		plane = []ir.Expr{ir.V("p")}
	}
	ls = append(ls, loop(axis, "o", last))
	p := pixel{b: ir.V("b"), h: ir.V("h"), i: ir.V("i"), w: ir.V("w"), j: ir.V("j"), c: ir.V("o")}
	from, at := append(plane, m.from(p, last)...), append(plane, m.at(p, last)...)
	return unary(name, x, y, ir.Nest(ls, set(y, ir.At(x, from...), at...)))
}
