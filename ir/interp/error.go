package interp

import (
	"fmt"
	"strings"

	"ripc/ir"
)

// Undefined is a kind of undefined behaviour.
type Undefined uint8

// The kinds of a RuntimeError.
const (
	Outside   Undefined = iota // an index or a window outside its buffer
	Unwritten                  // a read of an alloc element before it is written
	Wraps                      // a sum that leaves its type
	Number                     // a number outside the range of its buffer
	Count                      // a shift count beyond the width
)

// RuntimeError is undefined behaviour of a Func, with its place.
type RuntimeError struct {
	What  Undefined
	Func  string // the kernel
	Instr string // the instruction in which it happened, if the Func called one
	Vars  []VarValue
	Buf   string // the buffer, if it is about one
	Index []int64
	Shape []int
	Msg   string
}

// VarValue is the value of a loop variable.
type VarValue struct {
	Name  string
	Value int64
}

// Error formats as "@conv: index 8 out of range 0..7 in dimension 2 of %x: %x[0, 1, 8] of shape [1,
// 8, 8] at %h=1, %w=8".
func (e *RuntimeError) Error() string {
	var s strings.Builder
	fmt.Fprintf(&s, "@%s: ", e.Func)
	if e.Instr != "" {
		fmt.Fprintf(&s, "in @%s: ", e.Instr)
	}
	s.WriteString(e.Msg)
	if e.Buf != "" {
		fmt.Fprintf(&s, ": %%%s", e.Buf)
		if len(e.Shape) > 0 {
			fmt.Fprintf(&s, "%s of shape %s", commas(e.Index), commas(e.Shape))
		}
	}
	for i, v := range e.Vars {
		s.WriteString([]string{" at ", ", "}[min(i, 1)])
		fmt.Fprintf(&s, "%%%s=%d", v.Name, v.Value)
	}
	return s.String()
}

func commas[T any](s []T) string { return strings.ReplaceAll(fmt.Sprint(s), " ", ", ") }

// site is a place in the Func, for messages.
type site struct {
	fn, instr string
	vars      []variable
}

func (s *site) error(fr *frame, what Undefined, format string, args ...any) *RuntimeError {
	e := &RuntimeError{What: what, Func: s.fn, Instr: s.instr, Msg: fmt.Sprintf(format, args...)}
	for _, v := range s.vars {
		e.Vars = append(e.Vars, VarValue{v.name, fr.v[v.slot]})
	}
	return e
}

// site returns the place being compiled.
func (c *compiler) site() *site {
	s := &site{fn: c.fn.Name, vars: append([]variable{}, c.scope...)}
	if len(c.calls) > 0 {
		s.instr = c.calls[len(c.calls)-1].Name
	}
	return s
}

// fail gives up by a panic, which CompileWith recovers.
func (c *compiler) fail(format string, args ...any) {
	node := "@" + c.fn.Name
	if len(c.calls) > 0 {
		node += ": @" + c.calls[len(c.calls)-1].Name
	}
	panic(&ir.Error{Node: node, Msg: fmt.Sprintf(format, args...)})
}

// check refuses an expression that is not well-formed (ir.CheckExpr). Constants are taken modulo
// their type.
func (c *compiler) check(e ir.Expr) {
	if _, constant := e.(*ir.IntImm); constant {
		return
	}
	if err := ir.CheckExpr(e); err != nil {
		c.fail("%s: %s", ir.ExprString(e), err)
	}
}
