// Package verify compares a compiled network with its definition, bit for bit. The code that runs
// is the shipped one: the artifact itself, natively or simulated, stage by stage through
// NAME_run_stages and as a whole through NAME_run. The definition is the unscheduled Program, run
// by package interp.
//
// The constants in the file are compared with the Program's byte by byte, because one input does
// not show every bit.
//
// Each stage is judged on its actual inputs: the bytes that the artifact's own earlier stages
// wrote. So a mistake shows in the stage that made it, and not in all later ones.
package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"ripc/engine"
	"ripc/ir"
	"ripc/ir/interp"
	"ripc/runtime"
	"ripc/runtime/describe"
)

// Input is the input of Verify.
type Input struct {
	Program *ir.Program // the definition: lowered, but not scheduled
	// Scheduled, if not nil, is the Program that was compiled. It has the same stages and buffers
	// (but for the constants, which may be packed). It helps to find the part of the compiler that
	// caused a difference.
	Scheduled *ir.Program
	SO        string   // path of the artifact, which names its machine
	Library   []byte   // its contents, instead of SO
	Threads   int      // 0 means 1
	Inputs    [][]byte // contents of the Program's inputs, in order
	// More are further contents, one set for each further run of everything.
	More []Set
	// Simulate makes Verify simulate although this machine could run the artifact.
	Simulate bool
	// Elsewhere, if not nil, reaches the machine on which the artifact runs (engine.Options).
	Elsewhere func(path string) (engine.Far, error)
	// Progress, if not nil, is called before each stage, and once more with done == total.
	Progress func(done, total int, stage string)
	// Watch, if not nil, is called before compiled code runs in this process, which may not survive
	// that, and once it returned, then with nil. The Report is as far as it is known.
	Watch func(r *Report, running *Running)
	// Limit bounds the time of a stage under simulation; 0 means a minute. Code that runs in this
	// process cannot be stopped: there the limit is up to Watch.
	Limit time.Duration
}

// Set is contents of a Program's inputs, in order. Differences that show on it carry its name.
type Set struct {
	Name   string
	Inputs [][]byte
}

// MismatchError says that an artifact is not a compiled form of the Program, so that nothing can be
// compared.
type MismatchError struct {
	SO  string
	Msg string
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("%s is not compiled from this program: %s; compile it again", e.SO, e.Msg)
}

// Verify compares the artifact's constants with the Program's, and runs the artifact and the
// definition. Differences, and code that crashes under simulation, are in the Report and no error.
// Code that crashes natively takes this process along.
//
// It fails with *MismatchError, and with *ir.Error or *interp.RuntimeError if the definition cannot
// be run (on these inputs). Other errors are those of engine.Open for the artifact, or ctx's error.
func Verify(ctx context.Context, in Input) (*Report, error) { return verify(ctx, in, maxKept) }

