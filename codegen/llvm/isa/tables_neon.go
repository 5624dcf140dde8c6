package isa

import (
	"fmt"
	"strings"

	"ripc/targets/isa"
)

// arm64LookUp is the function of isa.LookUp on 64-bit Arm: tbl, which gives 0 for what is no entry. Several registers of filters read one
// table.
func arm64LookUp(i isa.Instr, a additions) Function {
	switch {
	case i.Halves:
		return arm64LookUpHalves(i)
	case loadsTogether(i):
		return arm64LookUpFives(i, a)
	}
	const find, full = "llvm.aarch64.neon.tbl1.v16i8", "<16 x i8>"
	lanes := min(16, i.Lanes)
	reg := fmt.Sprintf("<%d x i8>", lanes)
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, "  "+format+"\n", args...) }
	load := func(name, from string) string { // into the lower lanes of a register
		line("%s = load %s, ptr %s, align 1", name, reg, from)
		if lanes == 16 {
			return name
		}
		line("%s.r = shufflevector %[2]s %[1]s, %[2]s poison, %[3]s", name, reg, ShuffleRun(0, lanes, 16))
		return name + ".r"
	}
	fmt.Fprintf(&b, "define internal void @%s(ptr %%acc, ptr %%t, ptr %%w) alwaysinline {\n", i.Func.Name)
	line("%%ts = load %s, ptr %%t, align 1", full)
	for k := range i.Lanes / lanes {
		line("%%from%d = getelementptr inbounds i8, ptr %%w, i64 %d", k, lanes*k)
		line("%%to%d = getelementptr inbounds i8, ptr %%acc, i64 %d", k, lanes*k)
		line("%%found%[1]d = call %[2]s @%[3]s(%[2]s %%ts, %[2]s %[4]s)", k, full, find, load(fmt.Sprintf("%%w%d", k), fmt.Sprintf("%%from%d", k)))
		sum := fmt.Sprintf("%%new%d", k)
		line("%s = %s", sum, a.opaque(load(fmt.Sprintf("%%old%d", k), fmt.Sprintf("%%to%d", k)), fmt.Sprintf("%%found%d", k)))
		if lanes < 16 {
			line("%s.r = shufflevector %[2]s %[1]s, %[2]s poison, %[3]s", sum, full, ShuffleRun(0, lanes, lanes))
			sum += ".r"
		}
		line("store %s %s, ptr %%to%d, align 1", reg, sum, k)
	}
	return Function{append([]Declaration{{full, find, full + ", " + full}}, a.calls...), b.String() + "  ret void\n}\n"}
}
