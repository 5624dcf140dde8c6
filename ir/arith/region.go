package arith

import (
	"cmp"
	"slices"

	"ripc/ir"
)

// region is a set of elements of a buffer, by their number in row-major order: base + c1*x1 + c2*x2
// + ... for 0 <= xi < ni. base is a sum of variables of outer loops. Regions of different moments
// are compared, so regions with a base that reads memory are dropped (effect.restrict).
type region struct {
	base Affine
	dims []dim // rising c > 0, n > 1
}

type dim struct{ c, n int64 }

func wholeBuffer(b ir.Buffer) region {
	return region{Affine{}, joinDims([]dim{{1, int64(b.Elems())}})}
}

func (g region) isAll(b ir.Buffer) bool { return b.Elems() == 1 || g.equal(wholeBuffer(b)) }

func (g region) equal(h region) bool {
	return slices.Equal(g.dims, h.dims) && g.base.Const == h.base.Const && sameTerms(g.base, h.base)
}

func sameTerms(a, b Affine) bool {
	return slices.EqualFunc(a.Terms, b.Terms, func(s, t Term) bool {
		return s.Coef == t.Coef && ir.Equal(s.Atom, t.Atom)
	})
}

// element is the region of one element.
func element(b ir.Buffer, idx []ir.Expr) region {
	g := region{}
	if b.Elems() == 1 || len(idx) != len(b.Shape) {
		return g
	}
	for d, stride := len(idx)-1, int64(1); d >= 0; d-- {
		g.base = g.base.Plus(stride, ToAffine(idx[d]))
		stride *= int64(b.Shape[d])
	}
	return g
}

// joinDims sorts dims and joins neighbours that form one: {1,4},{4,8} is {1,32}.
func joinDims(dims []dim) []dim {
	dims = slices.DeleteFunc(slices.Clone(dims), func(d dim) bool { return d.n <= 1 })
	slices.SortFunc(dims, func(a, b dim) int { return cmp.Or(cmp.Compare(a.c, b.c), cmp.Compare(a.n, b.n)) })
	var out []dim
	for _, d := range dims {
		if n := len(out); n > 0 {
			last := &out[n-1]
			if next, ok := mulOK(last.c, last.n); ok && next == d.c {
				if all, ok := mulOK(last.n, d.n); ok {
					last.n = all
					continue
				}
			}
		}
		out = append(out, d)
	}
	return out
}

// distinct reports whether different x give different elements: each step is larger than all
// smaller ones together.
func distinct(dims []dim) bool {
	reach := int64(0)
	for _, d := range dims {
		if d.c <= reach {
			return false
		}
		span, ok1 := mulOK(d.c, d.n-1)
		sum, ok2 := addOK(reach, span)
		if !ok1 || !ok2 {
			return false
		}
		reach = sum
	}
	return true
}

// mergeDims adds up the dims of equal step, which gives a superset.
func mergeDims(dims []dim) []dim {
	n := map[int64]int64{}
	for _, d := range dims {
		if d.n > 1 {
			n[d.c] += d.n - 1
		}
	}
	var out []dim
	for c, k := range n {
		out = append(out, dim{c, k + 1})
	}
	return joinDims(out)
}

// union is a region that holds both.
func (g region) union(h region, b ir.Buffer) region {
	if !sameTerms(g.base, h.base) {
		return wholeBuffer(b)
	}
	off, ok := subOK(h.base.Const, g.base.Const)
	if !ok || off < 0 {
		if off, ok = subOK(g.base.Const, h.base.Const); !ok || off < 0 {
			return wholeBuffer(b)
		}
		g, h = h, g
	}
	most := map[int64]int64{}
	for _, dims := range [][]dim{mergeDims(g.dims), mergeDims(h.dims)} {
		for _, d := range dims {
			most[d.c] = max(most[d.c], d.n)
		}
	}
	dims := []dim{{1, off + 1}}
	for c, n := range most {
		dims = append(dims, dim{c, n})
	}
	return region{g.base, mergeDims(dims)}
}

