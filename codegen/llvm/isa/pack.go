package isa

import (
	"fmt"
	"strings"
)

// packLE packs 32 comparisons into a word on 64-bit Arm: bytes of all ones or zeros, one bit of each, and additions of neighbours
// until a byte holds the bits of 8.
func packLE(name string) Function {
	const lanes, pairwise = 16, "llvm.aarch64.neon.addp.v16i8"
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	vector := fmt.Sprintf("<%d x i8>", lanes)
	p("define internal void @%s(ptr %%y, ptr %%acc, ptr %%t) alwaysinline {", name)
	bits := EachBit(lanes)
	var sums []string
	for i := range 32 / lanes {
		p("  %%a%d = getelementptr inbounds i32, ptr %%acc, i32 %d", i, i*lanes)
		p("  %%b%d = getelementptr inbounds i32, ptr %%t, i32 %d", i, i*lanes)
		p("  %%sum%[1]d = load <%[2]d x i32>, ptr %%a%[1]d, align 4", i, lanes)
		p("  %%most%[1]d = load <%[2]d x i32>, ptr %%b%[1]d, align 4", i, lanes)
		p("  %%le%[1]d = icmp sle <%[2]d x i32> %%sum%[1]d, %%most%[1]d", i, lanes)
		p("  %%all%[1]d = sext <%[2]d x i1> %%le%[1]d to <%[2]d x i8>", i, lanes)
		p("  %%v%[1]d = and <%[2]d x i8> %%all%[1]d, <%[3]s>", i, lanes, bits)
		sums = append(sums, fmt.Sprintf("%%v%d", i))
	}
	word := BitsTogether(p, lanes, pairwise, sums)
	p("  %%words = bitcast <%d x i8> %s to <%d x i32>", lanes, word, lanes/4)
	p("  %%word = extractelement <%d x i32> %%words, i32 0", lanes/4)
	p("  %%old = load i32, ptr %%y, align 4")
	p("  %%new = or i32 %%old, %%word")
	p("  store i32 %%new, ptr %%y, align 4")
	p("  ret void")
	p("}")
	return Function{[]Declaration{{vector, pairwise, vector + ", " + vector}}, b.String()}
}

// packShifted is packLE on 32-bit Arm, whose narrower registers take as many operations to narrow 32 comparisons as these: comparisons of four lanes each are shifted into those before
// them (vsli), so that a lane has the bits of every fourth sum, four times over, of which a mask leaves its own.
func packShifted(name string) Function {
	const reg, half, insert, pairwise = "<4 x i32>", "<2 x i32>", "llvm.arm.neon.vshiftins.v4i32", "llvm.arm.neon.vpadd.v2i32"
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("define internal void @%s(ptr %%y, ptr %%acc, ptr %%t) alwaysinline {", name)
	so := "" // what has the comparisons so far
	for k := 7; k >= 0; k-- {
		p("  %%a%d = getelementptr inbounds i32, ptr %%acc, i32 %d", k, 4*k)
		p("  %%b%d = getelementptr inbounds i32, ptr %%t, i32 %d", k, 4*k)
		p("  %%sum%[1]d = load %[2]s, ptr %%a%[1]d, align 4", k, reg)
		p("  %%most%[1]d = load %[2]s, ptr %%b%[1]d, align 4", k, reg)
		p("  %%le%[1]d = icmp sle %[2]s %%sum%[1]d, %%most%[1]d", k, reg)
		p("  %%all%[1]d = sext <4 x i1> %%le%[1]d to %[2]s", k, reg)
		if all := fmt.Sprintf("%%all%d", k); so == "" {
			so = all
		} else {
			p("  %%v%[1]d = call %[2]s @%[3]s(%[2]s %[4]s, %[2]s %[5]s, %[2]s splat (i32 4))", k, reg, insert, all, so)
			so = fmt.Sprintf("%%v%d", k)
		}
	}
	p("  %%bits = and %s %%v0, <i32 %d, i32 %d, i32 %d, i32 %d>", reg, 0x11111111, 0x22222222, 0x44444444, -0x77777778)
	for h, from := range []int{0, 2} {
		p("  %%h%d = shufflevector %[2]s %%bits, %[2]s poison, %[3]s", h, reg, ShuffleRun(from, 2, 2))
	}
	p("  %%two = call %[1]s @%[2]s(%[1]s %%h0, %[1]s %%h1)", half, pairwise)
	p("  %%one = call %[1]s @%[2]s(%[1]s %%two, %[1]s %%two)", half, pairwise)
	p("  %%word = extractelement %s %%one, i32 0", half)
	p("  %%old = load i32, ptr %%y, align 4")
	p("  %%new = or i32 %%old, %%word")
	p("  store i32 %%new, ptr %%y, align 4")
	p("  ret void")
	p("}")
	return Function{[]Declaration{{reg, insert, reg + ", " + reg + ", " + reg}, {half, pairwise, half + ", " + half}}, b.String()}
}

