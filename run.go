package ripc

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ripc/autotune/runner"
	"ripc/codegen"
	"ripc/compile"
	"ripc/engine"
	"ripc/eval"
	"ripc/graph"
	"ripc/internal/constants"
	"ripc/internal/files"
	"ripc/internal/irdata"
	"ripc/internal/models"
	"ripc/internal/tensorio"
	"ripc/ir"
	"ripc/ir/interp"
	"ripc/ir/irtext"
	"ripc/runtime"
	"ripc/runtime/describe"
	"ripc/runtime/npy"
	"ripc/verify"
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

// batchSize is the number of inferences that one simulation runs, or that go to another machine at
// once.
const batchSize = 20

// Run runs a model or an artifact on its inputs, once for each of their batches. Artifacts of other
// machines are simulated. ctx ends it between runs, and earlier in the interpreter and in
// simulation.
func Run(ctx context.Context, r RunRequest) (*RunResult, error) {
	res, err := r.infer(ctx, tensorio.Seeded(r.Seed), func(progress func(int, int, string)) (engine.Engine, error) { return r.open(ctx, progress) })
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
func (r RunRequest) infer(ctx context.Context, fill tensorio.Fill, open func(progress func(stage, stages int, name string)) (engine.Engine, error)) (*RunResult, error) {
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
		if makesLevels(s) {
			res.Steps = append(res.Steps, s.Name)
		}
	}
	together, what := 1, "running"
	switch e.Kind() {
	case engine.Simulated:
		together, what = batchSize, "simulating "+d.Target
	case engine.Remote:
		together, what = batchSize, "running on "+r.On
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

// open returns the engine that r asks for. progress receives the interpreter's progress.
func (r RunRequest) open(ctx context.Context, progress func(stage, stages int, name string)) (engine.Engine, error) {
	if r.Engine == EngineInterp {
		return r.interpret(ctx, progress)
	}
	openLibrary, err := openerFor(ctx, r.Path, r.Options, r.Progress)
	if err != nil {
		return nil, err
	}
	return openLibrary(engine.Options{Threads: r.Threads, Elsewhere: reachMachine(ctx, r.On)})
}

// interpret returns an engine that interprets a model's definition.
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

// IsArtifact reports whether the file at path is a compiled network, by its first bytes or its
// name.
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

// opener opens a network as an engine.
type opener func(engine.Options) (engine.Engine, error)

// compileRunnable compiles the model at path to a file that engines run, and returns its opener.
func compileRunnable(ctx context.Context, path string, o Options, progress func(int, int, string)) (*Compiled, opener, error) {
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

// openerFor returns the opener of the artifact or model at path; a model is compiled. It fails if
// the artifact is for another target than o.Target, unless that is "".
func openerFor(ctx context.Context, path string, o Options, progress func(int, int, string)) (opener, error) {
	if !IsArtifact(path) {
		_, open, err := compileRunnable(ctx, path, o, progress)
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

// reachMachine returns a function that connects to the machine that requests name On
// (ssh:USER@HOST), to run an artifact there. It is nil for "", this machine.
func reachMachine(ctx context.Context, on string) func(path string) (engine.Far, error) {
	if on == "" {
		return nil
	}
	return func(path string) (engine.Far, error) { return runner.Reach(ctx, on, path, runner.Options{}) }
}

// EvalRequest says how a classifier is evaluated.
type EvalRequest struct {
	// Run names the network and its inputs, and says how to run it.
	Run RunRequest
	// Labels is a .npy file of whole numbers: the true class of each picture. "" is none.
	Labels string
	// Expect is a .npy file of the expected first output, "" for none. Tolerance is the largest
	// distance allowed.
	Expect    string
	Tolerance float64
}

// EvalResult is the result of Eval.
type EvalResult = eval.Result

// EvalError says that a file does not fit the network or the other files.
type EvalError struct{ File, Msg string }

func (e *EvalError) Error() string { return "cannot compare: " + e.File + ": " + e.Msg }

// BadInput reports that the input is at fault.
func (*EvalError) BadInput() bool { return true }

// Eval runs a network on pictures and compares its first output with labels and expected outputs.
func Eval(ctx context.Context, r EvalRequest) (*EvalResult, error) {
	var labels, expected []float64
	var labelShape []int
	var err error
	if r.Labels != "" {
		if labels, labelShape, err = readNumbers(r.Labels); err != nil {
			return nil, err
		}
	}
	if r.Expect != "" {
		if expected, _, err = readNumbers(r.Expect); err != nil {
			return nil, err
		}
	}
	out, err := Run(ctx, r.Run)
	if err != nil {
		return nil, err
	}
	o := out.Outputs[0]
	got, err := (&npy.Array{DType: o.Tensor.DType, Data: o.Data}).Float64s()
	if err != nil {
		return nil, err
	}
	res := &EvalResult{Name: out.Name, Target: out.Target, Engine: out.Engine, Simulated: out.Simulated}
	if len(o.Tensor.Shape) > 0 {
		res.Images = o.Tensor.Shape[0]
	}
	if res.Images < 1 || len(got) == 0 {
		return nil, &EvalError{r.Run.Path, "the first output has no row for each picture"}
	}
	res.Classes = len(got) / res.Images
	partial := r.Run.First > 0
	if labels != nil {
		if err := res.CompareLabels(o.Tensor, got, labels, labelShape, partial); err != nil {
			return nil, &EvalError{r.Labels, err.Error()}
		}
	}
	if expected != nil {
		if err := res.CompareOutputs(got, expected, r.Tolerance, partial); err != nil {
			return nil, &EvalError{r.Expect, err.Error()}
		}
		res.Difference.Steps = append([]string{}, out.Steps...)
	}
	return res, nil
}

// readNumbers reads the numbers and the shape of an array.
func readNumbers(path string) (numbers []float64, shape []int, err error) {
	a, err := npy.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	numbers, err = a.Float64s()
	return numbers, a.Shape, err
}

// InterpRequest says which text to interpret, and on which inputs.
type InterpRequest struct {
	Path   string   // of the text (.ripir): a program, or funcs
	Func   string   // the func to run; "" for the only one, or for a program
	SO     string   // artifact with the constants, of which a program's text has hashes only; "" fills them from Seed
	Inputs []string // as RunRequest.Inputs; a func's inputs are all parameters that it does not write
	Seed   uint64
	// Unchecked allows reads of elements before they are written, and sums that wrap. Both are
	// errors otherwise. Indices outside of buffers are always errors.
	Unchecked bool
	// Progress, if not nil, is called now and then with the current task.
	Progress func(done, total int, what string)
}

// InterpResult is the result of Interpret.
type InterpResult struct {
	RunResult
	Filled []string // constants that were filled from the seed
}

// ChoiceError says that a name is missing or unknown, and lists the names to choose from.
type ChoiceError struct {
	Path, What string // What is the thing to choose, e.g. "func"
	Given      string
	Names      []string
}

func (e *ChoiceError) Error() string {
	if e.Given != "" {
		return fmt.Sprintf("%s: no %s is called %q; there are %s", e.Path, e.What, e.Given, strings.Join(e.Names, ", "))
	}
	return fmt.Sprintf("%s: it has %d %ss: %s", e.Path, len(e.Names), e.What, strings.Join(e.Names, ", "))
}

// BadInput reports that the input is at fault.
func (*ChoiceError) BadInput() bool { return true }

// Interpret runs a printed program or func in the interpreter. Mistakes in the text are *ir.Errors
// with line and column.
func Interpret(ctx context.Context, r InterpRequest) (*InterpResult, error) {
	if err := models.CheckHost(r.Path); err != nil {
		return nil, err
	}
	src, err := files.ReadText(r.Path)
	if err != nil {
		return nil, &ir.Error{Pos: ir.Pos{File: r.Path}, Msg: "cannot read it", Err: files.Cause(err)}
	}
	text, err := irtext.Parse(r.Path, src)
	if err != nil {
		return nil, err
	}
	if err := r.check(text); err != nil {
		return nil, err
	}
	p, filled, err := r.program(text)
	if err != nil {
		return nil, err
	}
	if err := ir.VerifyProgram(p); err != nil {
		return nil, fmt.Errorf("%s: %w", r.Path, err)
	}
	d := codegen.Describe(codegen.Input{Program: p})
	if len(d.Outputs) == 0 {
		return nil, &ir.Error{Pos: ir.Pos{File: r.Path}, Msg: "nothing in it is an output"}
	}
	for _, t := range d.Outputs {
		if _, err := runtime.TensorBytes(t); err != nil {
			return nil, &ir.Error{Pos: ir.Pos{File: r.Path}, Err: err}
		}
	}
	run := RunRequest{Path: r.Path, Inputs: r.Inputs, Seed: r.Seed, Progress: r.Progress, Threads: 1}
	fill := tensorio.Seeded(r.Seed)
	if text.Program == nil || r.Func != "" { // a func also has weights, thresholds and indices as inputs
		random := irdata.Random(p.Funcs[0], r.Seed)
		fill = func(t describe.Tensor, _ int) ([]byte, error) {
			return random[slices.IndexFunc(p.Buffers, func(b ir.ProgBuf) bool { return b.Name == t.Name })], nil
		}
	}
	res, err := run.infer(ctx, fill, func(progress func(int, int, string)) (engine.Engine, error) {
		checks := interp.All()
		if r.Unchecked {
			checks = interp.Checks{}
		}
		return engine.InterpretWith(p, d, checks, progress), nil
	})
	if undefined := (*interp.RuntimeError)(nil); errors.As(err, &undefined) {
		err = &ir.Error{Pos: ir.Pos{File: r.Path}, Err: err} // the text is at fault
	}
	if err != nil {
		return nil, err
	}
	return &InterpResult{*res, filled}, nil
}

// maxInterpBytes bounds the buffers of an interpreted network.
const maxInterpBytes = 8 << 30

// check fails if text holds no program, or one that needs more than maxInterpBytes.
func (r InterpRequest) check(text *irtext.File) error {
	if text.Program == nil && len(text.Funcs) == 0 {
		return &ir.Error{Pos: ir.Pos{File: r.Path}, Msg: "there is neither a program nor a func in it"}
	}
	large := func(node string, bytes int64) error {
		return &ir.Error{Pos: ir.Pos{File: r.Path}, Node: node, Msg: fmt.Sprintf("its buffers have %d bytes; at most %d are possible", bytes, int64(maxInterpBytes))}
	}
	if p := text.Program; p != nil && r.Func == "" {
		var sum int64
		for _, b := range p.Buffers {
			if sum += int64(b.Bytes()); sum > maxInterpBytes {
				return large("program @"+p.Name, sum)
			}
		}
	}
	for _, f := range text.Funcs {
		var sum int64
		for _, q := range f.Params {
			if sum += int64(q.Bytes()); sum > maxInterpBytes {
				return large("@"+f.Name, sum)
			}
		}
	}
	return nil
}

// program returns the text's program with its constants, or a program of one func.
func (r InterpRequest) program(text *irtext.File) (p *ir.Program, filled []string, err error) {
	if text.Program != nil && r.Func == "" {
		if r.SO == "" {
			filled, err = irdata.FillConstants(text.Program, r.Seed)
			return text.Program, filled, err
		}
		data, err := constants.Named(r.SO, text.ConstHash)
		if err == nil {
			err = text.Bind(data)
		}
		if err != nil {
			return nil, nil, err
		}
		return text.Program, nil, nil
	}
	c := &ChoiceError{Path: r.Path, What: "func", Given: r.Func}
	for _, f := range text.Funcs {
		if f.Name == r.Func || r.Func == "" && len(text.Funcs) == 1 {
			p, err := compile.Alone(f, compile.KernelOptions{Constants: map[string][]byte{}})
			return p, nil, err
		}
		c.Names = append(c.Names, f.Name)
	}
	return nil, nil, c
}

// VerifyRequest asks for a comparison.
type VerifyRequest struct {
	Path    string  // model
	SO      string  // an artifact made of it earlier; "" compiles the model
	Options Options // Emit is ignored; with SO, Target may be left out
	Seed    uint64  // of the inputs
	// Inputs name files as RunRequest.Inputs does, and every inference in them is compared.
	// Without, the network runs on random inputs, then on those of verify.Further: hard numbers,
	// and ties.
	Inputs []string
	// Layer, if not "", is the one layer to compare, built by itself. SO and Inputs must be empty
	// then.
	Layer    string
	Threads  int
	On       string                             // as in RunRequest
	Limit    time.Duration                      // of a stage under simulation, or on another machine; 0 is a minute
	Progress func(done, total int, what string) // may be nil
	Watch    func(*VerifyReport, *VerifyRunning)
}

// VerifyReport is the result of Verify. VerifyRequest.Watch is called with it and VerifyRunning
// (verify.Input.Watch).
type (
	VerifyReport  = verify.Report
	VerifyRunning = verify.Running
	VerifyCrash   = verify.Crash
)

// Verify compares compiled code with the model's definition bit for bit, stage by stage and as a
// whole. Native code that crashes ends the process, so the command calls Verify in a child process.
func Verify(ctx context.Context, r VerifyRequest) (*VerifyReport, error) {
	progress := func(done, total int, what string) {
		if r.Progress != nil {
			r.Progress(done, total, what)
		}
	}
	in, err := r.input(ctx, progress)
	if err != nil {
		return nil, err
	}
	in.Threads, in.Limit, in.Watch, in.Elsewhere = r.Threads, r.Limit, r.Watch, reachMachine(ctx, r.On)
	in.Progress = func(done, total int, stage string) { progress(done, total, "verifying "+stage) }
	return verify.Verify(ctx, in)
}

// input returns the code that r asks for, its definition, and the inputs for both.
func (r VerifyRequest) input(ctx context.Context, progress func(done, total int, what string)) (verify.Input, error) {
	var none verify.Input
	if r.Layer != "" {
		u, err := buildUnit(ctx, r.Path, r.Layer, r.Options, progress)
		if err != nil {
			return none, err
		}
		return verify.KernelInput(u, r.Seed), nil
	}
	if IsArtifact(r.Path) {
		return none, &ArtifactError{Path: r.Path, For: ToVerify}
	}
	o := r.Options
	o.Emit = []codegen.Kind{codegen.Runnable}
	o.Progress = func(done, total int) { progress(done, total, "compiling") }
	if r.SO != "" {
		d, err := runtime.ReadDescription(r.SO)
		if err != nil {
			return none, err
		}
		if o.Emit = nil; o.Target == "" {
			o.Target = d.Target
		}
		if o.Target != d.Target {
			return none, &TargetError{Path: r.SO, Target: d.Target, Want: o.Target}
		}
	}
	c, err := Compile(ctx, r.Path, o)
	if err != nil {
		return none, err
	}
	tensors := codegen.Describe(codegen.Input{Program: c.Program}).Inputs
	feed, err := tensorio.Load(tensors, r.Inputs, tensorio.Seeded(r.Seed))
	if err != nil {
		return none, err
	}
	in := verify.BuiltInput(&c.Built)
	in.SO, in.Inputs = r.SO, feed.Run(0)
	for k := 1; k < feed.Runs; k++ {
		in.More = append(in.More, verify.Set{Name: fmt.Sprintf("run %d of the given inputs", k+1), Inputs: feed.Run(k)})
	}
	if len(r.Inputs) == 0 {
		in.More = verify.Further(c.Program, feed.Run(0), r.Seed)
	}
	return in, nil
}

// VerifyTimedOut returns the VerifyCrash.How of a stage that takes longer than limit.
func VerifyTimedOut(limit time.Duration) string { return verify.TimedOut(limit) }
