package schedule

import (
	"fmt"
	"slices"
	"strings"

	"ripc/internal/lists"
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

// Lines are the steps' texts, as records and descriptions list them; none is an empty list.
func (t Trace) Lines() []string {
	return lists.Map(t, Step.String)
}

// ParseTrace reads steps, one a line or separated by ";". "#" starts a comment. Steps and errors
// carry file and line.
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
				at := *asError(err)
				at.Pos = pos
				return nil, &at
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

type applier struct {
	instrs map[string]*ir.Func
	packs  []Pack
}

// Apply carries out the steps one after the other. The error of a step that fails has the step's
// text as Op, its place as Pos and the Func's name as Node. A trace that packs parameters is
// refused: nobody would pack them.
func (t Trace) Apply(f *ir.Func, opts ...ApplyOption) (*ir.Func, error) {
	r, err := t.ApplyAll(f, opts...)
	if err == nil && len(r.Packs) > 0 {
		p := r.Packs[0]
		return nil, asWritten(f, p.Step, &ir.Error{Msg: fmt.Sprintf("the layout of %%%s would change, and it cannot "+
			"be packed here", p.Param), Help: "use ApplyAll, and bring the parameter packed"})
	}
	return r.Func, err
}

// Apply carries out one step.
func (s Step) Apply(f *ir.Func, opts ...ApplyOption) (*ir.Func, error) {
	return Trace{s}.Apply(f, opts...)
}

func asWritten(f *ir.Func, s Step, err error) error {
	out := *asError(err)
	out.Op, out.Node = s.String(), "@"+f.Name
	if s.Pos != (ir.Pos{}) {
		out.Pos = s.Pos
	}
	return &out
}

// Ops lists the operations that a Step may name.
func Ops() []string {
	names := lists.Map(operations(), func(o operation) string { return o.name })
	slices.Sort(names)
	return names
}

// Result is the result of a trace on a Func.
type Result struct {
	Func  *ir.Func
	Packs []Pack // in the order in which they are to be done; several may be for one parameter
}

// ApplyAll is Apply for traces that may pack parameters. A step that makes a loop illegal which an
// earlier one marked parallel or vectorize is refused, and so is one that leaves a Func that
// ir.Verify refuses.
func (t Trace) ApplyAll(f *ir.Func, opts ...ApplyOption) (Result, error) {
	var a applier
	for _, o := range opts {
		o(&a)
	}
	for _, s := range t {
		before := f
		if err := ir.Try(func() { f = a.step(f, s) }); err != nil {
			return Result{}, asWritten(before, s, err)
		}
	}
	return Result{f, a.packs}, nil
}

// PackingFunc is a Func of the parameters that there were before the packs: it packs each time it
// runs. It is for the interpreter, and for comparing with the Func before the trace.
func (r Result) PackingFunc() *ir.Func {
	f := r.Func
	if len(r.Packs) == 0 {
		return f
	}
	names := namesOf(f)
	params := append([]ir.Param{}, f.Params...)
	body := f.Body
	for i := len(r.Packs) - 1; i >= 0; i-- {
		p := r.Packs[i]
		from, to := p.Func.Params[0].Buffer, p.Func.Params[1].Buffer
		to.Name = names.copyOf(p.Param)
		loops := map[string]string{}
		for _, l := range loopNames(p.Func.Body) {
			loops[l] = names.copyOf(fmt.Sprintf("%s.%s", to.Name, l))
		}
		pack := ir.Rename(p.Func.Body, loops, map[string]string{"from": p.Param, "to": to.Name})
		body = ir.Rename(body, nil, map[string]string{p.Param: to.Name})
		body = &ir.Alloc{Buf: to, Body: ir.Seq(pack, body)}
		for k, q := range params {
			if q.Name == p.Param {
				from.Name = q.Name
				params[k].Buffer = from
			}
		}
	}
	g := f.WithBody(body)
	g.Params = params
	return g
}
