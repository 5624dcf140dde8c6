package targets

// genericARM64 is what every 64-bit Arm machine runs: ARMv8.0-A with NEON and nothing more.
func genericARM64() Target {
	return Target{
		Name:       "generic-arm64",
		Arch:       "aarch64",
		CPU:        "generic",
		Features:   []string{"fp-armv8", "neon"},
		VectorBits: 128,
		Registers:  32,
		CountOps:   2, // cnt, uaddlp; uadalp is the addition
		ShortSums:  true,
		PairLoads:  true,
		L1:         32 << 10,
		L2:         512 << 10,
		Cores:      4,
		Like:       "rpi4",
		QemuCPU:    "cortex-a53", // the smallest 64-bit model qemu has, so it refuses what ARMv8.0-A lacks
		Board:      "any 64-bit Arm machine (ARMv8.0-A with NEON); tuned for none",
	}
}
