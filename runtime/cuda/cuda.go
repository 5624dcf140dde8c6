// Package cuda reaches NVIDIA's GPUs by their driver, which assembles kernels in PTX. It loads
// libcuda.so.1 when a bundle is opened, and links to nothing. A stub of the driver tests it; no GPU
// was at hand.
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
