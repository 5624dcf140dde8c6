package schedule

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ripc/internal/suggest"
	"ripc/ir"
	"ripc/ir/deps"
)

// tensorize replaces a loop and all in it by a call of an instruction that means the same. Other
// systems: TVM tensorize, Exo replace.
//
//	for %acc.o in 0:16 { %acc[%w, %acc.o] += cast<i32>(popcount(%x[%h, %c] ^ %f[%c, %q * 16 + %acc.o])) }
//	=>
//	call @xor_count_add_x16(%acc[%w, 0], %x[%h, %c], %f[%c, %q * 16])
//
// The instruction's body is matched with the loop: loops with loops of the same extent, parameters
// with windows of buffers, constants with equal constants; operands of commuting integer operations
// may be the other way round, and the kinds of loops do not matter. It is refused with the first
// place where they differ, and if a window may leave its buffer, is not contiguous, or overlaps one
// that is written.
func tensorize(f *ir.Func, loop string, instr *ir.Func) *ir.Func {
	l := findLoop(f, loop)
	for _, p := range path(f.Body, loop) {
		if p.Kind == ir.Vectorize && p != l || l.Kind == ir.Parallel {
			refuse("", "loop %%%s is %s, which cannot hold a call", p.Var, p.Kind)
		}
	}
	u := &unifier{instr: instr, sc: deps.ScopeOf(f.Body), given: conditions(f, loop), writes: f.Changes(l),
		bufs: f.Buffers(), params: map[string]ir.Param{},
		loops: map[string]string{}, wins: map[string]ir.Window{}}
	for _, p := range instr.Params {
		u.params[p.Name] = p
	}
	if m := u.stmt("", instr.Body, l); m != nil {
		m.where = "at " + strings.TrimPrefix(m.where, "/")
		if m.where == "at " {
			m.where = fmt.Sprintf("at loop %%%s", loop)
		}
		help := "reorder, split, unroll or pack until the loop has the instruction's form:\n"
		refuse(help+indent(ir.StmtString(instr.Body)), "loop %%%s is not @%s: %s", loop, instr.Name, m)
	}
	call := &ir.Call{Fn: instr}
	for _, p := range instr.Params {
		w, ok := u.wins[p.Name]
		if !ok {
			refuse("", "@%s does not use its parameter %%%s", instr.Name, p.Name)
		}
		for i, q := range instr.Params[:len(call.Args)] {
			if call.Args[i].Buf != w.Buf {
				continue
			}
			if _, met := u.sc.Touch(windowAccess(call.Args[i], q), windowAccess(w, p), u.sc.Outer[loop]); met {
				refuse("", "%%%s is both %%%s and %%%s of @%s, and one of them is written", w.Buf, q.Name, p.Name,
					instr.Name)
			}
		}
		call.Args = append(call.Args, w)
	}
	return replaceLoop(f, loop, call)
}

// windowAccess returns the accesses of a call to the window of a parameter.
func windowAccess(w ir.Window, p ir.Param) []deps.Access {
	return []deps.Access{{Buf: w.Buf, Idx: w.Idx, Size: p.Shape, Write: p.Out}}
}

func indent(s string) string {
	return "        " + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n        ")
}

func unknownInstr(instrs map[string]*ir.Func, name string) {
	help := "the target has no instructions for tensorize"
	if len(instrs) > 0 {
		names := slices.Sorted(maps.Keys(instrs))
		families := names[:0:0]
		for _, n := range names {
			families = append(families, family(n))
		}
		help = suggest.DidYouMean(name, names) + "families of instructions: " +
			strings.Join(slices.Compact(families), " ")
	}
	refuse(help, "no instruction @%s", name)
}

// family is the name of an instruction without its sizes: cpu_lookup16 of cpu_lookup16_x64.
func family(name string) string {
	parts := strings.Split(name, "_")
	n := min(2, len(parts))
	for n < len(parts) && !strings.ContainsAny(parts[n], "0123456789") {
		n++
	}
	return strings.Join(parts[:n], "_")
}
