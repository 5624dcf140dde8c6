package targets

// openclDevice is a device that is reached by OpenCL 1.2. The facts of a CPU, by which layers are
// laid out, are those of its words.
func openclDevice(name, kind, board string, d Device) Target {
	return Target{Name: name, Arch: "opencl", CPU: "generic", Features: []string{kind}, VectorBits: 128, Registers: 32,
		CountOps: 1, L1: 16 << 10, L2: 256 << 10, Cores: d.Units, Device: d, Board: board}
}

// openclCPU is a CPU as a device, as pocl makes it. It is the test bed of kernels.
func openclCPU() Target {
	return openclDevice("opencl-cpu", "cpu", "any CPU with an OpenCL driver, such as pocl; for tests of kernels",
		Device{MaxThreads: 1024, SharedBytes: 32 << 10, Lanes: 1, Units: 1})
}

// maliT860 is the GPU of the RK3399. Its local memory lies in main memory.
func maliT860() Target {
	return openclDevice("mali-t860", "gpu", "Arm Mali-T860 MP4, as in the RK3399",
		Device{MaxThreads: 256, SharedBytes: 32 << 10, Lanes: 1, Units: 4})
}

// gtx1080OpenCL is NVIDIA's GeForce GTX 1080 by OpenCL.
func gtx1080OpenCL() Target {
	return openclDevice("gtx1080-opencl", "gpu", "NVIDIA GeForce GTX 1080",
		Device{MaxThreads: 1024, SharedBytes: 48 << 10, Lanes: 32, Units: 20})
}

// webGPU is any browser with WebGPU: it has the default limits of the specification.
func webGPU() Target {
	t := openclDevice("webgpu", "gpu", "any browser with WebGPU",
		Device{MaxThreads: 256, SharedBytes: 16 << 10, Lanes: 1, Units: 4})
	t.Arch = "webgpu"
	return t
}

// cuda is a GPU of NVIDIA's. cpu is its compute capability, ptx the first version of the language
// of kernels that knows it. d has the facts in which GPUs differ.
func cuda(cpu, ptx, board string, d Device) Target {
	d.MaxThreads, d.SharedBytes, d.Lanes = 1024, 48<<10, 32
	t := openclDevice(cpu, ptx, board, d)
	t.Arch, t.CPU = "nvptx64", cpu
	return t
}
