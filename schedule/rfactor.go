package schedule

import (
	"fmt"

	"ripc/ir"
)

// Rfactor sums the iterations of a reduction loop apart, each in an element of its own, inside another loop, and adds
// the elements up once an iteration of that one: what was a sum over lanes becomes lanes with a sum each. With a type,
// the elements are narrow, as with NarrowAccumulate. Other systems: TVM and Halide rfactor.
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
// The operands are the accumulator, the loop whose iterations become elements, and a loop around it. An empty name gives
// acc.r. It is refused unless all that the outer loop does with the buffer is "+=" of integers outside of ifs, some store
// of which runs over its whole region; if one of them is not inside the loop of lanes, or indexed by it; and, with a type
// that is narrower, where narrow_accumulate would be.
func Rfactor(f *ir.Func, buffer, lanes, loop string, t ir.Type, name string) (*ir.Func, error) {
	c, err := newLocal(f, "rfactor", buffer, loop, name, buffer+".r")
	if err != nil {
		return nil, err
	}
	if t == ir.Invalid {
		t = c.of.Type
	}
	if !c.of.Type.IsInt() {
		return nil, &ir.Error{Msg: fmt.Sprintf("%%%s holds %s, and sums of floats keep their order", buffer, c.of.Type)}
	}
	if !t.IsInt() || t != c.of.Type && t.Bits() >= c.of.Type.Bits() {
		return nil, &ir.Error{Msg: fmt.Sprintf("%s is not %s of %%%s or an integer type narrower than that", t, c.of.Type, buffer)}
	}
	l := ir.FindLoop(c.loop.Body, lanes)
	if l == nil {
		return nil, &ir.Error{Msg: fmt.Sprintf("there is no loop %%%s inside loop %%%s", lanes, loop), Help: "loops: " + fmt.Sprint(loopNames(c.loop.Body))}
	}
	if err := c.onlySums(); err != nil {
		return nil, err
	}
	if err := c.byLanes(l); err != nil {
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
			return &ir.Store{Buf: st.Buf, Idx: append(append([]ir.Expr{}, st.Idx...), ir.V(lanes)), Op: st.Op, Val: st.Val}
		}
		return s
	}, nil)
	each := func(suffix string, stmt func(inner, outer []ir.Expr) ir.Stmt) (ir.Stmt, error) {
		v := fmt.Sprintf("%s.%s%d", c.buf.Name, suffix, len(c.region))
		if err := c.names.take(v); err != nil {
			return nil, err
		}
		return c.each(suffix, func(inner, outer []ir.Expr) ir.Stmt {
			return &ir.For{Var: v, Extent: l.Extent, Body: stmt(append(append([]ir.Expr{}, inner...), ir.V(v)), outer)}
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
	return c.with(zero, body, sum)
}

// byLanes refuses unless all sums into the buffer are inside loop l, and none is told apart by it already.
func (c *local) byLanes(l *ir.For) error {
	inside := accesses(l.Body)[c.of.Name]
	if all := accesses(c.loop.Body)[c.of.Name]; len(inside) < len(all) {
		return &ir.Error{
			Msg:  fmt.Sprintf("%%%s is added to outside of loop %%%s too: %s", c.of.Name, l.Var, storeText(all)),
			Help: "choose a loop around all that is summed, or distribute the other one with reorder",
		}
	}
	for _, a := range inside {
		for _, x := range a.idx {
			if uses(x, func(n string) bool { return n == l.Var }) {
				return &ir.Error{Msg: fmt.Sprintf("loop %%%s indexes %%%s, so its iterations are apart already", l.Var, c.of.Name), Help: "choose a loop of the reduction; or narrow_accumulate"}
			}
		}
	}
	if l.Kind != ir.Serial && l.Kind != ir.Unroll {
		return &ir.Error{Msg: fmt.Sprintf("loop %%%s is %s already", l.Var, l.Kind), Help: fmt.Sprintf("rfactor before %s", l.Kind)}
	}
	return nil
}
