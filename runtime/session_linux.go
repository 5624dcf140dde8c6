//go:build (amd64 || arm64 || arm || riscv64) && !ripc_static

package runtime

import (
	"context"
	"fmt"
	goruntime "runtime"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"ripc/internal/abi"
	"ripc/runtime/describe"
)

const (
	// maxThreads bounds a session.
	maxThreads = 256
	// spinTime is the time that an idle thread polls for the next inference before it sleeps.
	spinTime = time.Millisecond
)

// Session is the memory and the threads of one stream of inferences. Runs of one session follow one
// another; use several sessions of a module to run at the same time.
type Session struct {
	m       *Module
	threads int
	memory  []byte // one mapping; everything below lies in it
	inputs  [][]byte
	outputs [][]byte
	work    []byte
	in, out uintptr // arrays of pointers to inputs and outputs
	workAt  uintptr // address of work
	sync    uintptr // address of ripc_sync; 0 for one thread
	team    *team   // threads 1..threads-1; nil for one thread

	mu     sync.Mutex // held during a run
	closed bool
}

// NewSession maps inputs, outputs and workspace for the given number of threads (1 to 256) and
// starts the threads; the caller of Run is the first of them. The others are goroutines locked to
// OS threads: they watch for work for a millisecond after an inference, then sleep; with more
// threads than GOMAXPROCS they sleep at once. Close must be called to free all that. It fails with
// *ThreadsError if the system does not let this process have the threads.
func (m *Module) NewSession(threads int) (*Session, error) {
	if threads < 1 || threads > maxThreads {
		return nil, fmt.Errorf("%s: %d threads; 1 to %d are possible", m.path, threads, maxThreads)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, ErrClosed
	}
	s := &Session{m: m, threads: threads}
	if err := s.allocate(); err != nil {
		return nil, err
	}
	if threads > 1 {
		spin := spinTime
		if threads > goruntime.GOMAXPROCS(0) {
			spin = 0
		}
		// Go runs other goroutines on GOMAXPROCS threads, which may all be new.
		needed := threads - 1 + goruntime.GOMAXPROCS(0)
		held, got, err := reserve(needed)
		if err != nil {
			_ = unix.Munmap(s.memory)
			return nil, &ThreadsError{Path: m.path, Threads: threads, Needed: needed, Got: got, Err: err}
		}
		s.team = newTeam(threads, spin, held.give)
		if err := held.release(); err != nil {
			s.team.stop()
			_ = unix.Munmap(s.memory)
			return nil, fmt.Errorf("%s: %w", m.path, err)
		}
	}
	m.sessions++
	return s, nil
}

// layout hands out pieces of a mapping, aligned to abi.Align.
type layout struct{ size int64 }

// take reserves n bytes and returns their offset.
func (l *layout) take(n int64) int64 {
	at := l.size
	l.size += abi.RoundUp(max(n, 1))
	return at
}

