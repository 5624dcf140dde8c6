package ripc

import (
	"context"
	"slices"
	"time"

	"ripc/codegen"
	"ripc/compile"
	"ripc/engine/simulate"
	"ripc/internal/tensorio"
	"ripc/ir"
	"ripc/ir/interp"
	"ripc/runtime/describe"
)

// Names of RunRequest.Engine.
const (
	EngineNative = "native" // compiled code, on this machine or simulated
	EngineInterp = "interp" // the unscheduled Program in the interpreter: the definition
)

// RunRequest says what to run.
type RunRequest struct {
	Path    string  // model or artifact
	Options Options // for models; Emit is ignored
	Inputs  []string
	Seed    uint64 // fills the inputs that are not given
	Threads int    // at least 1
	Engine  string // "" is EngineNative
	// Progress, if not nil, is called now and then with what is being done.
	Progress func(done, total int, what string)
}

// RunResult is what a network made of its inputs.
type RunResult struct {
	Name, Target, Engine string
	Simulated            bool
	Threads, Runs        int
	Took                 time.Duration // of all runs, without compiling and loading
	Outputs              []Output
}

// Output is one output; those of several runs are stacked along the batch axis.
type Output struct {
	Tensor describe.Tensor
	Data   []byte // little endian, C order
}

// Run runs a model or an artifact on its inputs, as often as they ask for (tensorio.Load). Artifacts of other machines run
// in simulation. ctx is looked at between runs, and more often in the interpreter and in simulation.
func Run(ctx context.Context, r RunRequest) (*RunResult, error) {
	if r.Engine == EngineInterp {
		return runInterp(ctx, r)
	}
	m, err := openMachine(ctx, r.Path, r.Options, r.Progress)
	if err != nil {
		return nil, err
	}
	defer m.close()
	feed, err := tensorio.Load(m.desc.Inputs, r.Inputs, r.Seed)
	if err != nil {
		return nil, err
	}
	res := &RunResult{Name: m.desc.Name, Target: m.desc.Target, Engine: EngineNative, Simulated: m.sim != nil, Threads: r.Threads, Runs: feed.Runs}
	run := m.native
	if m.sim != nil {
		run = m.simulated
	}
	runs := make([][][]byte, len(m.desc.Outputs))
	if err := run(ctx, r, feed, runs, &res.Took); err != nil {
		return nil, err
	}
	res.Outputs = stack(m.desc.Outputs, runs)
	return res, nil
}

func stack(tensors []describe.Tensor, runs [][][]byte) []Output {
	var out []Output
	for i, t := range tensors {
		joined, data := tensorio.JoinRuns(t, runs[i])
		out = append(out, Output{joined, data})
	}
	return out
}

func (r RunRequest) progress(done, total int, what string) {
	if r.Progress != nil {
		r.Progress(done, total, what)
	}
}

// runInterp runs the unscheduled Program.
func runInterp(ctx context.Context, r RunRequest) (*RunResult, error) {
	if IsArtifact(r.Path) {
		return nil, &ir.Error{Pos: ir.Pos{File: r.Path}, Msg: "the interpreter runs models, this is a compiled artifact", Help: "give the model file, or use --engine native"}
	}
	g, err := Load(r.Path)
	if err != nil {
		return nil, err
	}
	p, err := compile.Definition(g, r.Options)
	if err != nil {
		return nil, err
	}
	d := codegen.Describe(codegen.Input{Program: p})
	feed, err := tensorio.Load(d.Inputs, r.Inputs, r.Seed)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	runs := make([][][]byte, len(d.Outputs))
	for k := range feed.Runs {
		opt := interp.Options{Progress: func(done, total int, stage string) {
			r.progress(k*total+done, feed.Runs*total, "interpreting "+stage)
		}}
		out, err := interp.RunProgram(ctx, p, feed.Run(k), opt)
		if err != nil {
			return nil, err
		}
		for i := range out {
			runs[i] = append(runs[i], out[i])
		}
	}
	return &RunResult{Name: d.Name, Engine: EngineInterp, Threads: 1, Runs: feed.Runs, Took: time.Since(start), Outputs: stack(d.Outputs, runs)}, nil
}

// native runs all inferences in one session.
func (m *machine) native(ctx context.Context, r RunRequest, feed *tensorio.Feed, runs [][][]byte, took *time.Duration) error {
	s, err := m.mod.NewSession(r.Threads)
	if err != nil {
		return err
	}
	defer s.Close()
	for k := range feed.Runs {
		r.progress(k, feed.Runs, "running")
		for i, data := range feed.Run(k) {
			if err := s.SetInput(i, data); err != nil {
				return err
			}
		}
		start := time.Now()
		if err := s.Run(ctx); err != nil {
			return err
		}
		*took += time.Since(start)
		for i := range runs {
			runs[i] = append(runs[i], slices.Clone(s.Output(i)))
		}
	}
	return nil
}

// simulated runs inferences in groups, one process each.
func (m *machine) simulated(ctx context.Context, r RunRequest, feed *tensorio.Feed, runs [][][]byte, took *time.Duration) error {
	const group = 20
	start := time.Now()
	for k := 0; k < feed.Runs; k += group {
		r.progress(k, feed.Runs, "simulating "+m.desc.Target)
		var jobs []simulate.Job
		for i := k; i < min(k+group, feed.Runs); i++ {
			jobs = append(jobs, simulate.Job{Inputs: feed.Run(i), Last: m.sim.Stages(), Threads: r.Threads})
		}
		results, err := m.sim.Run(ctx, jobs)
		if err != nil {
			return err
		}
		for _, res := range results {
			for i := range runs {
				runs[i] = append(runs[i], res.Outputs[i])
			}
		}
	}
	*took = time.Since(start)
	return nil
}
