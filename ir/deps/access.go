// Package deps decides which iterations of a loop depend on each other. It collects their accesses,
// and tests whether two of them may touch the same element. From that it derives whether the loop
// kinds of a Func (parallel, vectorize) are legal. Schedules ask it before they change an order,
// and code generation before it relies on one, so both get the same answer.
package deps

import (
	"slices"
	"strings"

	"ripc/ir"
	"ripc/ir/arith"
)

// Access is one access to a buffer.
type Access struct {
	Buf   string
	Idx   []ir.Expr
	Size  []int // of the window from Idx, in the trailing dimensions; nil for one element
	Write bool
	Store *ir.Store // the store itself, if this is one
}

// String formats the access as .ripir does: a store whole, anything else as its first element.
func (a Access) String() string {
	if a.Store != nil {
		return Shorten(ir.StmtString(a.Store))
	}
	return Shorten(ir.ExprString(&ir.Load{Buf: a.Buf, Idx: a.Idx}))
}

// commutes reports whether a and b belong to the same integer reduction, which may run in any
// order.
func (a Access) commutes(b Access) bool {
	return a.Store != nil && b.Store != nil && a.Store.Op == b.Store.Op && a.Store.Op != ir.Assign &&
		!a.Store.Val.Type().IsFloat()
}

// width returns the number of elements that the access touches in dimension d.
func (a Access) width(d int) int64 {
	if k := d - (len(a.Idx) - len(a.Size)); k >= 0 && k < len(a.Size) {
		return int64(a.Size[k])
	}
	return 1
}

// Accesses collects the accesses of statements by buffer, in program order. Buffers that the
// statements allocate are private to an iteration and left out.
func Accesses(ss ...ir.Stmt) map[string][]Access {
	out := map[string][]Access{}
	private := map[string]bool{}
	add := func(a Access) { out[a.Buf] = append(out[a.Buf], a) }
	for _, s := range ss {
		ir.Walk(s, func(s ir.Stmt) bool {
			for e := range ir.Exprs(s) {
				ir.WalkExpr(e, func(e ir.Expr) bool {
					if l, ok := e.(*ir.Load); ok {
						add(Access{Buf: l.Buf, Idx: l.Idx})
					}
					return true
				})
			}
			switch s := s.(type) {
			case *ir.Alloc:
				private[s.Buf.Name] = true
			case *ir.Store:
				add(Access{Buf: s.Buf, Idx: s.Idx, Write: true, Store: s})
			case *ir.Call:
				for i, w := range s.Args {
					if i < len(s.Fn.Params) {
						p := s.Fn.Params[i]
						add(Access{Buf: w.Buf, Idx: w.Idx, Size: p.Shape, Write: p.Out})
					}
				}
			}
			return true
		})
	}
	for b := range private {
		delete(out, b)
	}
	return out
}

// Written reports whether one of the accesses writes.
func Written(as []Access) bool {
	return slices.ContainsFunc(as, func(a Access) bool { return a.Write })
}

// Scope has the extents of a func's loops and their nesting. Names are unique, so one serves the
// whole func.
type Scope struct {
	Ranges arith.Ranges
	// Outer maps a loop to the loops around it, which hold still while it runs.
	Outer map[string]*Loops
}

// Loops is a set of nested loops: the innermost one, and the set of those around it, which
// neighbours share. nil is empty.
type Loops struct {
	name  string
	outer *Loops
}

// With returns l and the loop called name inside it.
func (l *Loops) With(name string) *Loops { return &Loops{name, l} }

// Has reports whether a loop of l is called name.
func (l *Loops) Has(name string) bool {
	for ; l != nil; l = l.outer {
		if l.name == name {
			return true
		}
	}
	return false
}

// ScopeOf returns the Scope of the loops below body.
func ScopeOf(body ir.Stmt) Scope {
	sc := Scope{arith.Ranges{}, map[string]*Loops{}}
	var walk func(s ir.Stmt, outer *Loops)
	walk = func(s ir.Stmt, outer *Loops) {
		ir.Walk(s, func(t ir.Stmt) bool {
			l, ok := t.(*ir.For)
			if !ok {
				return true
			}
			sc.Ranges[l.Var] = arith.Interval{Lo: 0, Hi: max(int64(l.Extent)-1, 0)}
			sc.Outer[l.Var] = outer
			walk(l.Body, outer.With(l.Var))
			return false
		})
	}
	walk(body, nil)
	return sc
}

// Shorten quotes text, without the newline at its end, and cuts it to a length that suits a
// message.
func Shorten(s string) string {
	if s = strings.TrimRight(s, "\n"); len(s) > 120 {
		s = s[:117] + "..."
	}
	return `"` + s + `"`
}
