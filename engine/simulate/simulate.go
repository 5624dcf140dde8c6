package simulate

import (
	"context"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ripc/internal/files"
	"ripc/internal/tools"
	"ripc/runtime"
	"ripc/runtime/describe"
	"ripc/targets/guests"
)

// MaxThreads bounds Job.Threads.
const MaxThreads = 64

// Options say how artifacts run. The zero value simulates them.
type Options struct {
	// Count makes Run count instructions. It needs a C compiler (once) and jobs with one thread.
	Count bool
	// Direct runs artifacts of this machine without a simulator, in processes of their own.
	Direct bool
	// Through is a command and its first arguments that runs programs of this machine, where the
	// system cannot; with Direct.
	Through []string
	// Program is the program that runs jobs, as the function Program returns it; nil means that it
	// is found or built.
	Program []byte
}

// Job is one call of NAME_run_stages. The jobs of a batch run one after the other.
type Job struct {
	// Inputs holds the bytes of each input. Slices that several jobs have in common are stored
	// once.
	Inputs [][]byte
	// Continue makes the job go on with inputs, outputs and workspace of the job before; Inputs
	// must be nil then.
	Continue bool
	// First and Last bound the stages: First..Last-1.
	First, Last int
	// Threads is 1 to MaxThreads.
	Threads int
	// Workspace, if not nil, is copied to the start of a workspace of the job's own. Jobs without
	// it share one, which starts out as zeros and keeps its contents from job to job.
	Workspace []byte
	// Outputs, if not nil, are the initial contents of the outputs; else they start out as zeros.
	Outputs [][]byte
	// Keep asks for all memory as it is after the job, not for the outputs alone.
	Keep bool
	// Discard leaves the outputs out of the result.
	Discard bool
	// Time asks how long the job takes, which is for artifacts that are not simulated.
	Time bool

	samples int   // room for that many, for Start
	cold    int64 // bytes to touch before each sample
}

// Result is the result of one job.
type Result struct {
	// Outputs holds the bytes of each output as they are after the job.
	Outputs [][]byte
	// Inputs and Workspace are set for Job.Keep. A machine behind ssh does not send its inputs.
	Inputs    [][]byte
	Workspace []byte
	// Instructions counts those that the artifact executed in this job; 0 without Options.Count.
	Instructions uint64
	// Profile counts them by piece of code; nil without Options.Count.
	Profile *Profile
	// Took and GHz are the job's time and the clock of its core directly behind it; 0 without
	// Job.Time.
	Took time.Duration
	GHz  float64
	// StackBytes is about how deep any thread's stack went in the whole batch.
	StackBytes int
}

// Machine is an artifact made ready for simulation. Its methods may be called from any goroutine.
type Machine struct {
	path   string
	desc   *describe.Artifact
	opts   Options
	guest  guests.Guest
	cpu    string
	qemu   string
	runner []byte // the guest program
	plugin []byte // counts; nil without Options.Count, and where qemu has no plugins
	prog   *program
	entry  uint64
}

// programAt is the offset of the artifact in an image, behind the runner's part.
const programAt = 1 << 16

// Open reads the artifact at path, relocates it, and finds or builds the runner. It fails with
// *runtime.FileError or *runtime.FormatError if the file is no artifact, and with *FileError if it
// cannot be simulated. It fails with *ToolError if a program is missing, and with
// *caches.FolderError if other users can write to the cache. With Options.Direct it fails with
// *runtime.ArchError or *runtime.FeatureError if this machine cannot run the artifact.
func Open(path string, opts Options) (*Machine, error) {
	desc, err := runtime.ReadDescription(path)
	if err != nil {
		return nil, err
	}
	m := &Machine{path: path, desc: desc, opts: opts}
	if opts.Direct {
		err = m.checkDirect()
	} else {
		err = m.findSimulator()
	}
	if err != nil {
		return nil, err
	}
	f, err := elf.Open(path)
	if err != nil {
		return nil, &FileError{Path: path, Msg: "not a readable ELF file", Err: err}
	}
	defer f.Close()
	if m.prog, err = loadProgram(f, m.guest, m.guest.Base+programAt); err != nil {
		return nil, &FileError{Path: path, Msg: "cannot be simulated", Err: err}
	}
	name := desc.Name + "_run_stages"
	if m.entry = m.prog.symbols[name]; m.entry == 0 {
		return nil, &FileError{Path: path, Msg: "no function " + name}
	}
	if !opts.Direct {
		if m.qemu, err = tools.Find("to run artifacts for "+m.guest.Arch, InstallQemu,
			m.guest.Qemu); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), buildTime)
	defer cancel()
	if m.runner = opts.Program; m.runner == nil {
		if m.runner, err = buildRunner(ctx, m.guest); err != nil {
			return nil, err
		}
	}
	if !opts.Count {
		return m, nil
	}
	if plugins, err := hasPlugins(ctx, m.qemu); err != nil || !plugins {
		return m, err
	}
	m.plugin, err = Counter(ctx, m.qemu)
	return m, err
}

// OpenLibrary is Open for the contents of an artifact.
func OpenLibrary(so []byte, opts Options) (*Machine, error) {
	path, remove, err := WriteLibrary(so)
	if err != nil {
		return nil, err
	}
	defer remove()
	return Open(path, opts)
}

// WriteLibrary writes the contents of a shared library to a temporary folder in tempDir, "" for the
// system's, which remove removes.
func WriteLibrary(so []byte) (path string, remove func() error, err error) {
	dir, remove, err := files.TempDir("")
	if err != nil {
		return "", nil, err
	}
	path = filepath.Join(dir, "library.so")
	if err := os.WriteFile(path, so, 0o600); err != nil {
		_ = remove()
		return "", nil, err
	}
	return path, remove, nil
}

