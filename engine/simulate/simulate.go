package simulate

import (
	"context"
	"debug/elf"
	"fmt"

	"ripc/runtime"
	"ripc/runtime/describe"
	"ripc/targets/guests"
)

// MaxThreads bounds Job.Threads.
const MaxThreads = 64

// Options say where things are. The zero value finds everything by itself.
type Options struct {
	// CPU overrides the artifact's own QemuCPU (qemu's -cpu). One of the two must be given: qemu's default CPU has
	// instructions that boards do not have.
	CPU string
	// Qemu, LLVMMC, LLD and CC are paths of programs. Empty ones are looked for on PATH, those of LLVM where package
	// toolchain finds them: in $RIPC_LLVM_BIN, or on PATH and in LLVM's own folder.
	Qemu, LLVMMC, LLD, CC string
	// CacheDir holds what is built once; empty means the folder simulate in $RIPC_CACHE_DIR, or ripc/simulate in
	// the user's cache folder, or, for a user without one, that it is built each time.
	CacheDir string
	// TempDir holds image files and programs while they run, in folders of this process's own; empty means the system's.
	TempDir string
	// Count makes Run count instructions. It needs a C compiler (once) and jobs with one thread.
	Count bool
}

// Range is a piece of the workspace, in bytes.
type Range struct{ Offset, Size int64 }

// Job is one call of NAME_run_stages. The jobs of a batch run one after the other.
type Job struct {
	// Inputs holds the bytes of each input. Slices that several jobs have in common are stored once.
	Inputs [][]byte
	// Continue makes the job go on with inputs, outputs and workspace of the job before; Inputs must be nil then.
	Continue bool
	// First and Last bound the stages: First..Last-1.
	First, Last int
	// Threads is 1 to MaxThreads.
	Threads int
	// Workspace, if not nil, is copied to the start of a workspace of the job's own. Jobs without it share one, which
	// starts out as zeros and keeps what the job before left there.
	Workspace []byte
	// Outputs, if not nil, is what the outputs hold at the start; else they start out as zeros.
	Outputs [][]byte
	// KeepWorkspace asks for the whole workspace as it is after the job, Capture for pieces of it.
	KeepWorkspace bool
	Capture       []Range
}

// Result is what one job left.
type Result struct {
	// Outputs holds the bytes of each output as they are after the job.
	Outputs [][]byte
	// Workspace is set for KeepWorkspace; Captured holds one piece for each Range of Capture.
	Workspace []byte
	Captured  [][]byte
	// Instructions counts those that the artifact executed in this job; 0 without Options.Count.
	Instructions uint64
	// Profile says which they were; nil without Options.Count.
	Profile *Profile
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
	plugin []byte // nil without Options.Count
	prog   *program
	entry  uint64
}

// programAt is the offset of the artifact in an image; what is before belongs to the runner.
const programAt = 1 << 16

// Open reads the artifact at path, relocates it, and finds or builds the runner. It fails with *runtime.FileError or
// *runtime.FormatError if the file is no artifact, with *FileError if it cannot be simulated, with *ToolError if a
// program is missing, and with *toolchain.FolderError if others can write to the cache.
func Open(path string, opts Options) (*Machine, error) {
	desc, err := runtime.ReadDescription(path)
	if err != nil {
		return nil, err
	}
	m := &Machine{path: path, desc: desc, opts: opts, cpu: opts.CPU}
	var ok bool
	if m.guest, ok = guests.Of(desc.Arch); !ok {
		return nil, &FileError{Path: path, Msg: fmt.Sprintf("artifacts for %s cannot be simulated; %s can", desc.Arch, archNames())}
	}
	if m.cpu == "" {
		m.cpu = desc.QemuCPU
	}
	if m.cpu == "" {
		return nil, &FileError{Path: path, Msg: "the description has no qemu_cpu; set Options.CPU"}
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
	if m.qemu, err = findTool(opts.Qemu, "to run artifacts for "+m.guest.Arch, "apt-get install qemu-user", m.guest.Qemu); err != nil {
		return nil, err
	}
	ctx := context.Background() // a fraction of a second, once a machine
	if m.runner, err = opts.buildRunner(ctx, m.guest); err != nil {
		return nil, err
	}
	if opts.Count {
		if m.plugin, err = opts.buildCounter(ctx, m.qemu); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Supports reports whether artifacts of an architecture, as descriptions name it, can be simulated.
func Supports(arch string) bool {
	_, ok := guests.Of(arch)
	return ok
}

// archNames lists the architectures for messages.
func archNames() string {
	s := ""
	for i, g := range guests.All() {
		if i > 0 {
			s += ", "
		}
		s += g.Arch
	}
	return s
}

// Description returns what the artifact says of itself. The caller must not change it.
func (m *Machine) Description() *describe.Artifact { return m.desc }

// Stages returns the number of stages: Job.Last of a whole inference.
func (m *Machine) Stages() int { return len(m.desc.Stages) }

// Code returns n bytes of the artifact's code at an address of its file; nil if there are none.
func (m *Machine) Code(at, n uint64) []byte {
	for _, s := range m.prog.segments {
		if s.prot&4 != 0 && at >= s.offset && at-s.offset <= uint64(len(s.data)) && n <= uint64(len(s.data))-(at-s.offset) {
			return s.data[at-s.offset : at-s.offset+n]
		}
	}
	return nil
}

// workspaceBytes returns the size of the workspace of n threads.
func (m *Machine) workspaceBytes(n int) int64 {
	return m.desc.ArenaBytes + int64(n)*m.desc.ScratchBytes
}

// check verifies a batch before anything is laid out.
func (m *Machine) check(jobs []Job) error {
	for k, j := range jobs {
		fail := func(format string, args ...any) error {
			return fmt.Errorf("%s: job %d: %s", m.path, k, fmt.Sprintf(format, args...))
		}
		work := m.workspaceBytes(j.Threads)
		switch {
		case j.Threads < 1 || j.Threads > MaxThreads:
			return fail("%d threads; 1 to %d are possible", j.Threads, MaxThreads)
		case m.opts.Count && j.Threads != 1:
			return fail("%d threads; instructions are counted with 1", j.Threads)
		case j.First < 0 || j.Last < j.First || j.Last > m.Stages():
			return fail("stages %d to %d; 0 <= first <= last <= %d", j.First, j.Last, m.Stages())
		case j.Continue && (k == 0 || j.Inputs != nil || j.Workspace != nil || j.Outputs != nil):
			return fail("a job that continues needs one before it, and takes its inputs, outputs and workspace from there")
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
					return fail("%s %d (%s): %s %v needs %d bytes, there are %d", side.what, i, t.Name, t.DType, t.Shape, n, len(data))
				}
			}
		}
		for _, r := range j.Capture {
			if r.Offset < 0 || r.Size < 0 || r.Offset > work || r.Size > work-r.Offset {
				return fail("capture of %d bytes at %d; the workspace has %d", r.Size, r.Offset, work)
			}
		}
	}
	return nil
}
