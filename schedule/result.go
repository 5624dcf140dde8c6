package schedule

import (
	"fmt"

	"ripc/ir"
	"ripc/ir/deps"
)

// Result is what a trace makes of a Func.
type Result struct {
	Func  *ir.Func
	Packs []Pack // in the order in which they are to be done; several may be for one parameter
}

// ApplyAll is Apply for traces that may pack parameters. A step that makes a loop illegal which an earlier one marked
// parallel or vectorize is refused.
func (t Trace) ApplyAll(f *ir.Func, opts ...ApplyOption) (Result, error) {
	var a applier
	for _, o := range opts {
		o(&a)
	}
	for _, s := range t {
		g, err := a.step(f, s)
		if err == nil {
			err = deps.Check(g) // of loops that were marked before the step, too
		}
		if err != nil {
			return Result{}, asWritten(f, s, err)
		}
		f = g
		if a.see != nil {
			a.see(s, f)
		}
		if a.seeAll != nil {
			a.seeAll(s, Result{f, a.packs[:len(a.packs):len(a.packs)]})
		}
	}
	return Result{f, a.packs}, nil
}

// WithResultObserver calls see after each step, like WithObserver, with the packs so far.
func WithResultObserver(see func(Step, Result)) ApplyOption {
	return func(a *applier) { a.seeAll = see }
}

// Whole is a Func of the parameters that there were before the packs: it packs each time it runs. It is for the
// interpreter, and for comparing with the Func before the trace.
func (r Result) Whole() *ir.Func {
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
		pack := rename(p.Func.Body, loops, map[string]string{"from": p.Param, "to": to.Name})
		body = rename(body, nil, map[string]string{p.Param: to.Name})
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
