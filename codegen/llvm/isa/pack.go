package isa

import (
	"fmt"
	"strings"
)

// packLE packs 32 comparisons into a word: bytes of all ones or zeros, one bit of each, and additions of neighbours
// until a byte holds the bits of 8. LLVM takes the lanes out one by one on 32-bit Arm. lanes is the length of the vectors
// that are added, pairwise the name of that addition.
func packLE(name string, lanes int, pairwise string) Function {
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
