// Package device runs bundles of kernels on a device, by a Driver: OpenCL (runtime/opencl) or CUDA
// (runtime/cuda). It keeps copies of all memory on the host, and moves them when they are needed.
package device

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"ripc/internal/container"
	"ripc/runtime"
	"ripc/runtime/describe"
)

// Memory is a piece of a device's memory, as its driver names it. 0 is none.
type Memory uintptr

// Arg is an argument of a kernel: a place in the device's memory.
type Arg struct {
	Memory Memory
	Offset int64 // in bytes
}

// Driver reaches one device. Kernels run in the order of Launch, each when the one before is done.
type Driver interface {
	// Build makes the kernels of a bundle ready. It fails with *LimitError if a launch takes more
	// than the device has.
	Build(kernels []byte, launches []describe.Launch) error
	Allocate(bytes int) (Memory, error)
	// Write and Read move all of a piece of memory, and wait for that.
	Write(m Memory, data []byte) error
	Read(m Memory, data []byte) error
	Launch(l describe.Launch, args []Arg) error
	// Wait returns when all kernels are done, with the time from the start of the first to the end
	// of the last, by the device's clock.
	Wait() (time.Duration, error)
	Close() error
}

// MissingError says that no device can run a bundle.
type MissingError struct {
	Target string
	Why    string
}

func (e *MissingError) Error() string { return fmt.Sprintf("no device for %s: %s", e.Target, e.Why) }

// LimitError says that a kernel takes more than the device has.
type LimitError struct {
	Limits
	Layer  string
	Launch describe.Launch
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("layer %s: kernel %s takes %d threads and %d bytes of shared memory in a block; %s has %d and "+
		"%d: compile with a schedule of fewer (knobs threads, tile_h and tile_w)", e.Layer, e.Launch.Kernel,
		e.Launch.Threads, e.Launch.Shared, e.Device, e.Threads, e.Shared)
}

// Limits are those of a device for a block.
type Limits struct {
	Device          string
	Threads, Shared uint64 // Shared is in bytes
}

// Check fails with *LimitError if a launch takes more. Open adds the layer.
func (l Limits) Check(launches []describe.Launch) error {
	for _, k := range launches {
		if uint64(k.Threads) > l.Threads || uint64(k.Shared) > l.Shared {
			return &LimitError{Limits: l, Launch: k}
		}
	}
	return nil
}

// Session is a network on a device with the memory for one inference at a time. It is not for
// several goroutines at once.
type Session struct {
	desc      *describe.Artifact
	driver    Driver
	constants Memory
	work      region
	inputs    []region
	outputs   []region
	// The contents of regions are the same on the host and on the device, unless one of these says
	// that they are newer there.
	hostNewer, deviceNewer bool
	took                   time.Duration
	lost                   error // of a transfer: the copies are not the device's memory any more
}

// region is a piece of the device's memory and its copy on the host.
type region struct {
	memory Memory
	host   []byte
}

