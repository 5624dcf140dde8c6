package isa

import (
	"fmt"
	"math/bits"
	"strings"

	"ripc/targets/isa"
)

// levels is the function of isa.LookUpLevels: of two entries the bit of each position selects one, of more each word of a register of positions' levels has an index of its own into the table,
// which lies in one register or in two.
func levels(i isa.Instr) Function {
	const lanes, reg = 16, "<16 x i32>"
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, "  "+format+"\n", args...) }
	fmt.Fprintf(&b, "define internal void @%s(ptr %%y, ptr %%x, ptr %%t) alwaysinline {\n", i.Func.Name)
	if i.Words == 2 {
		chosen(i, line)
		return Function{nil, b.String() + "  ret void\n}\n"}
	}
	words := i.Lanes
	each(i, lanes, words, line)
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

// chosen writes the levels of tables of two entries: a mask of each position's bit takes the words of one or of the other. Words of a position are taken by twos if there is an even number of them.
// Of two words, and of positions in steps of 2, the words that are read lie as those that are written do; the second half of them ends where the last position is.
func chosen(i isa.Instr, line func(string, ...any)) {
	size := 2 - i.Lanes%2
	unit, words := fmt.Sprint("i", 32*size), i.Lanes/size
	parts := 1
	if i.Stride == 2 && i.Lanes == 2 {
		parts = 2
	}
	n := i.Positions * words / parts
	reg := fmt.Sprintf("<%d x %s>", n, unit)
	for entry := range 2 {
		line("%%at%d = getelementptr inbounds %s, ptr %%t, i64 %d", entry, unit, entry*words)
		line("%%entry%d = load <%d x %s>, ptr %%at%[1]d, align 4", entry, words, unit)
		line("%%all%d = shufflevector <%d x %[3]s> %%entry%[1]d, <%[2]d x %[3]s> poison, %[4]s", entry, words, unit, Shuffle(n, func(l int) int { return l % words }))
	}
	for part := range parts {
		x, of, bit := "%each", "i32", int64(1)
		if parts == 1 {
			each(i, n, words, line)
		} else {
			x, of, bit = fmt.Sprintf("%%part%d", part), unit, int64(1)<<(32*part)
			line("%%from%d = getelementptr inbounds i32, ptr %%x, i64 %d", part, part*(i.Positions-1))
			line("%s = load %s, ptr %%from%d, align 4", x, reg, part)
		}
		line("%%bit%d = and <%d x %s> %s, splat (%[3]s %[5]d)", part, n, of, x, bit)
		line("%%set%d = icmp ne <%d x %s> %%bit%[1]d, zeroinitializer", part, n, of)
		line("%%found%d = select <%d x i1> %%set%[1]d, %[3]s %%all1, %[3]s %%all0", part, n, reg)
		line("%%to%d = getelementptr inbounds %s, ptr %%y, i64 %d", part, unit, part*n)
		line("store %s %%found%d, ptr %%to%[2]d, align 4", reg, part)
	}
}

// each writes %each, of n lanes: the words of i's positions, each of them so many times.
func each(i isa.Instr, n, times int, line func(string, ...any)) {
	positions := i.Positions
	part := fmt.Sprintf("<%d x i32>", positions)
	behind := (i.Stride - 1) * (positions - 1)
	line("%%x0 = load %s, ptr %%x, align 4", part)
	other := "poison"
	if i.Stride > 1 { // the first half of the positions, and the other, which ends where the last one is
		line("%%far = getelementptr inbounds i32, ptr %%x, i64 %d", behind)
		line("%%x1 = load %s, ptr %%far, align 4", part)
		other = "%x1"
	}
	line("%%each = shufflevector %[1]s %%x0, %[1]s %[2]s, %[3]s", part, other, Shuffle(n, func(l int) int {
		at := i.Stride * (l / times)
		if at >= positions {
			at += positions - behind
		}
		return at
	}))
}
