package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ripc/engine/bareboard"
	"ripc/runtime/describe"
)

// Board is an Engine that is a board with a chip without an operating system: its memory is small, and all of it is
// known. Open gives one for a program that package bareboard built.
type Board interface {
	Engine
	// Footprint says how much memory the program takes. Its Stack grows with what has run until now.
	Footprint() Footprint
}

// Footprint is the memory, in bytes, of a program that holds one network and little else.
type Footprint struct {
	Board string // what it runs on, for people
	// Flash holds code, constants and the first contents of variables.
	Flash, FlashLimit int64
	// RAM holds inputs, outputs, workspace and variables; Stack, the depth that was seen, comes on top.
	RAM, Stack, RAMLimit int64
}

// board runs a program on a simulated board, which is switched on for each batch.
type board struct {
	o     Options
	m     *bareboard.Machine
	last  *Memory // after the last job
	stack int64
}

func openBoard(path string, o Options) (Engine, error) {
	if o.Threads != 1 {
		return nil, &ThreadsError{Threads: o.Threads, Most: 1, Why: "a board without an operating system has one thread"}
	}
	m, err := bareboard.Open(path, bareboard.Options{Count: o.Count})
	if err != nil {
		return nil, err
	}
	return &board{o: o, m: m}, nil
}

func (b *board) Describe() *describe.Artifact { return b.m.Description() }
func (b *board) Kind() Kind                   { return Simulated }
func (b *board) Close() error                 { return nil }

func (b *board) Footprint() Footprint {
	f := b.m.Footprint()
	return Footprint{Board: b.m.Board().Title, Flash: f.Flash, FlashLimit: f.FlashLimit, RAM: f.RAM, RAMLimit: f.RAMLimit, Stack: b.stack}
}

func (b *board) Run(ctx context.Context, jobs []Job) ([]Result, error) {
	if len(jobs) == 0 {
		return nil, nil
	}
	batch := make([]bareboard.Job, len(jobs))
	stages := 0
	for k, j := range jobs {
		c := bareboard.Job{First: j.First, Last: j.Last, Whole: j.First == 0 && j.Last == len(b.Describe().Stages),
			Keep: j.Outputs || j.Keep || k == len(jobs)-1}
		from := j.From
		if from == nil && j.Inputs == nil && k == 0 {
			if from = b.last; from == nil {
				return nil, fmt.Errorf("engine: the first job of %s has no inputs", b.Describe().Name)
			}
		}
		switch {
		case from != nil:
			c.Bring = &bareboard.Memory{Inputs: from.Inputs, Outputs: from.Outputs, Workspace: from.Work}
		case j.Inputs != nil:
			c.Bring = b.m.NewMemory(j.Inputs, func(n int) []byte {
				data := make([]byte, n)
				if j.Fill != 0 {
					fill(data, j.Fill)
				}
				return data
			})
		}
		batch[k] = c
		stages += 1 + j.Last - j.First
	}
	start := time.Now()
	done, err := b.run(ctx, batch, stages)
	if err != nil {
		return nil, err
	}
	took := time.Since(start) / time.Duration(len(jobs))
	results := make([]Result, len(jobs))
	for k, d := range done {
		r := &results[k]
		r.Counters = Counters{Took: took, Instructions: d.Instructions}
		b.stack = max(b.stack, d.Stack)
		if d.Memory == nil {
			continue
		}
		m := &Memory{Inputs: d.Memory.Inputs, Outputs: d.Memory.Outputs, Work: d.Memory.Workspace}
		if jobs[k].Outputs {
			r.Outputs = m.Outputs
		}
		if jobs[k].Keep {
			r.Memory = m
		}
		b.last = m
	}
	return results, nil
}

// run runs the jobs, for not longer than their stages may take, and makes a FaultError of what the network is to blame for.
func (b *board) run(ctx context.Context, jobs []bareboard.Job, stages int) ([]bareboard.Result, error) {
	ctx, cancel := limited(ctx, b.o.Limit, stages)
	defer cancel()
	results, err := b.m.Run(ctx, jobs)
	if err != nil && context.Cause(ctx) == errLimit {
		return nil, &FaultError{Fault: TimedOut, Limit: b.o.Limit, Err: err}
	}
	var died *bareboard.RunError
	var overrun *bareboard.OverrunError
	switch {
	case errors.As(err, &died):
		return nil, &FaultError{Fault: Crashed, Cause: died.Cause(), Err: err}
	case errors.As(err, &overrun):
		return nil, &FaultError{Fault: Overran, Err: err}
	}
	return results, fault(err)
}
