package deps

import (
	"fmt"
	"slices"

	"ripc/ir"
	"ripc/ir/arith"
)

// InPlace refuses output out of f at the address of its input in, unless every read of an element
// of in comes before anything is written there. That must hold for the order of statements, and for
// two different iterations in any order, on any number of threads and lanes. So halos, windows, and
// transposed or repeated reads are refused if an iteration may read another one's result.
//
// Both must have the same number of elements, of the same size, and both floats or both integers.
// It fails with *ir.Error. f should be well-formed otherwise (ir.Verify).
func InPlace(f *ir.Func, out, in string) error {
	fail := func(msg, help string) error {
		return &ir.Error{Op: "%" + out + " over %" + in, Node: "@" + f.Name, Msg: msg, Help: help}
	}
	o, i := param(f, out), param(f, in)
	switch {
	case o == nil || i == nil || !o.Out || i.Out:
		return fail(fmt.Sprintf("%%%s is no output of @%s, or %%%s no input", out, f.Name, in), "")
	case !ir.SamePlaces(o.Buffer, i.Buffer):
		return fail(fmt.Sprintf("the elements of %s and %s do not lie alike", ir.BufferString(o.Buffer),
			ir.BufferString(i.Buffer)), "")
	}
	c := overwriting{scope: ScopeOf(f.Body), out: o.Buffer, in: i.Buffer, byNumber: !slices.Equal(o.Shape, i.Shape)}
	c.hasParallel = ir.HasLoop(f.Body, func(l *ir.For) bool { return l.Kind == ir.Parallel })
	if p, met := c.stmt(f.Body, nil, !c.hasParallel); met {
		return fail("an element may be read after it was overwritten, in "+p.String(),
			"put the output into a place of its own")
	}
	return nil
}

func param(f *ir.Func, name string) *ir.Param {
	for i := range f.Params {
		if f.Params[i].Name == name {
			return &f.Params[i]
		}
	}
	return nil
}

// overwriting looks for reads of in that may come after a write to out of the same element.
type overwriting struct {
	scope       Scope
	out, in     ir.Buffer
	byNumber    bool // their shapes differ: elements are told apart by their number
	hasParallel bool // some loop is parallel: statements outside of parallel loops run on all threads
}

// stmt looks for a conflict in s. around are the enclosing loops, with one iteration each. ordered
// says that a single thread runs all of s: f has no parallel loop, or one of them encloses s.
func (c overwriting) stmt(s ir.Stmt, around *Loops, ordered bool) (Pair, bool) {
	switch s := s.(type) {
	case *ir.Block:
		for i, t := range s.Stmts {
			if p, met := c.stmt(t, around, ordered); met {
				return p, true
			}
			writes, reads := c.accesses(t)
			for _, before := range s.Stmts[:i] {
				w, r := c.accesses(before)
				if p, met := c.scope.Touch(w, reads, around); met {
					return p, true
				}
				if ordered {
					continue
				}
				if p, met := c.scope.Touch(writes, r, around); met {
					return p, true
				}
			}
		}
	case *ir.For:
		if s.Extent > 1 {
			writes, reads := c.accesses(s.Body)
			if p, met := c.scope.Meet(writes, reads, Nothing, s.Var); met {
				return p, true
			}
		}
		return c.stmt(s.Body, around.With(s.Var), ordered || s.Kind == ir.Parallel)
	case *ir.If:
		if p, met := c.stmt(s.Then, around, ordered); met || s.Else == nil {
			return p, met
		}
		return c.stmt(s.Else, around, ordered)
	case *ir.Alloc:
		return c.stmt(s.Body, around, ordered)
	case *ir.Call: // which may write before it reads
		writes, reads := c.accesses(s)
		return c.scope.Touch(writes, reads, around)
	}
	return Pair{}, false // a store reads before it writes
}

// accesses are the writes to out and the reads of in, as elements of one buffer.
func (c overwriting) accesses(s ir.Stmt) (writes, reads []Access) {
	all := Accesses(s)
	for _, a := range all[c.out.Name] {
		if a.Write {
			writes = append(writes, c.element(a, c.out))
		}
	}
	for _, a := range all[c.in.Name] {
		reads = append(reads, c.element(a, c.in))
	}
	return writes, reads
}

// element addresses a by the number of its element, if shapes differ. A window then counts as any
// element.
func (c overwriting) element(a Access, b ir.Buffer) Access {
	if !c.byNumber {
		return a
	}
	number, size := arith.Affine{}, int64(1)
	for d := len(a.Idx) - 1; d >= 0; d-- {
		number = number.Plus(size, arith.ToAffine(a.Idx[d]))
		size *= int64(b.Shape[d])
	}
	a.Idx = []ir.Expr{number.Expr()}
	if a.Size != nil {
		a.Idx, a.Size = nil, nil
	}
	return a
}
