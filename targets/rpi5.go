package targets

// rpi5 is the Raspberry Pi 5: ARMv8.2-A with dot products of bytes. It has the cryptography
// extension, too, which no kernel uses.
func rpi5() Target {
	return Target{
		Name:       "rpi5",
		Arch:       "aarch64",
		CPU:        "cortex-a76",
		Features:   []string{"fp-armv8", "neon", "crc", "lse", "rdm", "rcpc", "fullfp16", "dotprod"},
		VectorBits: 128,
		Registers:  32,
		CountOps:   1, // udot adds the bytes of four counts up
		ShortSums:  true,
		PairLoads:  true,
		L1:         64 << 10,
		L2:         512 << 10,
		Cores:      4,
		ClockMHz:   2400, // raspberrypi.com/products/raspberry-pi-5
		Threads:    4,
		QemuCPU:    "cortex-a76",
		Board:      "Raspberry Pi 5 (BCM2712), 4 x Cortex-A76 out of order, two vector pipes, dot products",
	}
}