// EachBit lists bytes of one bit each, the next one's behind the one before, for so many lanes.
func EachBit(lanes int) string {
	return strings.TrimSuffix(strings.Repeat("i8 1, i8 2, i8 4, i8 8, i8 16, i8 32, i8 64, i8 -128, ", lanes/8), ", ")
}

// BitsTogether writes, by p, how vectors of so many bytes that have the bits of EachBit or none come together: neighbours are added three times, by
// pairwise, until a byte holds the bits of 8. It gives the vector that begins with them.
func BitsTogether(p func(format string, args ...any), lanes int, pairwise string, sums []string) string {
	for n := range 3 {
		var next []string
		for i := 0; i < len(sums); i += 2 {
			r := fmt.Sprintf("%%p%d.%d", n, i)
			p("  %[1]s = call <%[2]d x i8> @%[3]s(<%[2]d x i8> %[4]s, <%[2]d x i8> %[5]s)", r, lanes, pairwise, sums[i], sums[min(i+1, len(sums)-1)])
			next = append(next, r)
		}
		sums = next
	}
	return sums[0]
}

// packLess packs comparisons of 64 sums of bytes, a whole register with AVX-512, whose mask is two words: LLVM keeps the halves apart, each of which takes
// a comparison, a move of a mask and, the second, one out of the register. Of several planes, the mask of one blends the thresholds of those below.
func packLess(name string, planes int) Function {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	number := func(name string, k int) string {
		if planes == 1 {
			return "%" + name
		}
		return fmt.Sprintf("%%%s%d", name, k)
	}
	var params []string
	for k := range planes {
		params = append(params, "ptr "+number("y", k))
	}
	params = append(params, "ptr %acc")
	for j := range 1<<planes - 1 {
		params = append(params, "ptr "+number("t", j))
	}
	p("define internal void @%s(%s) alwaysinline {", name, strings.Join(params, ", "))
	p("  %%sums = load <64 x i8>, ptr %%acc, align 1")
	for j := range 1<<planes - 1 {
		p("  %%most%d = load <64 x i8>, ptr %s, align 1", j, number("t", j))
	}
	var choose func(level, k, top int) string // the threshold that decides bit k of a level, of whose bits above, up to top, no more are known
	chosen := 0
	choose = func(level, k, top int) string {
		if top == k {
			return fmt.Sprintf("%%most%d", level-1)
		}
		set, clear := choose(level|1<<top, k, top-1), choose(level, k, top-1)
		chosen++
		v := fmt.Sprintf("%%chosen%d", chosen)
		p("  %s = select <64 x i1> %%less%d, <64 x i8> %s, <64 x i8> %s", v, top, set, clear)
		return v
	}
	for k := planes - 1; k >= 0; k-- {
		most := choose(1<<k, k, planes-1)
		p("  %%less%d = icmp ult <64 x i8> %%sums, %s", k, most)
		p("  %%words%d = bitcast <64 x i1> %%less%d to i64", k, k)
		p("  store i64 %%words%d, ptr %s, align 4", k, number("y", k))
	}
	p("  ret void")
	p("}")
	return Function{nil, b.String()}
}
