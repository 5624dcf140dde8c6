package compile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"ripc/codegen"
	"ripc/engine"
	"ripc/internal/irdata"
	"ripc/internal/suggest"
	"ripc/ir"
	"ripc/measure"
	"ripc/schedule"
	"ripc/targets"
)

// Unit is one Func with a schedule, as an artifact of its own: proved, its constants packed, and
// built. It runs on any engine like a network of one stage.
type Unit struct {
	Built          // of one stage, with the constants that are used
	Network string // that it is a layer of; "" if of none
	seed    uint64
}

// KernelOptions say how a Func becomes a Unit. The zero value is fine.
type KernelOptions struct {
	// Constants are the contents of parameters by name; these become constants, the others inputs.
	// nil stands for random contents, from Seed, of all parameters but the first and the outputs.
	Constants map[string][]byte
	Seed      uint64
	Emit      []codegen.Kind // nil is the shared library
	Backend   string         // as in Options
	// With are the back ends that build, in place of Backend's. A caller that builds many kernels
	// looks for tools once.
	With []codegen.Backend
	// Result is the trace's result on the Func, if the caller has it; without it the steps are
	// applied.
	Result schedule.Result
	// Stage gives reports the Unit's layer name, op and work. The zero value takes the Func's name.
	Stage ir.Stage
	// Progress, if not nil, is called while the kernel is compiled.
	Progress func(done, total int)
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

// Kernel builds f with the given trace for a target. It fails with *ir.Error if a step of the trace
// is refused, packs a parameter that is no constant, or cannot be proved right. It fails with an
// *InternalError if f itself cannot be proved, else as codegen.Build.
func Kernel(ctx context.Context, f *ir.Func, tr schedule.Trace, t targets.Target, o KernelOptions) (*Unit, error) {
	p, err := KernelProgram(f, o)
	if err != nil {
		return nil, err
	}
	u := &Unit{Built: Built{Program: p, Target: t}, seed: o.Seed}
	if err := u.apply(ctx, func(*ir.Func) (choice, error) { return choice{tr, o.Result, true}, nil }); err != nil {
		return nil, err
	}
	emit := o.Emit
	if emit == nil {
		emit = []codegen.Kind{codegen.Runnable}
	}
	if err := u.generate(ctx, codegen.Input{Emit: emit, Progress: o.Progress}, o.With, o.Backend); err != nil {
		return nil, err
	}
	return u, nil
}

// Unit builds one layer of c by itself, with the layer's own constants and its trace in c. o's
// Constants and Stage are not looked at. It fails as UnknownLayer if no stage is called layer, else
// as Kernel.
func (c *Compiled) Unit(ctx context.Context, layer string, o KernelOptions) (*Unit, error) {
	var have []string
	for i, s := range c.Program.Stages {
		if s.Layer.IsCalled(s.Name, layer) {
			o.Constants, o.Stage = StageConstants(c.Program, i), s
			u, err := Kernel(ctx, c.Program.FuncByName(s.Func), c.Traces[s.Func], c.Target, o)
			if err != nil {
				return nil, err
			}
			u.Network = c.Program.Name
			return u, nil
		}
		have = append(have, s.Layer.Names(s.Name)...)
	}
	return nil, UnknownLayer(c.Graph.File, layer, have)
}

// UnknownLayer is the error that the model in a file has none of its layers, have, called name.
func UnknownLayer(file, name string, have []string) *ir.Error {
	return &ir.Error{Pos: ir.Pos{File: file}, Msg: fmt.Sprintf("no layer is called %q", name),
		Help: suggest.DidYouMean(name, have) + "there are " + strings.Join(have, ", ")}
}

// KernelProgram is a Program of one stage, which is f, with constants and inputs as o says.
func KernelProgram(f *ir.Func, o KernelOptions) (*ir.Program, error) {
	p := &ir.Program{Name: f.Name, Funcs: []*ir.Func{f}}
	s := o.Stage
	s.Name, s.Op, s.Func, s.Args = cmp.Or(s.Name, f.Name), cmp.Or(s.Op, "func"), f.Name, nil
	random := irdata.Random(f, o.Seed)
	used := 0
	for i, q := range f.Params {
		b := ir.ProgBuf{Buffer: q.Buffer, Kind: ir.InputBuf}
		data, given := o.Constants[q.Name]
		switch {
		case q.Out && !given:
			b.Kind = ir.OutputBuf
		case given && (q.Out || len(data) != q.Bytes()):
			return nil, &ir.Error{Node: "@" + f.Name, Msg: fmt.Sprintf("%d bytes do not make a constant of %s",
				len(data), ir.BufferString(q.Buffer))}
		case given:
			b.Kind, b.Data = ir.ConstBuf, data
			used++
		case o.Constants == nil && i > 0:
			b.Kind, b.Data = ir.ConstBuf, random[i]
		}
		p.Buffers, s.Args = append(p.Buffers, b), append(s.Args, q.Name)
	}
	if used != len(o.Constants) {
		return nil, &ir.Error{Node: "@" + f.Name,
			Msg: fmt.Sprintf("%d of %d constants are for parameters that it does not have", len(o.Constants)-used,
				len(o.Constants))}
	}
	p.Stages = []ir.Stage{s}
	return p, nil
}

// Inputs are random contents of the Unit's inputs, within the domain of its Func.
func (u *Unit) Inputs(seed uint64) [][]byte {
	var all [][]byte
	for i, data := range irdata.Random(u.Program.Funcs[0], seed) {
		if u.Program.Buffers[i].Kind == ir.InputBuf {
			all = append(all, data)
		}
	}
	return all
}

// Measure runs the Unit on random inputs, warm, and says how long that takes here, or how many
// instructions and, by estimate, cycles it takes on a simulated target.
func (u *Unit) Measure(ctx context.Context, threads int, b measure.Budget) (*engine.Measurement, error) {
	e, err := u.Open(engine.Options{Threads: threads, Count: true})
	if err != nil {
		return nil, err
	}
	m, err := engine.Measure(ctx, e, u.Inputs(u.seed), engine.MeasureOptions{Budget: b})
	return m, errors.Join(err, e.Close())
}
