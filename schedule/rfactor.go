package schedule

import (
	"fmt"

	"ripc/ir"
	"ripc/ir/deps"
)

// Rfactor sums the iterations of a reduction loop apart, each in an element of its own, inside
// another loop, and adds the elements up once an iteration of that one: a sum over lanes becomes
// lanes with a sum each. With a type, the elements are narrow, as with NarrowAccumulate. Other
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
func Rfactor(f *ir.Func, buffer, lanes, loop string, t ir.Type, name string) (*ir.Func, error) {
	if name == "" {
		name = buffer + ".r"
	}
	l, err := findLoop(f, lanes)
	if err != nil {
		return nil, err
	}
	outer, err := findLoop(f, loop)
	if err != nil {
		return nil, err
	}
	of, ok := f.Buffers()[buffer]
	if !ok {
		return nil, noBuffer(f, buffer)
	}
	if t == ir.Invalid {
		t = of.Type
	}
	nest, put := holding(outer.Body, lanes)
	if nest == nil {
		return nil, &ir.Error{Msg: fmt.Sprintf("loop %%%s does not stand in loop %%%s", lanes, loop),
			Help: "name the reduction loop, then a loop around it"}
	}
	if err := factorable(f, nest, l, loop, of); err != nil {
		return nil, err
	}
	if !t.IsInt() || t != of.Type && t.Bits() >= of.Type.Bits() {
		return nil, &ir.Error{Msg: fmt.Sprintf("%s is not %s of %%%s or an integer type narrower than that", t, of.Type,
			buffer)}
	}
	c := &local{f: f, sc: deps.ScopeOf(f.Body), of: of, buf: ir.Buffer{Name: name, Type: of.Type}, names: namesOf(f),
		put: put}
	c.loop = outer.WithBody(nest)
	if err := c.names.take(name); err != nil {
		return nil, err
	}
	if c.region, err = regionOf(c.sc, outer, of, deps.Accesses(nest)[buffer], "rfactor"); err != nil {
		return nil, err
	}
	for _, e := range c.region {
		c.buf.Shape = append(c.buf.Shape, e.size)
	}
	if err := c.requireWholeStore(); err != nil {
		return nil, err
	}
	summed := c.body()
	if t != c.of.Type {
		if summed, err = c.narrowBody(t); err != nil {
			return nil, err
		}
	}
	c.buf.Type = t
	c.buf.Shape = append(c.buf.Shape, l.Extent)
	body := ir.MapStmt(summed, func(s ir.Stmt) ir.Stmt {
		if st, ok := s.(*ir.Store); ok && st.Buf == c.buf.Name {
			return &ir.Store{Buf: st.Buf, Idx: append(append([]ir.Expr{}, st.Idx...), ir.V(lanes)), Op: st.Op,
				Val: st.Val}
		}
		return s
	}, nil)
	each := func(suffix string, stmt func(inner, outer []ir.Expr) ir.Stmt) (ir.Stmt, error) {
		v := fmt.Sprintf("%s.%s%d", c.buf.Name, suffix, len(c.region))
		if err := c.names.take(v); err != nil {
			return nil, err
		}
		return c.each(suffix, func(inner, outer []ir.Expr) ir.Stmt {
			return &ir.For{Var: v, Extent: l.Extent, Axis: l.Axis,
				Body: stmt(append(append([]ir.Expr{}, inner...), ir.V(v)), outer)}
		})
	}
	zero, err := each("z", func(inner, _ []ir.Expr) ir.Stmt {
		return &ir.Store{Buf: c.buf.Name, Idx: inner, Val: ir.Const(t, 0)}
	})
	if err != nil {
		return nil, err
	}
	sum, err := each("w", func(inner, outer []ir.Expr) ir.Stmt {
		return &ir.Store{Buf: buffer, Idx: outer, Op: ir.AddTo, Val: ir.CastTo(c.of.Type, ir.At(c.buf, inner...))}
	})
	if err != nil {
		return nil, err
	}
	if t != c.of.Type {
		if err := c.fits(zero, body); err != nil {
			return nil, c.legalExtent(err, zero, body, func(loop string) string {
				return fmt.Sprintf("rfactor %s %s %s type=%s", buffer, lanes, loop, t)
			})
		}
	}
	return c.wrap(zero, body, sum)
}

// factorable refuses unless nest does nothing with the buffer but add to it, in loop l, at elements
// that l does not choose.
func factorable(f *ir.Func, nest ir.Stmt, l *ir.For, around string, of ir.Buffer) error {
	refuse := func(help, format string, args ...any) error {
		return &ir.Error{Msg: fmt.Sprintf(format, args...), Help: help}
	}
	as, inside := deps.Accesses(nest)[of.Name], deps.Accesses(l.Body)[of.Name]
	switch {
	case !of.Type.IsInt():
		return refuse("", "%%%s has elements of type %s: sums of floats keep their order", of.Name, of.Type)
	case l.Kind != ir.Serial:
		return refuse(fmt.Sprintf("rfactor before %s", l.Kind), "loop %%%s is marked %s already", l.Var, l.Kind)
	case len(inside) == 0:
		return refuse("", "nothing in loop %%%s uses %%%s from outside of it", l.Var, of.Name)
	case len(as) == 0:
		return refuse("choose a loop inside the alloc", "loop %%%s lies outside of the alloc of %%%s", around, of.Name)
	case len(as) > len(inside):
		return refuse("choose an outer loop in which they stand apart",
			"%%%s is used outside of loop %%%s too, in the same statement of loop %%%s", of.Name, l.Var, around)
	}
	for _, p := range path(f.Body, around) {
		if p.Kind == ir.Vectorize {
			return refuse("rfactor before vectorize", "loop %%%s is vectorize, and lanes cannot have a buffer each",
				p.Var)
		}
	}
	for _, a := range as {
		if a.Store == nil || a.Store.Op != ir.AddTo {
			what := "reads it"
			if a.Store != nil {
				what = "has " + storeText([]deps.Access{a})
			}
			return refuse("distribute it with reorder or decompose_reduction",
				"loop %%%s does more than add to %%%s: it %s", l.Var, of.Name, what)
		}
		if anyOf(a.Idx, func(e ir.Expr) bool { return uses(e, func(v string) bool { return v == l.Var }) }) {
			return refuse("choose a loop that does not", "loop %%%s indexes %%%s: each of its iterations has sums "+
				"of its own already", l.Var, of.Name)
		}
	}
	if guarded(nest, of.Name) {
		return refuse("split with tail=cut or tail=shift instead of tail=guard", "%%%s is added to under a condition",
			of.Name)
	}
	return nil
}
