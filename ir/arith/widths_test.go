package arith_test

import (
	"errors"
	"strings"
	"testing"

	"ripc/ir"
	"ripc/ir/arith"
)

func buf(name string, t ir.Type, shape ...int) ir.Buffer {
	return ir.Buffer{Name: name, Type: t, Shape: shape}
}

func store(op ir.StoreOp, b ir.Buffer, val ir.Expr, idx ...ir.Expr) ir.Stmt {
	return &ir.Store{Buf: b.Name, Idx: idx, Op: op, Val: val}
}

func loop(v string, extent int, body ...ir.Stmt) ir.Stmt {
	return &ir.For{Var: v, Extent: extent, Body: ir.Seq(body...)}
}

// popcounts is a binary convolution at one place: planes bit planes of taps*words words, doubling between planes.
func popcounts(acc ir.Type, planes, taps, words int) *ir.Func {
	a, x, y := buf("acc", acc), buf("x", ir.U64, planes, taps, words), buf("y", ir.I64)
	count := ir.CastTo(acc, ir.Un(ir.Popcount, ir.At(x, ir.V("n"), ir.V("t"), ir.V("w"))))
	return &ir.Func{Name: "f", Params: []ir.Param{{Buffer: x}, {Buffer: y, Out: true}}, Body: &ir.Alloc{Buf: a, Body: ir.Seq(
		store(ir.Assign, a, ir.Const(acc, 0)),
		loop("n", planes,
			store(ir.Assign, a, add(ir.At(a), ir.At(a))),
			loop("t", taps, loop("w", words, store(ir.AddTo, a, count)))),
		store(ir.Assign, y, &ir.Cast{T: ir.I64, A: ir.At(a)}),
	)}}
}

func TestVerifyWidthsAtTheLimit(t *testing.T) {
	tests := []struct {
		name                string
		acc                 ir.Type
		planes, taps, words int
		want                string // part of the error; "" if it fits
	}{
		{"u8 3 words", ir.U8, 1, 1, 3, ""},
		{"u8 4 words reach 256", ir.U8, 1, 1, 4, "can reach 256, but u8 holds 0..255"},
		{"i16 511 words", ir.I16, 1, 73, 7, ""},
		{"i16 512 words reach 32768", ir.I16, 1, 64, 8, "can reach 32768, but i16 holds -32768..32767"},
		{"u16 2 planes of 341", ir.U16, 2, 341, 1, ""},
		{"u16 2 planes of 342", ir.U16, 2, 342, 1, "can reach 65664, but u16 holds 0..65535"},
		{"u16 4 planes of 68", ir.U16, 4, 68, 1, ""},
		{"u16 4 planes of 69", ir.U16, 4, 69, 1, "can reach 66240"},
		{"i32 is wide", ir.I32, 4, 9, 64, ""},
		{"doubled for ever", ir.I32, 1000000, 1, 1, "cannot bound"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			check(t, arith.VerifyWidths(popcounts(tt.acc, tt.planes, tt.taps, tt.words)), tt.want)
		})
	}
}

