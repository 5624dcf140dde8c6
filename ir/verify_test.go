package ir_test

import (
	"errors"
	"strings"
	"testing"

	"ripc/ir"
)

var (
	x   = ir.Buffer{Name: "x", Type: ir.I32, Shape: []int{4, 8}}
	y   = ir.Buffer{Name: "y", Type: ir.I32, Shape: []int{4, 8}}
	vi  = ir.V("i")
	vj  = ir.V("j")
	one = ir.Const(ir.I32, 1)
)

func bin(op ir.BinOp, a, b ir.Expr) ir.Expr { return &ir.Binary{Op: op, A: a, B: b} }
func f32(v float32) ir.Expr                 { return ir.Float(v) }
func i32(v int64) ir.Expr                   { return ir.Const(ir.I32, v) }

func put(val ir.Expr) ir.Stmt { return &ir.Store{Buf: "y", Idx: []ir.Expr{vi, vj}, Val: val} }

// fn is a func that reads x and writes y in loops over i and j.
func fn(body ...ir.Stmt) *ir.Func {
	return &ir.Func{
		Name: "f", Params: []ir.Param{{Buffer: x}, {Buffer: y, Out: true}},
		Body: ir.Nest([]ir.Loop{{Var: "i", Extent: 4}, {Var: "j", Extent: 8}}, ir.Seq(body...)),
	}
}

func check(t *testing.T, err error, want string) {
	t.Helper()
	var e *ir.Error
	switch {
	case want == "" && err != nil:
		t.Errorf("refused: %v", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &e)):
		t.Errorf("%v (%T); want an *ir.Error with %q", err, err, want)
	}
}

func TestVerifyAccepts(t *testing.T) {
	u8 := ir.Cast{T: ir.U8, A: vi}
	f := fn(
		put(bin(ir.Add, ir.At(x, vi, vj), one)),
		&ir.Comment{Text: "fine"},
		&ir.Alloc{Buf: ir.Buffer{Name: "b", Type: ir.Bool}, Body: &ir.Store{Buf: "b", Op: ir.OrTo, Val: bin(ir.Lt, vi, vj)}},
		put(&ir.Cast{T: ir.I32, A: bin(ir.Shl, ir.Const(ir.U8, 1), bin(ir.Mod, &u8, ir.Const(ir.U8, 8)))}),
		put(&ir.Bitcast{T: ir.I32, A: &ir.Fma{A: f32(1), B: f32(2), C: f32(3)}}),
		&ir.If{Cond: bin(ir.Ne, vi, vj), Then: put(one), Else: &ir.Block{}},
	)
	check(t, ir.Verify(f), "")
}

func TestVerifyExpr(t *testing.T) {
	load := ir.At(x, vi, vj)
	u8 := func(v int64) ir.Expr { return ir.Const(ir.U8, v) }
	tests := []struct {
		name string
		e    ir.Expr
		want string
	}{
		{"where", bin(ir.Add, load, vi), "%x[%i, %j] + %i: @f, for %i in 0:4, %j in 0:8: the operands of \"+\" have types i32 and i64"},
		{"missing", nil, "an expression is missing"},
		{"missing operand", ir.Un(ir.Neg, nil), "an expression is missing"},
		{"float and", bin(ir.And, f32(1), f32(1)), "have type f32"},
		{"float remainder", bin(ir.Mod, f32(1), f32(1)), "have type f32"},
		{"bool sum", bin(ir.Add, bin(ir.Lt, vi, vj), bin(ir.Lt, vi, vj)), "have type bool"},
		{"bool order", bin(ir.Lt, bin(ir.Lt, vi, vj), bin(ir.Lt, vi, vj)), "have type bool"},
		{"zero divisor", bin(ir.Div, load, i32(0)), "the divisor 0i32 is not a positive constant"},
		{"negative divisor", bin(ir.Mod, load, i32(-2)), "not a positive constant"},
		{"divisor not constant", bin(ir.Div, load, load), "not a positive constant"},
		{"shift too far", bin(ir.Shl, load, i32(32)), "i32 is shifted by 32"},
		{"shift back", bin(ir.Shr, load, i32(-1)), "i32 is shifted by -1"},
		{"shift by a loop", bin(ir.Shl, u8(1), &ir.Cast{T: ir.U8, A: bin(ir.Add, vj, ir.Int(1))}), "the count can be 8"},
		{"float not", ir.Un(ir.Not, f32(1)), "the operand of \"~\" is f32"},
		{"bool neg", ir.Un(ir.Neg, bin(ir.Lt, vi, vj)), "is bool"},
		{"float popcount", ir.Un(ir.Popcount, f32(1)), "is f32"},
		{"int sqrt", ir.Un(ir.Sqrt, load), "the operand of \"sqrt\" is i32"},
		{"int floor", ir.Un(ir.Floor, load), "is i32"},
		{"int round_even", ir.Un(ir.RoundEven, load), "is i32"},
		{"int fma", &ir.Fma{A: f32(1), B: load, C: f32(1)}, "an operand of fma is i32"},
		{"select by int", &ir.Select{Cond: load, A: load, B: load}, "the condition of select is i32"},
		{"sides of select", &ir.Select{Cond: bin(ir.Lt, vi, vj), A: load, B: vi}, "the sides of select have types i32 and i64"},
		{"cast to bool", &ir.Cast{T: ir.Bool, A: load}, "cannot cast i32 to bool"},
		{"bool to float", &ir.Cast{T: ir.F32, A: bin(ir.Lt, vi, vj)}, "cannot cast bool to f32"},
		{"cast to nothing", &ir.Cast{A: load}, "cannot cast i32 to invalid"},
		{"bitcast width", &ir.Bitcast{T: ir.I64, A: load}, "cannot bitcast i32 to i64"},
		{"constant too large", &ir.IntImm{T: ir.I8, V: 128}, "constant 128 does not fit in i8"},
		{"constant below zero", &ir.IntImm{T: ir.U8, V: -1}, "does not fit in u8"},
		{"bool constant", &ir.IntImm{T: ir.Bool, V: 2}, "does not fit in bool"},
		{"float constant as int", &ir.IntImm{T: ir.F32, V: 1}, "an integer constant has type f32"},
		{"unknown variable", ir.CastTo(ir.I32, ir.V("k")), "no loop over %k is around this"},
		{"unknown buffer", &ir.Load{Buf: "z", T: ir.I32}, "there is no buffer %z in scope"},
		{"rank", ir.At(x, vi), "1 indices for %x: i32[4, 8]"},
		{"index type", ir.At(x, vi, one), "index 1i32 is i32"},
		{"missing index", ir.At(x, vi, nil), "an expression is missing"},
		{"type of load", &ir.Load{Buf: "x", T: ir.U8, Idx: []ir.Expr{vi, vj}}, "loaded as u8, but elements of %x are i32"},
		{"type of value", vi, "the value is i64, but elements of %y are i32"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { check(t, ir.Verify(fn(put(tt.e))), tt.want) })
	}
}

