package engine

import (
	"context"
	"fmt"

	"ripc/engine/estimate"
	"ripc/engine/simulate"
	"ripc/runtime/describe"
)

// Far runs batches of the jobs of one artifact on another machine (autotune/runner.Board), as
// simulate.Machine runs them here.
type Far interface {
	Description() *describe.Artifact
	Run(ctx context.Context, jobs []simulate.Job) ([]simulate.Result, error)
	Close() error
}

// remote runs an artifact in processes of its own: under qemu, on a simulated board, or on another
// machine.
type remote struct {
	batches
	kind Kind
	m    Far
	// cycles estimates those of profiles; nil without Options.Count, or because of noCycles.
	cycles   func(context.Context, []*simulate.Profile) ([]estimate.Cycles, error)
	noCycles error
	model    Estimate // its Model and Manual
	stack    int      // bytes of stack that a batch took at most
}

// hostMachine is a simulator on this machine as a Far.
type hostMachine struct{ *simulate.Machine }

func (hostMachine) Close() error { return nil }

func openSimulated(path string, o Options) (Engine, error) {
	if o.Count && o.Threads != 1 {
		return nil, &ThreadsError{Threads: o.Threads, Most: 1,
			Why: "instructions of simulated code are counted with one thread"}
	}
	if o.Threads > simulate.MaxThreads {
		return nil, &ThreadsError{Threads: o.Threads, Most: simulate.MaxThreads,
			Why: fmt.Sprintf("the simulator has room for %d", simulate.MaxThreads)}
	}
	m, err := simulate.Open(path, simulate.Options{Count: o.Count})
	if err != nil {
		return nil, err
	}
	s := &remote{batches: batches{o: o}, kind: Simulated, m: hostMachine{m}}
	if o.Count {
		core, err := estimate.For(m.Description().Target)
		if err != nil {
			s.noCycles = err
			return s, nil
		}
		s.model.Model = core.Model()
		s.cycles = func(ctx context.Context, profiles []*simulate.Profile) ([]estimate.Cycles, error) {
			return core.Jobs(ctx, m.Code, profiles)
		}
	}
	return s, nil
}

func openFar(path string, o Options) (Engine, error) {
	f, err := o.Elsewhere(path)
	if err != nil {
		return nil, err
	}
	return &remote{batches: batches{o: o}, kind: Remote, m: f}, nil
}

func (s *remote) Describe() *describe.Artifact { return s.m.Description() }
func (s *remote) Kind() Kind                   { return s.kind }
func (s *remote) Close() error                 { return s.m.Close() }

func (s *remote) Run(ctx context.Context, jobs []Job) ([]Result, error) {
	return s.run(ctx, s.Describe(), jobs, s.fresh, s.process)
}

// fresh has a workspace and outputs full of j's pattern, if it names one.
func (s *remote) fresh(j Job) *Memory {
	m := &Memory{Inputs: j.Inputs}
	if j.Fill == 0 {
		return m
	}
	m.Work, m.Outputs = simulate.Filled(s.Describe(), s.o.Threads, j.Fill)
	return m
}

func (s *remote) process(ctx context.Context, steps []step) ([]stepResult, error) {
	var jobs []simulate.Job
	for _, st := range steps {
		j := simulate.Job{First: st.First, Last: st.Last, Threads: s.o.Threads, Keep: st.keep,
			Continue: st.start == nil, Time: s.kind == Remote, Discard: !st.Outputs && !st.keep}
		if st.start != nil {
			j.Inputs, j.Outputs, j.Workspace = st.start.Inputs, st.start.Outputs, st.start.Work
		}
		jobs = append(jobs, j)
	}
	done, err := s.m.Run(ctx, jobs)
	if err != nil {
		return nil, err
	}
	all := make([]stepResult, len(done))
	profiles := make([]*simulate.Profile, len(done))
	for k, d := range done {
		all[k] = stepResult{&Memory{Inputs: d.Inputs, Outputs: d.Outputs, Work: d.Workspace},
			Counters{Took: d.Took, GHz: d.GHz, Instructions: d.Instructions, Estimate: Estimate{Why: s.noCycles}}}
		profiles[k], s.stack = d.Profile, max(s.stack, d.StackBytes)
	}
	if s.cycles == nil {
		return all, nil
	}
	cycles, err := s.cycles(ctx, profiles)
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	for k := range all {
		e := Estimate{Why: err}
		if err == nil {
			e = s.model
			e.Cycles, e.Unknown = cycles[k].Cycles, cycles[k].Unknown
		}
		all[k].counters.Estimate = e
	}
	return all, nil
}