// What buffers say of their elements bounds the sums of them, and is proved of what is stored: two products of such weights and levels
// fit 16 bits, as the instructions that add them there want it.
func TestVerifyWidthsOfRanges(t *testing.T) {
	pair := func(from, to int64, levels ir.Type, top int64) *ir.Func {
		w, x, y, xp := buf("w", ir.I8, 2), buf("x", ir.U32, 2), buf("y", ir.I16), buf("xp", levels, 2)
		if from != 0 {
			w.Range = ir.Range{From: from, To: to}
		}
		xp.Range = ir.Range{From: 0, To: top}
		product := ir.Bin(ir.Mul, &ir.Cast{T: ir.I16, A: ir.At(xp, ir.V("k"))}, &ir.Cast{T: ir.I16, A: ir.At(w, ir.V("k"))})
		return &ir.Func{Name: "f", Params: []ir.Param{{Buffer: w}, {Buffer: x}, {Buffer: y, Out: true}}, Body: &ir.Alloc{Buf: xp, Body: ir.Seq(
			loop("i", 2, store(ir.Assign, xp, &ir.Cast{T: levels, A: ir.Bin(ir.And, ir.At(x, ir.V("i")), ir.Const(ir.U32, 127))}, ir.V("i"))),
			store(ir.Assign, y, ir.Const(ir.I16, 0)),
			loop("k", 2, store(ir.AddTo, y, product)))}}
	}
	for _, c := range []struct {
		name     string
		from, to int64
		levels   ir.Type
		top      int64
		want     string
	}{
		{"levels of 7 bits", -127, 127, ir.U8, 127, ""},
		{"no range of weights", 0, 0, ir.U8, 127, ""},
		{"levels of 8 bits", -127, 127, ir.U8, 255, ""}, // what is stored has 7
		{"levels of fewer", -127, 127, ir.U8, 126, "elements can be 127, but are said to be from 0 to 126"},
	} {
		check(t, arith.VerifyWidths(pair(c.from, c.to, c.levels, c.top)), c.want)
	}
	f := pair(-127, 127, ir.U8, 127)
	f.Params[2].Type = ir.I8
	product := ir.Bin(ir.Mul, ir.At(f.Params[0].Buffer, ir.V("k")), ir.Const(ir.I8, 1))
	f.Body = ir.Seq(store(ir.Assign, f.Params[2].Buffer, ir.Const(ir.I8, 0)), loop("k", 2, store(ir.AddTo, f.Params[2].Buffer, product)))
	check(t, arith.VerifyWidths(f), "can reach -254, but i8 holds -128..127")
	f.Params[0].Range = ir.Range{From: -63, To: 63}
	check(t, arith.VerifyWidths(f), "")
}

// A tile and what is left beside it are different elements, each doubled once between planes. Without
// a loop over planes their sums follow the zeros of both.
func TestVerifyWidthsOfTails(t *testing.T) {
	sums := func(acc ir.Type, planes, taps int) *ir.Func {
		a, x, y := buf("acc", acc, 5, 4), buf("x", ir.U64, max(1, planes), taps), buf("y", ir.I64, 5, 4)
		plane, looped := ir.Expr(n(0)), func(s ir.Stmt) ir.Stmt { return s }
		if planes > 0 {
			plane, looped = ir.V("n"), func(s ir.Stmt) ir.Stmt { return loop("n", planes, s) }
		}
		count := func(t string) ir.Expr { return ir.CastTo(acc, ir.Un(ir.Popcount, ir.At(x, plane, ir.V(t)))) }
		each := func(pre string, rows int, s func(i, j ir.Expr) ir.Stmt) ir.Stmt {
			return loop(pre+"i", rows, loop(pre+"j", 4, s(ir.V(pre+"i"), ir.V(pre+"j"))))
		}
		tile := func(pre string, rows, from int) ir.Stmt {
			return ir.Seq(
				each(pre+"d", rows, func(i, j ir.Expr) ir.Stmt {
					i = add(i, n(int64(from)))
					return store(ir.Assign, a, add(ir.At(a, i, j), ir.At(a, i, j)), i, j)
				}),
				loop(pre+"t", taps, each(pre, rows, func(i, j ir.Expr) ir.Stmt {
					return store(ir.AddTo, a, count(pre+"t"), add(i, n(int64(from))), j)
				})))
		}
		return &ir.Func{Name: "f", Params: []ir.Param{{Buffer: x}, {Buffer: y, Out: true}}, Body: &ir.Alloc{Buf: a, Body: ir.Seq(
			each("z", 5, func(i, j ir.Expr) ir.Stmt { return store(ir.Assign, a, ir.Const(acc, 0), i, j) }),
			looped(ir.Seq(tile("m", 4, 0), tile("r", 1, 4))),
			each("y", 5, func(i, j ir.Expr) ir.Stmt { return store(ir.Assign, y, &ir.Cast{T: ir.I64, A: ir.At(a, i, j)}, i, j) }),
		)}}
	}
	check(t, arith.VerifyWidths(sums(ir.I32, 8, 45)), "")
	check(t, arith.VerifyWidths(sums(ir.U16, 8, 4)), "")
	check(t, arith.VerifyWidths(sums(ir.U16, 8, 5)), "but u16 holds 0..65535")
	check(t, arith.VerifyWidths(sums(ir.U8, 0, 3)), "")
	check(t, arith.VerifyWidths(sums(ir.U8, 0, 4)), "but u8 holds 0..255")
}

