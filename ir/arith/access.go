package arith

import (
	"fmt"
	"slices"

	"ripc/ir"
)

// VerifyBounds proves that every access of f is inside its buffer, from the extents of the loops
// and the conditions of the Ifs and Selects around it. It fails with *ir.Error naming the first
// access that it cannot prove, which need not be wrong. f should be well-formed otherwise
// (ir.Verify).
func VerifyBounds(f *ir.Func) error { return verifyBounds(f, "") }

// VerifyBoundsOf is VerifyBounds of the accesses to one buffer.
func VerifyBoundsOf(f *ir.Func, buf string) error { return verifyBounds(f, buf) }

func verifyBounds(f *ir.Func, only string) error {
	v := &accesses{f: f, bufs: f.Buffers(), onlyBuffer: only}
	v.stmt(f.Body, place{r: Loops(f.Body)})
	return v.err
}

type accesses struct {
	f            *ir.Func
	bufs         map[string]ir.Buffer
	onlyBuffer   string     // the buffer to look at; "": all
	checkedFuncs []*ir.Func // instructions that were checked
	err          error
}

// place is the knowledge at an access: ranges, facts, and enclosing loops.
type place struct {
	r     Ranges
	facts []Affine
	loops []*ir.For // spare capacity behind it is overwritten
}

// assuming returns p under the condition cond. lasting are the conjuncts that become known facts.
// It returns false if cond cannot hold.
func (p place) assuming(cond ir.Expr, lasting ...ir.Expr) (place, bool) {
	if proves(ir.Un(ir.Not, cond), p.r, p.facts) {
		return p, false
	}
	p.facts = slices.Clone(p.facts)
	for _, c := range lasting {
		for _, f := range facts(Simplify(c, p.r), p.r) {
			p.facts = append(append(p.facts, f), remainders(f, p.r)...)
		}
	}
	var possible bool
	p.r, possible = p.r.assume(cond) // bounds variables, which stand still
	return p, possible
}

// branch checks s under the condition cond.
func (v *accesses) branch(cond ir.Expr, s ir.Stmt, p place) {
	if s == nil {
		return
	}
	if q, possible := p.assuming(cond, v.f.Lasting(cond, s)...); possible {
		v.stmt(s, q)
	}
}

func (v *accesses) stmt(s ir.Stmt, p place) {
	if s == nil || v.err != nil {
		return
	}
	switch s := s.(type) {
	case *ir.For:
		if s.Extent > 0 {
			p.loops = append(p.loops, s)
			v.stmt(s.Body, p)
		}
	case *ir.Block:
		for _, t := range s.Stmts {
			v.stmt(t, p)
		}
	case *ir.If:
		v.expr(s.Cond, p)
		v.branch(s.Cond, s.Then, p)
		v.branch(ir.Un(ir.Not, s.Cond), s.Else, p)
	case *ir.Alloc:
		v.stmt(s.Body, p)
	case *ir.Store:
		v.access(s.Buf, s.Idx, nil, p)
		v.expr(s.Val, p)
	case *ir.Call:
		for i, w := range s.Args {
			if i < len(s.Fn.Params) {
				v.access(w.Buf, w.Idx, s.Fn.Params[i].Shape, p)
			}
		}
		v.checkInstruction(s.Fn)
	}
}

// checkInstruction checks the accesses of an instruction to its parameters, once.
func (v *accesses) checkInstruction(f *ir.Func) {
	if v.err != nil || v.onlyBuffer != "" || slices.Contains(v.checkedFuncs, f) {
		return
	}
	v.checkedFuncs = append(v.checkedFuncs, f)
	v.err = verifyBounds(f, "")
}

func (v *accesses) expr(e ir.Expr, p place) {
	switch e := e.(type) {
	case *ir.Load:
		v.access(e.Buf, e.Idx, nil, p)
	case *ir.Select:
		if v.onlyBuffer != "" && !ir.Reads(e, v.onlyBuffer) {
			return
		}
		v.expr(e.Cond, p)
		not := ir.Un(ir.Not, e.Cond)
		if q, possible := p.assuming(e.Cond, e.Cond); possible {
			v.expr(e.A, q)
		}
		if q, possible := p.assuming(not, not); possible {
			v.expr(e.B, q)
		}
	default:
		for x := range ir.Operands(e) {
			v.expr(x, p)
		}
	}
}

// access checks the window of the given size (in the trailing dimensions; 1 in the others) at idx.
func (v *accesses) access(name string, idx []ir.Expr, size []int, p place) {
	if v.onlyBuffer != "" && v.onlyBuffer != name {
		for _, e := range idx {
			v.expr(e, p)
		}
		return
	}
	b, ok := v.bufs[name]
	if !ok || len(idx) != len(b.Shape) {
		v.fail(name, idx, p, "not an element of a buffer in scope")
		return
	}
	for d, e := range idx {
		v.expr(e, p)
		n := 1
		if k := d - (len(idx) - len(size)); k >= 0 {
			n = size[k]
		}
		last := int64(b.Shape[d] - n)
		if !provesIndex(e, last, p) {
			what := "the index"
			if n > 1 {
				what = fmt.Sprintf("the start of a window of %d", n)
			}
			msg := fmt.Sprintf("cannot prove that %s in dimension %d, %s, stays in 0..%d", what, d, ir.ExprString(e),
				last)
			if iv, ok := Bounds(e, p.r); ok {
				msg += fmt.Sprintf(" (it is known to stay in %d..%d)", iv.Lo, iv.Hi)
			}
			v.fail(name, idx, p, msg)
		}
	}
}

func provesIndex(e ir.Expr, last int64, p place) bool {
	e = Simplify(e, p.r)
	if iv, ok := Bounds(e, p.r); ok && iv.Lo >= 0 && iv.Hi <= last {
		return true
	}
	a := ToAffine(e)
	if _, ok := a.Bounds(p.r); !ok {
		return false
	}
	rest, exact := Affine{Const: last}.plusExact(-1, a)
	return exact && nonNegative(a, p.r, p.facts, 3) && nonNegative(rest, p.r, p.facts, 3)
}

func (v *accesses) fail(name string, idx []ir.Expr, p place, msg string) {
	if v.err != nil {
		return
	}
	at := &ir.Load{Buf: name, Idx: idx}
	node := "@" + v.f.Name
	for i, l := range p.loops {
		word := ", "
		if i == 0 {
			word = ", for "
		}
		node += fmt.Sprintf("%s%%%s in 0:%d", word, l.Var, l.Extent)
	}
	v.err = &ir.Error{
		Op: ir.ExprString(at), Node: node, Msg: msg,
		Help: "guard the access by an if or a select, or clamp the index with min and max",
	}
}
