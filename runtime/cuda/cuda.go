// Package cuda reaches NVIDIA's GPUs by their driver, which assembles kernels in PTX. It loads
// libcuda.so.1 when a bundle is opened, and links to nothing. No GPU was at hand: no test has run
// this package's code beyond the search for the driver.
package cuda

import "fmt"

// Library is the file of NVIDIA's driver.
const Library = "libcuda.so.1"

// Error says that a function of the driver failed.
type Error struct {
	Call string
	Code int32
	Log  string // of the driver's assembler
}

func (e *Error) Error() string {
	text := fmt.Sprintf("CUDA: %s failed (error %d)", e.Call, e.Code)
	if e.Log != "" {
		text += ":\n" + e.Log
	}
	return text
}
