package ripc

import (
	"context"
	"time"

	"ripc/codegen"
	"ripc/compile"
	"ripc/engine"
	"ripc/internal/tensorio"
	"ripc/ir"
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

// group is how many inferences are simulated by one process.
const group = 20

// Run runs a model or an artifact on its inputs, as often as they ask for (tensorio.Load). Artifacts of other machines run
// in simulation. ctx is looked at between runs, and more often in the interpreter and in simulation.
func Run(ctx context.Context, r RunRequest) (*RunResult, error) {
	return r.on(ctx, func(progress func(int, int, string)) (engine.Engine, error) { return r.open(ctx, progress) })
}

// on runs the inferences that r asks for on what open makes ready. open's progress is the interpreter's.
func (r RunRequest) on(ctx context.Context, open func(progress func(stage, stages int, name string)) (engine.Engine, error)) (*RunResult, error) {
	var done, runs int // whole inferences
	e, err := open(func(stage, stages int, name string) {
		r.progress(done*stages+stage, runs*stages, "interpreting "+name)
	})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	d := e.Describe()
	feed, err := tensorio.Load(d.Inputs, r.Inputs, r.Seed)
	if err != nil {
		return nil, err
	}
	runs = feed.Runs
	res := &RunResult{Name: d.Name, Target: d.Target, Engine: EngineNative, Simulated: e.Kind() == engine.Simulated, Threads: r.Threads, Runs: runs}
	together, what := 1, "running"
	switch e.Kind() {
	case engine.Simulated:
		together, what = group, "simulating "+d.Target
	case engine.Interpreted:
		res.Engine, res.Threads = EngineInterp, 1
	}
	outputs := make([][][]byte, len(d.Outputs))
	for ; done < runs; done += together {
		if e.Kind() != engine.Interpreted {
			r.progress(done, runs, what)
		}
		var jobs []engine.Job
		for k := done; k < min(done+together, runs); k++ {
			jobs = append(jobs, engine.Job{Inputs: feed.Run(k), Last: len(d.Stages), Outputs: true})
		}
		results, err := e.Run(ctx, jobs)
		if err != nil {
			return nil, err
		}
		for _, result := range results {
			res.Took += result.Counters.Took
			for i, data := range result.Outputs {
				outputs[i] = append(outputs[i], data)
			}
		}
	}
	res.Outputs = stack(d.Outputs, outputs)
	return res, nil
}

// open makes what r asks for ready. progress is the interpreter's.
func (r RunRequest) open(ctx context.Context, progress func(stage, stages int, name string)) (engine.Engine, error) {
	if r.Engine == EngineInterp {
		return r.interpret(progress)
	}
	openLibrary, err := library(ctx, r.Path, r.Options, r.Progress)
	if err != nil {
		return nil, err
	}
	return openLibrary(engine.Options{Threads: r.Threads})
}

// interpret makes the definition of a model ready.
func (r RunRequest) interpret(progress func(stage, stages int, name string)) (engine.Engine, error) {
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
	return engine.Interpret(p, d, progress), nil
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
