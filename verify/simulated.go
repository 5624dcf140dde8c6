package verify

import (
	"cmp"
	"context"
	"errors"
	"time"

	"ripc/engine/simulate"
	"ripc/ir"
	"ripc/runtime"
)

// maxKept bounds the copies of the workspace that one simulated process leaves, in bytes.
const maxKept = 256 << 20

// simulated runs the artifact under qemu, several stages a process.
type simulated struct {
	in     Input
	m      *simulate.Machine
	kept   int       // see maxKept
	first  int       // of the stages in states
	states []*memory // states[k] is the memory before stage first+k; one more at the end
}

func openSimulated(in Input) (engine, error) {
	m, err := simulate.Open(in.SO, simulate.Options{})
	if err != nil {
		return nil, err
	}
	return &simulated{in: in, m: m, kept: cmp.Or(in.kept, maxKept)}, nil
}

func (s *simulated) simulated() bool { return true }
func (s *simulated) close()          {}

// start is a job that begins with a workspace full of rubbish and runs all stages before last.
func (s *simulated) start(last int, seed byte) simulate.Job {
	d := s.m.Description()
	work := rubbish(make([]byte, d.ArenaBytes+int64(s.in.Threads)*d.ScratchBytes), seed)
	return simulate.Job{Inputs: s.in.Inputs, Workspace: work, Last: last, Threads: s.in.Threads}
}

func (s *simulated) step(ctx context.Context, i int) (before, after *memory, err error) {
	if i < s.first || i >= s.first+len(s.states)-1 {
		if err := s.batch(ctx, i); err != nil {
			return nil, nil, err
		}
	}
	return s.states[i-s.first], s.states[i-s.first+1], nil
}

// batch runs as many stages from first on as may be kept. The first job of its chain brings memory to where stage first
// begins. Outputs can be seen at the end of a chain only: where one that is written now is written again in this
// batch, a job of its own repeats everything up to there.
func (s *simulated) batch(ctx context.Context, first int) error {
	p := s.in.Program
	job := s.start(first, 1)
	last := min(len(p.Stages), first+max(1, s.kept/max(1, len(job.Workspace))))
	job.KeepWorkspace = true
	jobs := []simulate.Job{job}
	for i := first; i < last; i++ {
		jobs = append(jobs, simulate.Job{Continue: true, First: i, Last: i + 1, Threads: s.in.Threads, KeepWorkspace: true})
	}
	seen := map[int]int{} // state -> job that shows its outputs
	for i := first; i <= last; i++ {
		if i == last || writesOutput(p, i) {
			seen[i] = len(jobs)
			jobs = append(jobs, s.start(i, 1))
		}
	}
	results, err := s.run(ctx, jobs)
	if last > first+1 && s.fault(first, err) != nil {
		s.kept = 1 // which stage it was shows when they run one by one
		return s.batch(ctx, first)
	}
	if err != nil {
		return cmp.Or(s.fault(first, err), err)
	}
	s.first, s.states = first, make([]*memory, last-first+1)
	place := places(p)
	var outputs [][]byte
	for i := last; i >= first; i-- { // backwards: outputs are what they were before the stages that write none
		if k, ok := seen[i]; ok {
			outputs = results[k].Outputs
		}
		s.states[i-first] = &memory{place: place, work: results[i-first].Workspace, inputs: s.in.Inputs, outputs: outputs}
	}
	return nil
}

// writesOutput reports whether stage i writes an output.
func writesOutput(p *ir.Program, i int) bool {
	s := p.Stages[i]
	for k, q := range p.FuncByName(s.Func).Params {
		if q.Out && p.BufferByName(s.Args[k]).Kind == ir.OutputBuf {
			return true
		}
	}
	return false
}

func (s *simulated) network(ctx context.Context) ([][]byte, error) {
	results, err := s.run(ctx, []simulate.Job{s.start(s.m.Stages(), 2)})
	if err != nil {
		return nil, cmp.Or(s.fault(s.m.Stages(), err), err)
	}
	return results[0].Outputs, nil
}

// maxLimit bounds the time for one simulated process, whatever number of stages it runs.
const maxLimit = 10 * time.Minute

// errLimit says that a simulated process was stopped because it took too long.
var errLimit = errors.New("time is up")

// run runs the jobs, for not longer than their stages may take.
func (s *simulated) run(ctx context.Context, jobs []simulate.Job) ([]simulate.Result, error) {
	limit := s.in.Limit
	for _, j := range jobs {
		limit += time.Duration(j.Last-j.First) * s.in.Limit
	}
	ctx, cancel := context.WithTimeoutCause(ctx, min(limit, max(maxLimit, s.in.Limit)), errLimit)
	defer cancel()
	results, err := s.m.Run(ctx, jobs)
	if err != nil && context.Cause(ctx) == errLimit {
		err = errLimit
	}
	return results, err
}

// fault makes a Crash at stage i of an error of run, or nil if compiled code is not to blame.
func (s *simulated) fault(i int, err error) error {
	how := ""
	var died *simulate.RunError
	var overrun *simulate.OverrunError
	var status *runtime.StatusError
	switch {
	case errors.Is(err, errLimit):
		how = TimedOut(s.in.Limit)
	case errors.As(err, &died):
		if how = "crashed in simulation (" + died.Status; died.Hint != "" {
			how += ": " + died.Hint
		}
		how += ")"
	case errors.As(err, &overrun):
		how = "wrote beyond the end of a buffer"
	case errors.As(err, &status):
		how = "failed: " + status.Error()
	default:
		return nil
	}
	return &crashError{Crash{s.in.running(i), how}}
}