// findSimulator finds out how the artifact is simulated.
func (m *Machine) findSimulator() error {
	if !Supports(m.desc.Arch) {
		return &FileError{Path: m.path,
			Msg: fmt.Sprintf("artifacts for %s cannot be simulated; %s can", m.desc.Arch, archNames())}
	}
	m.guest, _ = guests.Of(m.desc.Arch)
	if m.cpu = m.desc.QemuCPU; m.cpu == "" {
		return &FileError{Path: m.path, Msg: "the description has no qemu_cpu"}
	}
	return nil
}

// checkDirect checks that the artifact is of this machine.
func (m *Machine) checkDirect() error {
	var ok bool
	if err := runtime.CheckArch(m.path, m.desc.Arch); err != nil {
		return err
	}
	if m.guest, ok = guests.Of(m.desc.Arch); !ok {
		return &FileError{Path: m.path, Msg: "nothing runs artifacts for " + m.desc.Arch + " in a process of their own"}
	}
	if m.opts.Count {
		return &FileError{Path: m.path, Msg: "instructions are counted in simulation only"}
	}
	m.cpu = "this CPU"
	return runtime.CheckFeatures(m.path, m.desc.CPU, m.desc.Features)
}

// Supports reports whether artifacts of an architecture, as descriptions name it, can be simulated.
func Supports(arch string) bool {
	g, ok := guests.Of(arch)
	return ok && g.Qemu != ""
}

// archNames lists the architectures that are simulated, for messages.
func archNames() string {
	var all []string
	for _, g := range guests.All() {
		if g.Qemu != "" {
			all = append(all, g.Arch)
		}
	}
	return strings.Join(all, ", ")
}

// Program returns the program that runs artifacts for an architecture, as descriptions name it, in
// a process of that architecture. LLVM builds it, once; machines that only run artifacts need not
// have LLVM. It fails as Open does.
func Program(ctx context.Context, arch string) ([]byte, error) {
	g, ok := guests.Of(arch)
	if !ok {
		return nil, fmt.Errorf("simulate: no program runs artifacts for %q", arch)
	}
	return buildRunner(ctx, g)
}

// Description returns the artifact's description. The caller must not change it.
func (m *Machine) Description() *describe.Artifact { return m.desc }

// Stages returns the number of stages: Job.Last of a whole inference.
func (m *Machine) Stages() int { return len(m.desc.Stages) }

// Code returns n bytes of the artifact's code at an address of its file; nil if there are none.
func (m *Machine) Code(at, n uint64) []byte {
	for _, s := range m.prog.segments {
		if s.prot&4 != 0 && at >= s.offset && at-s.offset <= uint64(len(s.data)) &&
			n <= uint64(len(s.data))-(at-s.offset) {
			return s.data[at-s.offset : at-s.offset+n]
		}
	}
	return nil
}

// Pattern fills b, which it returns, with a pattern that begins with seed.
func Pattern(b []byte, seed byte) []byte {
	for i := range b {
		b[i] = byte(i)*37 ^ byte(i>>8) ^ seed
	}
	return b
}

// Filled makes initial memory for a job of an artifact: a workspace and outputs full of the pattern
// of seed.
func Filled(d *describe.Artifact, threads int, seed byte) (workspace []byte, outputs [][]byte) {
	for _, t := range d.Outputs {
		n, _ := runtime.TensorBytes(t) // ReadDescription has checked it
		outputs = append(outputs, Pattern(make([]byte, n), seed))
	}
	return Pattern(make([]byte, d.WorkspaceBytes(threads)), seed), outputs
}

// check verifies a batch before anything is laid out.
func (m *Machine) check(jobs []Job) error {
	for k, j := range jobs {
		fail := func(format string, args ...any) error {
			return fmt.Errorf("%s: job %d: %s", m.path, k, fmt.Sprintf(format, args...))
		}
		work := m.desc.WorkspaceBytes(j.Threads)
		switch {
		case j.Threads < 1 || j.Threads > MaxThreads:
			return fail("%d threads; 1 to %d are possible", j.Threads, MaxThreads)
		case m.opts.Count && j.Threads != 1:
			return fail("%d threads; instructions are counted with 1", j.Threads)
		case j.First < 0 || j.Last < j.First || j.Last > m.Stages():
			return fail("stages %d to %d; 0 <= first <= last <= %d", j.First, j.Last, m.Stages())
		case j.Continue && (k == 0 || j.Inputs != nil || j.Workspace != nil || j.Outputs != nil):
			return fail("a job that continues needs one before it, and takes its inputs, outputs and workspace from " +
				"there")
		case !j.Continue && len(j.Inputs) != len(m.desc.Inputs):
			return fail("%d inputs; there must be %d", len(j.Inputs), len(m.desc.Inputs))
		case int64(len(j.Workspace)) > work:
			return fail("%d bytes for a workspace of %d", len(j.Workspace), work)
		}
		if j.Outputs != nil && len(j.Outputs) != len(m.desc.Outputs) {
			return fail("%d outputs; there must be %d", len(j.Outputs), len(m.desc.Outputs))
		}
		for _, side := range []struct {
			what    string
			tensors []describe.Tensor
			data    [][]byte
		}{{"input", m.desc.Inputs, j.Inputs}, {"output", m.desc.Outputs, j.Outputs}} {
			for i, data := range side.data {
				t := side.tensors[i]
				if n, err := runtime.TensorBytes(t); err != nil || n != len(data) {
					return fail("%s %d (%s): %s %v needs %d bytes, there are %d", side.what, i, t.Name, t.DType,
						t.Shape, n, len(data))
				}
			}
		}
	}
	return nil
}
