package isa

import (
	"fmt"
	"slices"
	"strings"

	"ripc/targets/isa"
)

// arm64LookUpFives is arm64LookUp in tables of 32 entries, two registers. A load fills several registers (ld1), which the Neoverse N1 begins as fewer operations than loads of pairs.
// Tiles have few positions, so nothing should be left of adding to zero. What is known of the sums is found where they are loaded before anything branches.
func arm64LookUpFives(i isa.Instr, a additions) Function {
	const reg, find = "<16 x i8>", "llvm.aarch64.neon.tbl2.v16i8"
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, "  "+format+"\n", args...) }
	fmt.Fprintf(&b, "define internal void @%s(ptr %%acc, ptr %%t, ptr %%w) alwaysinline {\n", i.Func.Name)
	registers := i.Lanes / 16
	calls := append([]Declaration{{reg, find, reg + ", " + reg + ", " + reg}, isConstant()}, a.calls...)
	for _, d := range append(loadRegisters(&b, "%ts", "%t", 2), loadRegisters(&b, "%w", "%w", registers)...) {
		if !slices.Contains(calls, d) {
			calls = append(calls, d)
		}
	}
	for k := range registers {
		line("%%to%d = getelementptr inbounds i8, ptr %%acc, i64 %d", k, 16*k)
		line("%%old%[1]d = load %[2]s, ptr %%to%[1]d, align 1", k, reg)
	}
	for k := range registers {
		line("%%found%[1]d = call %[2]s @%[3]s(%[2]s %%ts0, %[2]s %%ts1, %[2]s %%w%[1]d)", k, reg, find)
		b.WriteString(a.addOrKnown(fmt.Sprint(k), fmt.Sprintf("%%old%d", k), fmt.Sprintf("%%found%d", k), fmt.Sprintf("%%new%d", k)) + "\n")
	}
	for k := range registers {
		line("store %[2]s %%new%[1]d, ptr %%to%[1]d, align 1", k, reg)
	}
	return Function{calls, b.String() + "  ret void\n}\n"}
}

// loadsTogether reports whether a load of i fills several registers.
func loadsTogether(i isa.Instr) bool {
	return i.Meaning == isa.LookUp && i.Arch == "aarch64" && i.Words > 16
}

// HidesOrigins reports whether LLVM should not look into what the addresses of the inputs of the instruction of that name have in common: their loads
// take no offsets, and it would find a register for each address, all around a loop.
func HidesOrigins(name string) bool {
	return slices.ContainsFunc(isa.All(), func(i isa.Instr) bool { return i.Func.Name == name && loadsTogether(i) })
}

// loadRegisters loads n registers of bytes, name0 and so on, and gives what it calls for that.
func loadRegisters(b *strings.Builder, name, from string, n int) []Declaration {
	const reg = "<16 x i8>"
	if n == 1 {
		fmt.Fprintf(b, "  %s0 = load %s, ptr %s, align 1\n", name, reg, from)
		return nil
	}
	all := "{ " + strings.TrimSuffix(strings.Repeat(reg+", ", n), ", ") + " }"
	load := fmt.Sprintf("llvm.aarch64.neon.ld1x%d.v16i8.p0", n)
	fmt.Fprintf(b, "  %s.all = call %s @%s(ptr %s)\n", name, all, load, from)
	for r := range n {
		fmt.Fprintf(b, "  %s%d = extractvalue %s %s.all, %d\n", name, r, all, name, r)
	}
	return []Declaration{{all, load, "ptr"}}
}
