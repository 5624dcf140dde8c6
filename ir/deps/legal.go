package deps

import (
	"fmt"
	"maps"
	"slices"

	"ripc/ir"
)

// MaxLanes is the largest extent of a vectorize loop. It may be any number of machine vectors.
const MaxLanes = 256

// Check refuses f unless its loop kinds are legal for any number of threads and lanes, and outputs
// over inputs are too (InPlace):
//
//   - A vectorize loop of several iterations has at most MaxLanes, lies in no other one, and holds
//     no call. Its iterations touch different elements, but for integer reductions.
//
//   - A parallel loop lies only in serial loops, and in no if. All threads run the func, each with
//     its own allocs, and share only the iterations of parallel loops, without barriers. So these
//     must touch different elements of the parameters, for any iterations of the enclosing loops.
//     The rest of the func may write no parameter, and may read none that the loop writes.
//
//   - In an alloc from outside of the loop a thread sees only the elements that its own iterations
//     wrote. So no iteration of other threads may touch them. Other parallel loops over the alloc
//     must have the same extent, so that threads get the same iterations. The rest of the func may
//     only assign its elements.
//
//   - Iterations of a block or thread loop touch different elements. CheckDevice proves the rest.
//
// It fails with *ir.Error: Op is the loop and Msg names the buffer. f should be well-formed
// otherwise (ir.Verify).
func Check(f *ir.Func) error {
	return check(f, "")
}

// CheckLoop is Check of f if all loops but the one called name are known to be legal.
func CheckLoop(f *ir.Func, name string) error { return check(f, name) }

func check(f *ir.Func, alone string) error {
	c := checker{f: f, only: alone}
	if err := c.stmt(f.Body, nil); err != nil {
		err.Node = "@" + f.Name
		return err
	}
	for _, p := range f.Params {
		if p.Over != "" {
			if err := InPlace(f, p.Name, p.Over); err != nil {
				return err
			}
		}
	}
	return nil
}

// checker checks the marked loops of a Func.
type checker struct {
	f     *ir.Func
	only  string // the only loop to compare iterations of; "": all
	scope *Scope // built when needed: most checked funcs have no marked loop
}

// stmt checks the loops in s. around has the enclosing statements, outermost first; spare capacity
// behind it is overwritten.
func (c *checker) stmt(s ir.Stmt, around []ir.Stmt) *ir.Error {
	in := func() []ir.Stmt { return append(around, s) }
	switch s := s.(type) {
	case *ir.Block:
		for _, t := range s.Stmts {
			if err := c.stmt(t, around); err != nil {
				return err
			}
		}
	case *ir.Alloc:
		return c.stmt(s.Body, around)
	case *ir.If:
		if err := c.stmt(s.Then, in()); err != nil || s.Else == nil {
			return err
		}
		return c.stmt(s.Else, in())
	case *ir.For:
		if err := c.loop(s, around); err != nil {
			if err.Op == "" {
				err.Op = fmt.Sprintf("%s %%%s", s.Kind, s.Var)
			}
			return err
		}
		return c.stmt(s.Body, in())
	case *ir.Call:
		for _, t := range around {
			if l, ok := t.(*ir.For); ok && vector(l) {
				return &ir.Error{Op: "vectorize %" + l.Var,
					Msg: fmt.Sprintf("loop %%%s holds a call of @%s", l.Var, s.Fn.Name), Help: "unroll it instead"}
			}
		}
	}
	return nil
}

// vector reports whether a loop has lanes: more than one iteration.
func vector(l *ir.For) bool { return l.Kind == ir.Vectorize && l.Extent > 1 }

func (c *checker) loop(l *ir.For, around []ir.Stmt) *ir.Error {
	switch {
	case vector(l):
		if l.Extent > MaxLanes {
			return &ir.Error{
				Msg:  fmt.Sprintf("extent %d of loop %%%s is more than %d lanes", l.Extent, l.Var, MaxLanes),
				Help: "split the loop and vectorize the inner part",
			}
		}
		for _, t := range around {
			if p, ok := t.(*ir.For); ok && vector(p) {
				return &ir.Error{Msg: fmt.Sprintf("loop %%%s lies in loop %%%s, and both are vectorize", l.Var, p.Var)}
			}
		}
		if c.known(l) {
			return nil
		}
		return c.scoped().independent(l, "vectorize", Reductions)
	case onDevice(l):
		if c.known(l) {
			return nil
		}
		return c.scoped().independent(l, "bind", OnDevice)
	case l.Kind == ir.Parallel:
		for _, t := range slices.Backward(around) {
			switch p := t.(type) {
			case *ir.For:
				if p.Kind != ir.Serial {
					return &ir.Error{
						Msg: fmt.Sprintf("loop %%%s lies in loop %%%s, which is %s", l.Var, p.Var, p.Kind),
						Help: fmt.Sprintf("make %%%s parallel only, or leave the loops around %%%s serial", p.Var,
							l.Var),
					}
				}
			case *ir.If:
				return &ir.Error{Msg: fmt.Sprintf("loop %%%s lies in an if", l.Var),
					Help: "make a loop around the if parallel"}
			}
		}
		if c.known(l) {
			return nil
		}
		return c.parallel(l)
	}
	return nil
}