// reach is the distance from the first element to the last.
func (g region) reach() (int64, bool) {
	sum := int64(0)
	for _, d := range g.dims {
		span, ok := mulOK(d.c, d.n-1)
		if !ok {
			return 0, false
		}
		if sum, ok = addOK(sum, span); !ok {
			return 0, false
		}
	}
	return sum, true
}

// gap is the distance from the last element of g to the first of h, 1 for neighbours.
func (g region) gap(h region) (int64, bool) {
	reach, ok := g.reach()
	if !ok || !sameTerms(g.base, h.base) {
		return 0, false
	}
	last, ok := addOK(g.base.Const, reach)
	if !ok {
		return 0, false
	}
	return subOK(h.base.Const, last)
}

// peelStep returns g and h without their outermost step, if they share that step and lie within one
// step of each other. Elements of g and h then coincide only if they do so without the step.
func (g region) peelStep(h region) (a, b region, step dim, ok bool) {
	n, m := len(g.dims)-1, len(h.dims)-1
	if n < 0 || m < 0 || g.dims[n] != h.dims[m] {
		return a, b, step, false
	}
	a, b, step = region{g.base, g.dims[:n]}, region{h.base, h.dims[:m]}, g.dims[n]
	first, second := a, b
	if a.base.Const > b.base.Const {
		first, second = b, a
	}
	// The last element of either is less than a step behind the first one.
	reach, ok1 := first.reach()
	off, ok2 := subOK(second.base.Const, first.base.Const)
	behind, ok3 := second.reach()
	end, ok4 := addOK(off, behind)
	return a, b, step, ok1 && ok2 && ok3 && ok4 && sameTerms(g.base, h.base) && max(reach, end) < step.c
}

// apart reports whether g and h have no element in common: one ends before the other begins, in
// each of their steps.
func (g region) apart(h region) bool {
	if in, other, _, ok := g.peelStep(h); ok {
		return in.apart(other)
	}
	a, ok := g.gap(h)
	b, ok2 := h.gap(g)
	return ok && a > 0 || ok2 && b > 0
}

// join returns the union of g and h if it is a region: within each step, one is a row of elements
// and the other continues it.
func (g region) join(h region) (region, bool) {
	if in, other, step, ok := g.peelStep(h); ok {
		all, ok := in.join(other)
		all.dims = joinDims(append(all.dims, step))
		return all, ok
	}
	if n, ok := h.gap(g); ok && n == 1 {
		g, h = h, g
	}
	n, ok := g.gap(h)
	a, ok1 := g.row()
	b, ok2 := h.row()
	if !ok || n != 1 || !ok1 || !ok2 {
		return region{}, false
	}
	return region{g.base, joinDims([]dim{{1, a + b}})}, true
}

// row returns the number of elements if they are contiguous.
func (g region) row() (int64, bool) {
	switch {
	case len(g.dims) == 0:
		return 1, true
	case len(g.dims) == 1 && g.dims[0].c == 1:
		return g.dims[0].n, true
	}
	return 0, false
}

// again describes how iterations of a loop overlap in a region.
type again uint8

const (
	eachOnce  again = iota // no element in two iterations
	sameAgain              // the same elements in all iterations
	unclear
)

// loop returns the region that the iterations v = 0..n-1 touch together.
func (g region) loop(v string, n int64, b ir.Buffer) (region, again) {
	c, ok := g.base.Coef(v)
	switch {
	case n == 1:
		return region{ToAffine(ir.Subst(g.base.Expr(), map[string]ir.Expr{v: ir.Int(0)})), g.dims}, eachOnce
	case !ok:
		return wholeBuffer(b), unclear
	case c == 0:
		return g, sameAgain
	}
	step := dim{c, n}
	base := g.base.Plus(-c, ToAffine(ir.V(v)))
	if c < 0 {
		last, ok := mulOK(c, n-1)
		if !ok {
			return wholeBuffer(b), unclear
		}
		base.Const += last
		step.c = -c
	}
	all := append([]dim{step}, g.dims...)
	if slices.SortFunc(all, func(a, b dim) int { return cmp.Compare(a.c, b.c) }); distinct(all) {
		return region{base, joinDims(all)}, eachOnce
	}
	return region{base, mergeDims(all)}, unclear
}