// Columns of a few rows are different elements where no row ends before the other columns begin, and nothing of the rows is
// left out. Where they overlap, that shows.
func TestVerifyWidthsOfColumns(t *testing.T) {
	sums := func(acc ir.Type, from int64) *ir.Func {
		const planes, taps = 8, 4
		a, x, y := buf("acc", acc, 2, 5, 4), buf("x", ir.U64, planes, taps), buf("y", ir.I64, 2, 5, 4)
		count := ir.CastTo(acc, ir.Un(ir.Popcount, ir.At(x, ir.V("n"), ir.V("t"))))
		each := func(pre string, cols int, s func(at ...ir.Expr) ir.Stmt) ir.Stmt {
			return loop(pre+"h", 2, loop(pre+"w", cols, loop(pre+"o", 4, s(ir.V(pre+"h"), ir.V(pre+"w"), ir.V(pre+"o")))))
		}
		tile := func(pre string, cols int, from int64) ir.Stmt {
			return ir.Seq(
				each(pre+"d", cols, func(at ...ir.Expr) ir.Stmt {
					at[1] = add(at[1], n(from))
					return store(ir.Assign, a, add(ir.At(a, at...), ir.At(a, at...)), at...)
				}),
				loop("t", taps, each(pre, cols, func(at ...ir.Expr) ir.Stmt {
					at[1] = add(at[1], n(from))
					return store(ir.AddTo, a, count, at...)
				})))
		}
		return &ir.Func{Name: "f", Params: []ir.Param{{Buffer: x}, {Buffer: y, Out: true}}, Body: &ir.Alloc{Buf: a, Body: ir.Seq(
			each("z", 5, func(at ...ir.Expr) ir.Stmt { return store(ir.Assign, a, ir.Const(acc, 0), at...) }),
			loop("n", planes, tile("m", 3, 0), tile("r", 2, from)),
			each("y", 5, func(at ...ir.Expr) ir.Stmt {
				return store(ir.Assign, y, &ir.Cast{T: ir.I64, A: ir.At(a, at...)}, at...)
			}),
		)}}
	}
	check(t, arith.VerifyWidths(sums(ir.I32, 3)), "")
	check(t, arith.VerifyWidths(sums(ir.U16, 3)), "")
	check(t, arith.VerifyWidths(sums(ir.U8, 3)), "but u8 holds 0..255")
	check(t, arith.VerifyWidths(sums(ir.U16, 2)), "cannot bound the sums")
}

func check(t *testing.T, err error, want string) {
	t.Helper()
	var e *ir.Error
	switch {
	case want == "" && err != nil:
		t.Errorf("refused: %v", err)
	case want != "" && err == nil:
		t.Errorf("accepted; want an error with %q", want)
	case want != "" && (!strings.Contains(err.Error(), want) || !errors.As(err, &e)):
		t.Errorf("error %q (%T); want an *ir.Error with %q", err, err, want)
	}
}

