package ripc

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"ripc/codegen"
	"ripc/compile"
	"ripc/engine"
	"ripc/graph"
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
	EngineInterp = "interp" // the unscheduled Program in the interpreter: the definition
)

// RunRequest says what to run.
type RunRequest struct {
	Path    string  // model or artifact
	Options Options // for models; Emit is ignored
	// Inputs are files, each "FILE" (for the next input in order) or "NAME=FILE". A .npy file holds the input's element
	// type and its shape, or that without a batch of 1, or with K times its batch: the network is then run K times. A .png
	// or .jpg picture is scaled to the input's height and width and becomes gray or RGB, in the range 0 to 1 (f32), 0 to
	// 255 (u8), or 0 to 2^bits-1, rounded (levels).
	Inputs  []string
	First   int    // if not 0, at most so many runs, of the first pictures of the inputs
	Seed    uint64 // fills the inputs that are not given (runtime.FillRandom)
	Threads int    // at least 1
	Engine  string // "" is EngineNative
	On      string // "ssh:USER@HOST[:PORT]" of the machine that runs compiled code; "" is this one
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
	Notes                []string // how input files were made to fit, and which outputs are not finite
	// Steps names the layers that make levels: there a sign, a threshold or a quantizer makes a step of each sum.
	Steps []string
}

// decides reports whether a stage makes levels of what are none, or of sums: one that only moves or pools levels decides nothing.
func decides(s describe.Stage) bool {
	if !slices.ContainsFunc(s.Writes, func(t describe.Tensor) bool { return t.Bits > 0 }) {
		return false
	}
	if glue := s.Layer.Glue; glue.Bits > 0 || glue.Beside > 0 {
		return true
	}
	op := graph.OpNamed(s.Op) // nil of what lowering adds, which packs and copies
	return op != nil && !op.Moves
}

// Output is one output; those of several runs are stacked along the batch axis.
type Output struct {
	Tensor describe.Tensor
	Data   []byte // little endian, C order
}

// notFinite says how many elements of o are NaN or infinite, "" where all are finite.
func (o Output) notFinite() string {
	if o.Tensor.DType != ir.F32.String() {
		return ""
	}
	const size = 4 // bytes of an element
	nan, infinite := 0, 0
	for at := 0; at+size <= len(o.Data); at += size {
		v := float64(math.Float32frombits(binary.LittleEndian.Uint32(o.Data[at:])))
		switch {
		case math.IsNaN(v):
			nan++
		case math.IsInf(v, 0):
			infinite++
		}
	}
	if nan+infinite == 0 {
		return ""
	}
	return fmt.Sprintf("output %q is not finite: of %d elements, %d are NaN and %d infinite", o.Tensor.Title(), len(o.Data)/size, nan, infinite)
}

// group is how many inferences are simulated by one process, or sent to another machine at once.
const group = 20

// Run runs a model or an artifact on its inputs, as often as they ask for. Artifacts of other machines run
// in simulation. ctx is looked at between runs, and more often in the interpreter and in simulation.
func Run(ctx context.Context, r RunRequest) (*RunResult, error) {
	res, err := r.on(ctx, tensorio.Seeded(r.Seed), func(progress func(int, int, string)) (engine.Engine, error) { return r.open(ctx, progress) })
	if err != nil {
		return nil, err
	}
	for _, o := range res.Outputs {
		if note := o.notFinite(); note != "" {
			res.Notes = append(res.Notes, note)
		}
	}
	return res, nil
}

// on runs the inferences that r asks for on the engine that open gives. fill makes the inputs that are not given; open's argument
// receives the interpreter's progress.
func (r RunRequest) on(ctx context.Context, fill tensorio.Fill, open func(progress func(stage, stages int, name string)) (engine.Engine, error)) (*RunResult, error) {
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
	res := &RunResult{Name: d.Name, Target: d.Target, Engine: EngineNative, Simulated: e.Kind() == engine.Simulated, Threads: r.Threads, Runs: runs, Notes: feed.Notes}
	for _, s := range d.Stages {
		if decides(s) {
			res.Steps = append(res.Steps, s.Name)
		}
	}
	together, what := 1, "running"
	switch e.Kind() {
	case engine.Simulated:
		together, what = group, "simulating "+d.Target
	case engine.Remote:
		together, what = group, "running on "+r.On
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

// open gives the engine that r asks for, ready to run. progress receives the interpreter's progress.
func (r RunRequest) open(ctx context.Context, progress func(stage, stages int, name string)) (engine.Engine, error) {
	if r.Engine == EngineInterp {
		return r.interpret(ctx, progress)
	}
	openLibrary, err := library(ctx, r.Path, r.Options, r.Progress)
	if err != nil {
		return nil, err
	}
	return openLibrary(engine.Options{Threads: r.Threads, Elsewhere: elsewhere(ctx, r.On)})
}

// interpret gives the interpreter of a model's definition, ready to run.
func (r RunRequest) interpret(ctx context.Context, progress func(stage, stages int, name string)) (engine.Engine, error) {
	if IsArtifact(r.Path) {
		return nil, &ArtifactError{Path: r.Path, For: ToInterpret}
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

// IsArtifact reports whether path is a compiled network, not a model: by its first bytes, or by its name.
func IsArtifact(path string) bool {
	f, err := files.Open(path)
	if err != nil {
		return filepath.Ext(path) == ".so"
	}
	defer f.Close()
	var magic [4]byte
	n, _ := f.Read(magic[:])
	return string(magic[:n]) == "\x7fELF" || filepath.Ext(path) == ".so"
}

// opener makes a network ready to run.
type opener func(engine.Options) (engine.Engine, error)

// runnable compiles what is at path to what can be run.
func runnable(ctx context.Context, path string, o Options, progress func(int, int, string)) (*Compiled, opener, error) {
	o.Emit = []codegen.Kind{codegen.Runnable}
	if progress != nil {
		o.Progress = func(done, total int) { progress(done, total, "compiling") }
	}
	c, err := Compile(ctx, path, o)
	if err != nil {
		return nil, nil, err
	}
	return c, func(o engine.Options) (engine.Engine, error) { return engine.OpenLibrary(c.Files[codegen.Runnable], o) }, nil
}

// library reads or compiles what is at path, and gives the function that makes it ready to run. An artifact must be for
// the Target that o names, if it names one.
func library(ctx context.Context, path string, o Options, progress func(int, int, string)) (opener, error) {
	if !IsArtifact(path) {
		_, open, err := runnable(ctx, path, o, progress)
		return open, err
	}
	if o.Target != "" {
		d, err := runtime.ReadDescription(path)
		if err != nil {
			return nil, err
		}
		if d.Target != o.Target {
			return nil, &TargetError{Path: path, Target: d.Target, Want: o.Target}
		}
	}
	return func(o engine.Options) (engine.Engine, error) { return engine.Open(path, o) }, nil
}
