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

// arm64Tables is the function of isa.Tables on 64-bit Arm, with 32 or 16 entries.
func arm64Tables(i isa.Instr) Function {
	if i.Words == 32 || i.Halves {
		return arm64Known(i)
	}
	return arm64Fours(i)
}

// arm64Fours makes tables of 16 entries: of each group, its channels in all lanes, compared with the lanes' numbers.
func arm64Fours(i isa.Instr) Function {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, "  "+format+"\n", args...) }
	planes := len(i.Func.Params) - 1
	params := "ptr %t"
	for n := range planes {
		params += fmt.Sprintf(", ptr %%x%d", n)
	}
	fmt.Fprintf(&b, "define internal void @%s(%s) alwaysinline {\n", i.Func.Name, params)
	const reg = "<16 x i8>"
	for n := range planes { // bytes of two groups each, the first one's channels lowest
		line("%%v%[1]d = load i32, ptr %%x%[1]d, align 4", n)
		line("%%i%[1]d = insertelement <4 x i32> poison, i32 %%v%[1]d, i32 0", n)
		line("%%b%[1]d = bitcast <4 x i32> %%i%[1]d to %[2]s", n, reg)
		line("%%g%[1]d.0 = and %[2]s %%b%[1]d, splat (i8 15)", n, reg)
		line("%%g%[1]d.1 = lshr %[2]s %%b%[1]d, splat (i8 4)", n, reg)
	}
	numbers := "<" + list(16, func(l int) string { return fmt.Sprint("i8 ", l) }) + ">"
	for j := range i.Lanes {
		sum := ""
		for n := planes - 1; n >= 0; n-- {
			id := fmt.Sprintf("%d.%d", j, n)
			line("%%s%[1]s = shufflevector %[2]s %%g%[3]d.%[4]d, %[2]s poison, %[5]s", id, reg, n, j%2, Shuffle(16, func(int) int { return j / 2 }))
			line("%%e%[1]s = xor %[2]s %%s%[1]s, %[3]s", id, reg, numbers)
			line("%%p%[1]s = call %[2]s @llvm.ctpop.v16i8(%[2]s %%e%[1]s)", id, reg)
			if sum == "" {
				sum = "%p" + id
				continue
			}
			line("%%d%[1]s = add %[2]s %[3]s, %[3]s", id, reg, sum)
			line("%%c%[1]s = add %[2]s %%d%[1]s, %%p%[1]s", id, reg)
			sum = "%c" + id
		}
		line("%%at%d = getelementptr inbounds i8, ptr %%t, i64 %d", j, 16*j)
		line("store %s %s, ptr %%at%d, align 1", reg, sum, j)
	}
	return Function{[]Declaration{{reg, "llvm.ctpop.v16i8", reg}}, b.String() + "  ret void\n}\n"}
}
