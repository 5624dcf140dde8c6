package schedule

import (
	"fmt"
	"slices"

	"ripc/ir"
	"ripc/ir/deps"
)

// replicate keeps every element of an alloc as often as a loop has iterations: the buffer gets an
// innermost dimension, and each iteration reads a copy of its own. A vector with the same element
// in all lanes then takes one load, instead of a load and a broadcast. Other systems: none.
//
//	for %k in 0:9 { %xp[%k] = %x[%k] }
//	for %o in 0:64 { for %l in 0:4 { ... %acc[%o, %l] += %xp[%k] * %w[%k, %o, %l] ... } }
//	=> replicate xp l
//	for %k in 0:9 { for %xp.r in 0:4 { %xp[%k, %xp.r] = %x[%k] } }
//	for %o in 0:64 { for %l in 0:4 { ... %acc[%o, %l] += %xp[%k, %l] * %w[%k, %o, %l] ... } }
//
// Reads outside of the loop take the first copy. The result names the loop over copies; the default
// is the name of the buffer and .r. It is refused if the buffer is no alloc, and if a vectorize
// loop writes it or a call takes it. It is refused if the loop writes the buffer or does not read
// it.
func replicate(f *ir.Func, buffer, loop, name string) *ir.Func {
	l, alloc := findLoop(f, loop), findAlloc(f, buffer)
	noCalls(f, buffer, "replicate")
	inside := deps.Accesses(l.Body)[buffer]
	switch {
	case deps.Written(inside):
		refuse("", "loop %%%s writes %%%s in %s", loop, buffer, storeText(inside))
	case len(inside) == 0:
		refuse("", "loop %%%s does not read %%%s", loop, buffer)
	}
	noStoreInLanes(f, "replicate", fmt.Sprintf("the copies of %%%s", buffer), func(s *ir.Store) bool {
		return s.Buf == buffer
	})
	buf, names := alloc.Buf, namesOf(f)
	buf.Shape, buf.Enc = append(slices.Clone(buf.Shape), l.Extent), ir.Encoding{}
	// from reads elements from a copy, unless they come from one already.
	from := func(copy ir.Expr) func(ir.Expr) ir.Expr {
		return mapLoads(buffer, func(x *ir.Load) ir.Expr {
			if len(x.Idx) == len(buf.Shape) {
				return x
			}
			return &ir.Load{Buf: x.Buf, T: x.T, Idx: extend(x.Idx, copy)}
		})
	}
	body := replace(f.Body, loop, l.WithBody(ir.MapStmt(l.Body, nil, from(ir.V(loop)))))
	body = ir.MapStmt(body, func(s ir.Stmt) ir.Stmt {
		st, ok := s.(*ir.Store)
		if !ok || st.Buf != buffer {
			return mapOwn(s, from(ir.Int(0)))
		}
		n := name
		switch name = ""; { // the user's name is for the first loop
		case n != "":
			names.take(n)
		case names[buffer+".r"]:
			n = names.copyOf(buffer + ".r")
		default:
			n = buffer + ".r"
			names.take(n)
		}
		// Reads of the buffer in st become reads of the same copy.
		st = mapOwn(st, from(ir.V(n))).(*ir.Store)
		return &ir.For{Var: n, Extent: l.Extent, Axis: ir.Copy,
			Body: &ir.Store{Buf: buffer, Idx: extend(st.Idx, ir.V(n)), Op: st.Op, Val: st.Val}}
	}, nil)
	return withBuffer(f.WithBody(body), -1, buf)
}
