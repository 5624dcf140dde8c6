package engine

import (
	"context"
	"errors"

	"ripc/engine/bareboard"
	"ripc/engine/estimate"
	"ripc/engine/simulate"
	"ripc/runtime/describe"
)

// Board is an Engine that is a board with a chip without an operating system: its memory is small,
// and all of it is known. Open gives one for a program that package bareboard built.
type Board interface {
	Engine
	// Footprint returns the program's memory. Its Stack is the maximum over all runs so far.
	Footprint() Footprint
}

// Footprint is the memory, in bytes, of a program as it was linked.
type Footprint = bareboard.Footprint

// FootprintOf returns the footprint of the program that e runs, if it is a program for a board.
func FootprintOf(e Engine) (f Footprint, ok bool) {
	if t, wrapped := e.(*temporary); wrapped {
		e = t.Engine
	}
	b, ok := e.(Board)
	if ok {
		f = b.Footprint()
	}
	return f, ok
}

// board runs a program on a simulated board, which is switched on for each batch.
type board struct {
	batches
	m     *bareboard.Machine
	stack int64

	core     *estimate.Timings // nil because of noCycles
	noCycles error
	listing  []byte // nil until it is needed
}

func openBoard(path string, o Options) (Engine, error) {
	if o.Threads != 1 {
		return nil, &ThreadsError{Threads: o.Threads, Most: 1,
			Why: "a board without an operating system has one thread"}
	}
	m, err := bareboard.Open(path, bareboard.Options{Count: o.Count})
	if err != nil {
		return nil, err
	}
	b := &board{batches: batches{o: o}, m: m, noCycles: errNoProfile}
	if !o.Count || !o.Cycles {
		return b, nil
	}
	if b.core, b.noCycles = estimate.TimingsOf(m.Description().Target); b.noCycles != nil {
		return b, nil
	}
	if b.noCycles = m.Profile(); b.noCycles != nil { // then instructions are counted all the same
		b.core = nil
	}
	return b, nil
}

func (b *board) Describe() *describe.Artifact { return b.m.Description() }
func (b *board) Kind() Kind                   { return Simulated }
func (b *board) Close() error                 { return nil }

func (b *board) Footprint() Footprint {
	f := b.m.Footprint()
	f.Board, f.Stack = b.m.Board().Title, b.stack
	return f
}

func (b *board) Run(ctx context.Context, jobs []Job) ([]Result, error) {
	return b.run(ctx, b.Describe(), jobs, b.fresh, b.process)
}

// fresh is memory full of j's pattern; of zeros if it names none.
func (b *board) fresh(j Job) *Memory {
	m := b.m.NewMemory(j.Inputs, func(n int) []byte {
		data := make([]byte, n)
		if j.Fill != 0 {
			Pattern(data, j.Fill)
		}
		return data
	})
	return &Memory{Inputs: m.Inputs, Outputs: m.Outputs, Work: m.Workspace}
}

// errNoProfile is why there are no estimates without Options.Cycles.
var errNoProfile = errors.New("the board's timer counts instructions, and cannot tell which they were")

func (b *board) process(ctx context.Context, steps []step) ([]stepResult, error) {
	var jobs []bareboard.Job
	for _, s := range steps {
		j := bareboard.Job{First: s.First, Last: s.Last, Whole: s.First == 0 && s.Last == len(b.Describe().Stages),
			Keep: s.Outputs || s.keep}
		if s.start != nil {
			j.Bring = &bareboard.Memory{Inputs: s.start.Inputs, Outputs: s.start.Outputs, Workspace: s.start.Work}
		}
		jobs = append(jobs, j)
	}
	done, err := b.m.Run(ctx, jobs)
	if err != nil {
		return nil, err
	}
	estimates, err := b.estimates(ctx, done)
	if err != nil {
		return nil, err
	}
	var all []stepResult
	for k, d := range done {
		b.stack = max(b.stack, d.Stack)
		l := stepResult{counters: Counters{Instructions: d.Instructions, Estimate: estimates[k]}}
		if d.Memory != nil {
			l.memory = &Memory{Inputs: d.Memory.Inputs, Outputs: d.Memory.Outputs, Work: d.Memory.Workspace}
		}
		all = append(all, l)
	}
	return all, nil
}

// estimates are those of the jobs of a batch. It fails with ctx's error only.
func (b *board) estimates(ctx context.Context, done []bareboard.Result) ([]Estimate, error) {
	all, why := make([]Estimate, len(done)), b.noCycles
	var cycles []estimate.Cycles
	if b.core != nil && b.listing == nil {
		b.listing, why = b.m.Listing(ctx)
	}
	if why == nil {
		var profiles []*simulate.Profile
		for _, d := range done {
			profiles = append(profiles, d.Profile)
		}
		cycles, why = b.core.Jobs(b.listing, profiles)
	}
	if why != nil && ctx.Err() != nil {
		return nil, why
	}
	for k := range all {
		all[k].Why = why
		if why == nil {
			all[k] = Estimate{Cycles: cycles[k].Cycles, Model: b.core.Core, Manual: b.core.Manual,
				Unknown: cycles[k].Unknown}
		}
	}
	return all, nil
}
