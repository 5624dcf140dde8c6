package codegen

import (
	"fmt"
	"strings"
)

// Lines is source text of blocks that are indented.
type Lines struct {
	strings.Builder
	Indent string // of a block
	Depth  int    // open blocks
}

// Line writes a line.
func (w *Lines) Line(format string, args ...any) {
	w.WriteString(strings.Repeat(w.Indent, w.Depth))
	fmt.Fprintf(w, format, args...)
	w.WriteByte('\n')
}

// Open writes the line that begins a block.
func (w *Lines) Open(format string, args ...any) {
	w.Line(format, args...)
	w.Depth++
}

// Close ends a block with the line end.
func (w *Lines) Close(end string) {
	w.Depth--
	w.Line("%s", end)
}
