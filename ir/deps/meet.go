package deps

import (
	"fmt"
	"slices"

	"ripc/ir"
	"ripc/ir/arith"
)

// Pair is two accesses to one buffer, at least one of them a write, that may touch the same element
// in two iterations.
type Pair struct{ A, B Access }

// String returns both, or the one that conflicts with itself.
func (p Pair) String() string {
	a, b := p.A.String(), p.B.String()
	if a == b {
		return a
	}
	return a + " and " + b
}

// Rule lists the ways in which two iterations may meet in an element.
type Rule uint8

// Rules.
const (
	// Nothing: not even a read and a write of it.
	Nothing Rule = iota
	// Reductions: integer reductions by the same operator may, since their order does not matter.
	Reductions
	// OnDevice is Nothing with further proofs, for numbers that fuse and split take apart
	// (digits.go).
	OnDevice
)

// forbids reports whether a and b must not touch the same element.
func (r Rule) forbids(a, b Access) bool {
	return (a.Write || b.Write) && !(r == Reductions && a.commutes(b))
}

// May reports whether as and bs contain a pair that Meet would examine. It needs no Scope.
func May(as, bs []Access, rule Rule) bool {
	if !Written(as) && !Written(bs) {
		return false
	}
	return slices.ContainsFunc(as, func(a Access) bool {
		return slices.ContainsFunc(bs, func(b Access) bool { return rule.forbids(a, b) })
	})
}

// Meet looks for an access in as and one in bs, all of one buffer, that may conflict in different
// iterations of loops. The iterations must differ in each of these loops. Loops around the first of
// them hold still; all others may be anywhere.
//
// For each dimension it asks whether x(v, inner) = y(v', inner') has a solution with v != v'. It
// tests the bounds of the terms and the greatest common divisor of their factors (Banerjee,
// Dependence Analysis, 1997). A returned Pair may still never meet; without one, nothing meets.
func (sc Scope) Meet(as, bs []Access, rule Rule, loops ...string) (Pair, bool) {
	if !May(as, bs, rule) {
		return Pair{}, false
	}
	m := meeting{sc: sc, heldLoops: sc.Outer[loops[0]], forms: map[formKey]form{}, device: rule == OnDevice}
	for _, a := range as {
		for _, b := range bs {
			if !rule.forbids(a, b) {
				continue
			}
			if !slices.ContainsFunc(loops, func(v string) bool { return m.apart(a, b, v) }) {
				return Pair{a, b}, true
			}
		}
	}
	return Pair{}, false
}

// Touch looks for an access in as and one in bs that may touch the same element, at least one being
// a write. The loops in still keep their iterations; all others may be anywhere.
func (sc Scope) Touch(as, bs []Access, still *Loops) (Pair, bool) {
	m := meeting{sc: sc, heldLoops: still, forms: map[formKey]form{}}
	for _, a := range as {
		for _, b := range bs {
			if (a.Write || b.Write) && !m.apart(a, b, anyLoop) {
				return Pair{a, b}, true
			}
		}
	}
	return Pair{}, false
}

// Once reports whether each access of f to a buffer provably touches another element in each
// iteration of the enclosing loops.
func Once(f *ir.Func, buf string) bool {
	sc := ScopeOf(f.Body)
	return !ir.HasLoop(f.Body, func(l *ir.For) bool {
		m := meeting{sc: sc, heldLoops: sc.Outer[l.Var], forms: map[formKey]form{}}
		again := func(a Access) bool { return !m.apart(a, a, l.Var) }
		return l.Extent != 1 && slices.ContainsFunc(Accesses(l.Body)[buf], again)
	})
}

// meeting compares accesses. It splits each index once, and compares it with many.
type meeting struct {
	sc        Scope
	heldLoops *Loops
	forms     map[formKey]form
	device    bool // with the rules for loops of devices
}

type formKey struct {
	index ir.Expr
	loop  string
}

// apart reports whether a and b never touch the same element in iterations that differ in v: some
// dimension separates them.
func (m *meeting) apart(a, b Access, v string) bool {
	extent := m.sc.Ranges[v].Hi + 1
	if v == anyLoop {
		extent = 2
	}
	for d := range min(len(a.Idx), len(b.Idx)) {
		if m.sc.differ(m.form(a.Idx[d], v), m.form(b.Idx[d], v), a.width(d), b.width(d), extent) {
			return true
		}
	}
	return m.partsApart(a, b, v) ||
		m.device && v != anyLoop && (m.scalesApart(a, b, v) || m.digitsApart(a, b, v) || m.composedApart(a, b, v))
}

