package ripc

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"ripc/autotune/runner"
	"ripc/codegen"
	"ripc/compile"
	"ripc/engine"
	"ripc/graph"
	"ripc/internal/container"
	"ripc/internal/f32"
	"ripc/internal/files"
	"ripc/internal/models"
	"ripc/internal/tensorio"
	"ripc/ir"
	"ripc/runtime"
	"ripc/runtime/describe"
)

// Names of RunRequest.Engine.
const (
	EngineNative = "native" // compiled code, on this machine or simulated
	EngineInterp = "interp" // the definition: the unscheduled Program in the interpreter
)

// RunRequest asks for a run.
type RunRequest struct {
	Path    string  // model or artifact
	Options Options // for models; Emit is ignored
	// Inputs are files, each "FILE" (for the next input in order) or "NAME=FILE". A .npy file holds
	// the input's element type and shape. It may leave out a batch of 1, or hold K batches for K
	// runs. A .png or .jpg picture is scaled to the input's height and width and becomes gray or
	// RGB. Its range is 0 to 1 (f32), 0 to 255 (u8), or 0 to 2^bits-1, rounded (levels).
	Inputs  []string
	First   int    // largest number of runs, on the first pictures of the inputs; 0 is no limit
	Seed    uint64 // of the missing inputs (runtime.FillRandom)
	Threads int    // at least 1
	Engine  string // "" is EngineNative
	On      string // "ssh:USER@HOST[:PORT]" of the machine that runs compiled code; "" is this one
	// Fold is for targets that are FPGAs. Their accelerators are simulated.
	Fold FoldOptions
	// Progress, if not nil, is called now and then.
	Progress func(done, total int, what string)
}

// RunResult is the result of Run.
type RunResult struct {
	Name, Target, Engine string
	Simulated            bool
	Threads, Runs        int
	Took                 time.Duration // of all runs, without compiling and loading
	Outputs              []Output
	Notes                []string // on input files that were adapted, and on outputs that are not finite
	// Steps names the layers that make levels: a sign, a threshold or a quantizer makes steps of
	// their sums.
	Steps []string
}

// makesLevels reports whether a stage quantizes sums or floats. Stages that only move or pool
// levels do not.
func makesLevels(s describe.Stage) bool {
	if !slices.ContainsFunc(s.Writes, func(t describe.Tensor) bool { return t.Bits > 0 }) {
		return false
	}
	if glue := s.Layer.Glue; glue.Bits > 0 || glue.Beside > 0 {
		return true
	}
	op := graph.OpNamed(s.Op) // nil for stages that lowering adds, which pack and copy
	return op != nil && !op.Moves
}

// Output is one output; those of several runs are stacked along the batch axis.
type Output struct {
	Tensor describe.Tensor
	Data   []byte // little endian, C order
}

// nonFiniteText counts the elements of o that are NaN or infinite, in words; "" if all are finite.
func (o Output) nonFiniteText() string {
	if o.Tensor.DType != ir.F32.String() {
		return ""
	}
	nan, infinite, all := 0, 0, f32.FromBytes(o.Data)
	for _, v := range all {
		switch {
		case v != v:
			nan++
		case v-v != 0:
			infinite++
		}
	}
	if nan+infinite == 0 {
		return ""
	}
	return fmt.Sprintf("output %q is not finite: of %d elements, %d are NaN and %d infinite", o.Tensor.Title(),
		len(all), nan, infinite)
}

// batchSize is the number of inferences that one simulation runs, or that go to another machine at
// once.
const batchSize = 20

// Run runs a model or an artifact on its inputs, once for each of their batches. Artifacts of other
// machines are simulated. ctx ends it between runs, and earlier in the interpreter and in
// simulation.
func Run(ctx context.Context, r RunRequest) (*RunResult, error) {
	res, err := r.infer(ctx, tensorio.Seeded(r.Seed), func(progress func(int, int, string)) (engine.Engine, error) {
		return r.open(ctx, progress)
	})
	if err != nil {
		return nil, err
	}
	for _, o := range res.Outputs {
		if note := o.nonFiniteText(); note != "" {
			res.Notes = append(res.Notes, note)
		}
	}
	return res, nil
}

