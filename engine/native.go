package engine

import (
	"bytes"
	"context"
	"errors"
	"time"

	"ripc/engine/wasm"
	"ripc/internal/container"
	"ripc/measure"
	"ripc/runtime"
	"ripc/runtime/cuda"
	"ripc/runtime/describe"
	"ripc/runtime/device"
	"ripc/runtime/opencl"
	"ripc/runtime/webgpu"
)

// native runs an artifact in this process.
type native struct {
	o     Options
	kind  Kind
	d     *describe.Artifact
	s     session
	close func() error
}

// session is loaded code with its memory.
type session interface {
	Run(ctx context.Context) error
	RunStages(ctx context.Context, first, last int) error
	SetInput(i int, data []byte) error
	Input(i int) []byte
	Output(i int) []byte
	Workspace() []byte
}

func openNative(path string, o Options) (Engine, error) {
	m, err := runtime.Load(path)
	if err != nil {
		return nil, err
	}
	s, err := m.NewSession(o.Threads)
	if err != nil {
		_ = m.Close()
		return nil, err
	}
	return &native{o, Native, m.Description(), s, func() error { return errors.Join(s.Close(), m.Close()) }}, nil
}

// openSandboxed runs a module of WebAssembly.
func openSandboxed(path string, o Options) (Engine, error) {
	s, err := wasm.Open(path, o.Threads, o.Limit > 0)
	if one := (*wasm.ThreadsError)(nil); errors.As(err, &one) {
		return nil, &ThreadsError{Threads: o.Threads, Most: 1,
			Why: "a module with a memory of its own has one thread; those of a package for npm have several"}
	}
	if err != nil {
		return nil, err
	}
	return &native{o, Sandboxed, s.Description(), s, s.Close}, nil
}

// platform runs the code of an architecture that is no CPU's.
type platform struct {
	kind Kind
	open func(path string, o Options) (Engine, error)
	name func(features []string) (string, error) // of the device that open takes for a target with features
}

// platformOf returns the platform for an architecture. ok is false for those of CPUs.
func platformOf(arch string) (p platform, ok bool) {
	p, ok = map[string]platform{
		wasm.Arch:        {kind: Sandboxed, open: openSandboxed},
		container.OpenCL: {Device, openDevice(opencl.Open), opencl.Name},
		container.PTX:    {Device, openDevice(cuda.Open), cuda.Name},
		container.WebGPU: {Device, openDevice(webgpu.Open), webgpu.Name},
	}[arch]
	return p, ok
}

// DeviceName returns the name of the device on which Open runs kernels of a target with an
// architecture and features. It fails with *device.MissingError if there is none.
func DeviceName(target, arch string, features []string) (string, error) {
	p, _ := platformOf(arch)
	if p.kind != Device {
		return "", runtime.ErrPlatform
	}
	name, err := p.name(features)
	if err != nil {
		return "", &device.MissingError{Target: target, Why: err.Error()}
	}
	return name, nil
}

// openDevice runs kernels on the device that open opens. The threads are the device's own.
func openDevice(open func(path string) (*device.Session, error)) func(path string, o Options) (Engine, error) {
	return func(path string, o Options) (Engine, error) {
		if o.Threads != 1 {
			return nil, &ThreadsError{Threads: o.Threads, Most: 1,
				Why: "kernels bring the threads of the device with them"}
		}
		s, err := open(path)
		if err != nil {
			return nil, err
		}
		return &native{o, Device, s.Description(), s, s.Close}, nil
	}
}

func (n *native) Describe() *describe.Artifact { return n.d }
func (n *native) Kind() Kind                   { return n.kind }

func (n *native) Run(ctx context.Context, jobs []Job) ([]Result, error) {
	results := make([]Result, len(jobs))
	if n.kind == Sandboxed {
		var cancel context.CancelFunc
		ctx, cancel = withLimit(ctx, n.o.Limit, len(jobs)*len(n.d.Stages))
		defer cancel()
	}
	for k, j := range jobs {
		if err := n.start(j); err != nil {
			return nil, err
		}
		run := func() error { return n.s.RunStages(ctx, j.First, j.Last) }
		if j.First == 0 && j.Last == len(n.Describe().Stages) {
			run = func() error { return n.s.Run(ctx) }
		}
		r := &results[k]
		start := time.Now()
		err := run()
		if n.o.Count {
			t := measure.Since(start)
			r.Counters.Took, r.Counters.GHz = t.Took, t.GHz
		} else {
			r.Counters.Took = time.Since(start)
		}
		if c, ok := n.s.(interface{ Took() time.Duration }); ok && c.Took() > 0 { // without transfers
			r.Counters.Took = c.Took()
		}
		if n.kind == Device {
			r.Counters.GHz = 0
		}
		switch {
		case errors.Is(err, errLimit):
			return nil, &FaultError{Fault: TimedOut, Limit: n.o.Limit, Err: err}
		case err != nil:
			return nil, FaultOf(err)
		}
		if j.Outputs {
			r.Outputs = n.outputs()
		}
		if j.Keep {
			r.Memory = &Memory{Outputs: n.outputs(), Work: bytes.Clone(n.s.Workspace())}
			for i := range n.Describe().Inputs {
				r.Memory.Inputs = append(r.Memory.Inputs, bytes.Clone(n.s.Input(i)))
			}
		}
		if d, ok := n.s.(*device.Session); ok && d.Err() != nil {
			return nil, d.Err()
		}
	}
	return results, nil
}

// outputs copies the outputs.
func (n *native) outputs() [][]byte {
	var all [][]byte
	for i := range n.Describe().Outputs {
		all = append(all, bytes.Clone(n.s.Output(i)))
	}
	return all
}

// start fills memory as j asks for.
func (n *native) start(j Job) error {
	inputs := j.Inputs
	if j.From != nil {
		inputs = j.From.Inputs
		for i, data := range j.From.Outputs {
			copy(n.s.Output(i), data)
		}
		copy(n.s.Workspace(), j.From.Work)
	}
	if inputs == nil {
		return nil
	}
	if err := checkInputs(n.Describe(), inputs); err != nil {
		return err
	}
	for i, data := range inputs {
		if err := n.s.SetInput(i, data); err != nil {
			return err
		}
	}
	if j.Fill != 0 {
		Pattern(n.s.Workspace(), j.Fill)
		for i := range n.Describe().Outputs {
			Pattern(n.s.Output(i), j.Fill)
		}
	}
	return nil
}

// Close frees memory and code.
func (n *native) Close() error { return n.close() }
