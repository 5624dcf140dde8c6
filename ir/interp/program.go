package interp

import (
	"bytes"
	"context"
	"fmt"

	"ripc/ir"
)

// Options are those of RunProgram; the zero value is fine.
type Options struct {
	Checks Checks
	// Observe is called after each stage with the contents of all buffers by name. They are the
	// live ones: read, or copy.
	Observe func(stage int, name string, bufs map[string][]byte)
	// Progress is called before each stage, and once more with done == total at the end.
	Progress func(done, total int, name string)
}

// RunProgram runs the stages of p in order. inputs are the contents of p's input buffers in their
// order; the result is that of the output buffers. Each buffer has memory of its own, so a wrong
// arena plan does no harm here. Padding bits of encoded inputs are cleared first.
func RunProgram(ctx context.Context, p *ir.Program, inputs [][]byte, opt Options) (outputs [][]byte, err error) {
	m := NewMachine(p, opt.Checks)
	if err := m.Start(inputs); err != nil {
		return nil, err
	}
	for i, s := range p.Stages {
		if opt.Progress != nil {
			opt.Progress(i, len(p.Stages), s.Name)
		}
		if err := m.Stage(ctx, i); err != nil {
			return nil, err
		}
		if opt.Observe != nil {
			opt.Observe(i, s.Name, m.Memory)
		}
	}
	if opt.Progress != nil {
		opt.Progress(len(p.Stages), len(p.Stages), "")
	}
	return m.Outputs(), nil
}

// Machine runs a Program stage by stage. It must not be used concurrently.
type Machine struct {
	// Memory holds the live contents of all buffers, by name; nil before Start.
	Memory   map[string][]byte
	program  *ir.Program
	index    ir.Index // of program
	checks   Checks
	compiled map[*ir.Func]*Compiled // those needed so far
}

// NewMachine returns a Machine for p with these checks.
func NewMachine(p *ir.Program, checks Checks) *Machine {
	return &Machine{program: p, index: p.Index(), checks: checks, compiled: map[*ir.Func]*Compiled{}}
}

// Start brings inputs, the contents of the Program's input buffers in order, and fresh memory for
// everything else. It fails with *ir.Error if the inputs do not fit.
func (m *Machine) Start(inputs [][]byte) error {
	mem, err := memory(m.program, inputs)
	m.Memory = mem
	return err
}

// Stage runs stage i on the current memory. It fails with *ir.Error if the stage does not fit its
// Func, and as Compiled.Run does.
func (m *Machine) Stage(ctx context.Context, i int) error {
	s := m.program.Stages[i]
	f := m.index.Func(s.Func)
	args, err := stageArgs(m.index, s, f, m.Memory)
	if err != nil {
		return err
	}
	if m.compiled[f] == nil {
		if m.compiled[f], err = CompileWith(f, m.checks); err != nil {
			return fmt.Errorf("stage %q: %w", s.Name, err)
		}
	}
	if err := m.compiled[f].Run(ctx, args); err != nil {
		return fmt.Errorf("stage %q: %w", s.Name, err)
	}
	return nil
}

// Outputs returns the live contents of the output buffers, in order.
func (m *Machine) Outputs() [][]byte { return m.kind(ir.OutputBuf) }

// Inputs returns the live contents of the input buffers, in order.
func (m *Machine) Inputs() [][]byte { return m.kind(ir.InputBuf) }

// kind lists the contents of buffers of one kind.
func (m *Machine) kind(k ir.BufKind) [][]byte {
	var all [][]byte
	for _, b := range m.program.Buffers {
		if b.Kind == k {
			all = append(all, m.Memory[b.Name])
		}
	}
	return all
}

// memory returns the initial contents of each buffer of p.
func memory(p *ir.Program, inputs [][]byte) (map[string][]byte, error) {
	bad := func(format string, args ...any) error {
		return &ir.Error{Node: "program @" + p.Name, Msg: fmt.Sprintf(format, args...)}
	}
	mem := map[string][]byte{}
	used := 0
	for _, b := range p.Buffers {
		if _, dup := mem[b.Name]; dup {
			return nil, bad("two buffers are called %%%s", b.Name)
		}
		var data []byte
		switch b.Kind {
		case ir.InputBuf:
			if used == len(inputs) {
				return nil, bad("no data for input %%%s: %d inputs given", b.Name, len(inputs))
			}
			data = maskPadding(b.Buffer, inputs[used])
			used++
		case ir.ConstBuf:
			data = b.Data
		default:
			data = make([]byte, b.Bytes())
			fill(data)
		}
		if len(data) != b.Bytes() {
			return nil, bad("%s has %d bytes of data, but needs %d", ir.BufferString(b.Buffer), len(data), b.Bytes())
		}
		mem[b.Name] = data
	}
	if used != len(inputs) {
		return nil, bad("%d inputs given, but there are %d", len(inputs), used)
	}
	return mem, nil
}

// stageArgs checks that s fits f and returns the memory of its arguments.
func stageArgs(p ir.Index, s ir.Stage, f *ir.Func, mem map[string][]byte) ([][]byte, error) {
	bad := func(format string, args ...any) ([][]byte, error) {
		return nil, &ir.Error{Node: fmt.Sprintf("stage %q", s.Name), Msg: fmt.Sprintf(format, args...)}
	}
	if f == nil {
		return bad("there is no func @%s", s.Func)
	}
	if len(s.Args) != len(f.Params) {
		return bad("%d arguments for %d parameters of @%s", len(s.Args), len(f.Params), f.Name)
	}
	written := map[string]bool{}
	var args [][]byte
	for i, name := range s.Args {
		b, q := p.Buffer(name), f.Params[i]
		switch {
		case b == nil:
			return bad("there is no buffer %%%s", name)
		case (b.Type != q.Type || b.Elems() != q.Elems()) && !q.Takes(b.Buffer):
			return bad("%s cannot be parameter %s of @%s", ir.BufferString(b.Buffer), ir.BufferString(q.Buffer), f.Name)
		case q.Out && (b.Kind == ir.InputBuf || b.Kind == ir.ConstBuf):
			return bad("@%s writes the %s %%%s", f.Name, b.Kind, name)
		}
		if w, again := written[name]; again && (w || q.Out) {
			return bad("%%%s is written and is another argument too", name)
		}
		written[name] = written[name] || q.Out
		args = append(args, mem[name])
	}
	return args, nil
}

// maskPadding returns data with the bits beyond b's channels cleared; data itself if there are
// none.
func maskPadding(b ir.Buffer, data []byte) []byte {
	row := 0
	if n := len(b.Shape); n > 0 {
		row = b.Shape[n-1] * b.Type.Bytes()
	}
	if b.Enc.Kind == ir.NoEncoding || row*8 <= b.Enc.Channels || len(data) != b.Bytes() {
		return data
	}
	out := bytes.Clone(data)
	for i := range out {
		// Little-endian words put channel c at bit c%8 of byte c/8 of the row.
		if left := b.Enc.Channels - i%row*8; left < 8 {
			out[i] &= 1<<max(left, 0) - 1
		}
	}
	return out
}
