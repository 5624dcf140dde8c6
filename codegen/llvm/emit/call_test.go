package emit_test

import (
	"strings"
	"testing"

	"ripc/ir"
	"ripc/targets"
	"ripc/targets/isa"
)

// count is the instruction of tg that counts the bits in which words differ.
func count(t *testing.T, tg targets.Target) isa.Instr {
	t.Helper()
	for _, i := range isa.Query(isa.XorCount, tg) {
		if i.Type == ir.I32 {
			return i
		}
	}
	t.Fatalf("%s has no such instruction", tg.Name)
	return isa.Instr{}
}

// callFunc calls an instruction of tg in an unrolled loop.
func callFunc(t *testing.T, tg targets.Target) *ir.Func {
	instr := count(t, tg)
	n := instr.Lanes
	x, w, y, acc := buf("x", ir.U32, 6), buf("w", ir.U32, 6, 2*n), buf("y", ir.I32, 2*n), buf("acc", ir.I32, 2*n)
	at := mul(ir.V("h"), ir.Int(n))
	return &ir.Func{Name: "counts", Params: []ir.Param{in(x), in(w), out(y)}, Body: &ir.Alloc{Buf: acc, Body: ir.Seq(
		loop(ir.Vectorize, "z", 2*n, set(acc, ir.Const(ir.I32, 3), ir.V("z"))),
		loop(ir.Serial, "i", 6, loop(ir.Unroll, "h", 2, &ir.Call{Fn: instr.Func, Args: []ir.Window{
			{Buf: "acc", Idx: []ir.Expr{at}}, {Buf: "x", Idx: []ir.Expr{vi}}, {Buf: "w", Idx: []ir.Expr{vi, at}}}})),
		loop(ir.Vectorize, "o", 2*n, set(y, ir.At(acc, ir.V("o")), ir.V("o"))))}}
}

func TestCall(t *testing.T) {
	if tg := host(t); len(isa.Query(isa.XorCount, tg)) > 0 {
		checkAll(t, callFunc(t, tg))
	}
	for name, want := range map[string][]string{"x86-64-v3": {"vpshufb", "vpmaddwd", "!call"}} {
		tg := target(t, name)
		f := callFunc(t, tg)
		if n := strings.Count(string(generate(t, f, tg).LL), "define internal void @"+count(t, tg).Func.Name); n != 1 {
			t.Errorf("%s: the instruction is defined %d times", name, n)
		}
		match(t, assembly(t, f, tg), want...)
	}
}

// TestCallQuotient: windows of unrolled calls lie where a quotient says that the copies differ in, and not where the first copy's does.
func TestCallQuotient(t *testing.T) {
	tg := host(t)
	if len(isa.Query(isa.XorCount, tg)) == 0 {
		t.Skip("the host has no instruction that counts bits")
	}
	instr := count(t, tg)
	n := instr.Lanes
	x, w, y := buf("x", ir.U32, 4), buf("w", ir.U32, n), buf("y", ir.I32, 6, 2, n)
	shared := ir.Bin(ir.Div, add(mul(vi, ir.Int(2)), ir.V("h")), ir.Int(3)) // three copies each read the same word, across iterations
	checkAll(t, &ir.Func{Name: "quotient", Params: []ir.Param{in(x), in(w), out(y)}, Body: loop(ir.Serial, "i", 6, loop(ir.Unroll, "h", 2,
		loop(ir.Vectorize, "z", n, set(y, ir.Const(ir.I32, 0), vi, ir.V("h"), ir.V("z"))),
		&ir.Call{Fn: instr.Func, Args: []ir.Window{{Buf: "y", Idx: []ir.Expr{vi, ir.V("h"), ir.Int(0)}}, {Buf: "x", Idx: []ir.Expr{shared}}, {Buf: "w", Idx: []ir.Expr{ir.Int(0)}}}}))})
}

// TestCallOther refuses an instruction whose meaning is not that of its text.
func TestCallOther(t *testing.T) {
	f := callFunc(t, target(t, "x86-64-v3"))
	g := f.WithBody(ir.MapStmt(f.Body, func(s ir.Stmt) ir.Stmt {
		if c, ok := s.(*ir.Call); ok {
			return &ir.Call{Fn: c.Fn.WithBody(&ir.Block{}), Args: c.Args}
		}
		return s
	}, nil))
	wantError(t, g, "means something else")
}

// TestCallWindow refuses operands that a pointer cannot describe.
func TestCallWindow(t *testing.T) {
	wide := &ir.Func{Name: "wide", Params: []ir.Param{out(buf("acc", ir.I32, 4)), in(buf("a", ir.I32, 2, 2))}, Body: &ir.Block{}}
	x, y := buf("x", ir.I32, 6, 8), buf("y", ir.I32, 8)
	f := &ir.Func{Name: "f", Params: []ir.Param{in(x), out(y)}, Body: &ir.Call{Fn: wide, Args: []ir.Window{
		{Buf: "y", Idx: []ir.Expr{ir.Int(0)}}, {Buf: "x", Idx: []ir.Expr{ir.Int(0), ir.Int(0)}}}}}
	wantError(t, f, "not contiguous")
}

// TestWindowsLed: windows of copies of a call lie where an element of an alloc says that is written between them.
func TestWindowsLed(t *testing.T) {
	tg := host(t)
	instr := count(t, tg)
	n := instr.Lanes
	x, w, y, at := buf("x", ir.U32, 8), buf("w", ir.U32, n), buf("y", ir.I32, 4, n), buf("at", ir.U8, 1)
	h, vz := ir.V("h"), ir.V("z")
	led := ir.Bin(ir.And, ir.CastTo(ir.I64, ir.At(at, ir.Int(0))), ir.Int(7))
	call := &ir.Call{Fn: instr.Func, Args: []ir.Window{{Buf: "y", Idx: []ir.Expr{h, ir.Int(0)}}, {Buf: "x", Idx: []ir.Expr{led}}, {Buf: "w", Idx: []ir.Expr{ir.Int(0)}}}}
	checkAll(t, &ir.Func{Name: "led", Params: []ir.Param{in(x), in(w), out(y)}, Body: &ir.Alloc{Buf: at, Body: ir.Seq(
		loop(ir.Serial, "h", 4, loop(ir.Vectorize, "z", n, set(y, ir.Const(ir.I32, 0), h, vz))),
		loop(ir.Unroll, "h", 4, set(at, ir.CastTo(ir.U8, h), ir.Int(0)), call))}})
}
