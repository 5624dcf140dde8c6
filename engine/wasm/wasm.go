//go:build !ripc_static

package wasm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"ripc/internal/abi"
	"ripc/runtime"
	"ripc/runtime/describe"
)

// pageSize is the unit of a module's memory in bytes.
const pageSize = 1 << 16

// Session is a module with the memory for one inference at a time.
type Session struct {
	desc        *describe.Artifact
	machine     wazero.Runtime
	run, stages api.Function
	args        []uint64 // of run
	inputs      [][]byte
	outputs     [][]byte
	workspace   []byte
}

// Open loads the module at path. If stoppable, a context that ends stops its code, which is slower
// for that. It fails with *runtime.FileError or *runtime.FormatError.
func Open(path string, stoppable bool) (*Session, error) {
	desc, err := runtime.ReadDescription(path)
	if err != nil {
		return nil, err
	}
	if f := Lacks(desc.Features); f != "" {
		return nil, &runtime.FileError{Path: path,
			Msg: fmt.Sprintf("code for %s runs in Node and browsers: wazero has no %s", desc.Target, f)}
	}
	code, err := os.ReadFile(path)
	if err != nil {
		return nil, &runtime.FileError{Path: path, Msg: "cannot read it", Err: err}
	}
	ctx := context.Background()
	s := &Session{desc: desc,
		machine: wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCloseOnContextDone(stoppable))}
	m, err := s.machine.Instantiate(ctx, code)
	if err == nil {
		err = s.lay(ctx, m)
	}
	if err != nil {
		_ = s.Close()
		return nil, &runtime.FileError{Path: path, Msg: "cannot be loaded", Err: err}
	}
	return s, nil
}

// lay finds the entry points, and lays out the buffers behind the module's own memory.
func (s *Session) lay(ctx context.Context, m api.Module) error {
	s.run, s.stages = m.ExportedFunction(s.desc.Name+"_run"), m.ExportedFunction(s.desc.Name+"_run_stages")
	base, memory := m.ExportedGlobal("__heap_base"), m.Memory()
	ok := m.ExportedFunction(s.desc.Name + "_cpu_ok")
	if s.run == nil || s.stages == nil || base == nil || memory == nil || ok == nil {
		return errors.New("it lacks a function of a compiled network")
	}
	if answer, err := ok.Call(ctx); err != nil || uint32(answer[0]) != abi.CPUOK {
		return fmt.Errorf("this machine cannot run code for %s (%v)", s.desc.Target, err)
	}
	end := int64(base.Get())
	take := func(n int) int64 {
		at := abi.RoundUp(end)
		end = at + int64(n)
		return at
	}
	place := func(tensors []describe.Tensor) (at []int64) {
		for _, t := range tensors {
			n, _ := runtime.TensorBytes(t) // ReadDescription has checked it
			at = append(at, take(n))
		}
		return at
	}
	ins, outs := place(s.desc.Inputs), place(s.desc.Outputs)
	size := s.desc.WorkspaceBytes(1)
	if size > 1<<32 {
		return fmt.Errorf("a workspace of %d bytes does not fit its memory", size)
	}
	work := take(int(size))
	inputs, outputs := take(4*len(ins)), take(4*len(outs))
	if more := end - int64(memory.Size()); more > 0 {
		if _, ok := memory.Grow(uint32((more + pageSize - 1) / pageSize)); !ok {
			return fmt.Errorf("no %d bytes of memory", end)
		}
	}
	view := func(at int64, n int) []byte {
		b, _ := memory.Read(uint32(at), uint32(n)) // the memory has grown for it, and grows no more
		return b
	}
	bind := func(array int64, at []int64, tensors []describe.Tensor) (views [][]byte) {
		for i, t := range tensors {
			memory.WriteUint32Le(uint32(array)+uint32(4*i), uint32(at[i]))
			n, _ := runtime.TensorBytes(t)
			views = append(views, view(at[i], n))
		}
		return views
	}
	s.inputs, s.outputs = bind(inputs, ins, s.desc.Inputs), bind(outputs, outs, s.desc.Outputs)
	s.workspace = view(work, int(size))
	s.args = []uint64{uint64(inputs), uint64(outputs), uint64(work), 0, 1, 0}
	return nil
}

// Description returns the module's description. The caller must not change it.
func (s *Session) Description() *describe.Artifact { return s.desc }

// Input is the memory of input i, Output that of output i, and Workspace that of everything else.
func (s *Session) Input(i int) []byte { return s.inputs[i] }

// Output is the memory of output i.
func (s *Session) Output(i int) []byte { return s.outputs[i] }

// Workspace is the memory of the activations.
func (s *Session) Workspace() []byte { return s.workspace }

// SetInput copies data to input i, which has its size.
func (s *Session) SetInput(i int, data []byte) error {
	if len(data) != len(s.inputs[i]) {
		return fmt.Errorf("%s: input %d has %d bytes, %d were given", s.desc.Name, i, len(s.inputs[i]), len(data))
	}
	copy(s.inputs[i], data)
	return nil
}

// Run runs the network. It fails with *TrapError, *runtime.StatusError or ctx's error.
func (s *Session) Run(ctx context.Context) error { return s.call(ctx, s.run, s.args...) }

// RunStages runs stages first to last-1.
func (s *Session) RunStages(ctx context.Context, first, last int) error {
	return s.call(ctx, s.stages, append(s.args[:len(s.args):len(s.args)], uint64(first), uint64(last))...)
}

func (s *Session) call(ctx context.Context, f api.Function, args ...uint64) error {
	status, err := f.Call(ctx, args...)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		cause, _, _ := strings.Cut(err.Error(), "\n")
		return &TrapError{cause, err}
	case status[0] != abi.OK:
		return &runtime.StatusError{Name: s.desc.Name, Code: int(status[0])}
	}
	return nil
}

// Close frees memory and code.
func (s *Session) Close() error { return s.machine.Close(context.Background()) }
