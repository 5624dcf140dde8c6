package arith_test

import (
	"testing"

	"ripc/ir"
	"ripc/ir/arith"
)

func sel(c, x, y ir.Expr) ir.Expr { return &ir.Select{Cond: c, A: x, B: y} }
func and(x, y ir.Expr) ir.Expr    { return b(ir.And, x, y) }

func TestVerifyBounds(t *testing.T) {
	x, y := buf("x", ir.U8, 8, 8), buf("y", ir.U8, 8, 8)
	h, w, kh := ir.V("h"), ir.V("w"), ir.V("kh")
	get := func(h ir.Expr) ir.Expr { return ir.At(x, h, w) }
	pad := b(ir.Sub, add(h, kh), n(1)) // -1..8
	inside := and(b(ir.Ge, pad, n(0)), b(ir.Lt, pad, n(8)))
	zero := u8(0)
	conv := func(val ir.Expr) ir.Stmt {
		return loop("h", 8, loop("w", 8, loop("kh", 3, store(ir.AddTo, y, val, h, w))))
	}
	split := add(mul(ir.V("h.o"), 3), ir.V("h.i")) // 0..8
	tail := func(s ir.Stmt) ir.Stmt { return loop("h.o", 3, loop("h.i", 3, loop("w", 8, s))) }
	lanes := buf("d", ir.U8, 4)
	touch := &ir.Func{Name: "touch", Params: []ir.Param{{Buffer: lanes, Out: true}}, Body: &ir.Block{}}
	call := func(idx ...ir.Expr) ir.Stmt { return &ir.Call{Fn: touch, Args: []ir.Window{{Buf: "y", Idx: idx}}} }

	tests := []struct {
		name string
		body ir.Stmt
		want string
	}{
		{"plain", loop("h", 8, loop("w", 8, store(ir.Assign, y, get(h), h, w))), ""},
		{"stored outside", loop("h", 9, loop("w", 8, store(ir.Assign, y, zero, h, w))), "%y[%h, %w]: @f, for %h in 0:9, %w in 0:8: cannot prove that the index in dimension 0, %h, stays in 0..7 (it is known to stay in 0..8)"},
		{"loaded outside", loop("h", 8, loop("w", 8, store(ir.Assign, y, get(add(h, n(1))), h, w))), "%x[%h + 1, %w]"},
		{"select", conv(sel(inside, get(pad), zero)), ""},
		{"select with half a guard", conv(sel(b(ir.Ge, pad, n(0)), get(pad), zero)), "stays in 0..7"},
		{"the other side", conv(sel(ir.Un(ir.Not, inside), zero, get(pad))), ""},
		{"or of negations", conv(sel(b(ir.Or, b(ir.Lt, pad, n(0)), b(ir.Gt, pad, n(7))), zero, get(pad))), ""},
		{"nested selects", conv(sel(b(ir.Ge, pad, n(0)), sel(b(ir.Le, pad, n(7)), get(pad), zero), zero)), ""},
		{"equivalent guard", conv(sel(and(b(ir.Ge, add(h, kh), n(1)), b(ir.Le, add(kh, h), n(8))), get(pad), zero)), ""},
		{"clamped", conv(get(b(ir.Min, b(ir.Max, pad, n(0)), n(7)))), ""},
		{"the condition itself", conv(sel(b(ir.Gt, get(pad), zero), zero, zero)), "%x[%h + %kh - 1, %w]"},
		{"tail guarded", tail(&ir.If{Cond: b(ir.Lt, split, n(8)), Then: store(ir.Assign, y, get(split), split, w)}), ""},
		{"tail not guarded", tail(store(ir.Assign, y, zero, split, w)), "%y[%h.o * 3 + %h.i, %w]"},
		{"wrong branch", tail(&ir.If{Cond: b(ir.Lt, split, n(8)), Then: &ir.Block{}, Else: store(ir.Assign, y, zero, split, w)}), "%y"},
		{"cut branch", tail(&ir.If{Cond: b(ir.Ge, split, n(8)), Then: &ir.Block{}, Else: store(ir.Assign, y, zero, split, w)}), ""},
		{"dead branch", tail(&ir.If{Cond: b(ir.Lt, split, n(0)), Then: store(ir.Assign, y, zero, n(99), w)}), ""},
		{"scaled guard", loop("h", 20, loop("w", 8, &ir.If{Cond: b(ir.Lt, mul(h, 2), n(16)), Then: store(ir.Assign, y, zero, h, w)})), ""},
		{"two guards", loop("h", 20, loop("w", 20, &ir.If{Cond: and(b(ir.Lt, h, w), b(ir.Lt, w, n(8))), Then: store(ir.Assign, y, zero, h, w)})), ""},
		{"quotient", loop("v", 64, store(ir.Assign, y, zero, div(ir.V("v"), 8), mod(ir.V("v"), 8))), ""},
		{"quotient of a guard", loop("v", 99, &ir.If{Cond: b(ir.Lt, ir.V("v"), n(64)), Then: store(ir.Assign, y, zero, div(ir.V("v"), 8), mod(ir.V("v"), 8))}), ""},
		{"start of a cut tile", loop("h.o", 3, store(ir.Assign, y, zero, b(ir.Min, mul(ir.V("h.o"), 3), n(5)), n(0))), ""},
		{"up to min", loop("v", 3, loop("u", 8, &ir.If{
			Cond: b(ir.Lt, ir.V("u"), b(ir.Min, n(3), b(ir.Sub, n(8), mul(ir.V("v"), 3)))),
			Then: store(ir.Assign, y, zero, add(mul(ir.V("v"), 3), ir.V("u")), n(0)),
		})), ""},
		{"index of an index", loop("v", 2, store(ir.Assign, y, zero, &ir.Cast{T: ir.I64, A: ir.At(x, n(8), n(0))}, n(0))), "%x[8, 0]"},
		{"window", loop("h", 8, loop("w", 5, call(h, w))), ""},
		{"window too far", loop("h", 8, loop("w", 6, call(h, w))), "the start of a window of 4 in dimension 1, %w, stays in 0..4"},
		{"no iterations", loop("h", 0, loop("w", 8, store(ir.Assign, y, zero, n(99), w))), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &ir.Func{Name: "f", Params: []ir.Param{{Buffer: x}, {Buffer: y, Out: true}}, Body: tt.body}
			check(t, arith.VerifyBounds(f), tt.want)
		})
	}
}

func TestCanProve(t *testing.T) {
	p := and(b(ir.Le, add(i, j), n(10)), b(ir.Ne, i, n(9)))
	if !arith.CanProve(p, small) {
		t.Errorf("cannot prove %s", ir.ExprString(p))
	}
	for _, e := range []ir.Expr{
		b(ir.Lt, add(i, j), n(10)),
		b(ir.Ne, i, n(7)),
		b(ir.Lt, ir.V("free"), add(ir.V("free"), n(1))), // wraps at the end
	} {
		if arith.CanProve(e, small) {
			t.Errorf("proved %s", ir.ExprString(e))
		}
	}
	if e := b(ir.Le, mul(div(add(i, j), 3), 3), add(i, j)); !arith.CanProve(e, small) {
		t.Errorf("cannot prove %s", ir.ExprString(e))
	}
}
