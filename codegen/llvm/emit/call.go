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
	"ripc/codegen/llvm/rows"
	"ripc/ir"
	"ripc/ir/arith"
)

// call emits the call of an instruction: its function, appended to the module once, takes one
// pointer per parameter that LLVM inlines.
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

// instruction takes the function of an instruction down, the first time that it is called.
func (e *emitter) instruction(f *ir.Func) {
	if slices.ContainsFunc(e.instrs, func(i instruction) bool { return i.name == f.Name }) {
		return
	}
	row, _ := rows.Of(e.target)
	function, err := isa.FunctionOf(f, row.InOrder())
	if err != nil {
		panic(abort{fmt.Errorf("code generation of %s: %w", e.f.Name, err)})
	}
	e.instrs = append(e.instrs, instruction{f.Name, function})
}

// origin is an address in a block: of a buffer's element at an index without its constant part.
type origin struct {
	block *llir.Block
	base  value.Value
	terms string
}

// window is the address of a place. Copies of an unrolled loop take windows, and elements, that are
// a constant apart, so the rest of the address is computed once in a block, if it stays what it is.
func (e *emitter) window(p place) value.Value {
	rest := arith.Affine{Terms: p.at.Terms}
	if iv, ok := rest.Bounds(e.ranges); p.scattered || len(rest.Terms) == 0 || p.at.Const < 0 || !ok || iv.Lo < 0 || !e.fixed(rest) {
		return e.element(p.base, p.elem, p.at)
	}
	key := origin{e.blk, p.base, p.elem.String() + " " + ir.ExprString(e.written(rest))}
	from := e.origins[key]
	if from == nil {
		from = e.element(p.base, p.elem, rest)
		key.block = e.blk // computing it may have begun another
		e.origins[key] = from
	}
	return e.gep(from, p.elem, imm(ir.I64, p.at.Const))
}

// written is a with the values of variables of unrolled loops, which a quotient that is left whole
// may still have: copies differ in them alone.
func (e *emitter) written(a arith.Affine) ir.Expr {
	return ir.MapExpr(a.Expr(), func(x ir.Expr) ir.Expr {
		if v, ok := x.(*ir.Var); ok && e.vars[v.Name].known {
			return ir.Int(int(e.vars[v.Name].k))
		}
		return x
	})
}

// checkWindow makes sure that the elements of a window follow each other in memory, which is all
// that the pointer says.
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

// join puts functions together. A declaration that the module or an earlier function has already is
// left out: LLVM takes one of each.
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
