//go:build (amd64 || arm64) && !ripc_static

package cuda

import (
	"bytes"
	"errors"
	"fmt"
	goruntime "runtime"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"

	"ripc/internal/container"
	"ripc/runtime/describe"
	"ripc/runtime/device"
)

// handle is an object of the driver.
type handle uintptr

// Options of cuModuleLoadDataEx for the assembler's messages.
const errorLog, errorLogBytes = 5, 6

// Attributes of a device.
const (
	maxThreads, maxShared = 1, 8
	clockKHz, units       = 13, 16
	major, minor          = 75, 76
)

// api is the functions of the driver that a session calls. A tag has the name in the library where
// versions differ.
type api struct {
	Init               func(flags uint32) int32
	DeviceGet          func(d *int32, ordinal int32) int32
	DeviceGetAttribute func(value *int32, what, d int32) int32
	DeviceGetName      func(name *byte, n, d int32) int32
	CtxCreate          func(ctx *handle, flags uint32, d int32) int32 `name:"cuCtxCreate_v2"`
	CtxSetCurrent      func(ctx handle) int32
	CtxDestroy         func(ctx handle) int32 `name:"cuCtxDestroy_v2"`
	ModuleLoadDataEx   func(m *handle, text *byte, n uint32, options *int32, values *uintptr) int32
	ModuleGetFunction  func(f *handle, m handle, name string) int32
	MemAlloc           func(m *handle, size uintptr) int32                      `name:"cuMemAlloc_v2"`
	MemcpyHtoD         func(to handle, from unsafe.Pointer, size uintptr) int32 `name:"cuMemcpyHtoD_v2"`
	MemcpyDtoH         func(to unsafe.Pointer, from handle, size uintptr) int32 `name:"cuMemcpyDtoH_v2"`
	StreamCreate       func(stream *handle, flags uint32) int32
	LaunchKernel       func(f handle, gx, gy, gz, bx, by, bz, shared uint32, stream handle, args, extra *uintptr) int32
	EventCreate        func(e *handle, flags uint32) int32
	EventRecord        func(e, stream handle) int32
	EventSynchronize   func(e handle) int32
	EventElapsedTime   func(ms *float32, from, to handle) int32
}

// Open makes the bundle at path ready on the first GPU.
func Open(path string) (*device.Session, error) {
	return device.Open(path, container.Kernels+"ptx", find)
}

// Find describes the GPU that Open takes.
func Find() (g GPU, err error) {
	a, _, err := load()
	if err != nil {
		return g, err
	}
	id, err := a.first()
	if err != nil {
		return g, err
	}
	name := make([]byte, 256)
	err = check("cuDeviceGetName", a.DeviceGetName(&name[0], int32(len(name)), id))
	text, _, _ := bytes.Cut(name, []byte{0})
	g.Name = string(text)
	var high, low int
	for what, to := range map[int32]*int{clockKHz: &g.ClockKHz, units: &g.Units, major: &high, minor: &low} {
		n, err2 := a.attribute(what, id)
		*to, err = n, errors.Join(err, err2)
	}
	g.Capability = 10*high + low
	return g, err
}

// Name returns the name of the GPU that Open takes.
func Name([]string) (string, error) {
	g, err := Find()
	return g.Name, err
}

// first returns the first GPU.
func (a *api) first() (id int32, err error) {
	if err := check("cuInit", a.Init(0)); err != nil {
		return 0, err
	}
	err = check("cuDeviceGet", a.DeviceGet(&id, 0))
	return id, err
}

// attribute returns an attribute of a GPU.
func (a *api) attribute(what, id int32) (int, error) {
	var n int32
	err := check("cuDeviceGetAttribute", a.DeviceGetAttribute(&n, what, id))
	return int(n), err
}

// driver is a GPU.
type driver struct {
	*api
	*graphAPI   // nil of an old driver
	gpu         int32
	ctx, stream handle
	kernels     map[string]handle
	begin, done handle            // events around the kernels since the last Wait
	waiting     []launch          // kernels since the last Wait
	graphs      map[string]handle // by key; 0 of kernels that were launched once
}

// load finds the functions of Library: field F is cuF.
func load() (*api, *graphAPI, error) {
	lib, err := purego.Dlopen(Library, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, nil, fmt.Errorf("no NVIDIA driver (%s)", Library)
	}
	a, g := &api{}, &graphAPI{}
	if device.Link(lib, Library, "cu", g) != nil {
		g = nil
	}
	return a, g, device.Link(lib, Library, "cu", a)
}

// check turns a result of the driver into an error.
func check(call string, code int32) error { return device.Check("CUDA", call, code) }

func find([]string) (device.Driver, error) {
	a, g, err := load()
	if err != nil {
		return nil, err
	}
	d := &driver{api: a, graphAPI: g, kernels: map[string]handle{}, graphs: map[string]handle{}}
	if d.gpu, err = d.first(); err != nil {
		return nil, err
	}
	return d, check("cuCtxCreate", d.CtxCreate(&d.ctx, 0, d.gpu))
}

