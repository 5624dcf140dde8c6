package interp

import (
	"errors"
	"strings"
	"testing"

	"ripc/ir"
)

// A sum that wraps is an error where that is asked for, and what else wraps is none.
func TestSums(t *testing.T) {
	const wraps = "wraps: it is "
	at := func(b ir.Buffer) ir.Expr { return ir.At(b, ir.Int(0)) }
	bin := func(op ir.BinOp, a, b ir.Expr) ir.Expr { return &ir.Binary{Op: op, A: a, B: b} }
	for name, c := range map[string]struct {
		t     ir.Type
		begin int64
		store func(b ir.Buffer, k func(int64) ir.Expr) ir.Stmt
		want  string // of the message; "": it is right
	}{
		"+= fits":        {ir.U8, 200, func(b ir.Buffer, k func(int64) ir.Expr) ir.Stmt { return update(b, ir.AddTo, k(55), ir.Int(0)) }, ""},
		"+= wraps":       {ir.U8, 200, func(b ir.Buffer, k func(int64) ir.Expr) ir.Stmt { return update(b, ir.AddTo, k(56), ir.Int(0)) }, wraps + "256, and u8 holds 0 to 255"},
		"+= of i8":       {ir.I8, -100, func(b ir.Buffer, k func(int64) ir.Expr) ir.Stmt { return update(b, ir.AddTo, k(-29), ir.Int(0)) }, wraps + "-129"},
		"+= of i64":      {ir.I64, -2, func(b ir.Buffer, k func(int64) ir.Expr) ir.Stmt { return update(b, ir.AddTo, k(-1<<63), ir.Int(0)) }, wraps + "-9223372036854775810"},
		"+= of u64":      {ir.U64, -1, func(b ir.Buffer, k func(int64) ir.Expr) ir.Stmt { return update(b, ir.AddTo, k(1), ir.Int(0)) }, wraps + "18446744073709551616"},
		"+= of u64 fits": {ir.U64, -2, func(b ir.Buffer, k func(int64) ir.Expr) ir.Stmt { return update(b, ir.AddTo, k(1), ir.Int(0)) }, ""},
		"+= of itself": {ir.U8, 100, func(b ir.Buffer, k func(int64) ir.Expr) ir.Stmt {
			return update(b, ir.AddTo, bin(ir.Mul, at(b), k(2)), ir.Int(0))
		}, wraps + "300"},
		"b = b + k":  {ir.U16, 65535, func(b ir.Buffer, k func(int64) ir.Expr) ir.Stmt { return set(b, bin(ir.Add, at(b), k(1)), ir.Int(0)) }, wraps + "65536"},
		"b = b - k":  {ir.U32, 0, func(b ir.Buffer, k func(int64) ir.Expr) ir.Stmt { return set(b, bin(ir.Sub, at(b), k(1)), ir.Int(0)) }, wraps + "-1"},
		"b = b << 3": {ir.I8, 16, func(b ir.Buffer, k func(int64) ir.Expr) ir.Stmt { return set(b, bin(ir.Shl, at(b), k(3)), ir.Int(0)) }, wraps + "128"},
		"b = b + k - k": {ir.U8, 255, func(b ir.Buffer, k func(int64) ir.Expr) ir.Stmt {
			return set(b, bin(ir.Sub, bin(ir.Add, at(b), k(9)), k(9)), ir.Int(0))
		}, ""},
		"min= of a sum": {ir.I8, 100, func(b ir.Buffer, k func(int64) ir.Expr) ir.Stmt {
			return update(b, ir.MinTo, bin(ir.Add, at(b), k(100)), ir.Int(0))
		}, wraps + "200"},
		"what is added": {ir.U8, 1, func(b ir.Buffer, k func(int64) ir.Expr) ir.Stmt {
			return update(b, ir.AddTo, bin(ir.Mul, k(16), k(17)), ir.Int(0))
		}, ""},
		"not of the buffer": {ir.U8, 1, func(b ir.Buffer, k func(int64) ir.Expr) ir.Stmt { return set(b, bin(ir.Mul, k(16), k(17)), ir.Int(0)) }, ""},
		"by a cast": {ir.U8, 200, func(b ir.Buffer, k func(int64) ir.Expr) ir.Stmt {
			return set(b, ir.CastTo(ir.U8, bin(ir.Add, ir.CastTo(ir.U16, at(b)), ir.Const(ir.U16, 200))), ir.Int(0))
		}, ""},
		"|= is no sum": {ir.U8, 200, func(b ir.Buffer, k func(int64) ir.Expr) ir.Stmt {
			return update(b, ir.OrTo, bin(ir.Add, at(b), k(100)), ir.Int(0))
		}, ""},
		"a factor from here": {ir.U8, 20, func(b ir.Buffer, k func(int64) ir.Expr) ir.Stmt { return set(b, bin(ir.Mul, at(b), at(b)), ir.Int(0)) }, ""},
	} {
		b := buffer("y", c.t, 1)
		f := fn(ir.Seq(set(b, ir.Const(c.t, c.begin), ir.Int(0)), c.store(b, func(v int64) ir.Expr { return ir.Const(c.t, v) })), b)
		p, err := CompileWith(f, All())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		err = p.Run(t.Context(), [][]byte{make([]byte, c.t.Bytes())})
		var re *RuntimeError
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (!errors.As(err, &re) || re.What != Wraps || !strings.Contains(re.Msg, c.want)):
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
		if p, err = CompileChecked(f); err != nil {
			t.Fatal(err)
		}
		if err := p.Run(t.Context(), [][]byte{make([]byte, c.t.Bytes())}); err != nil {
			t.Errorf("%s: without the check: %v", name, err)
		}
	}
}
