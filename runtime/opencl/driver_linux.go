//go:build (amd64 || arm64) && !ripc_static

package opencl

import (
	"bytes"
	"errors"
	"fmt"
	goruntime "runtime"
	"time"
	"unsafe"

	"ripc/internal/container"
	"ripc/runtime/describe"
	"ripc/runtime/device"
)

// Open makes the bundle at path ready on the first device of OpenCL that suits its target.
func Open(path string) (*device.Session, error) {
	return device.Open(path, container.Kernels+"cl", find)
}

// OpenOn is Open on a device, with the context and the in-order queue, of the program that calls
// it. They must stay until the session is closed. Session.Enqueue takes buffers of the context.
func OpenOn(path string, q Queue) (*device.Session, error) {
	return device.Open(path, container.Kernels+"cl", func([]string) (device.Driver, error) {
		cl, err := load()
		if err != nil {
			return nil, err
		}
		d := &driver{api: cl, kernels: map[string]handle{}, borrowed: true}
		d.ctx, d.queue = handle(q.Context), handle(q.Queue)
		d.chosen, err = cl.describe(handle(q.Device))
		return d, err
	})
}

// driver is a device of OpenCL.
type driver struct {
	*api
	borrowed            bool // ctx and queue are the caller's
	chosen              unit
	ctx, queue, program handle
	kernels             map[string]handle
	memory              []handle
	events              []handle // of the kernels since the last Wait
}

// Name returns the name of the device that runs bundles of a target with features.
func Name(features []string) (string, error) {
	d, err := find(features)
	if err != nil {
		return "", err
	}
	return d.(*driver).chosen.name, nil
}

func find(features []string) (device.Driver, error) {
	cl, err := load()
	if err != nil {
		return nil, err
	}
	u, err := cl.find(features)
	if err != nil {
		return nil, err
	}
	return &driver{api: cl, chosen: u, kernels: map[string]handle{}}, nil
}

func (d *driver) Build(source []byte, launches []describe.Launch) error {
	if err := (device.Limits{Device: d.chosen.name, Threads: d.chosen.threads, Shared: d.chosen.local}).Check(
		launches); err != nil {
		return err
	}
	var code int32
	if !d.borrowed {
		if d.ctx = d.CreateContext(nil, 1, &d.chosen.id, 0, 0, &code); code != 0 {
			return check("clCreateContext", code)
		}
		if d.queue = d.CreateCommandQueue(d.ctx, d.chosen.id, queueProfiling, &code); code != 0 {
			return check("clCreateCommandQueue", code)
		}
	}
	text, size := &source[0], uintptr(len(source))
	d.program = d.CreateProgramWithSource(d.ctx, 1, &text, &size, &code)
	goruntime.KeepAlive(source)
	if code != 0 {
		return check("clCreateProgramWithSource", code)
	}
	if code = d.BuildProgram(d.program, 1, &d.chosen.id, "-cl-std=CL1.2", 0, 0); code != 0 {
		return &device.CallError{API: "OpenCL", Call: "clBuildProgram", Code: code, Log: d.buildLog()}
	}
	for _, l := range launches {
		if d.kernels[l.Kernel] != 0 {
			continue
		}
		if d.kernels[l.Kernel] = d.CreateKernel(d.program, l.Kernel, &code); code != 0 {
			return check("clCreateKernel "+l.Kernel, code)
		}
	}
	return nil
}

// buildLog is the messages of the driver's compiler.
func (d *driver) buildLog() string {
	var size uintptr
	if d.GetProgramBuildInfo(d.program, d.chosen.id, programLog, 0, nil, &size) != 0 || size == 0 {
		return ""
	}
	log := make([]byte, size)
	if d.GetProgramBuildInfo(d.program, d.chosen.id, programLog, size, unsafe.Pointer(&log[0]), nil) != 0 {
		return ""
	}
	text, _, _ := bytes.Cut(log, []byte{0})
	return string(text[:min(len(text), maxLog)])
}

