package isa

import (
	"fmt"
	"math/bits"
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
