//go:build (amd64 || arm64) && !ripc_static

package opencl

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"

	"ripc/runtime/device"
)

// handle is an object of OpenCL.
type handle uintptr

// Constants of OpenCL 1.2.
const (
	typeCPU, typeGPU    = 1 << 1, 1 << 2
	deviceMaxGroup      = 0x1004
	deviceMaxBuffer     = 0x1010
	deviceLocalBytes    = 0x1023
	deviceName          = 0x102b
	queueProfiling      = 1 << 1
	memReadWrite        = 1
	programLog          = 0x1183
	eventStart          = 0x1282
	eventEnd            = 0x1283
	blocking, errAbsent = 1, -1
)

// api is the functions of OpenCL that a session calls.
type api struct {
	GetPlatformIDs          func(n uint32, ids *handle, count *uint32) int32
	GetDeviceIDs            func(platform handle, kind uint64, n uint32, ids *handle, count *uint32) int32
	GetDeviceInfo           func(d handle, what uint32, size uintptr, value unsafe.Pointer, got *uintptr) int32
	CreateContext           func(props unsafe.Pointer, n uint32, ids *handle, notify, data uintptr, code *int32) handle
	CreateCommandQueue      func(ctx, device handle, props uint64, code *int32) handle
	CreateBuffer            func(ctx handle, flags uint64, size uintptr, data unsafe.Pointer, code *int32) handle
	CreateProgramWithSource func(ctx handle, n uint32, text **byte, size *uintptr, code *int32) handle
	BuildProgram            func(p handle, n uint32, ids *handle, options string, notify, data uintptr) int32
	GetProgramBuildInfo     func(p, device handle, what uint32, size uintptr, value unsafe.Pointer, got *uintptr) int32
	CreateKernel            func(p handle, name string, code *int32) handle
	SetKernelArg            func(k handle, i uint32, size uintptr, value unsafe.Pointer) int32
	EnqueueNDRangeKernel    func(q, k handle, dims uint32, from, all, group *uintptr, n uint32, on, event *handle) int32
	EnqueueWriteBuffer      transfer
	EnqueueReadBuffer       transfer
	Finish                  func(q handle) int32
	GetEventProfilingInfo   func(e handle, what uint32, size uintptr, value unsafe.Pointer, got *uintptr) int32
	ReleaseEvent            func(handle) int32
	ReleaseMemObject        func(handle) int32
	ReleaseKernel           func(handle) int32
	ReleaseProgram          func(handle) int32
	ReleaseCommandQueue     func(handle) int32
	ReleaseContext          func(handle) int32
}

// transfer copies a piece of a buffer.
type transfer func(q, m handle, wait uint32, at, size uintptr, data unsafe.Pointer, n uint32, on, event *handle) int32

// load finds the functions of Library: field F is clF.
func load() (*api, error) {
	lib, err := purego.Dlopen(Library, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("%w (Debian: ocl-icd-libopencl1)", err)
	}
	a := &api{}
	return a, device.Link(lib, Library, "cl", a)
}

// check turns a result of OpenCL into an error.
func check(call string, code int32) error { return device.Check("OpenCL", call, code) }

// unit is a device that a bundle may run on.
type unit struct {
	id                     handle
	name                   string
	threads, local, buffer uint64
}

// Find fails if there is no driver of OpenCL.
func Find() error {
	a, err := load()
	if err == nil {
		_, err = a.platforms()
	}
	return err
}

// platforms lists the drivers, at least one.
func (a *api) platforms() ([]handle, error) {
	var n uint32
	if code := a.GetPlatformIDs(0, nil, &n); code != 0 || n == 0 {
		return nil, fmt.Errorf("%s knows no driver", Library)
	}
	all := make([]handle, n)
	return all, check("clGetPlatformIDs", a.GetPlatformIDs(n, &all[0], nil))
}

// find returns the first device with the features of a target. A driver that fails does not hide
// those behind it.
func (a *api) find(features []string) (unit, error) {
	kind := uint64(typeGPU)
	for _, f := range features {
		if f == "cpu" {
			kind = typeCPU
		}
	}
	platforms, err := a.platforms()
	if err != nil {
		return unit{}, err
	}
	var failed error
	for _, p := range platforms {
		var id handle
		if code := a.GetDeviceIDs(p, kind, 1, &id, nil); code == errAbsent {
			continue
		} else if err := check("clGetDeviceIDs", code); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		d, err := a.describe(id)
		if err == nil {
			return d, nil
		}
		failed = errors.Join(failed, err)
	}
	if failed != nil {
		return unit{}, failed
	}
	return unit{}, fmt.Errorf("no driver of OpenCL has a device of kind %s (Debian: pocl-opencl-icd for CPUs)",
		strings.Join(features, ", "))
}

// describe asks for the facts of a device.
func (a *api) describe(id handle) (unit, error) {
	d, name := unit{id: id}, make([]byte, 256)
	var group uintptr
	for _, q := range []struct {
		what uint32
		size uintptr
		to   unsafe.Pointer
	}{
		{deviceName, uintptr(len(name)), unsafe.Pointer(&name[0])},
		{deviceMaxGroup, unsafe.Sizeof(group), unsafe.Pointer(&group)},
		{deviceLocalBytes, 8, unsafe.Pointer(&d.local)},
		{deviceMaxBuffer, 8, unsafe.Pointer(&d.buffer)},
	} {
		if err := check("clGetDeviceInfo", a.GetDeviceInfo(d.id, q.what, q.size, q.to, nil)); err != nil {
			return unit{}, err
		}
	}
	d.name, _, _ = strings.Cut(string(name), "\x00")
	d.threads = uint64(group)
	return d, nil
}
