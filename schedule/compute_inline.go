package schedule

import (
	"fmt"

	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/deps"
)

// ComputeInline removes an alloc by writing the value of each element where it is read. Other
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
func ComputeInline(f *ir.Func, buffer string) (*ir.Func, error) {
	alloc := ir.FindAlloc(f.Body, buffer)
	if alloc == nil {
		return nil, noAlloc(f, buffer)
	}
	producer, st, err := soleStore(alloc)
	if err != nil {
		return nil, err
	}
	dims := map[string]int{} // loop of the producer -> dimension
	for d, e := range st.Idx {
		v, ok := e.(*ir.Var)
		if k, isImm := e.(*ir.IntImm); isImm && k.V == 0 && alloc.Buf.Shape[d] == 1 {
			continue
		}
		if !ok {
			return nil, &ir.Error{Msg: fmt.Sprintf("dimension %d of %%%s is written at %s, not by a plain loop", d,
				buffer, ir.ExprString(e)), Help: "compute_inline before splitting the producer"}
		}
		if _, twice := dims[v.Name]; twice || ir.FindLoop(producer, v.Name) == nil {
			return nil, &ir.Error{Msg: fmt.Sprintf("dimension %d of %%%s is written at %s, not by a loop of its own", d,
				buffer, ir.ExprString(e))}
		}
		dims[v.Name] = d
	}
	for _, l := range loopNames(producer) {
		if _, ok := dims[l]; !ok && ir.FindLoop(producer, l).Extent != 1 {
			return nil, &ir.Error{Msg: fmt.Sprintf("loop %%%s of the nest that writes %%%s is not one of its "+
				"dimensions", l, buffer)}
		}
	}
	if err := checkInline(alloc, producer, st); err != nil {
		return nil, err
	}
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
	body := ir.MapStmt(removeStmts(alloc.Body, []ir.Stmt{producer}), nil, func(e ir.Expr) ir.Expr {
		return ir.MapExpr(e, func(e ir.Expr) ir.Expr {
			if l, ok := e.(*ir.Load); ok && l.Buf == buffer {
				return value(l.Idx)
			}
			return e
		})
	})
	return f.WithBody(replaceAlloc(f.Body, buffer, body)), nil
}

// soleStore finds the nest that fills an alloc, and its store.
func soleStore(alloc *ir.Alloc) (ir.Stmt, *ir.Store, error) {
	b := alloc.Buf.Name
	refuse := func(format string, args ...any) (ir.Stmt, *ir.Store, error) {
		return nil, nil, &ir.Error{Msg: fmt.Sprintf(format, args...),
			Help: fmt.Sprintf("only a buffer set by one nest with one = can be inlined; use compute_at %s", b)}
	}
	var producer ir.Stmt
	for _, s := range sequence(alloc.Body) {
		switch {
		case !deps.Written(deps.Accesses(s)[b]):
		case producer != nil:
			return refuse("%%%s is written by more than one nest", b)
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
			return refuse("the nest that writes %%%s holds more than one statement in loop %%%s", b, x.Var)
		case *ir.Store:
			if x.Op != ir.Assign {
				return refuse("%%%s is accumulated into by %s", b, deps.Shorten(ir.StmtString(x)))
			}
			return producer, x, nil
		case nil:
			return refuse("nothing writes %%%s", b)
		}
		return refuse("%%%s is written in %s", b, describe(s))
	}
}

// checkInline refuses if the store's operands may change between the producer and a reader.
func checkInline(alloc *ir.Alloc, producer ir.Stmt, st *ir.Store) error {
	b := alloc.Buf.Name
	reads := deps.Accesses(st)
	if len(reads[b]) > 1 {
		return &ir.Error{Msg: fmt.Sprintf("%%%s is computed from itself", b)}
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
				return &ir.Error{Msg: fmt.Sprintf("%%%s is read before it is written", b)}
			case name == b && hasCall(as):
				return &ir.Error{Msg: fmt.Sprintf("%%%s is an operand of a call", b),
					Help: "compute_inline before tensorize"}
			case after && deps.Written(as) && len(reads[name]) > 0:
				return &ir.Error{Msg: fmt.Sprintf("%%%s, from which %%%s is computed, is written again later", name, b)}
			}
		}
	}
	return nil
}

func hasCall(as []deps.Access) bool {
	for _, a := range as {
		if a.Size != nil {
			return true
		}
	}
	return false
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
