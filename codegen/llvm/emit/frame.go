package emit

import "ripc/ir"

// slot is where an alloc goes: on the stack, or at an offset of the thread's scratch block.
type slot struct {
	onStack bool
	offset  int64
	copies  int    // lanes of the vectorized loop around it, 0 if there is none
	lane    string // that loop
}

// frame places every alloc of a Func. Small ones go on the stack, in program order until it is full, so that LLVM can
// keep them in registers; the others share the scratch block, those of disjoint scopes the same bytes.
type frame struct {
	slots   map[string]slot
	stack   int64
	scratch int64
}

func layout(f *ir.Func) frame {
	fr := frame{slots: map[string]slot{}}
	fr.place(f.Body, 0, 0, "")
	return fr
}

// place walks s; top is the number of scratch bytes in use around it.
func (fr *frame) place(s ir.Stmt, top int64, copies int, lane string) {
	switch s := s.(type) {
	case *ir.Block:
		for _, t := range s.Stmts {
			fr.place(t, top, copies, lane)
		}
	case *ir.If:
		fr.place(s.Then, top, copies, lane)
		fr.place(s.Else, top, copies, lane)
	case *ir.For:
		if s.Kind == ir.Vectorize && s.Extent > 1 && copies == 0 && !calls(s) {
			copies, lane = s.Extent, s.Var
		}
		fr.place(s.Body, top, copies, lane)
	case *ir.Alloc:
		n := roundUp(int64(s.Buf.Bytes())*max(int64(copies), 1), 64)
		sl := slot{copies: copies, lane: lane}
		if n <= maxOnStack && fr.stack+n <= maxStackSum {
			sl.onStack = true
			fr.stack += n
		} else {
			sl.offset = top
			top += n
			fr.scratch = max(fr.scratch, top)
		}
		fr.slots[s.Buf.Name] = sl
		fr.place(s.Body, top, copies, lane)
	}
}

// roundUp is the least multiple of m that is not below n.
func roundUp(n, m int64) int64 { return (n + m - 1) / m * m }

// calls reports whether s calls instructions. Then no loop around them is emitted on vectors, and an instruction's
// operand must be contiguous.
func calls(s ir.Stmt) bool {
	found := false
	ir.Walk(s, func(t ir.Stmt) bool {
		_, isCall := t.(*ir.Call)
		found = found || isCall
		return !found
	})
	return found
}