func TestVerifyWidths(t *testing.T) {
	a, out := buf("acc", ir.U8, 4, 8), buf("y", ir.U8, 4, 8)
	s8 := buf("s", ir.U8)
	one := func(v int64) ir.Expr { return ir.Const(ir.U8, v) }
	p, q, v := ir.V("p"), ir.V("q"), ir.V("v")
	zero := loop("i", 4, loop("j", 8, store(ir.Assign, a, one(0), i, j)))
	alloc := func(b ir.Buffer, body ...ir.Stmt) *ir.Func {
		return &ir.Func{Name: "f", Body: &ir.Alloc{Buf: b, Body: ir.Seq(body...)}}
	}
	writes := func(body ...ir.Stmt) *ir.Func {
		return &ir.Func{Name: "f", Params: []ir.Param{{Buffer: out, Out: true}}, Body: ir.Seq(body...)}
	}
	// add8 adds 9 to each of 8 elements.
	lanes := buf("d", ir.U8, 8)
	add8 := &ir.Func{Name: "add8", Params: []ir.Param{{Buffer: lanes, Out: true}},
		Body: loop("l", 8, store(ir.AddTo, lanes, one(9), ir.V("l")))}
	call := func(idx ...ir.Expr) ir.Stmt {
		return &ir.Call{Fn: add8, Args: []ir.Window{{Buf: "acc", Idx: idx}}}
	}
	odd := b(ir.Eq, mod(v, 2), n(1))

	tests := []struct {
		name string
		f    *ir.Func
		want string
	}{
		{"tile", alloc(a, zero, loop("v", 25, loop("p", 4, loop("q", 8, store(ir.AddTo, a, one(10), p, q))))), ""},
		{"tile too far", alloc(a, zero, loop("v", 26, loop("p", 4, loop("q", 8, store(ir.AddTo, a, one(10), p, q))))), "can reach 260"},
		{"reduction inside", alloc(a, zero, loop("q", 8, loop("p", 4, loop("v", 25, store(ir.AddTo, a, one(10), p, q))))), ""},
		{"each element twice", alloc(a, zero, loop("p", 2, loop("q", 8, loop("v", 2, store(ir.AddTo, a, one(130), add(p, v), q))))), "can reach 260"},
		{"split index", alloc(a, zero, loop("p", 4, loop("v", 2, loop("q", 4, store(ir.AddTo, a, one(255), p, add(mul(v, 4), q)))))), ""},
		{"reversed", alloc(a, zero, loop("p", 4, loop("q", 8, store(ir.AddTo, a, one(255), b(ir.Sub, n(3), p), q)))), ""},
		{"not affine", alloc(a, zero, loop("p", 2, loop("q", 8, store(ir.AddTo, a, one(200), div(p, 2), q)))), "can reach 400"},
		{"unrolled", alloc(a, zero, loop("p", 4, loop("q", 4,
			store(ir.AddTo, a, one(200), p, mul(q, 2)), store(ir.AddTo, a, one(200), p, add(mul(q, 2), n(1)))))), ""},
		{"unrolled with one between", alloc(a, zero, loop("p", 4, loop("q", 2,
			store(ir.AddTo, a, one(200), p, mul(q, 4)), store(ir.AddTo, a, one(200), p, add(mul(q, 4), n(2)))))), ""},
		{"unrolled twice the same", alloc(a, zero, loop("p", 4, loop("q", 4,
			store(ir.AddTo, a, one(200), p, mul(q, 2)), store(ir.AddTo, a, one(200), p, mul(q, 2))))), "can reach 400"},
		{"started anew each time", alloc(a, loop("v", 99, zero, loop("p", 4, loop("q", 8, store(ir.AddTo, a, one(255), p, q))))), ""},
		{"started anew in part", alloc(a, zero, loop("v", 99, store(ir.Assign, a, one(0), n(0), n(0)),
			store(ir.AddTo, a, one(3), n(0), n(1)))), "can reach 297"},
		{"never started", alloc(s8, store(ir.AddTo, s8, one(1))), "before it is given a value"},
		{"if", alloc(s8, store(ir.Assign, s8, one(0)), loop("v", 10, &ir.If{Cond: odd, Then: store(ir.AddTo, s8, one(25))})), ""},
		{"if decided", alloc(s8, store(ir.Assign, s8, one(0)), loop("v", 100, &ir.If{Cond: b(ir.Lt, v, n(0)), Then: store(ir.AddTo, s8, one(25))})), ""},
		{"else", alloc(s8, store(ir.Assign, s8, one(0)), loop("v", 10, &ir.If{Cond: odd, Then: store(ir.AddTo, s8, one(1)), Else: store(ir.AddTo, s8, one(26))})), "can reach 260"},
		{"below zero", alloc(buf("s", ir.I8), store(ir.Assign, buf("s", ir.I8), ir.Const(ir.I8, 0)),
			loop("v", 43, store(ir.AddTo, buf("s", ir.I8), ir.Const(ir.I8, -3)))), "can reach -129"},
		{"subtraction", alloc(s8, store(ir.Assign, s8, one(0)), store(ir.Assign, s8, b(ir.Sub, ir.At(s8), one(1)))), "can reach -1"},
		{"times three", alloc(s8, store(ir.Assign, s8, one(3)), loop("v", 4, store(ir.Assign, s8, b(ir.Mul, ir.At(s8), one(3))))), ""},
		{"times three too often", alloc(s8, store(ir.Assign, s8, one(3)), loop("v", 5, store(ir.Assign, s8, b(ir.Mul, one(3), ir.At(s8))))), "can reach 729"},
		{"shifted", alloc(s8, store(ir.Assign, s8, one(1)), loop("v", 8, store(ir.Assign, s8, b(ir.Shl, ir.At(s8), one(1))))), "can reach 256"},
		{"max does not add", alloc(s8, store(ir.Assign, s8, one(0)), loop("v", 99, store(ir.MaxTo, s8, one(200)))), ""},
		{"or does not add", alloc(s8, store(ir.Assign, s8, one(0)), loop("v", 99, store(ir.OrTo, s8, one(200)))), ""},
		{"instruction", alloc(a, zero, loop("v", 28, loop("p", 4, call(p, n(0))))), ""},
		{"instruction too often", alloc(a, zero, loop("v", 29, loop("p", 4, call(p, n(0))))), "can reach 261"},
		{"parameter", writes(loop("p", 4, loop("q", 8, store(ir.Assign, out, one(0), p, q), loop("v", 5, store(ir.AddTo, out, one(51), p, q))))), ""},
		{"parameter too far", writes(loop("p", 4, loop("q", 8, store(ir.Assign, out, one(0), p, q), loop("v", 5, store(ir.AddTo, out, one(52), p, q))))), "can reach 260"},
		{"parameter as found", writes(store(ir.AddTo, out, one(1), n(0), n(0))), "can reach 256"},
		{"no iterations", alloc(s8, store(ir.Assign, s8, one(0)), loop("v", 0, store(ir.AddTo, s8, one(255)), store(ir.AddTo, s8, one(255)))), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { check(t, arith.VerifyWidths(tt.f), tt.want) })
	}
}

// A flush of a narrow sum into a wide one is bounded by what the narrow one holds.
func TestVerifyWidthsOfSumsOfSums(t *testing.T) {
	build := func(flushes int) *ir.Func {
		narrow, wide := buf("narrow", ir.U8), buf("wide", ir.I16)
		x := buf("x", ir.U64)
		return &ir.Func{Name: "f", Params: []ir.Param{{Buffer: x}}, Body: &ir.Alloc{Buf: wide, Body: ir.Seq(
			store(ir.Assign, wide, ir.Const(ir.I16, 0)),
			&ir.For{Var: "v", Extent: flushes, Body: &ir.Alloc{Buf: narrow, Body: ir.Seq(
				store(ir.Assign, narrow, u8(0)),
				loop("t", 2, store(ir.AddTo, narrow, &ir.Cast{T: ir.U8, A: ir.Un(ir.Popcount, ir.At(x))})),
				store(ir.AddTo, wide, &ir.Cast{T: ir.I16, A: ir.At(narrow)}),
			)}},
		)}}
	}
	check(t, arith.VerifyWidths(build(255)), "")
	check(t, arith.VerifyWidths(build(256)), "%wide: i16: @f: the accumulator can reach 32768")
}
