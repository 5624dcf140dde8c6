package targets

// rpi3ARM is the Raspberry Pi 3 with a 32-bit system that promises ARMv7 alone. Instructions that
// ARMv8 adds to the 32-bit set are left out, and qemu's cortex-a15 (there is no 32-bit cortex-a53)
// refuses them.
func rpi3ARM() Target {
	return Target{
		Name:         "rpi3-armv7",
		Arch:         "arm",
		CPU:          "cortex-a53",
		Features:     append(armBase(), armDivide()...),
		VectorBits:   128,
		Registers:    16,
		CountOps:     2, // vcnt, vpaddl; vpadal is the addition
		ShortLookups: true,
		InOrder:      true,
		L1:           32 << 10,
		L2:           512 << 10,
		Cores:        4,
		ClockMHz:     1200, // raspberrypi.com/products/raspberry-pi-3-model-b
		Threads:      4,
		QemuCPU:      "cortex-a15",
		Board: "Raspberry Pi 3 (BCM2837) with a 32-bit system, 4 x Cortex-A53 in order, one 128-bit vector " +
			"instruction a cycle",
	}
}
