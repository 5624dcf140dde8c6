package bareboard

import (
	"bytes"
	"cmp"
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ripc/engine/simulate"
	"ripc/internal/abi"
	"ripc/internal/files"
	"ripc/internal/human"
	"ripc/runtime"
	"ripc/runtime/describe"
	"ripc/targets/boards"
)

// Options say how to run a program.
type Options struct {
	// FlushToZero runs it with a float unit that flushes subnormals to zero, else with IEEE
	// arithmetic. Results must not depend on that: the network's own code follows the definition.
	FlushToZero bool
	// Count makes the simulator execute one instruction a nanosecond of the board's time, so that
	// the board's clock counts them: see Result.Instructions.
	Count bool
}

// Job is one call of the network's entry points. The jobs of a batch run one after the other, on
// the same memory.
type Job struct {
	First, Last int     // stages First..Last-1
	Whole       bool    // by NAME_run, else by NAME_run_stages
	Bring       *Memory // initial memory; nil continues with the current one
	Keep        bool    // asks for Result.Memory
}

// Memory is the contents of all buffers.
type Memory struct {
	Inputs, Outputs [][]byte
	Workspace       []byte
}

// Result is the result of a job.
type Result struct {
	Memory *Memory // if Keep asked for it
	// Stack is the number of bytes of stack that the whole batch took.
	Stack int64
	// Instructions is the number of executed instructions, with Options.Count. Without
	// Machine.Profile it is exact to some 100. With it, it is exact, and leaves out the job loop
	// itself.
	Instructions uint64
	Profile      *simulate.Profile // after Machine.Profile; addresses are those of the program
}

// Machine is a program ready to run on its simulated board.
type Machine struct {
	path      string
	o         Options
	board     boards.Board
	desc      *describe.Artifact
	footprint Footprint
	sizes     []int // of buffers: inputs, outputs, workspace
	qemu      string
	plugin    []byte   // nil before Machine.Profile
	marks     []string // the plugin's arguments
}

// IsProgram reports whether the artifact at path is a program for a board, which Open takes, and no
// library: code in C for a chip may have been compiled for other machines, too.
func IsProgram(path string, d *describe.Artifact) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	_, ok := boards.Of(d.Target)
	return ok && f.Type == elf.ET_EXEC
}

// Open takes a program that Build made. It fails with *runtime.FileError or *runtime.FormatError if
// it is none, and with *ToolError if there is no simulator.
func Open(path string, o Options) (*Machine, error) {
	d, err := runtime.ReadDescription(path)
	if err != nil {
		return nil, err
	}
	m := &Machine{path: path, o: o, desc: d}
	var ok bool
	if m.board, ok = boards.Of(d.Target); !ok {
		return nil, &runtime.FileError{Path: path, Msg: "no board is known for " + d.Target}
	}
	if m.footprint, err = readFootprint(path); err != nil {
		return nil, &runtime.FileError{Path: path, Msg: "not a program for a board", Err: err}
	}
	for _, side := range [][]describe.Tensor{d.Inputs, d.Outputs} {
		for _, t := range side {
			n, err := runtime.TensorBytes(t)
			if err != nil {
				return nil, &runtime.FileError{Path: path, Msg: "the description is wrong", Err: err}
			}
			m.sizes = append(m.sizes, n)
		}
	}
	m.sizes = append(m.sizes, cmp.Or(int(d.WorkspaceBytes(1)), abi.Align)) // as NAME_WORKSPACE_BYTES
	m.qemu, err = findTool(m.board.Simulator, "to run programs for "+d.Target)
	return m, err
}

// Profile makes a plugin of the simulator count from now on which instructions the network
// executes: see Result.Profile. It fails with *runtime.FileError, or as simulate.Counter does;
// instructions are counted as before then.
func (m *Machine) Profile() (err error) {
	if m.marks, err = readMarks(m.path); err != nil {
		return &runtime.FileError{Path: m.path, Msg: "not a program for a board", Err: err}
	}
	m.plugin, err = simulate.Counter(context.Background(), m.qemu)
	return err
}

// Listing is the program disassembled, as objdump -d prints it. It fails with *ToolError if the
// board's disassembler is missing.
func (m *Machine) Listing(ctx context.Context) ([]byte, error) {
	tool, err := findTool(m.board.Disassembler, "to tell the instructions of "+m.desc.Target)
	if err != nil {
		return nil, err
	}
	ctx, end := files.LimitTool(ctx, m.board.Disassembler)
	defer end()
	out, err := exec.CommandContext(ctx, tool, "-d", m.path).Output()
	if err != nil {
		return nil, fmt.Errorf("bareboard: %s: %w", m.board.Disassembler, cmp.Or(ctx.Err(), err))
	}
	return out, nil
}

