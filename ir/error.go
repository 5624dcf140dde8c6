package ir

import (
	"fmt"
	"strings"
)

// Pos is a place in a file; the zero Pos is unknown.
type Pos struct {
	File string
	Line int
	Col  int
}

// String returns file:line:col without the unknown parts.
func (p Pos) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.Col == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

// Error is a mistake in the user's input: its place, the text in question, the fault, and the
// accepted alternatives.
type Error struct {
	Pos  Pos
	Op   string // the request as the user wrote it, e.g. "split i 3 tail=perfect -> i.o i.i"
	Node string // node or func
	Msg  string
	Help string
	Err  error
}

// Error formats as "file:line:col: op: node: msg", with help on a line of its own.
func (e *Error) Error() string {
	var parts []string
	if s := e.Pos.String(); s != "" {
		parts = append(parts, s)
	}
	for _, s := range []string{e.Op, e.Node, e.Msg} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if e.Err != nil {
		parts = append(parts, e.Err.Error())
	}
	s := strings.Join(parts, ": ")
	if e.Help != "" {
		s += "\n    help: " + e.Help
	}
	return s
}

// BadInput reports that the input is at fault.
func (*Error) BadInput() bool { return true }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }
