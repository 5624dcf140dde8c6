package deps

import (
	"fmt"
	"maps"
	"slices"

	"ripc/ir"
)

// MaxLanes is the largest extent of a vectorize loop. It may be any number of machine vectors.
const MaxLanes = 256

// Check refuses f unless outputs that may lie over inputs may do so (InPlace), and the kinds of its loops are legal, whatever the number of
// threads and lanes:
//
//   - A vectorize loop of several iterations has at most MaxLanes, lies in no other one, and holds no call. Its iterations
//     touch different elements, but for integer reductions.
//   - A parallel loop lies in no other loop and in no if. All threads run the func, each with its own allocs, and share
//     only its iterations. So these touch different elements of the parameters and write no alloc from outside of the
//     loop, and what else the func does writes no parameter, and reads none that the loop writes.
//
// It fails with *ir.Error, of which Op is the loop and Msg names what it touches. f should be well-formed otherwise
// (ir.Verify).
func Check(f *ir.Func) error {
	return check(f, "")
}

// CheckLoop is Check of f where all loops but the one called name are known to be legal.
func CheckLoop(f *ir.Func, name string) error { return check(f, name) }

func check(f *ir.Func, alone string) error {
	c := checker{f: f, alone: alone}
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

// checker looks at the marked loops of a Func.
type checker struct {
	f     *ir.Func
	alone string // the only loop of which iterations are compared; "": all
	scope *Scope // made when it is needed: most funcs that are checked after each step have no marked loop yet
}

// stmt checks the loops in s, around is what lies around it, outermost first. What is behind around in its array is written over.
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
				return &ir.Error{Op: "vectorize %" + l.Var, Msg: fmt.Sprintf("loop %%%s holds a call of @%s", l.Var, s.Fn.Name), Help: "unroll it instead"}
			}
		}
	}
	return nil
}

// vector reports whether a loop has lanes: one iteration is none.
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
	case l.Kind == ir.Parallel:
		if len(around) == 0 {
			if c.known(l) {
				return nil
			}
			return c.parallel(l)
		}
		what := "an if"
		if p, ok := around[0].(*ir.For); ok {
			what = "loop %" + p.Var
		}
		return &ir.Error{
			Msg:  fmt.Sprintf("loop %%%s is not outermost: it lies in %s", l.Var, what),
			Help: "make the outermost loop parallel",
		}
	}
	return nil
}

// known says that l's iterations were compared before.
func (c *checker) known(l *ir.For) bool { return c.alone != "" && l.Var != c.alone }

func (c *checker) scoped() Scope {
	if c.scope == nil {
		sc := ScopeOf(c.f.Body)
		c.scope = &sc
	}
	return *c.scope
}

// parallel checks an outermost loop.
func (c *checker) parallel(l *ir.For) *ir.Error {
	params := map[string]bool{}
	for _, p := range c.f.Params {
		params[p.Name] = true
	}
	acc := Accesses(l)
	for _, b := range slices.Sorted(maps.Keys(acc)) {
		if Written(acc[b]) && !params[b] {
			return &ir.Error{
				Msg:  fmt.Sprintf("loop %%%s writes %%%s, which is allocated outside of it", l.Var, b),
				Help: fmt.Sprintf("compute_at %s at a loop of its consumer", b),
			}
		}
	}
	rest := Accesses(ir.MapStmt(c.f.Body, func(s ir.Stmt) ir.Stmt {
		if p, ok := s.(*ir.For); ok && p.Var == l.Var {
			return nil
		}
		return s
	}, nil))
	for _, b := range slices.Sorted(maps.Keys(rest)) {
		if params[b] && (Written(rest[b]) || Written(acc[b])) {
			return &ir.Error{Msg: fmt.Sprintf("%%%s is written by several nests of the func, or written in one and read in another: threads would have to wait", b)}
		}
	}
	return c.scoped().independent(l, "run in parallel", Nothing)
}

// Independent refuses loop l of f unless its iterations may be carried out in any order: no two touch an element that
// one of them writes, but as the rule allows. What says what is asked for, as in "cannot vectorize".
func Independent(f *ir.Func, l *ir.For, what string, rule Rule) error {
	if err := ScopeOf(f.Body).independent(l, what, rule); err != nil {
		return err
	}
	return nil
}

func (sc Scope) independent(l *ir.For, what string, rule Rule) *ir.Error {
	acc := Accesses(l.Body)
	for _, b := range slices.Sorted(maps.Keys(acc)) {
		p, meet := sc.Meet(acc[b], acc[b], rule, l.Var)
		if !meet {
			continue
		}
		help := "choose a loop that indexes every buffer written inside it"
		if rule == Reductions {
			help += ", or that only reduces integers with +=, |=, min= or max="
		}
		return &ir.Error{
			Msg:  fmt.Sprintf("cannot %s loop %%%s: its iterations may touch the same element of %%%s in %s", what, l.Var, b, p),
			Help: help,
		}
	}
	return nil
}