// Description returns the network's description. The caller must not change it.
func (m *Machine) Description() *describe.Artifact { return m.desc }

// Footprint returns the memory that the program takes.
func (m *Machine) Footprint() Footprint { return m.footprint }

// Board is where it runs.
func (m *Machine) Board() boards.Board { return m.board }

// Flags of a job, and the status of a program (firmware/jobs.c, firmware/board.h).
const (
	bring = 1
	keep  = 2
	whole = 4

	endFault = 100
	endFiles = 101
)

// Run runs the jobs on a board that was just switched on, and returns a Result for each. It fails
// with *RunError if the program ends early, with *runtime.StatusError (wrapped) if a job returns
// non-zero, and with *OverrunError if the network wrote outside its buffers. If ctx ends first, it
// ends the simulation and fails with ctx's error.
func (m *Machine) Run(ctx context.Context, jobs []Job) ([]Result, error) {
	if len(jobs) == 0 {
		return nil, nil
	}
	text, err := m.encode(jobs)
	if err != nil {
		return nil, err
	}
	dir, remove, err := files.TempDir("")
	if err != nil {
		return nil, fmt.Errorf("bareboard: %w", err)
	}
	defer remove()
	if err := os.WriteFile(filepath.Join(dir, "jobs"), text, 0o600); err != nil {
		return nil, fmt.Errorf("bareboard: %w", err)
	}
	if err := m.simulate(ctx, dir, len(jobs)); err != nil {
		return nil, err
	}
	got, err := os.ReadFile(filepath.Join(dir, "results"))
	if err != nil {
		return nil, fmt.Errorf("bareboard: %w", err)
	}
	results, err := m.decode(jobs, got)
	if err != nil || m.plugin == nil {
		return results, err
	}
	profiles, err := simulate.ReadProfiles(filepath.Join(dir, "counts"), len(jobs), 0, math.MaxUint64)
	if err != nil {
		return nil, err
	}
	for k, p := range profiles {
		results[k].Profile, results[k].Instructions = p, p.Instructions()
	}
	return results, nil
}

// simulate runs the program in dir. The number of its jobs sets the time limit.
func (m *Machine) simulate(ctx context.Context, dir string, jobs int) error {
	path, err := filepath.Abs(m.path)
	if err != nil {
		return fmt.Errorf("bareboard: %w", err)
	}
	args := []string{"-M", m.board.Machine, "-display", "none", "-monitor", "none", "-serial", "none",
		"-semihosting-config", "enable=on,target=native", "-kernel", path}
	if m.o.Count {
		args = append(args, "-icount", "shift=0,sleep=off")
	}
	env := os.Environ()
	if m.plugin != nil {
		if err := files.WriteProgram(filepath.Join(dir, "count.so"), m.plugin); err != nil {
			return fmt.Errorf("bareboard: %w", err)
		}
		args = append(args, "-plugin", strings.Join(append([]string{"./count.so"}, m.marks...), ","))
		env = append(env, simulate.CountVariable+"=counts")
	}
	task := fmt.Sprintf("%s to run %s of %s", filepath.Base(m.qemu), human.Count(jobs, "job"), m.path)
	late := files.LimitOf(ctx, task, jobs)
	ctx, end := context.WithTimeoutCause(ctx, late.Limit, late)
	defer end()
	cmd := exec.CommandContext(ctx, m.qemu, args...)
	var out bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = dir, env, &out, &out, 5*time.Second
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%s: simulation stopped: %w", m.path, files.Stopped(ctx))
	case !errors.As(err, &exit):
		return fmt.Errorf("%s: cannot start %s: %w", m.path, m.qemu, err)
	}
	e := &RunError{Path: m.path, Code: exit.ExitCode(), Output: head(out.String())}
	switch e.Code {
	case endFault:
		e.Hint = "an access outside of all memory, or an instruction that the chip does not have"
	case endFiles:
		e.Hint = "the program could not read its jobs or write its results"
	}
	return e
}

