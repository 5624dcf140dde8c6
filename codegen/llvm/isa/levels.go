package isa

import (
	"fmt"
	"math/bits"
	"strings"

	"ripc/targets/isa"
)

// levels is the function of isa.LookUpLevels: each word of a register of positions' levels has an index of its own into the table, which lies in one register or in two.
func levels(i isa.Instr) Function {
	const lanes, reg = 16, "<16 x i32>"
	positions, words := i.Positions, i.Lanes
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, "  "+format+"\n", args...) }
	fmt.Fprintf(&b, "define internal void @%s(ptr %%y, ptr %%x, ptr %%t) alwaysinline {\n", i.Func.Name)
	part := fmt.Sprintf("<%d x i32>", positions)
	from := func(p int) int { return p }
	line("%%x0 = load %s, ptr %%x, align 4", part)
	other := "poison"
	if i.Stride > 1 { // the first half of the positions, and the other, which ends where the last one is
		behind := (i.Stride - 1) * (positions - 1)
		line("%%at = getelementptr inbounds i32, ptr %%x, i64 %d", behind)
		line("%%x1 = load %s, ptr %%at, align 4", part)
		other = "%x1"
		from = func(p int) int {
			if at := i.Stride * p; at >= positions {
				return at - behind + positions
			}
			return i.Stride * p
		}
	}
	line("%%each = shufflevector %[1]s %%x0, %[1]s %[2]s, %[3]s", part, other, Shuffle(lanes, func(l int) int { return from(l / words) }))
	line("%%entry = and %s %%each, splat (i32 %d)", reg, i.Words-1)
	line("%%row = shl %s %%entry, splat (i32 %d)", reg, bits.TrailingZeros(uint(words)))
	line("%%index = or %s %%row, <%s>", reg, list(lanes, func(l int) string { return fmt.Sprint("i32 ", l%words) }))
	n := i.Words * words
	var calls []Declaration
	if n <= lanes {
		line("%%t0 = load <%d x i32>, ptr %%t, align 4", n)
		line("%%table = shufflevector <%[1]d x i32> %%t0, <%[1]d x i32> poison, %[2]s", n, ShuffleRun(0, n, lanes))
		line("%%found = call %[1]s @llvm.x86.avx512.permvar.si.512(%[1]s %%table, %[1]s %%index)", reg)
		calls = append(calls, Declaration{reg, "llvm.x86.avx512.permvar.si.512", reg + ", " + reg})
	} else {
		line("%%t0 = load %s, ptr %%t, align 4", reg)
		line("%%more = getelementptr inbounds i32, ptr %%t, i64 %d", lanes)
		line("%%t1 = load %s, ptr %%more, align 4", reg)
		line("%%found = call %[1]s @llvm.x86.avx512.vpermi2var.d.512(%[1]s %%t0, %[1]s %%index, %[1]s %%t1)", reg)
		calls = append(calls, Declaration{reg, "llvm.x86.avx512.vpermi2var.d.512", reg + ", " + reg + ", " + reg})
	}
	line("store %s %%found, ptr %%y, align 4", reg)
	return Function{calls, b.String() + "  ret void\n}\n"}
}
