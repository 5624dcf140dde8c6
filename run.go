package ripc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ripc/codegen/artifact"
	"ripc/internal/describe"
	"ripc/internal/npy"
	"ripc/ir"
	"ripc/ir/interp"
	"ripc/lower"
	"ripc/runtime"
	"ripc/simulate"
	"ripc/targets"
	"ripc/verify"
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

// Run runs a model or an artifact on its inputs, as often as they ask for (LoadInputs). Artifacts of other machines run
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
	feed, err := LoadInputs(m.inputs, r.Inputs, r.Seed)
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
		joined, data := joinRuns(t, runs[i])
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
	if g, err = fuse(g, r.Options); err != nil {
		return nil, err
	}
	p, err := lower.Program(g)
	if err != nil {
		return nil, err
	}
	d := describeProgram(p, g, nil)
	feed, err := LoadInputs(d.Inputs, r.Inputs, r.Seed)
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

// machine is an artifact, ready to run here or in simulation.
type machine struct {
	path   string
	desc   *describe.Artifact
	inputs []describe.Tensor // of desc, with what the model says of levels
	mod    *runtime.Module   // nil if simulated
	sim    *simulate.Machine // nil if native
	dir    string            // to be removed
}

// IsArtifact reports whether path is a compiled network, not a model: by its first bytes, or by its name.
func IsArtifact(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return filepath.Ext(path) == ".so"
	}
	defer f.Close()
	var magic [4]byte
	n, _ := f.Read(magic[:])
	return string(magic[:n]) == "\x7fELF" || filepath.Ext(path) == ".so"
}

// openMachine loads an artifact, or compiles a model and loads that.
func openMachine(ctx context.Context, path string, o Options, progress func(int, int, string)) (*machine, error) {
	m := &machine{path: path}
	if err := m.open(ctx, o, progress); err != nil {
		m.close()
		return nil, err
	}
	return m, nil
}

// open makes m ready. What it leaves after an error, close clears away.
func (m *machine) open(ctx context.Context, o Options, progress func(int, int, string)) error {
	path := m.path
	var levels func([]describe.Tensor) []describe.Tensor
	if !IsArtifact(path) {
		o.Emit = []artifact.Kind{artifact.SO}
		if progress != nil {
			o.Progress = func(done, total int) { progress(done, total, "compiling") }
		}
		c, err := compileChecked(ctx, path, o)
		if err != nil {
			return err
		}
		if m.dir, m.path, err = c.tempSO(); err != nil {
			return err
		}
		levels = func(ts []describe.Tensor) []describe.Tensor { return withLevels(ts, c.Graph, c.Graph.Inputs) }
	}
	var err error
	if m.desc, err = runtime.ReadDescription(m.path); err != nil {
		return err
	}
	if o.Target != "" && o.Target != m.desc.Target {
		return &ir.Error{Pos: ir.Pos{File: path}, Msg: fmt.Sprintf("was compiled for %s, not for %s", m.desc.Target, o.Target), Help: "leave --target out: an artifact knows its own"}
	}
	m.inputs = m.desc.Inputs
	if levels != nil {
		m.inputs = levels(m.inputs)
	}
	if m.desc.Arch == runtime.HostArch() {
		m.mod, err = runtime.Load(m.path)
	} else {
		m.sim, err = simulate.Open(m.path, simulate.Options{})
	}
	return err
}

// compileChecked is Compile for callers that do not look at what came out.
func compileChecked(ctx context.Context, path string, o Options) (*Compiled, error) {
	c, err := Compile(ctx, path, o)
	if err == nil {
		err = c.CheckTraces(o.Traces)
	}
	return c, err
}

// tempSO writes the shared library into a folder of its own, which the caller removes.
func (c *Compiled) tempSO() (dir, path string, err error) {
	if dir, err = os.MkdirTemp("", "ripc-"); err != nil {
		return "", "", err
	}
	path = filepath.Join(dir, artifact.Identifier(c.Graph.Name)+".so")
	return dir, path, os.WriteFile(path, c.Files[artifact.SO], 0o600)
}

func (m *machine) close() {
	if m.mod != nil {
		_ = m.mod.Close() // fails only for open sessions, which Run and Bench close first
	}
	if m.dir != "" {
		_ = os.RemoveAll(m.dir)
	}
}

// native runs all inferences in one session.
func (m *machine) native(ctx context.Context, r RunRequest, feed *Feed, runs [][][]byte, took *time.Duration) error {
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
func (m *machine) simulated(ctx context.Context, r RunRequest, feed *Feed, runs [][][]byte, took *time.Duration) error {
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

// VerifyRequest says what to compare.
type VerifyRequest struct {
	Path     string  // model
	SO       string  // an artifact made of it earlier; "" compiles the model
	Options  Options // Emit is ignored; with SO, Target may be left out
	Seed     uint64  // of the inputs
	Threads  int
	Progress func(done, total int, what string) // may be nil
}

// Verify compares compiled code with the model's definition, stage by stage and as a whole, bit for bit.
func Verify(ctx context.Context, r VerifyRequest) (*verify.Report, error) {
	if IsArtifact(r.Path) {
		return nil, &ir.Error{Pos: ir.Pos{File: r.Path}, Msg: "an artifact does not carry its definition", Help: "give the model, and the artifact with --so"}
	}
	progress := func(done, total int, what string) {
		if r.Progress != nil {
			r.Progress(done, total, what)
		}
	}
	o := r.Options
	o.Emit = []artifact.Kind{artifact.SO}
	o.Progress = func(done, total int) { progress(done, total, "compiling") }
	if r.SO != "" {
		d, err := runtime.ReadDescription(r.SO)
		if err != nil {
			return nil, err
		}
		if o.Emit = nil; o.Target == "" {
			o.Target = d.Target
		}
		if o.Target != d.Target {
			return nil, &ir.Error{Pos: ir.Pos{File: r.SO}, Msg: fmt.Sprintf("was compiled for %s, not for %s", d.Target, o.Target), Help: "leave --target out"}
		}
	}
	c, err := compileChecked(ctx, r.Path, o)
	if err != nil {
		return nil, err
	}
	so := r.SO
	if so == "" {
		dir, path, err := c.tempSO()
		defer os.RemoveAll(dir)
		if err != nil {
			return nil, err
		}
		so = path
	}
	feed, err := LoadInputs(describeProgram(c.Program, c.Graph, nil).Inputs, nil, r.Seed)
	if err != nil {
		return nil, err
	}
	return verify.Verify(ctx, verify.Input{
		Program: c.Program, Scheduled: c.Scheduled, SO: so, Threads: r.Threads, Inputs: feed.Run(0),
		Progress: func(done, total int, stage string) { progress(done, total, "verifying "+stage) },
	})
}

// IsBadInput reports whether err is a mistake in what the user gave (a model, a file, a name), not a failure of ripc or
// of what it needs.
func IsBadInput(err error) bool {
	if err == nil || strings.HasPrefix(err.Error(), "internal error") {
		return false
	}
	return is[*ir.Error](err) || is[*npy.Error](err) || is[*artifact.KindError](err) || is[*targets.UnknownTargetError](err) ||
		is[*runtime.FileError](err) || is[*runtime.FormatError](err) || is[*simulate.FileError](err)
}

func is[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}
