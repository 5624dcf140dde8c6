package isa

import (
	"fmt"
	"strings"
)

// assembly is inline assembly on sums in memory: its text, what it gives, and its constraints up to the vectors that it adds.
type assembly struct {
	lines               []string
	result, constraints string
	clobbers            string
}

// arm64InMemory has registers for up to four sums, a pointer, and the vectors to add. All are loaded before the first is added to, and
// that before the first is stored: a core that works in order waits for each once, not for every two.
func arm64InMemory(vectors int) assembly {
	n := min(vectors, 4)
	a := assembly{result: "{ <16 x i8>" + strings.Repeat(", <16 x i8>", n-1) + " }", constraints: strings.Repeat("=&w,", n) + "r"}
	for v := 0; v < vectors; v += n {
		for i := 0; i < n; i += 2 {
			a.lines = append(a.lines, fmt.Sprintf("ldp ${%d:q}, ${%d:q}, [$%d, #%d]", i, i+1, n, 16*(v+i)))
		}
		for i := range n {
			a.lines = append(a.lines, fmt.Sprintf("uadalp $%d.8h, $%d.16b", i, n+1+v+i))
		}
		for i := 0; i < n; i += 2 {
			a.lines = append(a.lines, fmt.Sprintf("stp ${%d:q}, ${%d:q}, [$%d, #%d]", i, i+1, n, 16*(v+i)))
		}
	}
	return a
}

// armInMemory names two registers for sums, since only neighbours can be loaded at once, and moves the pointer along.
func armInMemory(vectors int) assembly {
	a := assembly{result: "ptr", constraints: "=r,0", clobbers: "~{q0},~{q1},"}
	for v := 0; v < vectors; v += 2 {
		a.lines = append(a.lines, "vld1.64 {d0-d3}, [$0]", fmt.Sprintf("vpadal.u8 q0, ${%d:q}", 2+v),
			fmt.Sprintf("vpadal.u8 q1, ${%d:q}", 3+v), "vst1.64 {d0-d3}, [$0]!")
	}
	return a
}

// addToMemory is the function of isa.WidenAddMemory, for so many vectors: the sums stay in memory, since they are needed so seldom that registers for
// them would be missing elsewhere.
func addToMemory(name string, n int, a additions) Function {
	code := a.inMemory(n)
	var b strings.Builder
	fmt.Fprintf(&b, "define internal void @%s(ptr %%acc, ptr %%r) alwaysinline {\n", name)
	args := ""
	for v := range n {
		fmt.Fprintf(&b, "  %%at%[1]d = getelementptr inbounds i8, ptr %%r, i32 %[2]d\n  %%from%[1]d = load <16 x i8>, ptr %%at%[1]d, align 1\n", v, 16*v)
		args += fmt.Sprintf(", <16 x i8> %%from%d", v)
	}
	fmt.Fprintf(&b, "  %%used = call %s asm sideeffect \"%s\", \"%s%s,%s~{memory}\"(ptr %%acc%s) nounwind\n  ret void\n}\n",
		code.result, strings.Join(code.lines, `\0A`), code.constraints, strings.Repeat(",w", n), code.clobbers, args)
	return Function{nil, b.String()}
}
