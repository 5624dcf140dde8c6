package emit

import (
	"fmt"
	"slices"
	"strings"

	llir "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"ripc/codegen"
	"ripc/codegen/llvm/isa"
	"ripc/ir"
	"ripc/ir/arith"
)

// call emits the call of an instruction. Its function, appended to the module once, takes one
// pointer per parameter, and LLVM inlines it.
func (e *emitter) call(s *ir.Call) {
	if len(s.Args) != len(s.Fn.Params) {
		e.fail("call @"+s.Fn.Name, "", "%d operands for %d parameters", len(s.Args), len(s.Fn.Params))
	}
	for i, w := range s.Args {
		e.checkWindow(s.Fn, i, w)
	}
	e.instruction(s.Fn)
	var args []value.Value
	var params []*llir.Param
	for _, w := range s.Args {
		args = append(args, e.window(e.place(w.Buf, w.Idx)))
		params = append(params, llir.NewParam("", opaquePtr{}))
	}
	// A function outside the module: llir prints the call, and no declaration.
	e.b().NewCall(llir.NewFunc(s.Fn.Name, types.Void, params...), args...)
}

// instruction records the function of an instruction at its first call.
func (e *emitter) instruction(f *ir.Func) {
	if slices.ContainsFunc(e.instrs, func(i instruction) bool { return i.name == f.Name }) {
		return
	}
	function, err := isa.FunctionOf(f, isa.Core{InOrder: e.row.InOrder(), SlowPairSums: e.row.SlowPairSums,
		AndProducts: e.target.Device.AndProducts})
	if err != nil {
		panic(abort{fmt.Errorf("code generation of %s: %w", e.f.Name, err)})
	}
	e.instrs = append(e.instrs, instruction{f.Name, function})
}

// origin is an address in a block: that of a buffer's element at an index without its constant
// part.
type origin struct {
	block *llir.Block
	base  value.Value
	terms string
}

// window returns the address of a place. The addresses of unrolled copies differ by constants. So
// the address without its constant part is computed once per block, unless it reads memory that the
// func changes.
func (e *emitter) window(p place) value.Value {
	rest := arith.Affine{Terms: p.index.Terms}
	if iv, ok := rest.Bounds(e.ranges); p.scattered || len(rest.Terms) == 0 || p.index.Const < 0 || !ok || iv.Lo < 0 ||
		!e.isInvariant(rest) {
		return e.element(p.base, p.elem, p.index)
	}
	key := origin{e.blk, p.base, p.elem.String() + " " + ir.ExprString(e.substituteUnrolled(rest))}
	from := e.origins[key]
	if from == nil {
		from = e.element(p.base, p.elem, rest)
		key.block = e.blk // evaluating may have started another block
		e.origins[key] = from
	}
	return e.gep(from, p.elem, imm(ir.I64, p.index.Const))
}

// substituteUnrolled replaces the variables of unrolled loops in a by their values. Copies then
// differ in the quotients that affine forms keep whole.
func (e *emitter) substituteUnrolled(a arith.Affine) ir.Expr {
	return ir.MapExpr(a.Expr(), func(x ir.Expr) ir.Expr {
		if v, ok := x.(*ir.Var); ok && e.vars[v.Name].known {
			return ir.Int(int(e.vars[v.Name].k))
		}
		return x
	})
}

// checkWindow checks that the elements of a window are contiguous: a pointer has no strides.
func (e *emitter) checkWindow(fn *ir.Func, i int, w ir.Window) {
	b := e.buffer(w.Buf, w.Idx)
	p := fn.Params[i]
	fail := func(why string) {
		e.fail("call @"+fn.Name, "", "operand %s for %s: %s", ir.BufferString(b.Buffer), ir.BufferString(p.Buffer), why)
	}
	if err := codegen.Contiguous(p, b.Buffer); err != nil {
		fail(err.Error())
	}
	if b.copies > 0 {
		fail("it has a copy per lane of a vectorized loop")
	}
}

// join appends functions to each other. It omits repeated declarations, since LLVM rejects them.
func (e *emitter) join(functions []isa.Function) string {
	seen := map[string]bool{}
	for name := range e.declared {
		seen[name] = true
	}
	var out strings.Builder
	for _, f := range functions {
		out.WriteByte('\n')
		for _, d := range f.Calls {
			if !seen[d.Name] {
				seen[d.Name] = true
				fmt.Fprintln(&out, d)
			}
		}
		out.WriteString(f.Text)
	}
	return out.String()
}
