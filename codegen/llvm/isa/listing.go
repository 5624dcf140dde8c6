package isa

import (
	"fmt"
	"strings"
)

// listing is assembly that is being written, line by line.
type listing struct{ lines []string }

func (l *listing) line(format string, args ...any) {
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

// inMemory is the function called name, of sums in memory, tables and entries, whose assembly is lines. The addresses of the three are its last operands; before them are registers that it writes, of type result
// and with those constraints, each with a comma behind it.
func inMemory(name string, lines []string, result, written string, clobbers []string) Function {
	return Function{nil, fmt.Sprintf(`define internal void @%s(ptr %%acc, ptr %%t, ptr %%w) alwaysinline {
  call %s asm sideeffect "%s", "%sr,r,r,~{%s},~{memory}"(ptr %%acc, ptr %%t, ptr %%w) nounwind
  ret void
}
`, name, result, strings.Join(lines, `\0A`), written, strings.Join(clobbers, "},~{"))}
}
