package schedule

import (
	"fmt"
	"slices"

	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/deps"
)

// computeInline removes an alloc by writing the value of each element where it is read. Other
// systems: TVM compute_inline; Halide's default.
//
//	alloc %t: i32[56]
//	for %t.i in 0:56 { %t[%t.i] = %x[%t.i] * 2i32 }
//	for %i in 0:55 { %y[%i] = %t[%i] + %t[%i + 1] }
//	=>
//	for %i in 0:55 { %y[%i] = %x[%i] * 2i32 + %x[%i + 1] * 2i32 }
//
// It is refused if the buffer is no alloc, and if a call takes the buffer. One nest of loops must
// fill it, with one "=" and a separate loop for each index. The nest may not read a buffer that is
// written later in the scope.
func computeInline(f *ir.Func, buffer string) *ir.Func {
	alloc := findAlloc(f, buffer)
	producer, st := soleStore(alloc)
	dims := map[string]int{} // loop of the producer -> dimension
	for d, e := range st.Idx {
		v, ok := e.(*ir.Var)
		if k, isImm := e.(*ir.IntImm); isImm && k.V == 0 && alloc.Buf.Shape[d] == 1 {
			continue
		}
		if !ok {
			refuse("compute_inline before splitting the producer",
				"dimension %d of %%%s is written at %s, not by a plain loop", d, buffer, ir.ExprString(e))
		}
		if _, twice := dims[v.Name]; twice || ir.FindLoop(producer, v.Name) == nil {
			refuse("", "dimension %d of %%%s is written at %s, not by a loop of its own", d, buffer, ir.ExprString(e))
		}
		dims[v.Name] = d
	}
	for _, l := range loopNames(producer) {
		if _, ok := dims[l]; !ok && ir.FindLoop(producer, l).Extent != 1 {
			refuse("", "loop %%%s of the nest that writes %%%s is not one of its dimensions", l, buffer)
		}
	}
	checkInline(alloc, producer, st)
	ranges := deps.ScopeOf(f.Body).Ranges
	value := func(idx []ir.Expr) ir.Expr {
		m := map[string]ir.Expr{}
		for _, l := range loopNames(producer) {
			m[l] = ir.Int(0)
		}
		for l, d := range dims {
			m[l] = idx[d]
		}
		return arith.Simplify(ir.Subst(st.Val, m), ranges)
	}
	body := ir.MapStmt(removeStmts(alloc.Body, []ir.Stmt{producer}), nil,
		mapLoads(buffer, func(l *ir.Load) ir.Expr { return value(l.Idx) }))
	return f.WithBody(replaceAlloc(f.Body, buffer, body))
}

// soleStore finds the nest that fills an alloc, and its store.
func soleStore(alloc *ir.Alloc) (ir.Stmt, *ir.Store) {
	b := alloc.Buf.Name
	refuse := func(format string, args ...any) {
		refuse(fmt.Sprintf("only a buffer set by one nest with one = can be inlined; use compute_at %s", b), format,
			args...)
	}
	var producer ir.Stmt
	for _, s := range sequence(alloc.Body) {
		switch {
		case !deps.Written(deps.Accesses(s)[b]):
		case producer != nil:
			refuse("%%%s is written by more than one nest", b)
		default:
			producer = s
		}
	}
	s := producer
	for {
		switch x := s.(type) {
		case *ir.For:
			if in := doing(x.Body); len(in) == 1 {
				s = in[0]
				continue
			}
			refuse("the nest that writes %%%s holds more than one statement in loop %%%s", b, x.Var)
		case *ir.Store:
			if x.Op != ir.Assign {
				refuse("%%%s is accumulated into by %s", b, deps.Shorten(ir.StmtString(x)))
			}
			return producer, x
		case nil:
			refuse("nothing writes %%%s", b)
		}
		refuse("%%%s is written in %s", b, describe(s))
	}
}

// checkInline refuses if the store's operands may change between the producer and a reader.
func checkInline(alloc *ir.Alloc, producer ir.Stmt, st *ir.Store) {
	b := alloc.Buf.Name
	reads := deps.Accesses(st)
	if len(reads[b]) > 1 {
		refuse("", "%%%s is computed from itself", b)
	}
	after := false
	for _, s := range sequence(alloc.Body) {
		if s == producer {
			after = true
			continue
		}
		for name, as := range deps.Accesses(s) {
			switch {
			case name == b && !after:
				refuse("", "%%%s is read before it is written", b)
			case name == b && hasCall(as):
				refuse("compute_inline before tensorize", "%%%s is an operand of a call", b)
			case after && deps.Written(as) && len(reads[name]) > 0:
				refuse("", "%%%s, from which %%%s is computed, is written again later", name, b)
			}
		}
	}
}

func hasCall(as []deps.Access) bool {
	return slices.ContainsFunc(as, func(a deps.Access) bool { return a.Size != nil })
}

// replaceAlloc puts body in the place of an alloc and its scope.
func replaceAlloc(s ir.Stmt, buffer string, body ir.Stmt) ir.Stmt {
	return ir.MapStmt(s, func(s ir.Stmt) ir.Stmt {
		if a, ok := s.(*ir.Alloc); ok && a.Buf.Name == buffer {
			return body
		}
		return s
	}, nil)
}