// partsApart handles a loop that a fuse made: v = n*q + r, used as v / n and v % n. Two iterations
// differ in q, or they have the same q and differ in r.
func (m *meeting) partsApart(a, b Access, v string) bool {
	n := int64(0)
	for _, e := range slices.Concat(a.Idx, b.Idx) {
		ir.WalkExpr(e, func(e ir.Expr) bool {
			if x, ok := e.(*ir.Binary); ok && (x.Op == ir.Div || x.Op == ir.Mod) {
				of, isVar := x.A.(*ir.Var)
				if k, isImm := x.B.(*ir.IntImm); isVar && isImm && of.Name == v {
					n = max(n, k.V)
				}
			}
			return true
		})
	}
	extent := m.sc.Ranges[v].Hi + 1
	if n < 2 || n >= extent {
		return false
	}
	q, r := fmt.Sprintf("%s / %d", v, n), fmt.Sprintf("%s %% %d", v, n) // no loop is called that
	in := Scope{m.sc.Ranges.With(q, int((extent+n-1)/n)).With(r, int(n)), m.sc.Outer}
	parts := map[string]ir.Expr{v: ir.Bin(ir.Add, ir.Bin(ir.Mul, ir.V(q), ir.Int(int(n))), ir.V(r))}
	split := func(a Access) Access {
		idx := make([]ir.Expr, len(a.Idx))
		for d, e := range a.Idx {
			idx[d] = arith.Simplify(ir.Subst(e, parts), in.Ranges)
		}
		a.Idx = idx
		return a
	}
	a, b = split(a), split(b)
	outer := meeting{sc: in, heldLoops: m.heldLoops, forms: map[formKey]form{}}
	inner := meeting{sc: in, heldLoops: m.heldLoops.With(q), forms: map[formKey]form{}}
	return outer.apart(a, b, q) && inner.apart(a, b, r)
}

// form is an index as coef*v + fixed + moving + k. fixed is made of loops that hold still; moving
// lies in lo..hi and is a multiple of gcd, 0 if that is 0. Nothing is known of the index unless ok.
type form struct {
	ok     bool
	coef   int64
	fixed  arith.Affine
	text   string // of fixed: equal texts, equal values
	lo, hi int64
	gcd    int64
	k      int64
}

func (m *meeting) form(e ir.Expr, v string) form {
	key := formKey{e, v}
	f, ok := m.forms[key]
	if !ok {
		f = m.sc.form(e, v, m.heldLoops)
		m.forms[key] = f
	}
	return f
}

func (sc Scope) form(e ir.Expr, v string, still *Loops) form {
	a := arith.ToAffine(e)
	f := form{ok: !Large(a.Const), k: a.Const}
	for _, t := range a.Terms {
		switch x, isVar := t.Atom.(*ir.Var); {
		case isVar && x.Name == v:
			f.ok = f.ok && !Large(t.Coef)
			f.coef += t.Coef
		case holds(t.Atom, still):
			f.fixed.Terms = append(f.fixed.Terms, t)
		default:
			if c, rest, ok := capped(t.Atom, v, sc.Ranges); ok && !Large(t.Coef) {
				f.coef += t.Coef * c
				f.moveIn(t.Coef, rest)
				continue
			}
			f.move(1, t, sc.Ranges)
		}
	}
	f.text = ir.ExprString(f.fixed.Expr())
	return f
}

// move adds sign times a term that may take any value in its range.
func (f *form) move(sign int64, t arith.Term, r arith.Ranges) {
	b, ok := arith.Bounds(t.Atom, r)
	if !ok || Large(t.Coef) || Large(b.Lo) || Large(b.Hi) {
		f.ok = false
		return
	}
	f.moveIn(sign*t.Coef, b)
}

// moveIn adds c times a number that may take any value of b.
func (f *form) moveIn(c int64, b arith.Interval) {
	f.lo, f.hi = f.lo+min(c*b.Lo, c*b.Hi), f.hi+max(c*b.Lo, c*b.Hi)
	f.gcd = arith.GCD(f.gcd, c)
	f.ok = f.ok && max(f.hi, -f.lo) < 1<<60 // so that differences of two forms stay inside int64
}

