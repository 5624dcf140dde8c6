package schedule

import (
	"fmt"

	"ripc/ir"
	"ripc/ir/deps"
)

// cacheRead copies the part of a buffer that one iteration of a loop reads into an alloc,
// contiguous and close by, and reads it from there. Other systems: TVM cache_read, Halide in, Exo
// stage_mem.
//
//	for %h in 0:7 { for %w in 0:56 { ... %x[%h * 8 + %k, %w] ... } }
//	=> cache_read x h
//	for %h in 0:7 {
//	  alloc %x.c: u32[8, 56]
//	  for %x.c.r0 in 0:8 { for %x.c.r1 in 0:56 { %x.c[%x.c.r0, %x.c.r1] = %x[%h * 8 + %x.c.r0, %x.c.r1] } }
//	  for %w in 0:56 { ... %x.c[%k, %w] ... }
//	}
//
// The region is the smallest index and a constant extent in each dimension, and the whole dimension
// where they are not known; where it may leave the buffer the copy runs under a condition. An empty
// name gives x.c. It is refused if the buffer is an alloc and an iteration is not proved to read
// the whole region (an alloc may have elements without a value; use compute_at), if the loop writes
// it or does not read it, if the loop is in a vectorize loop, and if a call takes the buffer.
func cacheRead(f *ir.Func, buffer, loop, name string) *ir.Func {
	c := newLocal(f, "cache_read", buffer, loop, name, buffer+".c")
	if ir.FindAlloc(f.Body, buffer) != nil && !c.readWhole() {
		refuse(fmt.Sprintf("use compute_at %s %s", buffer, loop),
			"%%%s may have elements without a value, which loop %%%s does not read and a copy would", buffer, loop)
	}
	if as := deps.Accesses(c.loop.Body)[buffer]; deps.Written(as) {
		refuse(fmt.Sprintf("use cache_write %s %s", buffer, loop), "loop %%%s writes %%%s in %s", loop, buffer,
			storeText(as))
	}
	return c.wrap(c.copyIn(), c.body())
}
