package emit_test

import (
	"strings"
	"testing"

	"ripc/ir"
)

// addSquares is an instruction: acc += a*a over four lanes.
func addSquares() *ir.Func {
	acc, a := buf("acc", ir.I32, 4), buf("a", ir.I32, 4)
	return &ir.Func{
		Name: "add_squares", Params: []ir.Param{out(acc), in(a)},
		Body: loop(ir.Serial, "l", 4, combine(ir.AddTo, acc, mul(ir.At(a, ir.V("l")), ir.At(a, ir.V("l"))), ir.V("l"))),
		Emit: `declare <4 x i32> @llvm.abs.v4i32(<4 x i32>, i1)

define internal void @add_squares(ptr %acc, ptr %a) alwaysinline {
  %x = load <4 x i32>, ptr %a, align 4
  %p = call <4 x i32> @llvm.abs.v4i32(<4 x i32> %x, i1 false)
  %q = mul <4 x i32> %p, %p
  %o = load <4 x i32>, ptr %acc, align 4
  %s = add <4 x i32> %o, %q
  store <4 x i32> %s, ptr %acc, align 4
  ret void
}
`,
	}
}

func callFunc() *ir.Func {
	x, y, acc := buf("x", ir.I32, 6, 8), buf("y", ir.I32, 8), buf("acc", ir.I32, 8)
	h := ir.V("h")
	at := mul(h, ir.Int(4))
	return &ir.Func{Name: "squares", Params: []ir.Param{in(x), out(y)}, Body: &ir.Alloc{Buf: acc, Body: ir.Seq(
		loop(ir.Vectorize, "z", 8, set(acc, ir.Un(ir.Abs, ir.At(x, ir.Int(0), ir.V("z"))), ir.V("z"))),
		loop(ir.Serial, "i", 6, loop(ir.Unroll, "h", 2, &ir.Call{Fn: addSquares(), Args: []ir.Window{
			{Buf: "acc", Idx: []ir.Expr{at}}, {Buf: "x", Idx: []ir.Expr{vi, at}}}})),
		loop(ir.Vectorize, "o", 8, set(y, ir.At(acc, ir.V("o")), ir.V("o"))))}}
}

func TestCall(t *testing.T) {
	f := callFunc()
	checkAll(t, f)
	ll := string(generate(t, f, target(t, "x86-64-v4")).LL)
	if n := strings.Count(ll, "define internal void @add_squares"); n != 1 {
		t.Errorf("the instruction is defined %d times", n)
	}
	match(t, assembly(t, f, target(t, "x86-64-v4")), "vpmulld", "!call")
	match(t, assembly(t, f, target(t, "rpi4")), `mla\s`, `!\bbl\s`)
}

// TestCallWindow refuses operands that a pointer cannot describe.
func TestCallWindow(t *testing.T) {
	wide := addSquares()
	wide.Params[1].Shape = []int{2, 2}
	x, y := buf("x", ir.I32, 6, 8), buf("y", ir.I32, 8)
	f := &ir.Func{Name: "f", Params: []ir.Param{in(x), out(y)}, Body: &ir.Call{Fn: wide, Args: []ir.Window{
		{Buf: "y", Idx: []ir.Expr{ir.Int(0)}}, {Buf: "x", Idx: []ir.Expr{ir.Int(0), ir.Int(0)}}}}}
	wantError(t, f, "not contiguous")
}
