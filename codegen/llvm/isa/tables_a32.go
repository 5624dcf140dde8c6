package isa

import (
	"fmt"
	"strings"

	"ripc/targets/isa"
)

// armLookUp is the function of isa.LookUp on 32-bit Arm: vtbl, which gives 0 for what is no entry. It looks 8 filters up in a table of two registers, and what two of them find lies in the halves of one
// register, which one addition takes.
func armLookUp(i isa.Instr, a additions) Function {
	const half, full, find = "<8 x i8>", "<16 x i8>", "llvm.arm.neon.vtbl2"
	lower, upper := ShuffleRun(0, 8, 8), ShuffleRun(8, 8, 8)
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, "  "+format+"\n", args...) }
	fmt.Fprintf(&b, "define internal void @%s(ptr %%acc, ptr %%t, ptr %%w) alwaysinline {\n", i.Func.Name)
	line("%%ts = load %s, ptr %%t, align 1", full)
	line("%%t0 = shufflevector %[1]s %%ts, %[1]s poison, %[2]s", full, lower)
	line("%%t1 = shufflevector %[1]s %%ts, %[1]s poison, %[2]s", full, upper)
	found := func(name, weights string) {
		line("%%%s = call %[2]s @%[3]s(%[2]s %%t0, %[2]s %%t1, %[2]s %[4]s)", name, half, find, weights)
	}
	if i.Lanes == 8 {
		line("%%ws = load %s, ptr %%w, align 1", half)
		found("found", "%ws")
		line("%%old = load %s, ptr %%acc, align 1", half)
		line("%%new = add %s %%old, %%found", half)
		line("store %s %%new, ptr %%acc, align 1", half)
		return Function{[]Declaration{{half, find, half + ", " + half + ", " + half}}, b.String() + "  ret void\n}\n"}
	}
	for k := range i.Lanes / 16 {
		line("%%from%d = getelementptr inbounds i8, ptr %%w, i32 %d", k, 16*k)
		line("%%to%d = getelementptr inbounds i8, ptr %%acc, i32 %d", k, 16*k)
		line("%%w%[1]d = load %[2]s, ptr %%from%[1]d, align 1", k, full)
		for h, of := range []string{lower, upper} {
			line("%%w%[1]d.%[2]d = shufflevector %[3]s %%w%[1]d, %[3]s poison, %[4]s", k, h, full, of)
			found(fmt.Sprintf("found%d.%d", k, h), fmt.Sprintf("%%w%d.%d", k, h))
		}
		line("%%found%[1]d = shufflevector %[2]s %%found%[1]d.0, %[2]s %%found%[1]d.1, %[3]s", k, half, ShuffleRun(0, 16, 16))
		line("%%old%[1]d = load %[2]s, ptr %%to%[1]d, align 1", k, full)
		line("%%new%d = %s", k, a.opaque(fmt.Sprintf("%%old%d", k), fmt.Sprintf("%%found%d", k)))
		line("store %[2]s %%new%[1]d, ptr %%to%[1]d, align 1", k, full)
	}
	return Function{append([]Declaration{{half, find, half + ", " + half + ", " + half}}, a.calls...), b.String() + "  ret void\n}\n"}
}
