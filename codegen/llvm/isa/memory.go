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

// arm64InMemory has two registers for sums, a pointer, and the vectors to add.
func arm64InMemory(vectors int) assembly {
	a := assembly{result: "{ <16 x i8>, <16 x i8> }", constraints: "=&w,=&w,r"}
	for v := 0; v < vectors; v += 2 {
		a.lines = append(a.lines, fmt.Sprintf("ldp ${0:q}, ${1:q}, [$2, #%d]", 16*v), fmt.Sprintf("uadalp $0.8h, $%d.16b", 3+v),
			fmt.Sprintf("uadalp $1.8h, $%d.16b", 4+v), fmt.Sprintf("stp ${0:q}, ${1:q}, [$2, #%d]", 16*v))
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

// addToMemory is the function of isa.WidenAddMemory: the sums stay in memory, since they are needed so seldom that registers for
// them would be missing elsewhere.
func addToMemory(name string, filters int, a additions) Function {
	n := filters / 4
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