// encode writes the file of jobs.
func (m *Machine) encode(jobs []Job) ([]byte, error) {
	var settings uint32
	if m.o.FlushToZero {
		settings = m.board.FlushToZero
	}
	text := binary.LittleEndian.AppendUint32(nil, settings)
	text = binary.LittleEndian.AppendUint32(text, uint32(len(jobs)))
	for k, j := range jobs {
		fail := func(format string, args ...any) error {
			return fmt.Errorf("%s: job %d: %s", m.path, k, fmt.Sprintf(format, args...))
		}
		if n := len(m.desc.Stages); j.First < 0 || j.Last < j.First || j.Last > n {
			return nil, fail("stages %d to %d; 0 <= first <= last <= %d", j.First, j.Last, n)
		}
		var what uint32
		for _, bit := range []struct {
			set bool
			bit uint32
		}{{j.Bring != nil, bring}, {j.Keep, keep}, {j.Whole, whole}} {
			if bit.set {
				what |= bit.bit
			}
		}
		for _, x := range []uint32{what, uint32(j.First), uint32(j.Last)} {
			text = binary.LittleEndian.AppendUint32(text, x)
		}
		if j.Bring == nil {
			continue
		}
		buffers := j.Bring.buffers()
		if len(buffers) != len(m.sizes) {
			return nil, fail("%d inputs and outputs, %d needed", len(buffers)-1, len(m.sizes)-1)
		}
		for i, data := range buffers {
			if len(data) != m.sizes[i] {
				return nil, fail("%s has %d bytes, %d needed", m.bufferName(i), len(data), m.sizes[i])
			}
			text = append(text, data...)
		}
	}
	return text, nil
}

// decode reads the file of results.
func (m *Machine) decode(jobs []Job, text []byte) ([]Result, error) {
	short := fmt.Errorf("%s: the program on the board left %d bytes of results, which is too few", m.path, len(text))
	take := func(n int) []byte {
		if n > len(text) {
			return nil
		}
		var b []byte
		b, text = text[:n:n], text[n:]
		return b
	}
	if len(text) < 4 {
		return nil, short
	}
	stack := int64(binary.LittleEndian.Uint32(text[len(text)-4:]))
	if stack >= m.footprint.Stack { // the results are invalid even without a fault
		return nil, &OverrunError{Path: m.path, What: "the stack", Job: -1}
	}
	results := make([]Result, len(jobs))
	for k, j := range jobs {
		results[k].Stack = stack
		b := take(16)
		if b == nil {
			return nil, short
		}
		if status := binary.LittleEndian.Uint32(b); status != abi.OK {
			return nil, fmt.Errorf("%s: job %d: %w", m.path, k,
				&runtime.StatusError{Name: m.desc.Name, Code: int(status)})
		}
		if spoiled := binary.LittleEndian.Uint32(b[4:]); spoiled < uint32(len(m.sizes)) {
			return nil, &OverrunError{Path: m.path, What: m.bufferName(int(spoiled)), Job: k}
		}
		if m.o.Count {
			results[k].Instructions = binary.LittleEndian.Uint64(b[8:]) * uint64(1e9/m.board.ClockHz)
		}
		if !j.Keep {
			continue
		}
		buffers := make([][]byte, len(m.sizes))
		for i, n := range m.sizes {
			if buffers[i] = take(n); buffers[i] == nil {
				return nil, short
			}
		}
		outputs := len(m.desc.Inputs) + len(m.desc.Outputs)
		results[k].Memory = &Memory{Inputs: buffers[:len(m.desc.Inputs)], Outputs: buffers[len(m.desc.Inputs):outputs],
			Workspace: buffers[outputs]}
	}
	if len(text) != 4 {
		return nil, fmt.Errorf("%s: the program on the board left %d bytes of results too many", m.path, len(text)-4)
	}
	return results, nil
}

// buffers lists all buffers in the program's order.
func (m *Memory) buffers() [][]byte {
	return append(slices.Concat(m.Inputs, m.Outputs), m.Workspace)
}

// bufferName names buffer i in messages.
func (m *Machine) bufferName(i int) string {
	switch n := len(m.desc.Inputs); {
	case i < n:
		return fmt.Sprintf("input %d", i)
	case i < n+len(m.desc.Outputs):
		return fmt.Sprintf("output %d", i-n)
	}
	return "the workspace"
}

// NewMemory returns memory with the given inputs; all other contents come from fill, called with
// their size.
func (m *Machine) NewMemory(inputs [][]byte, fill func(n int) []byte) *Memory {
	mem := &Memory{Inputs: inputs}
	for _, n := range m.sizes[len(m.desc.Inputs) : len(m.sizes)-1] {
		mem.Outputs = append(mem.Outputs, fill(n))
	}
	mem.Workspace = fill(m.sizes[len(m.sizes)-1])
	return mem
}
