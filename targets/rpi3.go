package targets

// rpi3 is the Raspberry Pi 3 with a 64-bit system. Its Cortex-A53 was built without the
// cryptography extension that LLVM's cortex-a53 has.
func rpi3() Target {
	return Target{
		Name:       "rpi3",
		Arch:       "aarch64",
		CPU:        "cortex-a53",
		Features:   []string{"fp-armv8", "neon", "crc"},
		VectorBits: 128,
		Registers:  32,
		CountOps:   2, // cnt, uaddlp; uadalp is the addition
		ShortSums:  true,
		PairLoads:  true,
		InOrder:    true,
		L1:         32 << 10,
		L2:         512 << 10,
		Cores:      4,
		ClockMHz:   1200, // raspberrypi.com/products/raspberry-pi-3-model-b
		Threads:    4,
		QemuCPU:    "cortex-a53",
		Board:      "Raspberry Pi 3 (BCM2837), 4 x Cortex-A53 in order, one 128-bit vector instruction a cycle",
	}
}
