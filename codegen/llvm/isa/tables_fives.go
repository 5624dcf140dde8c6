package isa

import (
	"fmt"
	"math/bits"
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

// armTables is the function of isa.Tables on Arm: tables are sums of constants, for each plane the counts that any bits of a group have against all entries, 256 bytes of 4 channels and 1 KiB of 5. That takes half as many
// operations of vectors as to count. Of halves those of the pixel that lies half a row further are put above the others.
func armTables(i isa.Instr) Function {
	entries, words := i.Words, i.Func.Params[1].Shape[0]
	group := bits.Len(uint(entries)) - 1
	pixels := []string{"x"}
	if i.Halves {
		pixels = append(pixels, "y")
	}
	planes := (len(i.Func.Params) - 1) / len(pixels)
	reg := fmt.Sprintf("<%d x i8>", entries)
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, "  "+format+"\n", args...) }
	params := "ptr %t"
	for _, x := range pixels {
		for n := range planes {
			params += fmt.Sprintf(", ptr %%%s%d", x, n)
		}
	}
	for n := range planes {
		fmt.Fprintf(&b, "@%s.plane%d = private unnamed_addr constant [%d x i8] [%s], align 16\n", i.Func.Name, n, entries*entries, list(entries*entries, func(at int) string {
			return fmt.Sprint("i8 ", int8(bits.OnesCount(uint(at>>group^at&(entries-1)))<<n))
		}))
	}
	fmt.Fprintf(&b, "define internal void @%s(%s) alwaysinline {\n", i.Func.Name, params)
	for _, x := range pixels {
		for n := range planes {
			line("%%%[1]sv%[2]d = load i%[3]d, ptr %%%[1]s%[2]d, align 4", x, n, 32*words)
			if words == 1 {
				line("%%%[1]sw%[2]d = zext i32 %%%[1]sv%[2]d to i64", x, n)
			}
		}
	}
	chunk := map[int]string{1: "w", 2: "v"}[words]
	for g := range i.Lanes {
		counts := []string{}
		for _, x := range pixels {
			sum := ""
			for n := range planes {
				id := fmt.Sprintf("%s%d.%d", x, g, n)
				line("%%f%s = lshr i64 %%%s%s%d, %d", id, x, chunk, n, group*g)
				line("%%i%[1]s = and i64 %%f%[1]s, %[2]d", id, entries-1)
				line("%%p%[1]s = getelementptr inbounds %[2]s, ptr @%[3]s.plane%[4]d, i64 %%i%[1]s", id, reg, i.Func.Name, n)
				line("%%c%[1]s = load %[2]s, ptr %%p%[1]s, align 16", id, reg)
				if sum == "" {
					sum = "%c" + id
					continue
				}
				line("%%s%[1]s = add %[2]s %[3]s, %%c%[1]s", id, reg, sum)
				sum = "%s" + id
			}
			counts = append(counts, sum)
		}
		line("%%at%d = getelementptr inbounds i8, ptr %%t, i64 %d", g, entries*g)
		if i.Halves {
			line("%%u%d = shl %s %s, splat (i8 4)", g, reg, counts[1])
			line("%%both%d = or disjoint %s %s, %%u%[1]d", g, reg, counts[0])
			counts[0] = fmt.Sprintf("%%both%d", g)
		}
		line("store %s %s, ptr %%at%d, align 1", reg, counts[0], g)
	}
	return Function{nil, b.String() + "  ret void\n}\n"}
}
