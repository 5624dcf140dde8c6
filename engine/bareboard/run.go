package bareboard

import (
	"bytes"
	"cmp"
	"context"
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
	// the board's clock counts them in a Result's Instructions. Without Machine.Profile that is
	// exact to some 100. With it, it is exact, and leaves out the job loop itself.
	Count bool
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
// executes: see a Result's Profile. It fails with *runtime.FileError, or as simulate.Counter does;
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

// Run runs the jobs on a board that was just switched on, and returns a Result for each. They run
// on one memory and with one thread, in which a job of all stages is a run of NAME_run. It fails
// as simulate.Machine.Run does.
func (m *Machine) Run(ctx context.Context, jobs []simulate.Job) ([]simulate.Result, error) {
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
	e := &simulate.RunError{Path: m.path, Job: -1, Status: fmt.Sprintf("exit code %d", exit.ExitCode()),
		Output: head(out.String())}
	switch exit.ExitCode() {
	case endFault:
		e.Hint = "an access outside of all memory, or an instruction that the chip does not have"
	case endFiles:
		e.Hint = "the program could not read its jobs or write its results"
	}
	return e
}

// encode writes the jobs as firmware/jobs.c reads them.
func (m *Machine) encode(jobs []simulate.Job) ([]byte, error) {
	var settings uint32
	if m.o.FlushToZero {
		settings = m.board.FlushToZero
	}
	words := func(text []byte, all ...uint32) []byte {
		for _, w := range all {
			text = binary.LittleEndian.AppendUint32(text, w)
		}
		return text
	}
	text := words(nil, settings, uint32(len(jobs)))
	for k, j := range jobs {
		fail := func(format string, args ...any) error {
			return fmt.Errorf("%s: job %d: %s", m.path, k, fmt.Sprintf(format, args...))
		}
		n := len(m.desc.Stages)
		if j.First < 0 || j.Last < j.First || j.Last > n {
			return nil, fail("stages %d to %d; 0 <= first <= last <= %d", j.First, j.Last, n)
		}
		var what uint32
		if !j.Continue {
			what |= bring
		}
		if isKept(j) {
			what |= keep
		}
		if j.First == 0 && j.Last == n {
			what |= whole
		}
		text = words(text, what, uint32(j.First), uint32(j.Last))
		if j.Continue {
			continue
		}
		if len(j.Inputs) != len(m.desc.Inputs) {
			return nil, fail("%d inputs, %d needed", len(j.Inputs), len(m.desc.Inputs))
		}
		outputs := j.Outputs
		if outputs == nil {
			outputs = make([][]byte, len(m.desc.Outputs))
		}
		for i, data := range append(slices.Concat(j.Inputs, outputs), j.Workspace) {
			if data == nil || i == len(m.sizes)-1 { // zeros
				data = append(data[:len(data):len(data)], make([]byte, max(0, m.sizes[i]-len(data)))...)
			}
			if len(data) != m.sizes[i] {
				return nil, fail("%s has %d bytes, %d needed", m.bufferName(i), len(data), m.sizes[i])
			}
			text = append(text, data...)
		}
	}
	return text, nil
}

// isKept reports whether j leaves the contents of all buffers.
func isKept(j simulate.Job) bool { return j.Keep || !j.Discard }

// decode reads the results.
func (m *Machine) decode(jobs []simulate.Job, text []byte) ([]simulate.Result, error) {
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
	stack := int(binary.LittleEndian.Uint32(text[len(text)-4:]))
	if int64(stack) >= m.footprint.Stack { // the results are invalid even without a fault
		return nil, &simulate.OverrunError{Path: m.path, What: "the stack"}
	}
	results := make([]simulate.Result, len(jobs))
	for k, j := range jobs {
		r := &results[k]
		r.StackBytes = stack
		b := take(16)
		if b == nil {
			return nil, short
		}
		if status := binary.LittleEndian.Uint32(b); status != abi.OK {
			return nil, fmt.Errorf("%s: job %d: %w", m.path, k,
				&runtime.StatusError{Name: m.desc.Name, Code: int(status)})
		}
		if spoiled := binary.LittleEndian.Uint32(b[4:]); spoiled < uint32(len(m.sizes)) {
			return nil, &simulate.OverrunError{Path: m.path,
				What: fmt.Sprintf("%s of job %d", m.bufferName(int(spoiled)), k)}
		}
		if m.o.Count {
			r.Instructions = binary.LittleEndian.Uint64(b[8:]) * uint64(1e9/m.board.ClockHz)
		}
		if !isKept(j) {
			continue
		}
		buffers := make([][]byte, len(m.sizes))
		for i, n := range m.sizes {
			if buffers[i] = take(n); buffers[i] == nil {
				return nil, short
			}
		}
		outputs := len(m.desc.Inputs) + len(m.desc.Outputs)
		r.Inputs, r.Outputs, r.Workspace = buffers[:len(m.desc.Inputs)], buffers[len(m.desc.Inputs):outputs],
			buffers[outputs]
	}
	if len(text) != 4 {
		return nil, fmt.Errorf("%s: the program on the board left %d bytes of results too many", m.path, len(text)-4)
	}
	return results, nil
}

// bufferName names a buffer for people.
func (m *Machine) bufferName(i int) string {
	switch n := len(m.desc.Inputs); {
	case i < n:
		return fmt.Sprintf("input %d", i)
	case i < n+len(m.desc.Outputs):
		return fmt.Sprintf("output %d", i-n)
	}
	return "the workspace"
}
