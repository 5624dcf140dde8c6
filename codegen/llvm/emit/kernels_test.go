package emit_test

import (
	"regexp"

	"ripc/ir"
)

func regexpMatch(p, s string) bool { return regexp.MustCompile("(?m)" + p).MatchString(s) }

func buf(name string, t ir.Type, shape ...int) ir.Buffer {
	return ir.Buffer{Name: name, Type: t, Shape: shape}
}

func in(b ir.Buffer) ir.Param  { return ir.Param{Buffer: b} }
func out(b ir.Buffer) ir.Param { return ir.Param{Buffer: b, Out: true} }

func loop(kind ir.LoopKind, v string, n int, body ...ir.Stmt) ir.Stmt {
	return &ir.For{Var: v, Extent: n, Kind: kind, Body: ir.Seq(body...)}
}

func set(b ir.Buffer, val ir.Expr, idx ...ir.Expr) ir.Stmt { return combine(ir.Assign, b, val, idx...) }

func combine(op ir.StoreOp, b ir.Buffer, val ir.Expr, idx ...ir.Expr) ir.Stmt {
	return &ir.Store{Buf: b.Name, Idx: idx, Op: op, Val: val}
}

func add(a, b ir.Expr) ir.Expr { return ir.Bin(ir.Add, a, b) }
func mul(a, b ir.Expr) ir.Expr { return ir.Bin(ir.Mul, a, b) }

// xorTile multiplies bits: y[i, o] = sum over k of popcount(x[i, k] ^ w[k, o]), rows unrolled, lanes = outputs. The
// accumulators are to stay in registers.
func xorTile(rows, lanes, blocks, words int) *ir.Func {
	x, w := buf("x", ir.U32, rows, words), buf("w", ir.U32, blocks, words, lanes)
	y, acc := buf("y", ir.I32, rows, blocks, lanes), buf("acc", ir.I32, rows, lanes)
	i, b, k, o := ir.V("i"), ir.V("b"), ir.V("k"), ir.V("o")
	bits := ir.Un(ir.Popcount, ir.Bin(ir.Xor, ir.At(x, ir.V("i1"), k), ir.At(w, b, k, ir.V("o1"))))
	return &ir.Func{
		Name:   "xor_tile",
		Params: []ir.Param{in(x), in(w), out(y)},
		Body: loop(ir.Parallel, "b", blocks, &ir.Alloc{Buf: acc, Body: ir.Seq(
			loop(ir.Unroll, "i", rows, loop(ir.Vectorize, "o", lanes, set(acc, ir.Const(ir.I32, 0), i, o))),
			loop(ir.Serial, "k", words, loop(ir.Unroll, "i1", rows, loop(ir.Vectorize, "o1", lanes,
				combine(ir.AddTo, acc, ir.CastTo(ir.I32, bits), ir.V("i1"), ir.V("o1"))))),
			loop(ir.Unroll, "i2", rows, loop(ir.Vectorize, "o2", lanes,
				set(y, ir.At(acc, ir.V("i2"), ir.V("o2")), ir.V("i2"), b, ir.V("o2")))),
		)}),
	}
}

// pack puts the signs of 32 integers into one word each, lanes being the bits.
func pack(words int) *ir.Func {
	x, y := buf("x", ir.I32, words, 32), buf("y", ir.U32, words)
	i, b := ir.V("i"), ir.V("b")
	bit := ir.Bin(ir.Ge, ir.At(x, i, b), ir.Const(ir.I32, 0))
	return &ir.Func{
		Name:   "pack",
		Params: []ir.Param{in(x), out(y)},
		Body: loop(ir.Serial, "i", words,
			set(y, ir.Const(ir.U32, 0), i),
			loop(ir.Vectorize, "b", 32, combine(ir.OrTo, y, ir.Bin(ir.Shl, ir.CastTo(ir.U32, bit), ir.CastTo(ir.U32, b)), i))),
	}
}
