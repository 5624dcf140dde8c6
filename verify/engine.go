package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"ripc/ir"
	"ripc/runtime"
	"ripc/runtime/describe"
)

// engine runs an artifact.
type engine interface {
	simulated() bool
	// step runs stage i, after all stages before it, and returns what memory was and is. Both are valid until the
	// next call. The workspace starts out with rubbish in it.
	step(ctx context.Context, i int) (before, after *memory, err error)
	// network runs everything at once, in a workspace with other rubbish, and returns the outputs.
	network(ctx context.Context) ([][]byte, error)
	close()
}

// memory is what stages read and write, without scratch.
type memory struct {
	place   map[string]int64 // see places
	work    []byte           // at least the arena
	inputs  [][]byte
	outputs [][]byte
}

// at returns the contents of a buffer.
func (m *memory) at(b *ir.ProgBuf) []byte {
	switch at := m.place[b.Name]; b.Kind {
	case ir.InputBuf:
		return m.inputs[at]
	case ir.OutputBuf:
		return m.outputs[at]
	case ir.ArenaBuf:
		return m.work[at : at+int64(b.Bytes())]
	}
	return b.Data
}

// rubbish fills b with a pattern that depends on seed; a stage that counts on zeros fails.
func rubbish(b []byte, seed byte) []byte {
	for i := range b {
		b[i] = byte(i)*37 ^ byte(i>>8) ^ seed
	}
	return b
}

// open makes the artifact, which d describes, ready: natively if this machine can run it, else simulated.
func open(in Input, d *describe.Artifact) (engine, error) {
	if len(in.Inputs) != len(d.Inputs) {
		return nil, fmt.Errorf("verify %s: %d inputs given, %d needed", in.SO, len(in.Inputs), len(d.Inputs))
	}
	if !in.Simulate {
		var m *runtime.Module
		err := in.watched(-1, func() (err error) {
			m, err = runtime.Load(in.SO)
			return err
		})
		var arch *runtime.ArchError
		var features *runtime.FeatureError
		switch {
		case err == nil:
			return openNative(in, m)
		case !errors.As(err, &arch) && !errors.As(err, &features) && !errors.Is(err, runtime.ErrPlatform):
			return nil, err
		}
	}
	return openSimulated(in)
}

// native runs the artifact in this process.
type native struct {
	in     Input
	m      *runtime.Module
	s      *runtime.Session
	before *memory
	after  *memory
}

func openNative(in Input, m *runtime.Module) (engine, error) {
	s, err := m.NewSession(in.Threads)
	if err != nil {
		m.Close()
		return nil, err
	}
	n := &native{in: in, m: m, s: s, before: &memory{place: places(in.Program)}, after: &memory{place: places(in.Program)}}
	n.after.work = s.Workspace()
	for i := range m.Description().Inputs {
		n.after.inputs = append(n.after.inputs, s.Input(i))
	}
	for i := range m.Description().Outputs {
		n.after.outputs = append(n.after.outputs, s.Output(i))
	}
	if err := n.reset(1); err != nil {
		n.close()
		return nil, err
	}
	return n, nil
}

func (n *native) simulated() bool { return false }

// reset brings the inputs, and rubbish everywhere else.
func (n *native) reset(seed byte) error {
	for i, data := range n.in.Inputs {
		if err := n.s.SetInput(i, data); err != nil {
			return err
		}
	}
	for _, out := range n.after.outputs {
		rubbish(out, seed)
	}
	rubbish(n.after.work, seed)
	return nil
}

func (n *native) step(ctx context.Context, i int) (before, after *memory, err error) {
	b := n.before
	b.work = append(b.work[:0], n.after.work...)
	b.inputs, b.outputs = clone(n.after.inputs), clone(n.after.outputs)
	if err := n.in.watched(i, func() error { return n.s.RunStages(ctx, i, i+1) }); err != nil {
		return nil, nil, err
	}
	return b, n.after, nil
}

func (n *native) network(ctx context.Context) ([][]byte, error) {
	if err := n.reset(2); err != nil {
		return nil, err
	}
	if err := n.in.watched(len(n.in.Program.Stages), func() error { return n.s.Run(ctx) }); err != nil {
		return nil, err
	}
	return n.after.outputs, nil
}

func (n *native) close() {
	n.s.Close() // unmapping memory of ours and unloading cannot fail in a way that matters here
	n.m.Close()
}

// clone copies buffers.
func clone(bufs [][]byte) [][]byte {
	var out [][]byte
	for _, b := range bufs {
		out = append(out, bytes.Clone(b))
	}
	return out
}