// infer runs the inferences that r asks for on the engine that open returns. fill makes the missing
// inputs. open's argument receives the interpreter's progress.
func (r RunRequest) infer(ctx context.Context, fill tensorio.Fill,
	open func(progress func(stage, stages int, name string)) (engine.Engine, error)) (*RunResult, error) {
	var done, runs int // whole inferences
	e, err := open(func(stage, stages int, name string) {
		r.progress(done*stages+stage, runs*stages, "interpreting "+name)
	})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	d := e.Describe()
	feed, err := tensorio.Load(d.Inputs, r.Inputs, fill)
	if err != nil {
		return nil, err
	}
	if runs = feed.Runs; r.First > 0 {
		runs = min(runs, r.First)
	}
	res := &RunResult{Name: d.Name, Target: d.Target, Engine: EngineNative,
		Simulated: e.Kind() == engine.Simulated, Threads: r.Threads, Runs: runs, Notes: feed.Notes}
	for _, s := range d.Stages {
		if makesLevels(s) {
			res.Steps = append(res.Steps, s.Layer.Title(s.Name))
		}
	}
	together, what := 1, "running"
	switch e.Kind() {
	case engine.Simulated:
		together, what = batchSize, "simulating "+d.Target
	case engine.Remote:
		together, what = batchSize, "running on "+r.On
	case engine.Sandboxed:
		res.Engine = engine.VirtualMachine(d.Arch, d.Features)
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
	for i, t := range d.Outputs {
		joined, data := tensorio.JoinRuns(t, outputs[i])
		res.Outputs = append(res.Outputs, Output{joined, data})
	}
	return res, nil
}

// open returns the engine that r asks for. progress receives the interpreter's progress.
func (r RunRequest) open(ctx context.Context, progress func(stage, stages int, name string)) (engine.Engine, error) {
	if r.Engine == EngineInterp {
		return r.interpret(ctx, progress)
	}
	if IsFPGA(r.Options.Target) {
		if r.Fold.Core != "" {
			k, err := AccelerateByCore(ctx, r.Path, r.Options, r.Fold)
			if err != nil {
				return nil, err
			}
			return k.Open(ctx)
		}
		a, err := Accelerate(ctx, r.Path, r.Options, r.Fold)
		if err != nil {
			return nil, err
		}
		return a.Open(ctx)
	}
	openLibrary, err := openerFor(ctx, r.Path, r.Options, r.Progress)
	if err != nil {
		return nil, err
	}
	return openLibrary(engine.Options{Threads: r.Threads, Elsewhere: reachMachine(ctx, r.On)})
}

// interpret returns an engine that interprets a model's definition.
func (r RunRequest) interpret(ctx context.Context,
	progress func(stage, stages int, name string)) (engine.Engine, error) {
	if IsArtifact(r.Path) {
		return nil, &ArtifactError{Path: r.Path, For: ToInterpret}
	}
	if IsFPGA(r.Options.Target) { // the definition is that of all targets
		r.Options.Target = ""
	}
	g, err := models.Load(ctx, r.Path, r.Options)
	if err != nil {
		return nil, err
	}
	p, err := compile.Definition(ctx, g, r.Options)
	if err != nil {
		return nil, err
	}
	d := codegen.Describe(codegen.Input{Program: p})
	return engine.Interpret(p, d, progress), nil
}

func (r RunRequest) progress(done, total int, what string) {
	if r.Progress != nil {
		r.Progress(done, total, what)
	}
}

// IsArtifact reports whether the file at path is a compiled network, by its first bytes or its
// name.
func IsArtifact(path string) bool {
	f, err := files.Open(path)
	if err != nil {
		return filepath.Ext(path) == ".so"
	}
	defer f.Close()
	var magic [container.MagicSize]byte
	n, _ := f.Read(magic[:])
	return container.Known(magic[:n]) || filepath.Ext(path) == ".so"
}

// opener opens a network as an engine.
type opener func(engine.Options) (engine.Engine, error)

// compileRunnable compiles the model at path to a file that engines run, and returns its opener.
func compileRunnable(ctx context.Context, path string, o Options,
	progress func(int, int, string)) (*Compiled, opener, error) {
	o.Emit = []codegen.Kind{codegen.Runnable}
	if progress != nil {
		o.Progress = func(done, total int) { progress(done, total, "compiling") }
	}
	c, err := Compile(ctx, path, o)
	if err != nil {
		return nil, nil, err
	}
	return c, func(o engine.Options) (engine.Engine, error) {
		return engine.OpenLibrary(c.Files[codegen.Runnable], o)
	}, nil
}

// openerFor returns the opener of the artifact or model at path; a model is compiled. It fails if
// the artifact is for another target than o.Target, unless that is "".
func openerFor(ctx context.Context, path string, o Options, progress func(int, int, string)) (opener, error) {
	if !IsArtifact(path) {
		_, open, err := compileRunnable(ctx, path, o, progress)
		return open, err
	}
	if o.Target != "" {
		if _, err := describeFor(path, o.Target); err != nil {
			return nil, err
		}
	}
	return func(o engine.Options) (engine.Engine, error) { return engine.Open(path, o) }, nil
}

// describeFor returns the description of the artifact at path. It fails if the artifact is for
// another target than the given one, unless that is "".
func describeFor(path, target string) (*describe.Artifact, error) {
	d, err := runtime.ReadDescription(path)
	if err == nil && target != "" && d.Target != target {
		return nil, &TargetError{Path: path, Target: d.Target, Want: target}
	}
	return d, err
}

// reachMachine returns a function that connects to the machine that requests name On
// (ssh:USER@HOST), to run an artifact there. It is nil for "", this machine.
func reachMachine(ctx context.Context, on string) func(path string) (engine.Far, error) {
	if on == "" {
		return nil
	}
	return func(path string) (engine.Far, error) { return runner.Reach(ctx, on, path, runner.Options{}) }
}
