package compile

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ripc/codegen"
	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/size"
	"ripc/lower/plan"
	"ripc/schedule"
	"ripc/schedule/strategy"
	"ripc/targets"
	"ripc/targets/isa"
)

// choice is a trace for a Func.
type choice struct {
	schedule.Trace
	schedule.Result      // the scheduled Func, where it is known
	given           bool // it is the user's
}

// scheduleFuncs is p with the traces that choose gives its Funcs, and with constants packed for
// them. Every Func is proved before and after. The traces are returned by Func.
func scheduleFuncs(ctx context.Context, p *ir.Program, t targets.Target,
	choose func(*ir.Func) (choice, error)) (*ir.Program, map[string]schedule.Trace, error) {
	instrs := isa.For(t)
	s := *p
	s.Funcs, s.Buffers, s.Stages = nil, slices.Clone(s.Buffers), slices.Clone(s.Stages)
	traces := map[string]schedule.Trace{}
	stages := map[string][]int{} // by Func
	for i, st := range s.Stages {
		stages[st.Func] = append(stages[st.Func], i)
	}
	for _, f := range p.Funcs {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if err := prove(f); err != nil {
			return nil, nil, &InternalError{"definition of " + f.Name, err}
		}
		c, err := choose(f)
		if err != nil {
			return nil, nil, err
		}
		r, err := applyTrace(f, c, instrs)
		switch {
		case err != nil && c.given && hasPlace(err): // a step, which the message names
			return nil, nil, err
		case err != nil && c.given:
			return nil, nil, fmt.Errorf("scheduling %s: %w", f.Name, err)
		case err != nil:
			return nil, nil, &InternalError{"default schedule of " + f.Name, err}
		}
		traces[f.Name] = c.Trace
		s.Funcs = append(s.Funcs, r.Func)
		if err := pack(ctx, &s, stages[f.Name], f, r.Packs); err != nil {
			return nil, nil, err
		}
	}
	dropUnused(&s)
	s.Arena = plan.InPlace(&s)
	if err := ir.VerifyProgram(&s); err != nil {
		return nil, nil, fmt.Errorf("scheduling %s: %w", s.Name, err)
	}
	return &s, traces, nil
}

// applyTrace is f after c's trace, proved.
func applyTrace(f *ir.Func, c choice, instrs map[string]*ir.Func) (schedule.Result, error) {
	r := c.Result
	if r.Func == nil {
		var err error
		if r, err = c.ApplyAll(f, schedule.WithInstrs(instrs)); err != nil {
			return r, err
		}
	}
	if err := prove(r.Func); err != nil {
		return r, fmt.Errorf("%w\nin\n%s", err, r.Func)
	}
	return r, nil
}

// Fits fails unless t can be the schedule of f, a Func of p. Its steps must be legal and its result
// proved, it may pack constants only, and code of the result must be possible.
func Fits(p *ir.Program, f *ir.Func, t schedule.Trace, target targets.Target) error {
	r, err := applyTrace(f, choice{Trace: t}, isa.For(target))
	if err != nil {
		return err
	}
	for _, k := range r.Packs {
		if k.View {
			continue
		}
		at := slices.IndexFunc(f.Params, func(q ir.Param) bool { return q.Name == k.Param })
		for _, s := range p.Stages {
			if s.Func == f.Name && p.BufferByName(s.Args[at]).Kind != ir.ConstBuf {
				return notPacked(f, k, s, p.BufferByName(s.Args[at]))
			}
		}
	}
	// The estimate limits all schedules, and is the only limit of some back ends.
	if err := size.Check(f.Body, r.Func.Body); err != nil {
		return err
	}
	return runs(target).Limit(r.Func, target)
}

// Default is the schedule of f that the target's machine.Model predicts to cost the least, or the
// plainest where there is no model.
func Default(f *ir.Func, t targets.Target) (strategy.Choice, error) {
	s, err := newFinder(t, Options{})
	if err != nil {
		return strategy.Choice{}, err
	}
	c, err := s.scheduleOf(context.Background(), f)
	return c.Choice, err
}

// tooLarge reports whether the target's back end finds more code in f than a kernel may have, or
// more threads or memory than a device has.
func tooLarge(f *ir.Func, t targets.Target) bool {
	var large *codegen.SizeError
	err := runs(t).Limit(f, t)
	return errors.As(err, &large) || err != nil && t.IsDevice()
}

// prove checks a Func before code is made from it: types and scopes, every access inside its
// buffer, every integer accumulator wide enough for its largest sum.
func prove(f *ir.Func) error {
	for _, check := range []func(*ir.Func) error{ir.Verify, arith.VerifyBounds, arith.VerifyWidths} {
		if err := check(f); err != nil {
			return err
		}
	}
	return nil
}

// traceLines are traces as descriptions list them.
func traceLines(traces map[string]schedule.Trace) map[string][]string {
	lines := map[string][]string{}
	for name, t := range traces {
		if len(t) > 0 {
			lines[name] = t.Lines()
		}
	}
	return lines
}