// verify is Verify; kept bounds the bytes of workspaces that it keeps at a time.
func verify(ctx context.Context, in Input, kept int) (_ *Report, err error) {
	if in.Threads == 0 {
		in.Threads = 1
	}
	in.Limit = cmp.Or(in.Limit, time.Minute)
	if in.Library != nil {
		var remove func() error
		if in.SO, remove, err = engine.WriteLibrary(in.Library); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, remove()) }()
	}
	d, err := runtime.ReadDescription(in.SO)
	if err != nil {
		return nil, err
	}
	if err := match(in, d); err != nil {
		return nil, err
	}
	shipped := in.Program
	if in.Scheduled != nil {
		shipped = in.Scheduled // its constants may be packed
	}
	constants, err := compareConstants(in.SO, d, shipped)
	if err != nil {
		return nil, err
	}
	r := &Report{Threads: in.Threads}
	for i, s := range in.Program.Stages {
		s := StageResult{Stage: i, Name: s.Layer.Title(s.Name), Op: s.Op, Func: s.Func, Constants: constants[i]}
		if len(s.Constants) > 0 {
			s.Suspect = Constants
		}
		r.Stages = append(r.Stages, s)
	}
	v := &verifier{in: in, report: r, tensors: tensors(d), compiled: map[*ir.Func]*interp.Compiled{}}
	o := engine.Options{Threads: in.Threads, Simulate: in.Simulate, Limit: in.Limit, Elsewhere: in.Elsewhere}
	err = v.watch(engine.Choose(d.Arch, d.Features, o), -1, func() (err error) {
		v.e, err = engine.Open(in.SO, o)
		if err != nil && in.Library != nil {
			err = engine.OwnLibrary(err)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	defer v.e.Close()
	r.Kind = v.e.Kind()
	for _, set := range append([]Set{{Inputs: in.Inputs}}, in.More...) {
		v.set, v.walk = set, walk{maxBytes: kept}
		if err := v.run(ctx); err != nil {
			return nil, err
		}
		if f, ok := engine.FootprintOf(v.e); ok {
			r.Footprint = &f
		}
		if r.Crash != nil {
			return r, nil
		}
	}
	r.OK = len(r.Network) == 0 && !slices.ContainsFunc(r.Stages, func(s StageResult) bool { return !s.OK })
	return r, nil
}

// tensors returns the operands of all stages, by name.
func tensors(d *describe.Artifact) map[string]describe.Tensor {
	all := map[string]describe.Tensor{}
	for _, s := range d.Stages {
		for _, t := range slices.Concat(s.Reads, s.Writes) {
			all[t.Name] = t
		}
	}
	for _, t := range slices.Concat(d.Inputs, d.Outputs) {
		all[t.Name] = t
	}
	return all
}

// match fails unless d describes in.Program, as far as memory is laid out by it.
func match(in Input, d *describe.Artifact) error {
	p := in.Program
	fail := func(format string, args ...any) error { return &MismatchError{in.SO, fmt.Sprintf(format, args...)} }
	if len(p.Stages) != len(d.Stages) {
		return fail("it has %d stages, the program has %d", len(d.Stages), len(p.Stages))
	}
	for _, b := range p.Buffers {
		side := d.Inputs
		switch b.Kind {
		case ir.InputBuf:
		case ir.OutputBuf:
			side = d.Outputs
		default:
			continue
		}
		if !slices.ContainsFunc(side, func(t describe.Tensor) bool {
			return t.Name == b.Name && t.DType == b.Type.String() && slices.Equal(t.Shape, b.Shape)
		}) {
			return fail("it has no %s %s", b.Kind, ir.BufferString(b.Buffer))
		}
	}
	if in.Scheduled != nil {
		p = in.Scheduled // its constants may be packed, and its activations lie elsewhere
	}
	at := places(p)
	for i, s := range p.Stages {
		if d.Stages[i].Name != s.Name {
			return fail("stage %d is %q, the program's is %q", i, d.Stages[i].Name, s.Name)
		}
		f := p.FuncByName(s.Func)
		if f == nil || len(f.Params) != len(s.Args) {
			return fail("stage %q does not fit @%s", s.Name, s.Func)
		}
		operands := slices.Concat(d.Stages[i].Reads, d.Stages[i].Writes)
		for _, a := range s.Args {
			q := p.BufferByName(a)
			if q == nil {
				return fail("stage %q needs %%%s", s.Name, a)
			}
			same := func(t describe.Tensor) bool {
				return t.Name == a && t.DType == q.Type.String() && slices.Equal(t.Shape, q.Shape) &&
					t.Where == q.Kind.String() &&
					(q.Kind == ir.ConstBuf || q.Kind == ir.ArenaBuf && in.Scheduled == nil || t.Offset == at[a])
			}
			if !slices.ContainsFunc(operands, same) {
				return fail("stage %q has no operand %s (%s %d)", s.Name, ir.BufferString(q.Buffer), q.Kind, at[a])
			}
		}
	}
	return nil
}

// places gives the index of each input and output, and the offset of each activation.
func places(p *ir.Program) map[string]int64 {
	at, count := map[string]int64{}, map[ir.BufKind]int64{}
	for _, b := range p.Buffers {
		at[b.Name] = count[b.Kind]
		if b.Kind == ir.ArenaBuf {
			at[b.Name] = b.Offset
		}
		count[b.Kind]++
	}
	return at
}
