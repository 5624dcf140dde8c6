package emit_test

import (
	"fmt"
	"slices"
	"sort"
	"testing"

	"ripc/ir"
	"ripc/targets"
	"ripc/targets/isa"
)

// instructions gives a Func for each instruction of a CPU, by name: it calls the instruction three times. Sums of bytes begin below
// 128, and entries of tables are below 32: instructions are for sums that do not wrap, which is proved before code is made.
func instructions(tg targets.Target) []*ir.Func {
	var fs []*ir.Func
	for _, fn := range isa.For(tg) {
		f := &ir.Func{Name: "call_" + fn.Name, Params: fn.Params}
		call := &ir.Call{Fn: fn}
		for _, p := range fn.Params {
			w := ir.Window{Buf: p.Name}
			for range p.Shape {
				w.Idx = append(w.Idx, ir.Int(0))
			}
			call.Args = append(call.Args, w)
		}
		f.Body = loop(ir.Serial, "again", 3, call)
		below := func(p *ir.Param, mask int64) {
			p.Out = true
			var loops []ir.Loop
			var at []ir.Expr
			for d, n := range p.Shape {
				v := fmt.Sprintf("d%d", d)
				loops, at = append(loops, ir.Loop{Var: v, Extent: n}), append(at, ir.V(v))
			}
			low := ir.Bin(ir.And, ir.At(p.Buffer, at...), ir.Const(ir.U8, mask))
			f.Body = ir.Seq(ir.Nest(loops, &ir.Store{Buf: p.Name, Idx: at, Val: low}), f.Body)
		}
		f.Params = slices.Clone(f.Params)
		if acc := &f.Params[0]; acc.Out && acc.Type == ir.U8 {
			below(acc, 127)
			is := func(what func(i isa.Instr) bool) bool {
				return slices.ContainsFunc(isa.All(), func(i isa.Instr) bool { return i.Func.Name == fn.Name && what(i) })
			}
			switch {
			case is(func(i isa.Instr) bool { return i.Meaning == isa.LookUpRow && i.Halves }):
				below(&f.Params[1], 0x21) // up to 16 groups, three times
			case is(func(i isa.Instr) bool { return i.Meaning == isa.LookUp && !i.Halves }):
				below(&f.Params[1], 31) // entries, three of which are added
			}
		}
		fs = append(fs, f)
	}
	sort.Slice(fs, func(i, j int) bool { return fs[i].Name < fs[j].Name })
	return fs
}

// Each instruction that this machine has computes what its body says.
func TestInstructions(t *testing.T) {
	tg := host(t)
	fs := instructions(tg)
	if len(fs) == 0 {
		t.Skipf("%s has no instructions for tensorize", tg.Name)
	}
	checkOn(t, host(t), fs...)
}

// Windows in which all bits differ have the largest counts, whose parts bytes have to hold.
func TestFullWindows(t *testing.T) {
	tg := host(t)
	var fs []*ir.Func
	for _, i := range isa.Query(isa.XorCountWindow, tg) {
		x, w := i.Func.Params[1], i.Func.Params[2]
		f := &ir.Func{Name: "full_" + i.Func.Name, Params: slices.Clone(i.Func.Params)}
		call := &ir.Call{Fn: i.Func}
		for _, p := range i.Func.Params {
			call.Args = append(call.Args, ir.Window{Buf: p.Name, Idx: slices.Repeat([]ir.Expr{ir.Int(0)}, len(p.Shape))})
		}
		fill := func(p ir.Param, val func(c ir.Expr) ir.Expr, words int) ir.Stmt {
			var loops []ir.Loop
			var at []ir.Expr
			for d, n := range p.Shape {
				v := fmt.Sprintf("%s%d", p.Name, d)
				loops, at = append(loops, ir.Loop{Var: v, Extent: n}), append(at, ir.V(v))
			}
			return ir.Nest(loops, &ir.Store{Buf: p.Name, Idx: at, Val: val(at[words])})
		}
		odd := func(c ir.Expr) ir.Expr { return ir.Bin(ir.Eq, ir.Bin(ir.Mod, c, ir.Int(2)), ir.Int(1)) }
		ones := func(c ir.Expr) ir.Expr { // of a pair that differs everywhere, the second word is the difference of two equal ones
			return &ir.Select{Cond: odd(c), A: ir.Const(ir.U32, 0), B: ir.Const(ir.U32, 1<<32-1)}
		}
		zero := func(ir.Expr) ir.Expr { return ir.Const(ir.U32, 0) }
		f.Params[1].Out, f.Params[2].Out = true, true
		f.Body = ir.Seq(fill(x, zero, 2), fill(w, ones, 2), call)
		fs = append(fs, f)
	}
	if len(fs) == 0 {
		t.Skipf("%s has no instructions that count windows", tg.Name)
	}
	checkOn(t, tg, fs...)
}