// allocate maps the memory and fills the arrays of pointers.
func (s *Session) allocate() error {
	d := s.m.desc
	var l layout
	syncAt := l.take(2 * abi.SyncBytes) // twice, so that nothing else shares its cache lines
	ptr := int64(unsafe.Sizeof(uintptr(0)))
	inAt, outAt := l.take(ptr*int64(len(d.Inputs))), l.take(ptr*int64(len(d.Outputs)))
	offsets := make([]int64, 0, len(d.Inputs)+len(d.Outputs))
	sizes := make([]int64, 0, cap(offsets))
	for i := range cap(offsets) {
		t := d.Inputs
		k := i
		if i >= len(t) {
			t, k = d.Outputs, i-len(t)
		}
		n, err := TensorBytes(t[k])
		if err != nil {
			return err
		}
		offsets, sizes = append(offsets, l.take(int64(n))), append(sizes, int64(n))
	}
	workSize := d.WorkspaceBytes(s.threads)
	workAt := l.take(workSize)
	if int64(int(l.size)) != l.size {
		return fmt.Errorf("%s: %d bytes for %d threads do not fit the address space", s.m.path, l.size, s.threads)
	}
	var err error
	s.memory, err = unix.Mmap(-1, 0, int(l.size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return fmt.Errorf("%s: cannot map %d bytes for %d threads: %w", s.m.path, l.size, s.threads, err)
	}
	base := uintptr(unsafe.Pointer(&s.memory[0]))
	piece := func(at, n int64) []byte { return s.memory[at : at+n : at+n] }
	ins := unsafe.Slice((*uintptr)(unsafe.Pointer(&s.memory[inAt])), len(d.Inputs))
	outs := unsafe.Slice((*uintptr)(unsafe.Pointer(&s.memory[outAt])), len(d.Outputs))
	for i, at := range offsets {
		if i < len(ins) {
			ins[i] = base + uintptr(at)
			s.inputs = append(s.inputs, piece(at, sizes[i]))
		} else {
			outs[i-len(ins)] = base + uintptr(at)
			s.outputs = append(s.outputs, piece(at, sizes[i]))
		}
	}
	s.work = piece(workAt, workSize)
	s.in, s.out, s.workAt = base+uintptr(inAt), base+uintptr(outAt), base+uintptr(workAt)
	if s.threads > 1 {
		s.sync = base + uintptr(syncAt)
	}
	return nil
}

// Input returns input i's bytes, to be filled before Run; nil if there is no such input, or after
// Close. Slices of a session must not be used after Close. All methods may be called from any
// goroutine: each waits for a run that is under way.
func (s *Session) Input(i int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i < 0 || i >= len(s.inputs) {
		return nil
	}
	return s.inputs[i]
}

// Output returns output i's bytes; nil if there is no such output, or after Close.
func (s *Session) Output(i int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i < 0 || i >= len(s.outputs) {
		return nil
	}
	return s.outputs[i]
}

// Workspace returns the workspace: ArenaBytes shared by all threads, then ScratchBytes for each;
// nil after Close.
func (s *Session) Workspace() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.work
}

// Module returns the artifact that s runs.
func (s *Session) Module() *Module { return s.m }

// describe is the description of the artifact. It fails if s is closed.
func (s *Session) describe() (*describe.Artifact, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	return s.m.desc, nil
}

// Threads returns the number of threads.
func (s *Session) Threads() int { return s.threads }

// SetInput copies data to input i. It fails if the size is another, or with ErrClosed after Close.
func (s *Session) SetInput(i int, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	if i < 0 || i >= len(s.inputs) {
		return fmt.Errorf("%s: input %d; there are %d", s.m.path, i, len(s.inputs))
	}
	if len(data) != len(s.inputs[i]) {
		t := s.m.desc.Inputs[i]
		return fmt.Errorf("%s: input %d (%s): %s %v needs %d bytes, there are %d", s.m.path, i, t.Name, t.DType,
			t.Shape, len(s.inputs[i]), len(data))
	}
	copy(s.inputs[i], data)
	return nil
}

// Run computes the outputs from the inputs, with all stages. ctx is looked at before it starts; one
// inference is not interrupted. A non-zero return value of the artifact is a *StatusError.
func (s *Session) Run(ctx context.Context) error {
	return s.call(ctx, &task{fn: s.m.run})
}

// RunStages runs stages first..last-1 of the description's list on the current contents of
// workspace, inputs and outputs.
func (s *Session) RunStages(ctx context.Context, first, last int) error {
	if n := len(s.m.desc.Stages); first < 0 || last < first || last > n {
		return fmt.Errorf("%s: stages %d to %d; 0 <= first <= last <= %d", s.m.path, first, last, n)
	}
	return s.call(ctx, &task{fn: s.m.stages, first: uintptr(first), last: uintptr(last)})
}

// call runs t on all threads.
func (s *Session) call(ctx context.Context, t *task) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	t.in, t.out, t.work, t.sync, t.threads = s.in, s.out, s.workAt, s.sync, uintptr(s.threads)
	if code := s.team.run(t); code != 0 {
		return &StatusError{Name: s.m.desc.Name, Code: code}
	}
	return nil
}

// Close stops the threads and frees the memory, after a run that is under way. Further calls do
// nothing.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	s.team.stop()
	memory := s.memory
	s.memory, s.inputs, s.outputs, s.work = nil, nil, nil, nil
	s.m.mu.Lock()
	s.m.sessions--
	s.m.mu.Unlock()
	if err := unix.Munmap(memory); err != nil {
		return fmt.Errorf("%s: cannot unmap a session: %w", s.m.path, err)
	}
	return nil
}