func (d *driver) Allocate(bytes int) (device.Memory, error) {
	if most := d.chosen.buffer; uint64(bytes) > most {
		return 0, fmt.Errorf("the network has a buffer of %d bytes; one of %s has at most %d: take a smaller batch",
			bytes, d.chosen.name, most)
	}
	var code int32
	m := d.CreateBuffer(d.ctx, memReadWrite, uintptr(bytes), nil, &code)
	if code == 0 {
		d.memory = append(d.memory, m)
	}
	return device.Memory(m), check("clCreateBuffer", code)
}

func (d *driver) Write(m device.Memory, data []byte) error {
	return check("clEnqueueWriteBuffer", d.EnqueueWriteBuffer(d.queue, handle(m), blocking, 0, uintptr(len(data)),
		unsafe.Pointer(&data[0]), 0, nil, nil))
}

func (d *driver) Read(m device.Memory, data []byte) error {
	return check("clEnqueueReadBuffer", d.EnqueueReadBuffer(d.queue, handle(m), blocking, 0, uintptr(len(data)),
		unsafe.Pointer(&data[0]), 0, nil, nil))
}

func (d *driver) Launch(l describe.Launch, args []device.Arg) error {
	k := d.kernels[l.Kernel]
	for i, a := range args {
		m, at := handle(a.Memory), uint64(a.Offset)
		if code := d.SetKernelArg(k, uint32(2*i), unsafe.Sizeof(m), unsafe.Pointer(&m)); code != 0 {
			return check("clSetKernelArg", code)
		}
		if code := d.SetKernelArg(k, uint32(2*i+1), unsafe.Sizeof(at), unsafe.Pointer(&at)); code != 0 {
			return check("clSetKernelArg", code)
		}
	}
	group := uintptr(l.Threads)
	all := group * uintptr(l.Blocks)
	if d.borrowed { // the queue may keep no times
		return check("clEnqueueNDRangeKernel", d.EnqueueNDRangeKernel(d.queue, k, 1, nil, &all, &group, 0, nil, nil))
	}
	var event handle
	code := d.EnqueueNDRangeKernel(d.queue, k, 1, nil, &all, &group, 0, nil, &event)
	if code == 0 {
		d.events = append(d.events, event)
	}
	return check("clEnqueueNDRangeKernel", code)
}

func (d *driver) Wait() (took time.Duration, err error) {
	defer func() {
		for _, e := range d.events {
			d.ReleaseEvent(e)
		}
		d.events = nil
	}()
	if err := check("clFinish", d.Finish(d.queue)); err != nil || len(d.events) == 0 {
		return 0, err
	}
	start, err := d.moment(d.events[0], eventStart)
	end, err2 := d.moment(d.events[len(d.events)-1], eventEnd)
	return end - start, errors.Join(err, err2)
}

// moment is when a kernel started or ended, by the device's clock.
func (d *driver) moment(event handle, what uint32) (time.Duration, error) {
	var at uint64
	code := d.GetEventProfilingInfo(event, what, unsafe.Sizeof(at), unsafe.Pointer(&at), nil)
	return time.Duration(at), check("clGetEventProfilingInfo", code)
}

func (d *driver) Close() error {
	if d.queue != 0 {
		d.Finish(d.queue)
	}
	for _, m := range d.memory {
		d.ReleaseMemObject(m)
	}
	for _, k := range d.kernels {
		if k != 0 {
			d.ReleaseKernel(k)
		}
	}
	if d.borrowed {
		d.queue, d.ctx = 0, 0
	}
	for _, o := range []struct {
		object  handle
		release func(handle) int32
	}{{d.program, d.ReleaseProgram}, {d.queue, d.ReleaseCommandQueue}, {d.ctx, d.ReleaseContext}} {
		if o.object != 0 {
			o.release(o.object)
		}
	}
	*d = driver{api: d.api}
	return nil
}
