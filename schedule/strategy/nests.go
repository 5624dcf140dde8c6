package strategy

import (
	"iter"
	"slices"

	"ripc/ir"
	"ripc/targets/isa"
)

// nest is a buffer and the loops that fill it.
type nest struct {
	buf   string
	loops map[ir.Axis]*ir.For
}

func (n nest) exists() bool { return n.buf != "" }

// loop returns the name of the loop along an axis, or "".
func (n nest) loop(a ir.Axis) string {
	if l := n.loops[a]; l != nil {
		return l.Var
	}
	return ""
}

// extent returns the extent of the loop along an axis, or 0.
func (n nest) extent(a ir.Axis) int {
	if l := n.loops[a]; l != nil {
		return l.Extent
	}
	return 0
}

// axesOf returns the axis of each index: that of the first loop in it, or NoAxis.
func (n nest) axesOf(idx []ir.Expr) []ir.Axis {
	out := make([]ir.Axis, len(idx))
	for d, e := range idx {
		ir.WalkExpr(e, func(e ir.Expr) bool {
			v, ok := e.(*ir.Var)
			for a, l := range n.loops {
				if ok && l.Var == v.Name && out[d] == ir.NoAxis {
					out[d] = a
				}
			}
			return true
		})
	}
	return out
}

// nestsOf finds the loops of each buffer that f writes. A loop belongs to a buffer if it writes
// nothing else; a parameter's loop may also write other buffers that it needs. The first loop of an
// axis counts.
func nestsOf(f *ir.Func, params map[string]bool) map[string]nest {
	out := map[string]nest{}
	for l := range ir.StmtsOf[*ir.For](f.Body) {
		ws := written(l)
		for _, own := range allocs(l.Body) { // private to an iteration
			delete(ws, own)
		}
		for b := range ws {
			if len(ws) > 1 && !params[b] {
				continue
			}
			if out[b].loops == nil {
				out[b] = nest{b, map[ir.Axis]*ir.For{}}
			}
			if out[b].loops[l.Axis] == nil {
				out[b].loops[l.Axis] = l
			}
		}
	}
	return out
}

// allocs lists the buffers that s allocates, outermost first.
func allocs(s ir.Stmt) []string {
	var out []string
	for a := range ir.StmtsOf[*ir.Alloc](s) {
		out = append(out, a.Buf.Name)
	}
	return out
}

// written returns the set of buffers that s writes.
func written(s ir.Stmt) map[string]bool {
	out := map[string]bool{}
	for buf := range writes(s) {
		out[buf] = true
	}
	return out
}

// writes iterates over the buffers that s writes, once per write.
func writes(s ir.Stmt) iter.Seq[string] {
	return func(yield func(string) bool) {
		more := true
		ir.Walk(s, func(s ir.Stmt) bool {
			switch s := s.(type) {
			case *ir.Store:
				more = more && yield(s.Buf)
			case *ir.Call:
				for i, p := range s.Fn.Params {
					more = more && (!p.Out || yield(s.Args[i].Buf))
				}
			}
			return more
		})
	}
}

// storesTo lists the stores to a buffer.
func storesTo(s ir.Stmt, buf string) []*ir.Store {
	var out []*ir.Store
	for st := range ir.StmtsOf[*ir.Store](s) {
		if st.Buf == buf {
			out = append(out, st)
		}
	}
	return out
}

// loads lists the loads of an expression.
func loads(e ir.Expr) []*ir.Load { return slices.Collect(ir.ExprsOf[*ir.Load](e)) }

// chosenBy reports whether the last index is a loop's variable alone.
func chosenBy(idx []ir.Expr, loop string) bool {
	v, ok := idx[len(idx)-1].(*ir.Var)
	return ok && v.Name == loop
}

// rowNest is a nest of sums of a row: the suffix of its loops, the loop over its positions, its
// home (each iteration has its sums in registers; or ""), and its instruction.
type rowNest struct {
	suffix, positions, home string
	instr                   *isa.Instr
}

// cutRow cuts the positions of a row of sums into tiles of n's instruction, and the remainder,
// which is summed by instruction last.
func (b *builder) cutRow(n rowNest, last *isa.Instr) []rowNest {
	outer, inner, tail := b.cut(n.positions, n.instr.Positions)
	if inner == "" || tail == "" || last == nil {
		b.errorf("the positions cannot be cut into tiles")
		return nil
	}
	return []rowNest{{positions: inner, home: outer, instr: n.instr},
		{suffix: ".t", positions: tail, home: b.wrapLoop(tail), instr: last}}
}
