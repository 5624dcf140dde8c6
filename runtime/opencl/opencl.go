// Package opencl reaches devices by OpenCL: GPUs, or CPUs by pocl. It loads libOpenCL.so.1 when a
// bundle is opened, and links to nothing.
package opencl

import "fmt"

// Library is the file that the system's loader of OpenCL drivers has.
const Library = "libOpenCL.so.1"

// maxLog bounds the text of an Error in bytes.
const maxLog = 1 << 14

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
