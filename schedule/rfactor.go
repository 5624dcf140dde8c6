package schedule

import (
	"cmp"
	"fmt"

	"ripc/ir"
	"ripc/ir/deps"
)

// rfactor sums the iterations of a reduction loop apart, each in an element of its own, inside
// another loop, and adds the elements up once an iteration of that one: a sum over lanes becomes
// lanes with a sum each. With a type, the elements are narrow, as with narrowAccumulate. Other
// systems: TVM and Halide rfactor.
//
//	for %k in 0:9 { for %c in 0:4 { for %o in 0:32 { for %p in 0:4 { %acc[%o] += cast<i32>(popcount(%x[%k, %c, %p] ^ %w[%k, %c, %o, %p])) } } } }
//	=> rfactor acc p k type=u8
//	for %k in 0:9 {
//	  alloc %acc.r: u8[32, 4]
//	  for %acc.r.z0 in 0:32 { for %acc.r.z1 in 0:4 { %acc.r[%acc.r.z0, %acc.r.z1] = 0u8 } }
//	  for %c in 0:4 { for %o in 0:32 { for %p in 0:4 { %acc.r[%o, %p] += popcount(%x[%k, %c, %p] ^ %w[%k, %c, %o, %p]) } } }
//	  for %acc.r.w0 in 0:32 { for %acc.r.w1 in 0:4 { %acc[%acc.r.w0] += cast<i32>(%acc.r[%acc.r.w0, %acc.r.w1]) } }
//	}
//
// The operands are the accumulator, the loop to turn into elements, and a loop around it. An empty
// name gives acc.r. The outer loop's statement around the lanes may use the buffer only for "+=" of
// integers, inside the lanes, outside of ifs and at elements that the lanes do not choose. One such
// store must run over the whole region. It is refused otherwise, if the loop is marked and, with a
// narrower type, where narrow_accumulate is.
func rfactor(f *ir.Func, buffer, lanes, loop string, t ir.Type, name string) *ir.Func {
	name = cmp.Or(name, buffer+".r")
	c := newNested(f, buffer, lanes, loop, "reduction")
	l := findLoop(f, lanes)
	if t == ir.Invalid {
		t = c.of.Type
	}
	c.factorable(l)
	if !t.IsInt() || t != c.of.Type && t.Bits() >= c.of.Type.Bits() {
		refuse("", "%s is not %s of %%%s or an integer type narrower than that", t, c.of.Type, buffer)
	}
	c.open("rfactor", name)
	c.requireWholeStore()
	summed := c.body()
	if t != c.of.Type {
		summed = c.narrowBody(t)
	}
	c.buf.Type = t
	c.buf.Shape = append(c.buf.Shape, l.Extent)
	body := c.moveElements(summed, func(idx []ir.Expr) []ir.Expr { return extend(idx, ir.V(lanes)) })
	each := func(suffix string, stmt func(inner, outer []ir.Expr) ir.Stmt) ir.Stmt {
		v := fmt.Sprintf("%s.%s%d", c.buf.Name, suffix, len(c.region))
		c.names.take(v)
		return c.each(suffix, func(inner, outer []ir.Expr) ir.Stmt {
			return &ir.For{Var: v, Extent: l.Extent, Axis: l.Axis,
				Body: stmt(extend(inner, ir.V(v)), outer)}
		})
	}
	zero := each("z", func(inner, _ []ir.Expr) ir.Stmt {
		return &ir.Store{Buf: c.buf.Name, Idx: inner, Val: ir.Const(t, 0)}
	})
	sum := each("w", func(inner, outer []ir.Expr) ir.Stmt {
		return &ir.Store{Buf: buffer, Idx: outer, Op: ir.AddTo, Val: ir.CastTo(c.of.Type, ir.At(c.buf, inner...))}
	})
	if t != c.of.Type {
		c.mustFit(zero, body, func(loop string) string {
			return fmt.Sprintf("rfactor %s %s %s type=%s", buffer, lanes, loop, t)
		})
	}
	return c.wrap(zero, body, sum)
}

// factorable refuses unless the nest does nothing with the buffer but add to it, in loop l, at
// elements that l does not choose.
func (c *local) factorable(l *ir.For) {
	nest, around, of := c.loop.Body, c.loop.Var, c.of
	as, inside := deps.Accesses(nest)[of.Name], deps.Accesses(l.Body)[of.Name]
	switch {
	case !of.Type.IsInt():
		refuse("", "%%%s has elements of type %s: sums of floats keep their order", of.Name, of.Type)
	case l.Kind != ir.Serial:
		unmarked(l, "rfactor")
	case len(inside) == 0:
		refuse("", "nothing in loop %%%s uses %%%s from outside of it", l.Var, of.Name)
	case len(as) == 0:
		refuse("choose a loop inside the alloc", "loop %%%s lies outside of the alloc of %%%s", around, of.Name)
	case len(as) > len(inside):
		refuse("choose an outer loop in which they stand apart",
			"%%%s is used outside of loop %%%s too, in the same statement of loop %%%s", of.Name, l.Var, around)
	}
	noLanes(c.f, around, "rfactor")
	for _, a := range as {
		c.requireSum(a, l.Var, "distribute it with reorder or decompose_reduction")
		if mentionsAny(a.Idx, l.Var) {
			refuse("choose a loop that does not", "loop %%%s indexes %%%s: each of its iterations has sums "+
				"of its own already", l.Var, of.Name)
		}
	}
	if guarded(nest, of.Name) {
		refuse("split with tail=cut or tail=shift instead of tail=guard", "%%%s is added to under a condition",
			of.Name)
	}
}