// call runs f on an OS thread where the context is current.
func (d *driver) call(name string, f func() int32) error {
	goruntime.LockOSThread()
	defer goruntime.UnlockOSThread()
	if err := check("cuCtxSetCurrent", d.CtxSetCurrent(d.ctx)); err != nil {
		return err
	}
	return check(name, f())
}

func (d *driver) Build(ptx []byte, launches []describe.Launch) error {
	threads, err := d.attribute(maxThreads, d.gpu)
	shared, err2 := d.attribute(maxShared, d.gpu)
	if err = errors.Join(err, err2); err == nil {
		err = device.Limits{Device: "the GPU", Threads: uint64(threads), Shared: uint64(shared)}.Check(launches)
	}
	if err != nil {
		return err
	}
	var module handle
	text, log := append(bytes.Clone(ptx), 0), make([]byte, 1<<14)
	options := [2]int32{errorLog, errorLogBytes}
	values := [2]uintptr{uintptr(unsafe.Pointer(&log[0])), uintptr(len(log))}
	err = d.call("cuModuleLoadDataEx", func() int32 {
		return d.ModuleLoadDataEx(&module, &text[0], 2, &options[0], &values[0])
	})
	goruntime.KeepAlive(log)
	if e := (*device.CallError)(nil); errors.As(err, &e) {
		message, _, _ := bytes.Cut(log, []byte{0})
		e.Log = string(message)
	}
	if err != nil {
		return err
	}
	for _, l := range launches {
		var f handle
		if err := d.call("cuModuleGetFunction "+l.Kernel, func() int32 {
			return d.ModuleGetFunction(&f, module, l.Kernel)
		}); err != nil {
			return err
		}
		d.kernels[l.Kernel] = f
	}
	return errors.Join(d.call("cuStreamCreate", func() int32 { return d.StreamCreate(&d.stream, 0) }),
		d.call("cuEventCreate", func() int32 { return d.EventCreate(&d.begin, 0) }),
		d.call("cuEventCreate", func() int32 { return d.EventCreate(&d.done, 0) }))
}

func (d *driver) Allocate(bytes int) (m device.Memory, err error) {
	var h handle
	err = d.call("cuMemAlloc", func() int32 { return d.MemAlloc(&h, uintptr(bytes)) })
	return device.Memory(h), err
}

func (d *driver) Write(m device.Memory, data []byte) error {
	return d.call("cuMemcpyHtoD", func() int32 {
		return d.MemcpyHtoD(handle(m), unsafe.Pointer(&data[0]), uintptr(len(data)))
	})
}

func (d *driver) Read(m device.Memory, data []byte) error {
	return d.call("cuMemcpyDtoH", func() int32 {
		return d.MemcpyDtoH(unsafe.Pointer(&data[0]), handle(m), uintptr(len(data)))
	})
}

// Launch notes a kernel, which Wait begins with all others.
func (d *driver) Launch(l describe.Launch, args []device.Arg) error {
	d.waiting = append(d.waiting, launch{l, args})
	return nil
}

// launchAll launches kernels one by one.
func (d *driver) launchAll(all []launch) error {
	for _, l := range all {
		places, pointers := make([]uint64, len(l.args)), make([]uintptr, len(l.args))
		for i, a := range l.args {
			places[i] = uint64(a.Memory) + uint64(a.Offset)
			pointers[i] = uintptr(unsafe.Pointer(&places[i]))
		}
		err := d.call("cuLaunchKernel "+l.Kernel, func() int32 { // shared memory is declared by the kernel
			return d.LaunchKernel(d.kernels[l.Kernel], uint32(l.Blocks), 1, 1, uint32(l.Threads), 1, 1, 0, d.stream,
				&pointers[0], nil)
		})
		goruntime.KeepAlive(places)
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *driver) Wait() (time.Duration, error) {
	if len(d.waiting) == 0 {
		return 0, nil
	}
	record := func(e handle) error {
		return d.call("cuEventRecord", func() int32 { return d.EventRecord(e, d.stream) })
	}
	err := record(d.begin)
	if err == nil {
		err = d.start()
	}
	if err == nil {
		err = record(d.done)
	}
	if err == nil {
		err = d.call("cuEventSynchronize", func() int32 { return d.EventSynchronize(d.done) })
	}
	var ms float32
	if err == nil {
		err = d.call("cuEventElapsedTime", func() int32 { return d.EventElapsedTime(&ms, d.begin, d.done) })
	}
	d.waiting = nil
	return time.Duration(float64(ms) * float64(time.Millisecond)), err
}

// Close destroys the context with all that belongs to it.
func (d *driver) Close() error { return check("cuCtxDestroy", d.CtxDestroy(d.ctx)) }
