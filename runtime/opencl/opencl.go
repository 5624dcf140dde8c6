// Package opencl runs bundles of kernels on devices that OpenCL reaches: GPUs, or CPUs by pocl. It
// loads libOpenCL.so.1 when a bundle is opened, and links to nothing.
package opencl

import (
	"fmt"

	"ripc/runtime/describe"
)

// Library is the file that the system's loader of OpenCL drivers has.
const Library = "libOpenCL.so.1"

// MissingError says that no device can run a bundle.
type MissingError struct {
	Target string
	Why    string
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("no device for %s: %s (Debian: ocl-icd-libopencl1 and a driver, such as pocl-opencl-icd for "+
		"CPUs)", e.Target, e.Why)
}

// Error says that a function of OpenCL failed.
type Error struct {
	Call string
	Code int32
	Log  string // of the driver's compiler
}

func (e *Error) Error() string {
	text := fmt.Sprintf("OpenCL: %s failed (error %d)", e.Call, e.Code)
	if e.Log != "" {
		text += ":\n" + e.Log
	}
	return text
}

// LimitError says that a kernel takes more than the device has.
type LimitError struct {
	Device, Kernel string
	Launch         describe.Launch
	Threads        uint64 // of a block at most
	Shared         uint64 // bytes of a block at most
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s takes %d threads and %d bytes of shared memory in a block; %s has %d and %d", e.Kernel,
		e.Launch.Threads, e.Launch.Shared, e.Device, e.Threads, e.Shared)
}
