package targets

// rpi2 is the Raspberry Pi 2. Its NEON unit is 64 bits wide: a 128-bit instruction takes two
// cycles.
func rpi2() Target {
	return Target{
		Name:         "rpi2",
		Arch:         "arm",
		CPU:          "cortex-a7",
		Features:     append(armBase(), armDivide()...),
		VectorBits:   128,
		Registers:    16,
		CountOps:     2, // vcnt, vpaddl; vpadal is the addition
		ShortLookups: true,
		InOrder:      true,
		L1:           32 << 10,
		L2:           512 << 10,
		Cores:        4,
		ClockMHz:     900, // raspberrypi.com/products/raspberry-pi-2-model-b
		Threads:      4,
		QemuCPU:      "cortex-a7",
		Like:         "rpi3-armv7",
		Board:        "Raspberry Pi 2 (BCM2836), 4 x Cortex-A7 in order, half a 128-bit vector instruction a cycle",
	}
}
