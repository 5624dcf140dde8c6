// Package opencl reaches devices by OpenCL: GPUs, or CPUs by pocl. It loads libOpenCL.so.1 when a
// bundle is opened, and links to nothing.
package opencl

// Library is the file that the system's loader of OpenCL drivers has.
const Library = "libOpenCL.so.1"

// Queue is a place to run kernels, in OpenCL's handles (cl_context, cl_device_id,
// cl_command_queue).
type Queue struct{ Context, Device, Queue uintptr }

// maxLog bounds the log of a device.CallError in bytes.
const maxLog = 1 << 14
