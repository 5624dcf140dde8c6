package emit

import (
	"slices"

	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"ripc/ir"
	"ripc/ir/arith"
)

// place is an element of a buffer, or one per lane.
type place struct {
	base value.Value
	elem types.Type
	t    ir.Type
	// at is the flat index of lane 0; lane k is stride*k elements further.
	index  arith.Affine
	stride int64
	// scattered reports that lanes are not a constant stride apart; flat is then the whole index.
	scattered  bool
	wholeIndex arith.Affine
	// paired reports that elements 2i and 2i+1 of the buffer may both be read, for all i.
	paired bool
	elems  int64 // of the buffer
	// flushed and grain are those of the buffer's floats.
	flushed bool
	grain   int
}

// buffer returns a buffer in scope, and checks the number of indices.
func (e *emitter) buffer(name string, idx []ir.Expr) *buffer {
	b := e.bufs[name]
	if b == nil {
		e.fail("", "", "%%%s is not a buffer in scope", name)
	}
	if len(idx) != len(b.Shape) {
		e.fail("", "", "%%%s has %d dimensions but is indexed with %d", name, len(b.Shape), len(idx))
	}
	return b
}

// place returns the element name[idx].
func (e *emitter) place(name string, idx []ir.Expr) place {
	b := e.buffer(name, idx)
	flat := arith.Affine{}
	size := int64(1)
	for d := len(idx) - 1; d >= 0; d-- {
		flat = flat.Plus(size, e.affine(idx[d]))
		size *= int64(b.Shape[d])
	}
	flat = e.recombine(flat)
	if b.copies > 0 {
		flat = arith.Affine{}.Plus(int64(b.copies), flat).Plus(1, e.affine(ir.V(b.lane)))
	}
	p := place{base: b.base, elem: memType(b.Type), t: b.Type, wholeIndex: flat, index: arith.Affine{Const: flat.Const},
		paired: b.isAlloc && b.Elems()%2 == 0, elems: size,
		flushed: b.flushed, grain: e.grains[name]}
	for _, t := range flat.Terms {
		if v, ok := t.Atom.(*ir.Var); ok && e.lanes > 0 && v.Name == e.laneVar {
			p.stride = t.Coef
			continue
		}
		p.scattered = p.scattered || e.varies(t.Atom)
		p.index.Terms = append(p.index.Terms, t)
	}
	return p
}

// recombine merges a quotient and a remainder from a fuse: d*m * (x / d) + m * (x % d) is m * x.
func (e *emitter) recombine(a arith.Affine) arith.Affine {
	for i, t := range a.Terms {
		q, ok := t.Atom.(*ir.Binary)
		if !ok || q.Op != ir.Div {
			continue
		}
		d, ok := q.B.(*ir.IntImm)
		if !ok || d.V <= 0 || t.Coef%d.V != 0 {
			continue
		}
		rest := ir.ExprString(&ir.Binary{Op: ir.Mod, A: q.A, B: q.B})
		for j, u := range a.Terms {
			if u.Coef*d.V != t.Coef || ir.ExprString(u.Atom) != rest {
				continue
			}
			out := arith.Affine{Const: a.Const}
			for k, v := range a.Terms {
				if k != i && k != j {
					out.Terms = append(out.Terms, v)
				}
			}
			return e.recombine(out.Plus(u.Coef, e.affine(q.A)))
		}
	}
	return a
}

// address returns the address of lane 0 of a place that is not scattered. An index that depends on
// memory, as in a table of counts, is computed once for all unrolled copies (window).
func (e *emitter) address(p place) value.Value {
	if isComputed(p.index) {
		return e.window(p)
	}
	return e.element(p.base, p.elem, p.index)
}

// isInvariant reports whether index a is constant as long as its loop variables are: the func does
// not write the memory that a reads.
func (e *emitter) isInvariant(a arith.Affine) bool {
	return !slices.ContainsFunc(a.Terms, func(t arith.Term) bool { return !e.changes.Keep(t.Atom) })
}

// addresses returns a function from lane k to its address.
func (e *emitter) addresses(p place) func(k int) value.Value {
	if !p.scattered {
		first := e.address(p)
		return func(k int) value.Value { return e.gep(first, p.elem, imm(ir.I64, p.stride*int64(k))) }
	}
	if isComputed(p.wholeIndex) {
		flat := e.sumAs(e.indexType(), p.wholeIndex)
		return func(k int) value.Value { return e.gep(p.base, p.elem, e.lane(flat, k)) }
	}
	return func(k int) (addr value.Value) {
		e.atLane(k, func() {
			flat := arith.Affine{Const: p.wholeIndex.Const}
			for _, t := range p.wholeIndex.Terms {
				flat = flat.Plus(t.Coef, e.affine(t.Atom))
			}
			addr = e.element(p.base, p.elem, flat)
		})
		return addr
	}
}

// isComputed reports whether an index depends on more than loop variables, so that it is not
// constant even for a single lane.
func isComputed(a arith.Affine) bool {
	return slices.ContainsFunc(a.Terms, func(t arith.Term) bool { return ir.ReadsMemory(t.Atom) })
}

// alignment returns the provable alignment of p's address, at least that of an element. Buffers are
// 64-byte aligned.
func (p place) alignment() int {
	size := int64(p.t.Bytes())
	g := p.index.Const
	for _, t := range p.index.Terms {
		g |= t.Coef
	}
	g *= size
	if g == 0 {
		return 64
	}
	return int(min(g&-g, 64))
}

// elemAlignment holds for every element of the buffer.
func (p place) elemAlignment() int { return p.t.Bytes() }
