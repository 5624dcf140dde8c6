package targets

// jetsonTX2 stands for the four Cortex-A57 of a Jetson TX2; its two Denver 2 cores run the same
// code.
func jetsonTX2() Target {
	return Target{
		Name:         "jetson-tx2",
		Arch:         "aarch64",
		CPU:          "cortex-a57",
		Features:     []string{"fp-armv8", "neon", "crc"},
		VectorBits:   128,
		Registers:    32,
		CountOps:     2, // cnt, uaddlp; uadalp is the addition
		ShortSums:    true,
		PairLoads:    true,
		ShortLookups: true,
		L1:           32 << 10,
		L2:           2 << 20,
		Cores:        4,
		ClockMHz:     2000, // NVIDIA Jetson TX2 data sheet, Cortex-A57
		Threads:      4,
		QemuCPU:      "cortex-a57",
		Like:         "rpi4",
		Board:        "NVIDIA Jetson TX2, 4 x Cortex-A57 (and 2 x Denver 2) out of order, two vector pipes, slow tbl",
	}
}