// known reports whether l's iterations were compared before.
func (c *checker) known(l *ir.For) bool { return c.only != "" && l.Var != c.only }

func (c *checker) scoped() Scope {
	if c.scope == nil {
		sc := ScopeOf(c.f.Body)
		c.scope = &sc
	}
	return *c.scope
}

// parallel checks a loop with iterations shared by threads.
func (c *checker) parallel(l *ir.For) *ir.Error {
	params := map[string]bool{}
	for _, p := range c.f.Params {
		params[p.Name] = true
	}
	acc := Accesses(l)
	alone := Accesses(dropLoops(c.f.Body, func(*ir.For) bool { return true }))
	rest := Accesses(dropLoops(c.f.Body, func(p *ir.For) bool { return p.Var == l.Var }))
	for _, b := range slices.Sorted(maps.Keys(rest)) {
		if params[b] && (Written(alone[b]) || Written(acc[b]) || len(acc[b]) > 0 && Written(rest[b])) {
			return &ir.Error{Msg: fmt.Sprintf("%%%s is written by several nests of the func, or written in one and "+
				"read in another: threads would have to wait", b)}
		}
	}
	body := []ir.Stmt{l.Body}
	for _, b := range slices.Sorted(maps.Keys(acc)) {
		if Written(acc[b]) && !params[b] {
			others, err := c.sameShares(l, b)
			if err != nil {
				return err
			}
			body = append(body, others...)
		}
	}
	// The enclosing loops do not hold still: threads run through them without barriers.
	sc := c.scoped()
	sc.Outer = maps.Clone(sc.Outer)
	sc.Outer[l.Var] = nil
	return sc.untouched(l.Var, Accesses(body...), "run in parallel", Nothing)
}

// sameShares returns the bodies of the other parallel loops that touch b, an alloc from outside of
// l that l writes. They count as further iterations of l. It fails unless each thread has the same
// iterations of all these loops, and the rest of the func only assigns elements of b.
func (c *checker) sameShares(l *ir.For, b string) ([]ir.Stmt, *ir.Error) {
	touched := func(s ir.Stmt) []Access { return Accesses(s)[b] }
	refuse := func(how string) *ir.Error {
		return &ir.Error{
			Msg:  fmt.Sprintf("loop %%%s writes %%%s, which is allocated outside of it and %s", l.Var, b, how),
			Help: fmt.Sprintf("compute_at %s at a loop of its consumer", b),
		}
	}
	scope := ir.FindAlloc(c.f.Body, b).Body
	for _, a := range touched(dropLoops(scope, func(*ir.For) bool { return true })) {
		if a.Store == nil || a.Store.Op != ir.Assign {
			return nil, refuse("read outside of parallel loops")
		}
	}
	var bodies []ir.Stmt
	var err *ir.Error
	ir.Walk(scope, func(s ir.Stmt) bool {
		p, ok := s.(*ir.For)
		switch {
		case !ok || p.Kind != ir.Parallel:
			return true
		case p.Var == l.Var || len(touched(p)) == 0:
		case p.Extent != l.Extent:
			err = refuse(fmt.Sprintf("touched in loop %%%s, which gives threads other iterations", p.Var))
		default:
			bodies = append(bodies, ir.SubstStmt(p.Body, map[string]ir.Expr{p.Var: &ir.Var{Name: l.Var}}))
		}
		return false
	})
	return bodies, err
}

// dropLoops returns s without the given parallel loops.
func dropLoops(s ir.Stmt, out func(*ir.For) bool) ir.Stmt {
	return ir.MapStmt(s, func(s ir.Stmt) ir.Stmt {
		if l, ok := s.(*ir.For); ok && l.Kind == ir.Parallel && out(l) {
			return nil
		}
		return s
	}, nil)
}

// Independent refuses loop l of f unless its iterations may run in any order: no two touch an
// element that one of them writes, except as rule allows. request is part of the message, as in
// "cannot vectorize".
func Independent(f *ir.Func, l *ir.For, request string, rule Rule) error {
	if err := ScopeOf(f.Body).independent(l, request, rule); err != nil {
		return err
	}
	return nil
}

func (sc Scope) independent(l *ir.For, request string, rule Rule) *ir.Error {
	return sc.untouched(l.Var, Accesses(l.Body), request, rule)
}

// untouched is independent for a loop with the accesses acc.
func (sc Scope) untouched(loop string, acc map[string][]Access, request string, rule Rule) *ir.Error {
	for _, b := range slices.Sorted(maps.Keys(acc)) {
		p, meet := sc.Meet(acc[b], acc[b], rule, loop)
		if !meet {
			continue
		}
		help := "choose a loop that indexes every buffer written inside it"
		if rule == Reductions {
			help += ", or that only reduces integers with +=, |=, min= or max="
		}
		return &ir.Error{
			Msg: fmt.Sprintf("cannot %s loop %%%s: its iterations may touch the same element of %%%s in %s",
				request, loop, b, p),
			Help: help,
		}
	}
	return nil
}
