package isa

import (
	"fmt"

	"ripc/ir"
)

func in(name string, t ir.Type, n int) ir.Param {
	return ir.Param{Buffer: ir.Buffer{Name: name, Type: t, Shape: []int{n}}}
}

func out(name string, t ir.Type, n int) ir.Param {
	p := in(name, t, n)
	p.Out = true
	return p
}

// xorPopcount is acc[l] += popcount(x[0] ^ w[l]): one word of activations against a vector of filters.
func xorPopcount(name string, lanes int) *ir.Func {
	acc, x, w := out("acc", ir.I32, lanes), in("x", ir.U32, 1), in("w", ir.U32, lanes)
	l := ir.V("l")
	pop := ir.CastTo(ir.I32, ir.Un(ir.Popcount, ir.Bin(ir.Xor, ir.At(x.Buffer, ir.Int(0)), ir.At(w.Buffer, l))))
	return &ir.Func{
		Name: name, Params: []ir.Param{acc, x, w},
		Body: &ir.For{Var: "l", Extent: lanes, Body: &ir.Store{Buf: "acc", Idx: []ir.Expr{l}, Op: ir.AddTo, Val: pop}},
	}
}

// packLE is y[0] |= (acc[l] <= t[l]) << l over 32 lanes: a compare with thresholds straight into a word of bits.
func packLE(name string) *ir.Func {
	const lanes = 32
	y, acc, t := out("y", ir.U32, 1), in("acc", ir.I32, lanes), in("t", ir.I32, lanes)
	l := ir.V("l")
	bit := ir.CastTo(ir.U32, ir.Bin(ir.Le, ir.At(acc.Buffer, l), ir.At(t.Buffer, l)))
	return &ir.Func{
		Name: name, Params: []ir.Param{y, acc, t},
		Body: &ir.For{Var: "l", Extent: lanes, Body: &ir.Store{Buf: "y", Idx: []ir.Expr{ir.Int(0)}, Op: ir.OrTo,
			Val: ir.Bin(ir.Shl, bit, ir.CastTo(ir.U32, l))}},
	}
}

// packLess packs comparisons of neighbouring sums of type t with thresholds into as many words as they fill, which hold nothing before. Of several
// planes, y0 and up, a sum's level is searched for (ir.Search) among the thresholds t0 and up.
func packLess(name string, t ir.Type, words, planes int) *ir.Func {
	const lanes = 32
	q, l := ir.V("q"), ir.V("l")
	at := ir.Bin(ir.Add, ir.Bin(ir.Mul, q, ir.Int(lanes)), l)
	number := func(name string, k int) string {
		if planes == 1 {
			return name
		}
		return fmt.Sprint(name, k)
	}
	acc := in("acc", t, words*lanes)
	limits := make([]ir.Param, 1<<planes-1)
	for j := range limits {
		limits[j] = in(number("t", j), t, words*lanes)
	}
	bits := ir.Search(planes, func(j int) ir.Expr { return ir.At(limits[j].Buffer, at) }, func(limit ir.Expr) ir.Expr {
		return ir.Bin(ir.Lt, ir.At(acc.Buffer, at), limit)
	})
	var ys []ir.Param
	var clear, set []ir.Stmt
	for k, bit := range bits {
		y := out(number("y", k), ir.U32, words)
		ys = append(ys, y)
		clear = append(clear, &ir.Store{Buf: y.Name, Idx: []ir.Expr{q}, Val: ir.Const(ir.U32, 0)})
		set = append(set, &ir.Store{Buf: y.Name, Idx: []ir.Expr{q}, Op: ir.OrTo, Val: ir.Bin(ir.Shl, ir.CastTo(ir.U32, bit), ir.CastTo(ir.U32, l))})
	}
	return &ir.Func{
		Name: name, Params: append(append(ys, acc), limits...),
		Body: &ir.For{Var: "q", Extent: words, Body: ir.Seq(append(clear, &ir.For{Var: "l", Extent: lanes, Body: ir.Seq(set...)})...)},
	}
}

// pairPopcount adds up the bits of two words of each filter with one popcount, as schedule.CarrySave and schedule.Pair
// write it: x is (a1, a1 ^ a2) and w holds w1 and, in its second row, w1 ^ w2. With u = a1 ^ w1 and v = a2 ^ w2,
//
//	c[l] += popcount(s[l] & u | (s[l] | u) & v)
//	s[l] = s[l] ^ u ^ v
func pairPopcount(name string, lanes int) *ir.Func {
	c, s := out("c", ir.I32, lanes), out("s", ir.U32, lanes)
	x, w := in("x", ir.U32, 2), in("w", ir.U32, lanes)
	w.Shape = []int{2, lanes}
	l := ir.V("l")
	bin := func(op ir.BinOp, a, b ir.Expr) ir.Expr { return &ir.Binary{Op: op, A: a, B: b} }
	x0, x1 := ir.At(x.Buffer, ir.Int(0)), ir.At(x.Buffer, ir.Int(1))
	w0, w1 := ir.At(w.Buffer, ir.Int(0), l), ir.At(w.Buffer, ir.Int(1), l)
	sum := ir.At(s.Buffer, l)
	u, v := bin(ir.Xor, x0, w0), bin(ir.Xor, bin(ir.Xor, x0, x1), bin(ir.Xor, w0, w1))
	carry := bin(ir.Or, bin(ir.And, sum, u), bin(ir.And, bin(ir.Or, sum, u), v))
	return &ir.Func{
		Name: name, Params: []ir.Param{c, s, x, w},
		Body: &ir.For{Var: "l", Extent: lanes, Body: ir.Seq(
			&ir.Store{Buf: "c", Idx: []ir.Expr{l}, Op: ir.AddTo, Val: ir.CastTo(ir.I32, ir.Un(ir.Popcount, carry))},
			&ir.Store{Buf: "s", Idx: []ir.Expr{l}, Val: bin(ir.Xor, bin(ir.Xor, sum, u), v)})},
	}
}

// xorPopcountBytes is acc[l] += popcount(x[0] ^ w[l]) on bytes; 31 of them fit, then the sums have to be widened.
func xorPopcountBytes(name string, lanes int) *ir.Func {
	acc, x, w := out("acc", ir.U8, lanes), in("x", ir.U8, 1), in("w", ir.U8, lanes)
	l := ir.V("l")
	pop := ir.Un(ir.Popcount, ir.Bin(ir.Xor, ir.At(x.Buffer, ir.Int(0)), ir.At(w.Buffer, l)))
	return &ir.Func{
		Name: name, Params: []ir.Param{acc, x, w},
		Body: &ir.For{Var: "l", Extent: lanes, Body: &ir.Store{Buf: "acc", Idx: []ir.Expr{l}, Op: ir.AddTo, Val: pop}},
	}
}
