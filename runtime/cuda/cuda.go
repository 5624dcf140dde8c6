// Package cuda reaches NVIDIA's GPUs by their driver, which assembles kernels in PTX. It loads
// libcuda.so.1 when a bundle is opened, and links to nothing. No GPU was at hand: no test has run
// this package's code beyond the search for the driver.
package cuda

// Library is the file of NVIDIA's driver.
const Library = "libcuda.so.1"

// GPU describes a GPU.
type GPU struct {
	Name       string
	Capability int // the compute capability, as in sm_90
	Units      int // multiprocessors
	ClockKHz   int // the highest clock of the multiprocessors
}
