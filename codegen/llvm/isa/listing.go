package isa

import (
	"fmt"
	"strings"
)

// inMemory is the function called name, of sums in memory, tables and entries, whose assembly is lines. The addresses of the three are its last operands; before them are registers that it writes, of type result
// and with those constraints, each with a comma behind it.
func inMemory(name string, lines []string, result, written string, clobbers []string) Function {
	return Function{Text: fmt.Sprintf(`define internal void @%s(ptr %%acc, ptr %%t, ptr %%w) alwaysinline {
  call %s asm sideeffect "%s", "%sr,r,r,~{%s},~{memory}"(ptr %%acc, ptr %%t, ptr %%w) nounwind
  ret void
}
`, name, result, strings.Join(lines, `\0A`), written, strings.Join(clobbers, "},~{"))}
}

// isConstant is what tells whether LLVM knows a sum of 16 bytes.
func isConstant() Declaration { return Declaration{"i1", "llvm.is.constant.v16i8", "<16 x i8>"} }
