package schedule

import (
	"fmt"
	"slices"

	"ripc/ir"
	"ripc/ir/deps"
)

// cacheWrite lets one iteration of a loop work on an alloc instead of a buffer that it writes, and
// copies the result out at the end: accumulators become registers. Other systems: TVM cache_write,
// Exo stage_mem.
//
//	for %h in 0:7 { for %o in 0:32 { %y[%h, %o] = 0i32   for %k in 0:9 { %y[%h, %o] += ... } } }
//	=> cache_write y h
//	for %h in 0:7 {
//	  alloc %y.c: i32[1, 32]
//	  for %o in 0:32 { %y.c[0, %o] = 0i32   for %k in 0:9 { %y.c[0, %o] += ... } }
//	  for %y.c.w1 in 0:32 { %y[%h, %y.c.w1] = %y.c[0, %y.c.w1] }
//	}
//
// Unless each iteration sets the whole region with "=" before it uses it, the region is copied in
// first (loops y.c.r0, y.c.r1, ...). The region is found as for cache_read. It is refused if the
// loop does not write the buffer, if the loop is in a vectorize loop, and if a call takes the
// buffer. It is refused if the region of an alloc would have to be copied in, as this may hold
// elements without a value. It is refused if iterations of a parallel loop around it would write
// the same elements.
func cacheWrite(f *ir.Func, buffer, loop, name string) *ir.Func {
	c := newLocal(f, "cache_write", buffer, loop, name, buffer+".c")
	if !deps.Written(deps.Accesses(c.loop.Body)[buffer]) {
		refuse(fmt.Sprintf("use cache_read %s %s", buffer, loop), "loop %%%s does not write %%%s", loop, buffer)
	}
	body := c.body()
	out := []ir.Stmt{body}
	if !c.setFirst(body) {
		if ir.FindAlloc(f.Body, buffer) != nil {
			refuse(fmt.Sprintf("choose a loop around the one that sets %%%s", buffer),
				"loop %%%s does not set all of its part of %%%s with = before it uses it, and the elements of an "+
					"alloc cannot be copied", loop, buffer)
		}
		out = []ir.Stmt{c.copyIn(), body}
	}
	back := c.each("w", func(inner, outer []ir.Expr) ir.Stmt {
		return &ir.Store{Buf: buffer, Idx: outer, Val: ir.At(c.buf, inner...)}
	})
	return c.wrap(append(out, back)...)
}

// setFirst reports whether body, already on the alloc, sets all of it with "=" before reading or
// accumulating.
func (c *local) setFirst(body ir.Stmt) bool {
	r := newRepeatCheck(c.f, body)
	r.writes[c.buf.Name] = true
	defs := r.stmt(body, nil)
	if r.bad != "" {
		return false
	}
	return slices.ContainsFunc(defs, func(d defined) bool { return d.buf == c.buf.Name && c.covered(d.idx) })
}
