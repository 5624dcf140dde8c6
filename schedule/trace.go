package schedule

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ripc/ir"
)

// Trace is a schedule: steps in the order in which they are applied.
type Trace []Step

// String is one step a line; ParseTrace is the inverse.
func (t Trace) String() string {
	var b strings.Builder
	for _, s := range t {
		b.WriteString(s.String())
		b.WriteByte('\n')
	}
	return b.String()
}

// ParseTrace reads steps, one a line or separated by ";". "#" starts a comment. Steps and errors carry file and
// line.
func ParseTrace(file, text string) (Trace, error) {
	var t Trace
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		pos := ir.Pos{File: file, Line: i + 1}
		for _, part := range strings.Split(line, ";") {
			if strings.TrimSpace(part) == "" {
				continue
			}
			s, err := ParseStep(part)
			if err != nil {
				var e *ir.Error
				if errors.As(err, &e) {
					at := *e
					at.Pos = pos
					err = &at
				}
				return nil, err
			}
			s.Pos = pos
			t = append(t, s)
		}
	}
	return t, nil
}

// ApplyOption is an option of Apply.
type ApplyOption func(*applier)

// WithInstrs names the instructions that tensorize may use.
func WithInstrs(instrs map[string]*ir.Func) ApplyOption {
	return func(a *applier) { a.instrs = instrs }
}

// WithObserver calls see after each step, for --print-after and for tests.
func WithObserver(see func(Step, *ir.Func)) ApplyOption {
	return func(a *applier) { a.see = see }
}

type applier struct {
	instrs map[string]*ir.Func
	see    func(Step, *ir.Func)
	seeAll func(Step, Result)
	packs  []Pack
}

// Apply carries out the steps one after the other. The error of a step that fails has the step's text as Op, its place
// as Pos and the Func's name as Node. A trace that packs parameters is refused: nobody would pack them.
func (t Trace) Apply(f *ir.Func, opts ...ApplyOption) (*ir.Func, error) {
	r, err := t.ApplyAll(f, opts...)
	if err == nil && len(r.Packs) > 0 {
		p := r.Packs[0]
		return nil, asWritten(f, p.Step, &ir.Error{Msg: fmt.Sprintf("the layout of %%%s would change, and it cannot be packed here", p.Param), Help: "use ApplyAll, and bring the parameter packed"})
	}
	return r.Func, err
}

// Apply carries out one step.
func (s Step) Apply(f *ir.Func, opts ...ApplyOption) (*ir.Func, error) {
	return Trace{s}.Apply(f, opts...)
}

func asWritten(f *ir.Func, s Step, err error) error {
	var e *ir.Error
	if !errors.As(err, &e) {
		e = &ir.Error{Err: err}
	}
	out := *e
	out.Op, out.Node = s.String(), "@"+f.Name
	if s.Pos != (ir.Pos{}) {
		out.Pos = s.Pos
	}
	return &out
}

// Ops lists the operations that a Step may name.
func Ops() []string {
	var names []string
	for _, o := range operations() {
		names = append(names, o.name)
	}
	slices.Sort(names)
	return names
}
