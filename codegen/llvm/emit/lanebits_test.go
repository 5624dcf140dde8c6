package emit_test

import (
	"slices"
	"strings"
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

// TestTapsShareVectors wants two neighbouring taps of columns in steps of 2 to read the same vector of pairs, and none to read what may lie outside of the buffer.
func TestTapsShareVectors(t *testing.T) {
	for n, want := range map[int][2]int{2: {2, 0}, 4: {4, 0}, 5: {4, 2}} {
		x, y := buf("x", ir.I16, 4, 35), buf("y", ir.I16, 4, 16)
		var sum ir.Expr = ir.Const(ir.I16, 0)
		for k := range n {
			sum = add(sum, ir.At(x, vi, add(mul(vv, ir.Int(2)), ir.Int(k))))
		}
		ll := string(generate(t, lanes("taps", 4, 16, []ir.Param{in(x), out(y)}, set(y, sum, vi, vv)), target(t, "x86-64-v4")).LL)
		if got := [2]int{strings.Count(ll, "load <32 x i16>"), strings.Count(ll, "load <16 x i16>")}; got != want {
			t.Errorf("%d taps: %d loads of pairs and %d of what lies between, not %d and %d", n, got[0], got[1], want[0], want[1])
		}
	}
}