func TestVerifyStmt(t *testing.T) {
	add4 := &ir.Func{Name: "add4", Body: &ir.Block{}, Params: []ir.Param{
		{Buffer: ir.Buffer{Name: "d", Type: ir.I32, Shape: []int{4}}, Out: true},
		{Buffer: ir.Buffer{Name: "s", Type: ir.I32, Shape: []int{4}}},
	}}
	wide := &ir.Func{Name: "wide", Body: &ir.Block{}, Params: []ir.Param{{Buffer: ir.Buffer{Name: "d", Type: ir.I32, Shape: []int{9}}}}}
	deep := &ir.Func{Name: "deep", Body: &ir.Block{}, Params: []ir.Param{{Buffer: ir.Buffer{Name: "d", Type: ir.I32, Shape: []int{1, 1, 1}}}}}
	bytes := &ir.Func{Name: "bytes", Body: &ir.Block{}, Params: []ir.Param{{Buffer: ir.Buffer{Name: "d", Type: ir.U8}}}}
	loop := &ir.Func{Name: "loop"}
	loop.Body = &ir.Call{Fn: loop}
	wrong := &ir.Func{Name: "wrong", Body: &ir.Store{Buf: "q", Val: one}}
	win := func(buf string) ir.Window { return ir.Window{Buf: buf, Idx: []ir.Expr{vi, ir.Int(0)}} }
	call := func(f *ir.Func, ws ...ir.Window) ir.Stmt { return &ir.Call{Fn: f, Args: ws} }
	loops := func(v string, n int) ir.Stmt { return &ir.For{Var: v, Extent: n, Body: &ir.Block{}} }
	tests := []struct {
		name string
		s    ir.Stmt
		want string
	}{
		{"call", call(add4, win("y"), win("x")), ""},
		{"missing body", &ir.For{Var: "k", Extent: 1}, "a statement is missing"},
		{"missing then", &ir.If{Cond: bin(ir.Lt, vi, vj)}, "a statement is missing"},
		{"loop named twice", loops("i", 2), "%i is declared twice"},
		{"loop named like a buffer", loops("x", 2), "%x is declared twice"},
		{"siblings of one name", ir.Seq(loops("k", 2), loops("k", 2)), "%k is declared twice"},
		{"no name", loops("i j", 2), "\"i j\" is not a name"},
		{"extent", loops("k", 0), "the extent is 0"},
		{"kind", &ir.For{Var: "k", Extent: 1, Kind: 9, Body: &ir.Block{}}, "kind of loop"},
		{"variable after its loop", ir.Seq(loops("k", 2), put(ir.CastTo(ir.I32, ir.V("k")))), "no loop over %k"},
		{"store to a parameter", &ir.Store{Buf: "x", Idx: []ir.Expr{vi, vj}, Val: one}, "%x is only read"},
		{"store to nothing", &ir.Store{Buf: "z", Val: one}, "there is no buffer %z"},
		{"alloc after its end", ir.Seq(&ir.Alloc{Buf: ir.Buffer{Name: "t", Type: ir.I32}, Body: &ir.Block{}}, &ir.Store{Buf: "t", Val: one}), "there is no buffer %t"},
		{"alloc named twice", &ir.Alloc{Buf: x, Body: &ir.Block{}}, "%x is declared twice"},
		{"adding to bool", &ir.Alloc{Buf: ir.Buffer{Name: "t", Type: ir.Bool}, Body: &ir.Store{Buf: "t", Op: ir.AddTo, Val: bin(ir.Lt, vi, vj)}}, "\"+=\" does not work on bool"},
		{"or of floats", &ir.Alloc{Buf: ir.Buffer{Name: "t", Type: ir.F32}, Body: &ir.Store{Buf: "t", Op: ir.OrTo, Val: f32(1)}}, "\"|=\" does not work on f32"},
		{"if of int", &ir.If{Cond: one, Then: &ir.Block{}}, "the condition is i32"},
		{"comment", &ir.Comment{Text: "a\nb"}, "more than one line"},
		{"call of nothing", call(nil), "the instruction is missing"},
		{"operands", call(add4, win("y")), "1 operands"},
		{"operand written", call(add4, win("x"), win("x")), "%x is only read"},
		{"operand type", call(bytes, win("x")), "elements are i32"},
		{"operand rank", call(deep, win("x")), "has 2 dimensions"},
		{"operand size", call(wide, win("x")), "dimension 1 of %x: i32[4, 8] is too small"},
		{"operand indices", call(add4, ir.Window{Buf: "y"}, win("x")), "0 indices"},
		{"recursion", call(loop), "calls itself"},
		{"inside an instruction", call(wrong), "@wrong: there is no buffer %q"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { check(t, ir.Verify(fn(tt.s)), tt.want) })
	}
}

func TestVerifyBuffer(t *testing.T) {
	planes := func(t ir.Type, c int, shape ...int) ir.Buffer {
		return ir.Buffer{Name: "b", Type: t, Shape: shape, Enc: ir.Encoding{Kind: ir.Bipolar, Channels: c}}
	}
	tests := []struct {
		name string
		b    ir.Buffer
		want string
	}{
		{"planes", planes(ir.U32, 33, 1, 2), ""},
		{"name", ir.Buffer{Name: "1b", Type: ir.U8}, "\"1b\" is not a name"},
		{"type", ir.Buffer{Name: "b"}, "the element type is invalid"},
		{"empty", ir.Buffer{Name: "b", Type: ir.U8, Shape: []int{4, 0}}, "shape [4 0] is not possible"},
		{"huge", ir.Buffer{Name: "b", Type: ir.U8, Shape: []int{1 << 30, 1 << 30, 1 << 30}}, "is not possible"},
		{"signed planes", planes(ir.I32, 64, 1, 2), "bit planes cannot be stored in i32"},
		{"float planes", planes(ir.F32, 64, 1, 2), "bit planes cannot be stored in f32"},
		{"no planes", planes(ir.U32, 64, 2), "[planes, ..., words]"},
		{"too few words", planes(ir.U32, 65, 1, 2), "65 channels do not fill 2 words of 32 bits"},
		{"too many words", planes(ir.U32, 32, 1, 2), "32 channels do not fill 2 words"},
		{"no channels", planes(ir.U32, 0, 1, 1), "0 channels"},
		{"channels of nothing", ir.Buffer{Name: "b", Type: ir.U8, Enc: ir.Encoding{Channels: 8}}, "channels but no encoding"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			check(t, ir.Verify(&ir.Func{Name: "f", Params: []ir.Param{{Buffer: tt.b}}, Body: &ir.Block{}}), tt.want)
		})
	}
	check(t, ir.Verify(&ir.Func{Name: "a b", Body: &ir.Block{}}), "\"a b\" is not a name for a func")
	check(t, ir.Verify(&ir.Func{Name: "f", Params: []ir.Param{{Buffer: x}, {Buffer: x}}, Body: &ir.Block{}}), "%x is declared twice")
	check(t, ir.Verify(&ir.Func{Name: "f"}), "a statement is missing")
}
