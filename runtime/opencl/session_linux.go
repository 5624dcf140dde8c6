//go:build (amd64 || arm64) && !ripc_static

package opencl

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"time"
	"unsafe"

	"ripc/internal/container"
	"ripc/runtime"
	"ripc/runtime/describe"
)

// Session is a network on a device with the memory for one inference at a time. It is not for
// several goroutines at once.
type Session struct {
	desc      *describe.Artifact
	cl        *api
	device    device
	ctx       handle
	queue     handle
	program   handle
	kernels   map[string]handle
	constants handle
	work      region
	inputs    []region
	outputs   []region
	// The contents of regions are the same on the host and on the device, unless one of these says
	// that they are newer there.
	hostNewer, deviceNewer bool
	took                   time.Duration
}

// region is a piece of the device's memory and its copy on the host.
type region struct {
	device handle
	host   []byte
}

// Open builds the kernels of the bundle at path for the first device that suits its target. It
// fails with *runtime.FileError or *runtime.FormatError, *MissingError, *LimitError or *Error.
func Open(path string) (*Session, error) {
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
	if !ok {
		return nil, &runtime.FileError{Path: path, Msg: "it is no bundle of kernels"}
	}
	s := &Session{desc: desc, kernels: map[string]handle{}}
	if s.cl, err = load(); err == nil {
		s.device, err = s.cl.find(desc.Features)
	}
	if err != nil {
		return nil, &MissingError{desc.Target, err.Error()}
	}
	if err := errors.Join(s.checkLimits(), s.build(b.Part(container.Kernels+"cl"))); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.allocate(b.Part(container.Constants)); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// checkLimits fails with *LimitError if a block of a kernel is too large.
func (s *Session) checkLimits() error {
	for _, st := range s.desc.Stages {
		for _, l := range st.Launches {
			if uint64(l.Threads) > s.device.threads || uint64(l.Shared) > s.device.local {
				return &LimitError{s.device.name, l.Kernel, l, s.device.threads, s.device.local}
			}
		}
	}
	return nil
}

// build compiles the kernels.
func (s *Session) build(source []byte) error {
	if len(source) == 0 {
		return errors.New("the bundle has no kernels in OpenCL C")
	}
	var code int32
	if s.ctx = s.cl.CreateContext(nil, 1, &s.device.id, 0, 0, &code); code != 0 {
		return check("clCreateContext", code)
	}
	if s.queue = s.cl.CreateCommandQueue(s.ctx, s.device.id, queueProfiling, &code); code != 0 {
		return check("clCreateCommandQueue", code)
	}
	text, size := &source[0], uintptr(len(source))
	if s.program = s.cl.CreateProgramWithSource(s.ctx, 1, &text, &size, &code); code != 0 {
		return check("clCreateProgramWithSource", code)
	}
	goruntime.KeepAlive(source)
	if code = s.cl.BuildProgram(s.program, 1, &s.device.id, "-cl-std=CL1.2", 0, 0); code != 0 {
		log := make([]byte, 1<<14)
		var got uintptr
		s.cl.GetProgramBuildInfo(s.program, s.device.id, programLog, uintptr(len(log)), unsafe.Pointer(&log[0]), &got)
		return &Error{"clBuildProgram", code, string(log[:min(int(got), len(log))])}
	}
	for _, st := range s.desc.Stages {
		for _, l := range st.Launches {
			if s.kernels[l.Kernel] != 0 {
				continue
			}
			if s.kernels[l.Kernel] = s.cl.CreateKernel(s.program, l.Kernel, &code); code != 0 {
				return check("clCreateKernel "+l.Kernel, code)
			}
		}
	}
	return nil
}

// allocate makes all memory, and brings the constants.
func (s *Session) allocate(constants []byte) error {
	var err error
	add := func(n int) (r region) {
		var code int32
		r.host = make([]byte, n)
		r.device = s.cl.CreateBuffer(s.ctx, memReadWrite, uintptr(max(n, 1)), nil, &code)
		err = errors.Join(err, check("clCreateBuffer", code))
		return r
	}
	for _, t := range s.desc.Inputs {
		n, e := runtime.TensorBytes(t)
		err = errors.Join(err, e)
		s.inputs = append(s.inputs, add(n))
	}
	for _, t := range s.desc.Outputs {
		n, e := runtime.TensorBytes(t)
		err = errors.Join(err, e)
		s.outputs = append(s.outputs, add(n))
	}
	s.work = add(int(s.desc.WorkspaceBytes(1)))
	c := add(len(constants))
	s.constants = c.device
	if err != nil {
		return err
	}
	c.host = constants
	return s.copy(c, true)
}

// regions lists all memory but the constants.
func (s *Session) regions() []region {
	return append(append(append([]region{}, s.inputs...), s.outputs...), s.work)
}

// copy brings a region to the device, or back.
func (s *Session) copy(r region, toDevice bool) error {
	if len(r.host) == 0 {
		return nil
	}
	at, n := unsafe.Pointer(&r.host[0]), uintptr(len(r.host))
	call, f := "clEnqueueReadBuffer", s.cl.EnqueueReadBuffer
	if toDevice {
		call, f = "clEnqueueWriteBuffer", s.cl.EnqueueWriteBuffer
	}
	return check(call, f(s.queue, r.device, blocking, 0, n, at, 0, nil, nil))
}

// look brings everything to the host, which may change it.
func (s *Session) look() {
	if s.deviceNewer {
		for _, r := range s.regions() {
			if s.copy(r, false) != nil {
				return // the next run fails, too
			}
		}
	}
	s.deviceNewer, s.hostNewer = false, true
}

// Description returns the network's description. The caller must not change it.
func (s *Session) Description() *describe.Artifact { return s.desc }

// Device is the name of the device.
func (s *Session) Device() string { return s.device.name }

// Took is how long the last run took by the device's clock, from the start of its first kernel to
// the end of the last.
func (s *Session) Took() time.Duration { return s.took }

// Input returns input i's bytes, to be filled before Run.
func (s *Session) Input(i int) []byte { s.look(); return s.inputs[i].host }

// Output returns output i's bytes.
func (s *Session) Output(i int) []byte { s.look(); return s.outputs[i].host }

// Workspace returns the memory of all other tensors, the arena first.
func (s *Session) Workspace() []byte { s.look(); return s.work.host }

// SetInput copies data to input i.
func (s *Session) SetInput(i int, data []byte) error {
	if in := s.Input(i); len(data) != len(in) {
		return fmt.Errorf("%s: input %d has %d bytes, not %d", s.desc.Name, i, len(in), len(data))
	}
	copy(s.inputs[i].host, data)
	return nil
}

// Run runs all stages.
func (s *Session) Run(ctx context.Context) error { return s.RunStages(ctx, 0, len(s.desc.Stages)) }

// RunStages runs stages first..last-1. Kernels that the device has begun are not interrupted.
func (s *Session) RunStages(ctx context.Context, first, last int) error {
	if s.hostNewer {
		for _, r := range s.regions() {
			if err := s.copy(r, true); err != nil {
				return err
			}
		}
		s.hostNewer = false
	}
	s.deviceNewer = true
	var events []handle
	defer func() {
		for _, e := range events {
			s.cl.ReleaseEvent(e)
		}
	}()
	for _, st := range s.desc.Stages[first:last] {
		for _, l := range st.Launches {
			if err := ctx.Err(); err != nil {
				s.cl.Finish(s.queue)
				return err
			}
			e, err := s.launch(st, l)
			if err != nil {
				s.cl.Finish(s.queue)
				return fmt.Errorf("stage %q: %w", st.Name, err)
			}
			events = append(events, e)
		}
	}
	if err := check("clFinish", s.cl.Finish(s.queue)); err != nil {
		return err
	}
	s.took = 0
	if len(events) == 0 {
		return nil
	}
	start, err := s.moment(events[0], eventStart)
	end, err2 := s.moment(events[len(events)-1], eventEnd)
	s.took = end - start
	return errors.Join(err, err2)
}

// moment is when a kernel started or ended, by the device's clock.
func (s *Session) moment(event handle, what uint32) (time.Duration, error) {
	var at uint64
	code := s.cl.GetEventProfilingInfo(event, what, unsafe.Sizeof(at), unsafe.Pointer(&at), nil)
	return time.Duration(at), check("clGetEventProfilingInfo", code)
}

// launch puts a kernel into the queue, which runs kernels in order.
func (s *Session) launch(st describe.Stage, l describe.Launch) (event handle, err error) {
	k, n := s.kernels[l.Kernel], uint32(0)
	set := func(m handle, offset int64) {
		at := uint64(offset)
		err = errors.Join(err, check("clSetKernelArg", s.cl.SetKernelArg(k, n, unsafe.Sizeof(m), unsafe.Pointer(&m))),
			check("clSetKernelArg", s.cl.SetKernelArg(k, n+1, 8, unsafe.Pointer(&at))))
		n += 2
	}
	for _, t := range append(append([]describe.Tensor{}, st.Reads...), st.Writes...) {
		switch t.Where {
		case "input":
			set(s.inputs[t.Offset].device, 0)
		case "output":
			set(s.outputs[t.Offset].device, 0)
		case "const":
			set(s.constants, t.Offset)
		default:
			set(s.work.device, t.Offset)
		}
	}
	set(s.work.device, s.desc.ArenaBytes)
	if err != nil {
		return 0, err
	}
	group := uintptr(l.Threads)
	all := group * uintptr(l.Blocks)
	code := s.cl.EnqueueNDRangeKernel(s.queue, k, 1, nil, &all, &group, 0, nil, &event)
	return event, check("clEnqueueNDRangeKernel", code)
}

// Close frees the device's memory and the kernels.
func (s *Session) Close() error {
	if s.queue != 0 {
		s.cl.Finish(s.queue)
	}
	for _, r := range append(s.regions(), region{device: s.constants}) {
		if r.device != 0 {
			s.cl.ReleaseMemObject(r.device)
		}
	}
	for _, k := range s.kernels {
		if k != 0 {
			s.cl.ReleaseKernel(k)
		}
	}
	for _, o := range []struct {
		object  handle
		release func(handle) int32
	}{{s.program, s.cl.ReleaseProgram}, {s.queue, s.cl.ReleaseCommandQueue}, {s.ctx, s.cl.ReleaseContext}} {
		if o.object != 0 {
			o.release(o.object)
		}
	}
	*s = Session{desc: s.desc}
	return nil
}
