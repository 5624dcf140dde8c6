package template

import (
	"fmt"

	"ripc/targets"
)

// pays reports whether a popcount takes so many operations that it is worth two registers for each accumulator, and
// twice the other operations, to do half as many: neither vpopcntd nor NEON's vcnt is there. With AVX2 alone, 16 registers
// of 8 lanes are too few.
func pays(t targets.Target) bool {
	return t.Arch == "x86_64" && !t.Has("avx512vpopcntdq") && (t.Has("avx512bw") || !t.Has("avx2"))
}

// carrySave pairs the words of channels. The sum and the carries live where the accumulators do, in home, or, where these
// are doubled from plane to plane, in the loop over planes.
func (b *builder) carrySave(home string) {
	if b.s.has("acc.n") {
		home = "acc.n"
	}
	if !b.step("carry_save acc acc.c %s -> acc.s acc.cs", home) {
		return
	}
	b.s.extent["acc.c.p"] = b.s.extent["acc.c"] / 2
	delete(b.s.extent, "acc.c")
	last := len(b.f.Buffers()["acc.s"].Shape) - 1
	for _, part := range []string{"z", "w"} {
		for d := range last {
			if l := fmt.Sprintf("acc.s.%s%d", part, d); b.loop(l) != nil {
				b.unroll(l)
			}
		}
		b.step("vectorize acc.s.%s%d", part, last)
	}
}
