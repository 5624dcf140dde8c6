package targets

// rpi4 is the Raspberry Pi 4 with a 64-bit system. Its Cortex-A72, too, lacks the cryptography
// extension.
func rpi4() Target {
	return Target{
		Name:         "rpi4",
		Arch:         "aarch64",
		CPU:          "cortex-a72",
		Features:     []string{"fp-armv8", "neon", "crc"},
		VectorBits:   128,
		Registers:    32,
		CountOps:     2, // cnt, uaddlp; uadalp is the addition
		ShortSums:    true,
		PairLoads:    true,
		ShortLookups: true,
		L1:           32 << 10,
		L2:           1 << 20,
		Cores:        4,
		ClockMHz:     1500, // Raspberry Pi 4 Model B product brief of 2019; revisions from 1.4 on reach 1800
		Threads:      4,
		QemuCPU:      "cortex-a72",
		Board:        "Raspberry Pi 4 (BCM2711), 4 x Cortex-A72 out of order, two vector pipes, slow tbl",
	}
}
