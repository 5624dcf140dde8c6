package compile

import (
	"context"
	"errors"
	"fmt"

	"ripc/codegen"
	"ripc/engine"
	"ripc/internal/irdata"
	"ripc/ir"
	"ripc/measure"
	"ripc/schedule"
	"ripc/targets"
)

// Unit is one Func with a schedule, as an artifact of its own: proved, its constants packed, and built. It runs on any
// engine like a network of one stage.
type Unit struct {
	Program   *ir.Program // the definition: one stage, with the constants that are used
	Scheduled *ir.Program
	Trace     schedule.Trace
	Target    targets.Target
	Files     map[codegen.Kind][]byte
	seed      uint64
}

// KernelOptions say how a Func becomes a Unit. The zero value is fine.
type KernelOptions struct {
	// Constants are the contents of parameters by name; these become constants, the others inputs. nil stands for random
	// contents, from Seed, of all parameters but the first and the outputs.
	Constants map[string][]byte
	Seed      uint64
	Emit      []codegen.Kind // nil is the shared library
	Backend   string         // as in Options
}

// StageConstants are the constants of a stage by the parameter of its Func, for KernelOptions.
func StageConstants(p *ir.Program, stage int) map[string][]byte {
	s := p.Stages[stage]
	all := map[string][]byte{}
	for i, q := range p.FuncByName(s.Func).Params {
		if b := p.BufferByName(s.Args[i]); b.Kind == ir.ConstBuf {
			all[q.Name] = b.Data
		}
	}
	return all
}

// Kernel builds f with the given trace for a target. It fails with *ir.Error if a step of the trace is refused, packs a
// parameter that is no constant, or cannot be proved right, with an *InternalError if f itself cannot, else as
// codegen.Build.
func Kernel(ctx context.Context, f *ir.Func, tr schedule.Trace, t targets.Target, o KernelOptions) (*Unit, error) {
	u := &Unit{Target: t, Trace: tr, seed: o.Seed}
	var err error
	if u.Program, err = Alone(f, o); err != nil {
		return nil, err
	}
	var traces map[string]schedule.Trace
	u.Scheduled, traces, err = scheduled(ctx, u.Program, t, func(*ir.Func) (schedule.Trace, bool, error) { return tr, true, nil })
	if err != nil {
		return nil, err
	}
	emit := o.Emit
	if emit == nil {
		emit = []codegen.Kind{codegen.Runnable}
	}
	u.Files, err = build(ctx, codegen.Input{Program: u.Scheduled, Traces: traceLines(traces), Target: t, Version: Version, Emit: emit}, o.Backend)
	if err != nil {
		return nil, err
	}
	return u, nil
}

// Alone is a Program of one stage, which is f, with constants and inputs as o says.
func Alone(f *ir.Func, o KernelOptions) (*ir.Program, error) {
	p := &ir.Program{Name: f.Name, Funcs: []*ir.Func{f}}
	s := ir.Stage{Name: f.Name, Op: "func", Func: f.Name}
	random := irdata.Random(f, o.Seed)
	used := 0
	for i, q := range f.Params {
		b := ir.ProgBuf{Buffer: q.Buffer, Kind: ir.InputBuf}
		data, given := o.Constants[q.Name]
		switch {
		case q.Out && !given:
			b.Kind = ir.OutputBuf
		case given && (q.Out || len(data) != q.Bytes()):
			return nil, &ir.Error{Node: "@" + f.Name, Msg: fmt.Sprintf("%d bytes do not make a constant of %s", len(data), ir.BufferString(q.Buffer))}
		case given:
			b.Kind, b.Data = ir.ConstBuf, data
			used++
		case o.Constants == nil && i > 0:
			b.Kind, b.Data = ir.ConstBuf, random[i]
		}
		p.Buffers, s.Args = append(p.Buffers, b), append(s.Args, q.Name)
	}
	if used != len(o.Constants) {
		return nil, &ir.Error{Node: "@" + f.Name, Msg: fmt.Sprintf("%d of %d constants are for parameters that it does not have", len(o.Constants)-used, len(o.Constants))}
	}
	p.Stages = []ir.Stage{s}
	return p, nil
}

// Inputs are random contents of the Unit's inputs, within what its Func is defined for.
func (u *Unit) Inputs(seed uint64) [][]byte {
	var all [][]byte
	for i, data := range irdata.Random(u.Program.Funcs[0], seed) {
		if u.Program.Buffers[i].Kind == ir.InputBuf {
			all = append(all, data)
		}
	}
	return all
}

// Open makes the Unit ready to run, as compiled; it must have a shared library.
func (u *Unit) Open(o engine.Options) (engine.Engine, error) {
	return engine.OpenLibrary(u.Files[codegen.Runnable], o)
}

// Measure runs the Unit on random inputs, warm, and says how long that takes here, or how many instructions it takes on a
// simulated target.
func (u *Unit) Measure(ctx context.Context, threads int, b measure.Budget) (*engine.Measurement, error) {
	e, err := u.Open(engine.Options{Threads: threads, Count: true})
	if err != nil {
		return nil, err
	}
	m, err := engine.Measure(ctx, e, u.Inputs(u.seed), engine.MeasureOptions{Budget: b})
	return m, errors.Join(err, e.Close())
}

// Definition makes the Unit ready to run in the interpreter, unscheduled.
func (u *Unit) Definition() engine.Engine {
	return engine.Interpret(u.Program, codegen.Describe(codegen.Input{Program: u.Program}), nil)
}
