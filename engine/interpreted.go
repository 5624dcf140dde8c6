package engine

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"ripc/ir"
	"ripc/ir/interp"
	"ripc/runtime/describe"
)

// interpreted runs a Program in the interpreter.
type interpreted struct {
	p        *ir.Program
	d        *describe.Artifact
	m        *interp.Machine
	progress func(done, total int, stage string)
}

// Interpret runs p, which d describes, in the interpreter. Each buffer has memory of its own: that
// of a plan for the arena is not used. progress, if not nil, is called before each stage of a job,
// and at its end.
func Interpret(p *ir.Program, d *describe.Artifact, progress func(done, total int, stage string)) Engine {
	return InterpretWith(p, d, interp.Checks{}, progress)
}

// InterpretWith is Interpret with checks: a job in which one finds something fails with
// *interp.RuntimeError.
func InterpretWith(p *ir.Program, d *describe.Artifact, checks interp.Checks,
	progress func(done, total int, stage string)) Engine {
	return &interpreted{p: p, d: d, m: interp.NewMachine(p, checks), progress: progress}
}

func (e *interpreted) Describe() *describe.Artifact { return e.d }
func (e *interpreted) Kind() Kind                   { return Interpreted }
func (e *interpreted) Close() error                 { return nil }

func (e *interpreted) Run(ctx context.Context, jobs []Job) ([]Result, error) {
	results := make([]Result, len(jobs))
	for k, j := range jobs {
		if err := e.start(j); err != nil {
			return nil, err
		}
		if j.First < 0 || j.Last < j.First || j.Last > len(e.p.Stages) {
			return nil, fmt.Errorf("%s: stages %d to %d; 0 <= first <= last <= %d", e.p.Name, j.First, j.Last,
				len(e.p.Stages))
		}
		start := time.Now()
		for i := j.First; i < j.Last; i++ {
			s := e.p.Stages[i]
			e.tell(i-j.First, j.Last-j.First, s.Layer.Title(s.Name))
			if err := e.m.Stage(ctx, i); err != nil {
				return nil, err
			}
		}
		e.tell(j.Last-j.First, j.Last-j.First, "")
		results[k].Counters.Took = time.Since(start)
		if j.Outputs {
			results[k].Outputs = cloneAll(e.m.Outputs())
		}
		if j.Keep {
			results[k].Memory = &Memory{Inputs: cloneAll(e.m.Inputs()), Outputs: cloneAll(e.m.Outputs()),
				buffers: e.snapshot()}
		}
	}
	return results, nil
}

func (e *interpreted) tell(done, total int, stage string) {
	if e.progress != nil {
		e.progress(done, total, stage)
	}
}

// start fills memory as j asks for.
func (e *interpreted) start(j Job) error {
	switch {
	case j.From != nil:
		if err := e.m.Start(j.From.Inputs); err != nil {
			return err
		}
		for name, data := range j.From.buffers {
			copy(e.m.Memory[name], data)
		}
	case j.Inputs != nil || e.m.Memory == nil:
		return e.m.Start(j.Inputs)
	}
	return nil
}

// snapshot copies all of memory but the constants.
func (e *interpreted) snapshot() map[string][]byte {
	all := map[string][]byte{}
	for _, b := range e.p.Buffers {
		if b.Kind != ir.ConstBuf {
			all[b.Name] = bytes.Clone(e.m.Memory[b.Name])
		}
	}
	return all
}

// cloneAll copies buffers.
func cloneAll(bufs [][]byte) [][]byte {
	var all [][]byte
	for _, b := range bufs {
		all = append(all, bytes.Clone(b))
	}
	return all
}