// capped returns e = min(c*v + g, k) as c*v + rest. rest is min(g, k - c*v), which has the bounds
// of g if k is no less than c*v and the least g: the last tile is moved back inside the last
// iteration of v.
func capped(e ir.Expr, v string, r arith.Ranges) (c int64, rest arith.Interval, ok bool) {
	m, isBinary := e.(*ir.Binary)
	if !isBinary || m.Op != ir.Min {
		return 0, rest, false
	}
	k, isImm := m.B.(*ir.IntImm)
	a := arith.ToAffine(m.A)
	i := slices.IndexFunc(a.Terms, func(t arith.Term) bool {
		x, isVar := t.Atom.(*ir.Var)
		return isVar && x.Name == v
	})
	if !isImm || i < 0 || a.Terms[i].Coef < 0 || Large(a.Terms[i].Coef) || Large(k.V) {
		return 0, rest, false
	}
	c = a.Terms[i].Coef
	a.Terms = slices.Delete(slices.Clone(a.Terms), i, i+1)
	rest, ok = arith.Bounds(a.Expr(), r)
	ok = ok && !Large(rest.Lo) && !Large(rest.Hi) && !ir.Mentions(a.Expr(), v) && k.V >= c*r[v].Hi+rest.Lo
	return c, rest, ok
}

// differ reports whether x in one iteration of v = 0..extent-1 never equals y in another, nor any
// of the nx and ny elements from there on.
func (sc Scope) differ(x, y form, nx, ny, extent int64) bool {
	if !x.ok || !y.ok {
		return false
	}
	// d is x - y without v: a multiple of d.gcd in d.lo..d.hi, plus d.k.
	d := form{ok: true, lo: x.lo - y.hi, hi: x.hi - y.lo, gcd: arith.GCD(x.gcd, y.gcd), k: x.k - y.k}
	if x.text != y.text {
		for _, t := range x.fixed.Plus(-1, y.fixed).Terms {
			d.move(1, t, sc.Ranges)
		}
	}
	if nx > 1 || ny > 1 {
		d.lo, d.hi, d.gcd = d.lo-(ny-1), d.hi+(nx-1), 1
	}
	if x.coef != y.coef { // no distance between the iterations matters: any v and any v'
		v := arith.Term{Coef: x.coef, Atom: ir.V(loopVar)}
		w := arith.Term{Coef: y.coef, Atom: ir.V(loopVar)}
		r := arith.Ranges{loopVar: {Lo: 0, Hi: extent - 1}}
		d.move(1, v, r)
		d.move(-1, w, r)
		return d.ok && !d.zero(0)
	}
	if !d.ok {
		return false
	}
	c := max(x.coef, -x.coef)
	if c == 0 {
		return extent < 2 || !d.zero(0)
	}
	// c*step + d = 0 for a step that two iterations are apart? With d's bounds, only for steps in
	// first..last.
	first := max(-(extent - 1), -arith.FloorDiv(d.hi+d.k, c))
	last := min(extent-1, arith.FloorDiv(-(d.lo+d.k), c))
	// The remainders by gcd repeat, so a few steps suffice.
	last = min(last, first+2*d.gcd+1)
	for step := first; step <= last; step++ {
		if step != 0 && d.zero(c*step) {
			return false
		}
	}
	return true
}

// anyLoop is the name of a loop that occurs in no index.
const anyLoop = ""

// loopVar stands for the loop where its two values are unrelated.
const loopVar = "v"

// zero reports whether the form plus by can be 0.
func (f form) zero(by int64) bool {
	at := f.k + by
	return f.lo+at <= 0 && 0 <= f.hi+at && (f.gcd == 0 || at%f.gcd == 0)
}

// Split splits an index into fixed, the terms that are constant while still holds, and moving, the
// other terms with the constant.
func Split(e ir.Expr, still *Loops) (fixed, moving arith.Affine) {
	a := arith.ToAffine(e)
	moving.Const = a.Const
	for _, t := range a.Terms {
		if holds(t.Atom, still) {
			fixed.Terms = append(fixed.Terms, t)
		} else {
			moving.Terms = append(moving.Terms, t)
		}
	}
	return fixed, moving
}

// holds reports whether e keeps its value while the loops in still do: it is made of them alone,
// and reads no memory, since accesses of different moments are compared.
func holds(e ir.Expr, still *Loops) bool {
	return !ir.ReadsMemory(e) && !ir.Contains(e, func(e ir.Expr) bool {
		v, ok := e.(*ir.Var)
		return ok && !still.Has(v.Name)
	})
}

// Large reports whether v is too large for sums of products of such numbers to stay inside int64.
func Large(v int64) bool { return v > 1<<28 || v < -1<<28 }
