// Package ops says what each layer computes, as unscheduled ir.Funcs: one full loop nest per intermediate tensor, nothing
// about order or memory. The interpreter of these Funcs is the definition of a network; schedules may only rearrange them.
//
// Each loop has its axis (ir.Axis), by which strategies find it, in the nest of the buffer that it fills. Each buffer of a layer has its
// role (ir.Role). Names are for people:
// a nest that fills buffer "acc" has loops "acc.b", "acc.h", ...; the nest that writes the output has the plain names b h w,
// then q (words of 32 channels) and l (bit in the word) for packed outputs (r: bit in a last word that is not full) or o for
// floats. "xp" is the padded input, "acc" the accumulators, "pl" the pooled accumulators.
//
// Bit tensors are u32[planes, batch, height, width, words]; float tensors f32[batch, height, width, channels].
package ops

import (
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

func in(b ir.Buffer) ir.Param  { return ir.Param{Buffer: b} }
func out(b ir.Buffer) ir.Param { return ir.Param{Buffer: b, Out: true} }

func buf(name string, t ir.Type, shape ...int) ir.Buffer {
	return ir.Buffer{Name: name, Type: t, Shape: shape}
}

// made is a buffer of a role that the Func makes.
func made(role ir.Role, name string, t ir.Type, shape ...int) ir.Buffer {
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

// all is the conjunction of conditions; true for none.
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

// inside is the condition 0 <= e-before < size, without the halves that e's range 0..limit-1 makes true.
func inside(e ir.Expr, before, size, limit int) []ir.Expr {
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

// over is a loop of a nest.
func over(axis ir.Axis, name string, extent int) ir.Loop {
	return ir.Loop{Var: name, Extent: extent, Axis: axis}
}

// overAll are the loops over a tensor: [batch, h, w, channels], or [planes, batch, h, w, words] of bits.
func overAll(shape []int) []ir.Loop {
	if len(shape) == 4 {
		return []ir.Loop{over(ir.Batch, "b", shape[0]), over(ir.Row, "h", shape[1]), over(ir.Col, "w", shape[2]), over(ir.Channel, "c", shape[3])}
	}
	return []ir.Loop{over(ir.Plane, "p", shape[0]), over(ir.Batch, "b", shape[1]), over(ir.Row, "h", shape[2]), over(ir.Col, "w", shape[3]), over(ir.Word, "c", shape[4])}
}

// vars are the loop variables of a nest, as index expressions.
func vars(ls []ir.Loop) []ir.Expr {
	es := make([]ir.Expr, len(ls))
	for i, l := range ls {
		es[i] = ir.V(l.Var)
	}
	return es
}

// allocs wraps body in buffers, the first outermost.
func allocs(bufs []ir.Buffer, body ir.Stmt) ir.Stmt {
	for i := len(bufs) - 1; i >= 0; i-- {
		body = &ir.Alloc{Buf: bufs[i], Body: body}
	}
	return body
}
