package interp

import "ripc/ir"

// affine is c plus the sum of coef * frame.v[slot], wrapping like i64 arithmetic.
type affine struct {
	c     int64
	terms []term
}

type term struct {
	slot int
	coef int64
}

func (a *affine) at(v []int64) int64 {
	s := a.c
	for i := range a.terms {
		s += a.terms[i].coef * v[a.terms[i].slot]
	}
	return s
}

// plus is a + k*b.
func (a affine) plus(k int64, b affine) affine {
	out := affine{c: a.c + k*b.c, terms: append([]term{}, a.terms...)}
next:
	for _, t := range b.terms {
		for i := range out.terms {
			if out.terms[i].slot == t.slot {
				out.terms[i].coef += k * t.coef
				continue next
			}
		}
		out.terms = append(out.terms, term{t.slot, k * t.coef})
	}
	return out
}

// affine returns e as an affine form of loop variables, if it has one.
func (c *compiler) affine(e ir.Expr) (affine, bool) {
	switch e := e.(type) {
	case *ir.IntImm:
		return affine{c: e.V}, e.T == ir.I64
	case *ir.Var:
		slot, ok := c.variable(e.Name)
		return affine{terms: []term{{slot, 1}}}, ok
	case *ir.Binary:
		if e.Op != ir.Add && e.Op != ir.Sub && e.Op != ir.Mul {
			return affine{}, false
		}
		a, aok := c.affine(e.A)
		b, bok := c.affine(e.B)
		switch {
		case !aok || !bok:
			return affine{}, false
		case e.Op == ir.Add:
			return a.plus(1, b), true
		case e.Op == ir.Sub:
			return a.plus(-1, b), true
		case len(b.terms) == 0:
			return affine{}.plus(b.c, a), true
		case len(a.terms) == 0:
			return affine{}.plus(a.c, b), true
		}
	}
	return affine{}, false
}

// isBelow reports whether a is in 0..n-1 for all values of the loop variables.
func (c *compiler) isBelow(a affine, n int64) bool {
	const limit = 1 << 24 // keeps lo and hi far from overflow
	if len(a.terms) > 64 || a.c > maxBytes || a.c < -maxBytes {
		return false
	}
	lo, hi := a.c, a.c
	for _, t := range a.terms {
		last := max(c.extents[t.slot]-1, 0) // a loop of no iterations proves anything
		if c.extents[t.slot] == unknown || t.coef > limit || t.coef < -limit || last > limit {
			return false
		}
		lo += min(t.coef*last, 0)
		hi += max(t.coef*last, 0)
	}
	return lo >= 0 && hi < n
}

// access computes the byte offset of an element, or of the start of a window.
type access struct {
	*bufRef
	proven affine  // of the dimensions with indices proved in range
	checks []check // the others
	idx    []intFn // all dimensions, for messages
	size   []int   // of a window in each dimension; nil for an element
	site   *site
}

// check is an index to be checked when it is used.
type check struct {
	index   intFn
	dim     int
	allowed int64 // the index must be in 0..allowed-1
	stride  int64
}

// access compiles the indices of an element of b; it returns nil after an error.
func (c *compiler) access(b *bufRef, idx []ir.Expr) *access { return c.window(b, idx, nil) }

// window compiles the start of a window of b with the given shape in the trailing dimensions.
func (c *compiler) window(b *bufRef, idx []ir.Expr, shape []int) *access {
	if len(idx) != len(b.Shape) {
		c.fail("%d indices for %s", len(idx), ir.BufferString(b.Buffer))
	}
	a := &access{bufRef: b, site: c.site()}
	if b.base != unknown {
		a.proven = affine{terms: []term{{b.base, 1}}}
	}
	for d, e := range idx {
		if e.Type() != ir.I64 {
			c.fail("index %s of %%%s is %s, not i64", ir.ExprString(e), b.Name, e.Type())
		}
		size := 1
		if k := d - (len(b.Shape) - len(shape)); k >= 0 {
			size = shape[k]
		}
		if shape != nil {
			a.size = append(a.size, size)
		}
		allowed := int64(b.Shape[d]) - int64(size) + 1
		fn := c.int(e)
		a.idx = append(a.idx, fn)
		if f, ok := c.affine(e); ok && c.isBelow(f, allowed) {
			a.proven = a.proven.plus(b.stride[d], f)
		} else {
			a.checks = append(a.checks, check{fn, d, allowed, b.stride[d]})
		}
	}
	return a
}

// offset returns the byte offset.
func (a *access) offset(fr *frame) int64 {
	s := a.proven.at(fr.v)
	for i := range a.checks {
		k := &a.checks[i]
		x := k.index(fr)
		if x < 0 || x >= k.allowed {
			a.stop(fr, k, x)
		}
		s += x * k.stride
	}
	return s
}

// reading returns the offset, and reports elements that were not written if the buffer is tracked.
func (a *access) reading(fr *frame) int64 {
	off := a.offset(fr)
	if a.tracked && !fr.init[a.mem][off/int64(a.Type.Bytes())] {
		e := a.site.error(fr, Unwritten, "%%%s is read before it is written", a.Name)
		panic(a.describe(fr, e))
	}
	return off
}

// writing returns the offset, and marks the element as written if the buffer is tracked.
func (a *access) writing(fr *frame) int64 {
	off := a.offset(fr)
	if a.tracked {
		fr.init[a.mem][off/int64(a.Type.Bytes())] = true
	}
	return off
}

func (a *access) stop(fr *frame, k *check, x int64) {
	e := a.site.error(fr, Outside, "index %d out of range 0..%d in dimension %d of %%%s", x, a.Shape[k.dim]-1, k.dim,
		a.Name)
	if a.size != nil {
		e.Msg = a.site.error(fr, Outside, "window of %d at %d leaves 0..%d in dimension %d of %%%s", a.size[k.dim], x,
			a.Shape[k.dim]-1, k.dim, a.Name).Msg
	}
	panic(a.describe(fr, e))
}

func (a *access) describe(fr *frame, e *RuntimeError) *RuntimeError {
	e.Buf, e.Shape = a.Name, a.Shape
	for _, fn := range a.idx {
		e.Index = append(e.Index, fn(fr))
	}
	return e
}
