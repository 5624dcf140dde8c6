package emit_test

import (
	"slices"
	"testing"

	"ripc/ir"
)

// TestBitsAssembly wants bits of lanes tested and put together in bytes, on 32-bit Arm as well, where LLVM moves lanes one by one.
func TestBitsAssembly(t *testing.T) {
	named := func(fs []*ir.Func, name string) *ir.Func {
		return fs[slices.IndexFunc(fs, func(f *ir.Func) bool { return f.Name == name })]
	}
	apart, together := named(bitsOfLanes(), "lane_bits32_u32"), named(reductions(), "bits32_u32")
	match(t, assembly(t, apart, target(t, "rpi3")), `cmtst\s+v\d+\.16b`, `!ushl\s+v\d+\.4s`)
	match(t, assembly(t, apart, target(t, "rpi2")), `vtst\.8`, `!vshl\.[su]32`)
	match(t, assembly(t, apart, target(t, "x86-64-v4")), `kmovd`, `!vpsrlvd`)
	match(t, assembly(t, together, target(t, "rpi3")), `addp\s+v\d+\.16b`)
	match(t, assembly(t, together, target(t, "rpi2")), `vpadd\.i8`, `!vmov\.u`)
}
