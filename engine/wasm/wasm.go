//go:build !ripc_static

package wasm

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"ripc/internal/abi"
	"ripc/runtime"
	"ripc/runtime/describe"
)

// pageSize is the unit of a module's memory in bytes, and the size of a stack.
const pageSize = 1 << 16

// Session is a module with the memory for one inference at a time.
type Session struct {
	desc      *describe.Artifact
	machine   wazero.Runtime
	node      *node // in place of machine and threads, or nil
	threads   []thread
	args      []uint64 // of run, but for the thread's number
	inputs    [][]byte
	outputs   [][]byte
	workspace []byte
}

// thread is an instance of the module.
type thread struct{ run, stages api.Function }

// Open loads the module at path for a number of threads, by wazero or, with relaxed SIMD, in Node.
// If stoppable, a context that ends stops its code, which is slower for that. It fails with
// *runtime.FileError, *runtime.FormatError, *tools.MissingError or, if a module that imports no
// memory is to have several threads, with *ThreadsError.
func Open(path string, threads int, stoppable bool) (*Session, error) {
	desc, err := runtime.ReadDescription(path)
	if err != nil {
		return nil, err
	}
	if needsNode(desc.Features) {
		return openInNode(path, desc, threads)
	}
	code, err := os.ReadFile(path)
	if err != nil {
		return nil, &runtime.FileError{Path: path, Msg: "cannot read it", Err: err}
	}
	ctx := context.Background()
	// When a thread fails, the others wait for it until they are stopped.
	s := &Session{desc: desc, machine: wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().
		WithCoreFeatures(api.CoreFeaturesV2|experimental.CoreFeaturesThreads).
		WithCloseOnContextDone(stoppable || threads > 1))}
	if err := s.start(ctx, code, threads); err != nil {
		_ = s.Close()
		if one := (*ThreadsError)(nil); errors.As(err, &one) {
			return nil, err
		}
		return nil, &runtime.FileError{Path: path, Msg: "cannot be loaded", Err: err}
	}
	return s, nil
}

// start makes an instance for each thread. A shared memory has the size that it will need from the
// beginning, since it cannot move.
func (s *Session) start(ctx context.Context, code []byte, threads int) error {
	compiled, err := s.machine.CompileModule(ctx, code)
	if err != nil {
		return err
	}
	var memory api.Memory
	if shared := compiled.ImportedMemories(); len(shared) == 1 {
		from, name, _ := shared[0].Import()
		end, _ := s.plan(int64(shared[0].Min())*pageSize, threads)
		lender, err := s.machine.InstantiateWithConfig(ctx, sharedMemory(name, pages(end)),
			wazero.NewModuleConfig().WithName(from))
		if err != nil {
			return err
		}
		memory = lender.ExportedMemory(name)
	} else if threads > 1 {
		return &ThreadsError{threads}
	}
	for tid := range threads {
		m, err := s.machine.InstantiateModule(ctx, compiled, wazero.NewModuleConfig().WithName(""))
		if err != nil {
			return err
		}
		if memory == nil {
			memory = m.Memory()
		}
		if err := s.add(ctx, m, memory, tid, threads); err != nil {
			return err
		}
	}
	return nil
}

// pages is the number of pages that hold n bytes.
func pages(n int64) uint32 { return uint32((n + pageSize - 1) / pageSize) }

// sharedMemory is a module with a shared memory of n pages, exported under a name.
func sharedMemory(name string, n uint32) []byte {
	const memorySection, exportSection, sharedLimits, memoryKind = 5, 7, 3, 2
	section := func(id byte, body []byte) []byte {
		return append(binary.AppendUvarint([]byte{id}, uint64(len(body))), body...)
	}
	size := binary.AppendUvarint(nil, uint64(n))
	export := append(append([]byte{1, byte(len(name))}, name...), memoryKind, 0)
	return slices.Concat([]byte("\x00asm\x01\x00\x00\x00"),
		section(memorySection, slices.Concat([]byte{1, sharedLimits}, size, size)), section(exportSection, export))
}

// places are addresses in memory.
type places struct {
	inputs, outputs            []int64
	inputArray, outputArray    int64
	workspace, stacks, meeting int64
}