// Open makes the bundle at path ready on a device. find returns a driver for the features that the
// description names. It fails with *runtime.FileError or *runtime.FormatError, *MissingError,
// *LimitError, or an error of the driver.
func Open(path, kernels string, find func(features []string) (Driver, error)) (*Session, error) {
	desc, err := runtime.ReadDescription(path)
	if err != nil {
		return nil, err
	}
	file, closing, err := container.OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer closing.Close()
	b, ok := file.(*container.Bundle)
	if !ok || len(b.Part(kernels)) == 0 {
		return nil, &runtime.FileError{Path: path, Msg: "it has no " + kernels}
	}
	if n := int64(len(b.Part(container.Constants))); n < desc.WeightBytes {
		return nil, &runtime.FileError{Path: path,
			Msg: fmt.Sprintf("it has %d bytes of constants, and its description says %d", n, desc.WeightBytes)}
	}
	driver, err := find(desc.Features)
	if err != nil {
		return nil, &MissingError{desc.Target, err.Error()}
	}
	s := &Session{desc: desc, driver: driver}
	var launches []describe.Launch
	for _, st := range desc.Stages {
		launches = append(launches, st.Launches...)
	}
	if err = driver.Build(b.Part(kernels), launches); err == nil {
		err = s.allocate(b.Part(container.Constants))
	}
	if limit := (*LimitError)(nil); errors.As(err, &limit) {
		for _, st := range desc.Stages {
			if slices.Contains(st.Launches, limit.Launch) {
				limit.Layer = st.Layer.Title(st.Name)
			}
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// allocate makes all memory, and brings the constants.
func (s *Session) allocate(constants []byte) error {
	var all error
	add := func(n int, err error) region {
		if all = errors.Join(all, err); all != nil {
			return region{}
		}
		var m Memory
		if m, all = s.driver.Allocate(max(n, 1)); all != nil {
			return region{} // the host may have no room for it, either
		}
		return region{m, make([]byte, n)}
	}
	for _, t := range s.desc.Inputs {
		s.inputs = append(s.inputs, add(runtime.TensorBytes(t)))
	}
	for _, t := range s.desc.Outputs {
		s.outputs = append(s.outputs, add(runtime.TensorBytes(t)))
	}
	s.work = add(int(s.desc.WorkspaceBytes(1)), nil)
	s.constants = add(len(constants), nil).memory
	if all != nil || len(constants) == 0 {
		return all
	}
	return s.driver.Write(s.constants, constants)
}

// regions lists all memory but the constants.
func (s *Session) regions() []region {
	return append(append(append([]region{}, s.inputs...), s.outputs...), s.work)
}

// move brings all memory to the device or to the host, by Driver.Write or Driver.Read.
func (s *Session) move(by func(Memory, []byte) error) error {
	for _, r := range s.regions() {
		if len(r.host) > 0 {
			if err := by(r.memory, r.host); err != nil {
				return err
			}
		}
	}
	return nil
}

// look brings everything to the host, which may change it.
func (s *Session) look() {
	if s.deviceNewer {
		s.lost = errors.Join(s.lost, s.move(s.driver.Read))
	}
	s.deviceNewer, s.hostNewer = false, true
}

// Err is the error of a transfer from the device to the host. After one, Input, Output and
// Workspace return old bytes, and all runs fail.
func (s *Session) Err() error { return s.lost }

// Description returns the network's description. The caller must not change it.
func (s *Session) Description() *describe.Artifact { return s.desc }

// Took is how long the kernels of the last run took, by the device's clock.
func (s *Session) Took() time.Duration { return s.took }

// Input returns input i's bytes, to be filled before Run.
func (s *Session) Input(i int) []byte { s.look(); return s.inputs[i].host }

// Output returns output i's bytes.
func (s *Session) Output(i int) []byte { s.look(); return s.outputs[i].host }

// Workspace returns the memory of all other tensors, the arena first.
func (s *Session) Workspace() []byte { s.look(); return s.work.host }

// SetInput copies data to input i.
func (s *Session) SetInput(i int, data []byte) error {
	in := s.Input(i)
	if len(data) != len(in) {
		return fmt.Errorf("%s: input %d has %d bytes, not %d", s.desc.Name, i, len(in), len(data))
	}
	copy(in, data)
	return nil
}

// Run runs all stages.
func (s *Session) Run(ctx context.Context) error { return s.RunStages(ctx, 0, len(s.desc.Stages)) }

// RunStages runs stages first..last-1. Kernels that the device has begun are not interrupted.
func (s *Session) RunStages(ctx context.Context, first, last int) error {
	if s.lost != nil {
		return s.lost
	}
	if s.hostNewer {
		if err := s.move(s.driver.Write); err != nil {
			return err
		}
		s.hostNewer = false
	}
	s.deviceNewer = true
	err := s.launch(ctx, s.desc.Stages[first:last], pieces(s.inputs), pieces(s.outputs))
	took, err2 := s.driver.Wait()
	s.took = took
	return errors.Join(err, err2)
}

// Enqueue begins a run on pieces of the device's memory, one for each input and output, which the
// driver's own functions made. It does not wait, and moves nothing. Runs of one session must follow
// each other.
func (s *Session) Enqueue(ctx context.Context, inputs, outputs []Memory) error {
	if len(inputs) != len(s.inputs) || len(outputs) != len(s.outputs) {
		return fmt.Errorf("%s has %d inputs and %d outputs, not %d and %d", s.desc.Name, len(s.inputs), len(s.outputs),
			len(inputs), len(outputs))
	}
	return s.launch(ctx, s.desc.Stages, inputs, outputs)
}

func pieces(regions []region) (all []Memory) {
	for _, r := range regions {
		all = append(all, r.memory)
	}
	return all
}

// launch begins the kernels of stages.
func (s *Session) launch(ctx context.Context, stages []describe.Stage, inputs, outputs []Memory) error {
	for _, st := range stages {
		args := s.args(st, inputs, outputs)
		for _, l := range st.Launches {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := s.driver.Launch(l, args); err != nil {
				return fmt.Errorf("stage %q: %w", st.Name, err)
			}
		}
	}
	return nil
}

// args lists the arguments of a stage's kernels.
func (s *Session) args(st describe.Stage, inputs, outputs []Memory) (all []Arg) {
	for _, t := range append(append([]describe.Tensor{}, st.Reads...), st.Writes...) {
		switch t.Where {
		case "input":
			all = append(all, Arg{inputs[t.Offset], 0})
		case "output":
			all = append(all, Arg{outputs[t.Offset], 0})
		case "const":
			all = append(all, Arg{s.constants, t.Offset})
		default:
			all = append(all, Arg{s.work.memory, t.Offset})
		}
	}
	return append(all, Arg{s.work.memory, s.desc.ArenaBytes})
}

// Close frees the device's memory and the kernels.
func (s *Session) Close() error { return s.driver.Close() }
