package isa

import (
	"fmt"
	"strings"

	"ripc/targets/isa"
)

// arm64LookUpHalves is arm64LookUp of entries that are for both halves of a row: one tbl, whose lower halves are added to the first sums, and whose upper ones to the second.
func arm64LookUpHalves(i isa.Instr) Function {
	const reg, find = "<16 x i8>", "llvm.aarch64.neon.tbl1.v16i8"
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, "  "+format+"\n", args...) }
	fmt.Fprintf(&b, "define internal void @%s(ptr %%acc, ptr %%t, ptr %%w) alwaysinline {\n", i.Func.Name)
	line("%%ts = load %s, ptr %%t, align 1", reg)
	for k := range i.Lanes / 16 {
		line("%%from%d = getelementptr inbounds i8, ptr %%w, i64 %d", k, 16*k)
		line("%%w%[1]d = load %[2]s, ptr %%from%[1]d, align 1", k, reg)
		line("%%found%[1]d = call %[2]s @%[3]s(%[2]s %%ts, %[2]s %%w%[1]d)", k, reg, find)
		line("%%lower%[1]d = and %[2]s %%found%[1]d, splat (i8 15)", k, reg)
		line("%%upper%[1]d = lshr %[2]s %%found%[1]d, splat (i8 4)", k, reg)
		for p, half := range []string{"lower", "upper"} {
			line("%%to%[1]s%[2]d = getelementptr inbounds i8, ptr %%acc, i64 %[3]d", half, k, p*i.Lanes+16*k)
			line("%%old%[1]s%[2]d = load %[3]s, ptr %%to%[1]s%[2]d, align 1", half, k, reg)
			line("%%new%[1]s%[2]d = add %[3]s %%old%[1]s%[2]d, %%%[1]s%[2]d", half, k, reg)
			line("store %[3]s %%new%[1]s%[2]d, ptr %%to%[1]s%[2]d, align 1", half, k, reg)
		}
	}
	return Function{[]Declaration{{reg, find, reg + ", " + reg}}, b.String() + "  ret void\n}\n"}
}