// plan lays out the buffers behind the module's own memory, which ends at base.
func (s *Session) plan(base int64, threads int) (end int64, p places) {
	take := func(n int64) int64 {
		at := abi.RoundUp(base)
		base = at + n
		return at
	}
	place := func(tensors []describe.Tensor) (at []int64) {
		for _, t := range tensors {
			n, _ := runtime.TensorBytes(t) // ReadDescription has checked it
			at = append(at, take(int64(n)))
		}
		return at
	}
	p.inputs, p.outputs = place(s.desc.Inputs), place(s.desc.Outputs)
	p.workspace = take(s.desc.WorkspaceBytes(threads))
	p.inputArray, p.outputArray = take(4*int64(len(p.inputs))), take(4*int64(len(p.outputs)))
	if threads > 1 {
		p.meeting, p.stacks = take(abi.SyncBytes), take(pageSize*int64(threads-1))
	}
	return base, p
}

// add finds the entry points of an instance. The first one also gets the buffers, the others a
// stack each.
func (s *Session) add(ctx context.Context, m api.Module, memory api.Memory, tid, threads int) error {
	t := thread{m.ExportedFunction(s.desc.Name + "_run"), m.ExportedFunction(s.desc.Name + "_run_stages")}
	base, ok := m.ExportedGlobal("__heap_base"), m.ExportedFunction(s.desc.Name+"_cpu_ok")
	pointer, _ := m.ExportedGlobal("__stack_pointer").(api.MutableGlobal)
	if t.run == nil || t.stages == nil || base == nil || memory == nil || ok == nil || pointer == nil {
		return errors.New("it lacks a function of a compiled network")
	}
	for _, f := range []api.Function{t.run, t.stages, ok} {
		if d := f.Definition(); !slices.Equal(d.ResultTypes(), []api.ValueType{api.ValueTypeI32}) {
			return fmt.Errorf("its function %v returns no status", d.ExportNames())
		}
	}
	if answer, err := ok.Call(ctx); err != nil || uint32(answer[0]) != abi.CPUOK {
		return fmt.Errorf("this machine cannot run code for %s (%v)", s.desc.Target, err)
	}
	s.threads = append(s.threads, t)
	end, p := s.plan(int64(base.Get()), threads)
	if tid > 0 {
		pointer.Set(uint64(p.stacks) + uint64(tid*pageSize))
		return nil
	}
	if end > 1<<32 {
		return fmt.Errorf("%d bytes do not fit its memory", end)
	}
	if more := end - int64(memory.Size()); more > 0 {
		if _, ok := memory.Grow(pages(more)); !ok {
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
	s.inputs, s.outputs = bind(p.inputArray, p.inputs, s.desc.Inputs), bind(p.outputArray, p.outputs, s.desc.Outputs)
	s.workspace = view(p.workspace, int(s.desc.WorkspaceBytes(threads)))
	s.args = []uint64{uint64(p.inputArray), uint64(p.outputArray), uint64(p.workspace), 0, uint64(threads),
		uint64(p.meeting)}
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
func (s *Session) Run(ctx context.Context) error {
	if s.node != nil {
		return s.node.run(ctx, 0, len(s.desc.Stages))
	}
	return s.callAll(ctx, func(t thread) api.Function { return t.run })
}

// RunStages runs stages first to last-1.
func (s *Session) RunStages(ctx context.Context, first, last int) error {
	if s.node != nil {
		return s.node.run(ctx, first, last)
	}
	return s.callAll(ctx, func(t thread) api.Function { return t.stages }, uint64(first), uint64(last))
}

// callAll calls a function in all threads. The first one that fails stops the others.
func (s *Session) callAll(ctx context.Context, function func(thread) api.Function, more ...uint64) error {
	if len(s.threads) == 1 {
		return s.call(ctx, function(s.threads[0]), append(s.args[:len(s.args):len(s.args)], more...))
	}
	work, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var all sync.WaitGroup
	for tid, t := range s.threads {
		all.Go(func() {
			args := slices.Concat(s.args, more)
			args[3] = uint64(tid)
			if err := s.call(work, function(t), args); err != nil {
				stop(err)
			}
		})
	}
	all.Wait()
	return context.Cause(work)
}

func (s *Session) call(ctx context.Context, f api.Function, args []uint64) error {
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

// Took is the time of the last run in Node, without the way there and back; 0 by wazero.
func (s *Session) Took() time.Duration {
	if s.node == nil {
		return 0
	}
	return s.node.took
}

// Close frees memory and code.
func (s *Session) Close() error {
	if s.node != nil {
		_ = s.node.end()
		return nil
	}
	return s.machine.Close(context.Background())
}
