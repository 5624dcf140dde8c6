package schedule

import (
	"ripc/ir"
	"ripc/ir/deps"
)

// checkRepeatable refuses tail=shift unless an iteration of l may run twice: iterations touch
// different elements, and an iteration reads elements of its output buffers only after setting them
// with "=".
func checkRepeatable(f *ir.Func, l *ir.For) {
	must(deps.Independent(f, l, "shift the last tile of", deps.Nothing))
	c := newRepeatCheck(f, l.Body)
	for b, as := range deps.Accesses(l.Body) {
		if deps.Written(as) {
			c.writes[b] = true
		}
	}
	c.stmt(l.Body, nil)
	if c.bad == "" {
		return
	}
	refuse("use tail=guard or tail=cut; shift needs iterations that set with = whatever they accumulate",
		"cannot shift the last tile of loop %%%s: done twice, it would change %%%s in %s", l.Var, c.badBuf, c.bad)
}

// defined is an element, or with loops over it a block of them, that "=" has set in this iteration.
type defined struct {
	buf  string
	idx  []ir.Expr
	over map[string]int // loops that ran over it, and their extents
}

type repeatCheck struct {
	writes  map[string]bool // the buffers with checked reads
	changes ir.Changes      // the writes of an iteration: an index that reads them varies within it
	extents map[string]int
	bad     string
	badBuf  string
}

// newRepeatCheck is for body, a statement of f.
func newRepeatCheck(f *ir.Func, body ir.Stmt) *repeatCheck {
	c := &repeatCheck{writes: map[string]bool{}, changes: f.Changes(body), extents: map[string]int{}}
	for l := range ir.StmtsOf[*ir.For](body) {
		c.extents[l.Var] = l.Extent
	}
	return c
}

// stmt checks s after defs, and returns the definitions after it.
func (c *repeatCheck) stmt(s ir.Stmt, defs []defined) []defined {
	switch s := s.(type) {
	case *ir.Block:
		for _, t := range s.Stmts {
			defs = c.stmt(t, defs)
		}
	case *ir.For:
		in := c.stmt(s.Body, defs)
		out := append([]defined{}, defs...)
		for _, d := range in[len(defs):] {
			over := map[string]int{s.Var: s.Extent}
			for k, v := range d.over {
				over[k] = v
			}
			out = append(out, defined{d.buf, d.idx, over})
		}
		return out
	case *ir.If:
		c.reads(s, s.Cond, defs)
		c.stmt(s.Then, defs)
		if s.Else != nil {
			c.stmt(s.Else, defs)
		}
	case *ir.Alloc:
		return c.stmt(s.Body, defs)
	case *ir.Store:
		for e := range ir.Exprs(s) {
			c.reads(s, e, defs)
		}
		if s.Op != ir.Assign {
			c.read(s, s.Buf, s.Idx, defs)
			return defs
		}
		return append(defs[:len(defs):len(defs)], defined{buf: s.Buf, idx: s.Idx})
	case *ir.Call:
		for i, w := range s.Args {
			if i >= len(s.Fn.Params) || s.Fn.Params[i].Out && c.writes[w.Buf] {
				c.fail(s, w.Buf)
			}
			c.read(s, w.Buf, nil, nil)
		}
	}
	return defs
}

func (c *repeatCheck) reads(s ir.Stmt, e ir.Expr, defs []defined) {
	for l := range ir.ExprsOf[*ir.Load](e) {
		c.read(s, l.Buf, l.Idx, defs)
	}
}

func (c *repeatCheck) read(s ir.Stmt, buf string, idx []ir.Expr, defs []defined) {
	if !c.writes[buf] {
		return
	}
	for _, d := range defs {
		if d.buf == buf && c.covers(d, idx) {
			return
		}
	}
	c.fail(s, buf)
}

func (c *repeatCheck) fail(s ir.Stmt, buf string) {
	if c.bad == "" {
		if i, ok := s.(*ir.If); ok {
			c.bad = deps.Shorten("if " + ir.ExprString(i.Cond))
		} else {
			c.bad = deps.Shorten(ir.StmtString(s))
		}
		c.badBuf = buf
	}
}

// covers reports whether element idx is among those that d stands for: equal, or a loop that runs
// within the range of the one that ran over d.
func (c *repeatCheck) covers(d defined, idx []ir.Expr) bool {
	if len(d.idx) != len(idx) {
		return false
	}
	bound := map[string]string{}
	for i, x := range d.idx {
		v, isVar := x.(*ir.Var)
		if !isVar || d.over[v.Name] == 0 {
			if uses(x, func(n string) bool { return d.over[n] != 0 }) || !c.changes.Keep(x) || !ir.Equal(x, idx[i]) {
				return false
			}
			continue
		}
		w, ok := idx[i].(*ir.Var)
		if !ok || c.extents[w.Name] == 0 || c.extents[w.Name] > d.over[v.Name] {
			return false
		}
		if old, twice := bound[v.Name]; twice && old != w.Name {
			return false
		}
		bound[v.Name] = w.Name
	}
	return true
}
