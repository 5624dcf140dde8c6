// Package ops defines the computation of each layer as an unscheduled ir.Func: one full loop nest
// per intermediate tensor, without order or memory. The interpreter of these Funcs defines a
// network; schedules only rearrange them.
//
// Strategies find a loop by its axis (ir.Axis) in the nest of the buffer that it fills, and a
// buffer by its role (ir.Role). Names are for people: a nest that fills buffer "acc" has loops
// "acc.b", "acc.h", ...; the nest that writes the output has the plain names b h w, then q (words
// of 32 channels) and l (bit in the word) for packed outputs (r: bit in a last word that is not
// full) or o for floats. "xp" is the padded input, "acc" the accumulators, "pl" the pooled
// accumulators.
//
// Bit tensors are u32[planes, batch, height, width, words]; float tensors f32[batch, height, width,
// channels].
package ops

import (
	"fmt"

	"ripc/internal/lists"
	"ripc/ir"
	"ripc/lower/layout"
)

// WordBits is layout.WordBits.
const WordBits = layout.WordBits

// Words is layout.Words.
func Words(n int) int { return layout.Words(n) }

// BitBuffer is layout.BitBuffer.
func BitBuffer(name string, planes int, shape []int, enc ir.EncodingKind) ir.Buffer {
	return layout.BitBuffer(name, planes, shape, enc)
}

func inParam(b ir.Buffer) ir.Param  { return ir.Param{Buffer: b} }
func outParam(b ir.Buffer) ir.Param { return ir.Param{Buffer: b, Out: true} }

func buf(name string, t ir.Type, shape ...int) ir.Buffer {
	return ir.Buffer{Name: name, Type: t, Shape: shape}
}

// allocBuffer returns a buffer that the Func allocates, with its role.
func allocBuffer(role ir.Role, name string, t ir.Type, shape ...int) ir.Buffer {
	b := buf(name, t, shape...)
	b.Role = role
	return b
}

func set(b ir.Buffer, v ir.Expr, idx ...ir.Expr) ir.Stmt {
	return &ir.Store{Buf: b.Name, Idx: idx, Op: ir.Assign, Val: v}
}

func update(op ir.StoreOp, b ir.Buffer, v ir.Expr, idx ...ir.Expr) ir.Stmt {
	return &ir.Store{Buf: b.Name, Idx: idx, Op: op, Val: v}
}

func add(a, b ir.Expr) ir.Expr { return ir.Bin(ir.Add, a, b) }
func sub(a, b ir.Expr) ir.Expr { return ir.Bin(ir.Sub, a, b) }
func mul(a, b ir.Expr) ir.Expr { return ir.Bin(ir.Mul, a, b) }

// all returns the conjunction of conditions; true for none.
func all(cs ...ir.Expr) ir.Expr {
	if len(cs) == 0 {
		return ir.Const(ir.Bool, 1)
	}
	e := cs[0]
	for _, c := range cs[1:] {
		e = ir.Bin(ir.And, e, c)
	}
	return e
}

// rangeChecks returns the conditions 0 <= e-before < size, without those that e's range 0..limit-1
// implies.
func rangeChecks(e ir.Expr, before, size, limit int) []ir.Expr {
	var cs []ir.Expr
	if before > 0 {
		cs = append(cs, ir.Bin(ir.Ge, e, ir.Int(before)))
	}
	if limit > before+size {
		cs = append(cs, ir.Bin(ir.Lt, e, ir.Int(before+size)))
	}
	return cs
}

// loops names a nest: loops("acc.", over(ir.Batch, "b", 1), over(ir.Row, "h", 56), ...).
func loops(prefix string, ls ...ir.Loop) []ir.Loop {
	for i := range ls {
		ls[i].Var = prefix + ls[i].Var
	}
	return ls
}

// loop returns a loop of a nest.
func loop(axis ir.Axis, name string, extent int) ir.Loop {
	return ir.Loop{Var: name, Extent: extent, Axis: axis}
}

// pixels returns the loops over the pixels of image s, [batch, h, w, ...], and inner loops in them,
// with the variables of all.
func pixels(prefix string, s []int, inner ...ir.Loop) ([]ir.Loop, []ir.Expr) {
	ls := []ir.Loop{loop(ir.Batch, "b", s[0]), loop(ir.Row, "h", s[1]), loop(ir.Col, "w", s[2])}
	ls = loops(prefix, append(ls, inner...)...)
	return ls, vars(ls)
}

// image returns the loops over image s, [batch, h, w, channels], and their variables. channel names
// the last one.
func image(prefix string, s []int, channel string) ([]ir.Loop, []ir.Expr) {
	return pixels(prefix, s, loop(ir.Channel, channel, s[3]))
}

// planes returns the loops over the pixels of each plane of y, and inner loops in them, with the
// variables of all.
func planes(y ir.Buffer, inner ...ir.Loop) ([]ir.Loop, []ir.Expr) {
	ls, _ := pixels("", y.Shape[1:], inner...)
	ls = append([]ir.Loop{loop(ir.Plane, "p", y.Shape[0])}, ls...)
	return ls, vars(ls)
}

// unary returns the Func of tensor x and result y.
func unary(name string, x, y ir.Buffer, body ir.Stmt) *ir.Func {
	return &ir.Func{Name: name, Params: []ir.Param{inParam(x), outParam(y)}, Body: body}
}

// elementwise returns the Func that stores value(i) at each position i of image y.
func elementwise(name string, x, y ir.Buffer, value func(i []ir.Expr) ir.Expr) *ir.Func {
	ls, i := image("", y.Shape, "o")
	return unary(name, x, y, ir.Nest(ls, set(y, value(i), i...)))
}

// imageSize prints the height, width and channels of a shape for the name of a Func.
func imageSize(s []int) string { return fmt.Sprintf("%dx%dx%d", s[1], s[2], s[3]) }

// overAll returns the loops over a tensor: [batch, h, w, channels], or [planes, batch, h, w, words]
// of bits.
func overAll(shape []int) []ir.Loop {
	if len(shape) == 4 {
		ls, _ := image("", shape, "c")
		return ls
	}
	ls, _ := planes(ir.Buffer{Shape: shape}, loop(ir.Word, "c", shape[4]))
	return ls
}

// vars returns the loop variables of a nest as index expressions.
func vars(ls []ir.Loop) []ir.Expr {
	return lists.Map(ls, func(l ir.Loop) ir.Expr { return ir.V(l.Var) })
}

// allocs wraps body in buffers, the first outermost.
func allocs(bufs []ir.Buffer, body ir.Stmt) ir.Stmt {
	for i := len(bufs) - 1; i >= 0; i-- {
		body = &ir.Alloc{Buf: bufs[i], Body: body}
	}
	return body
}
