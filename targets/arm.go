package targets

// armBase are the features of ARMv7-A with NEON and VFPv4, the least that ripc generates 32-bit Arm
// code for: older floating-point units have no fused multiply-add.
func armBase() []string { return []string{"vfp2", "vfp3", "d32", "vfp4", "neon"} }

// armDivide are the integer divisions, in Arm and in Thumb mode.
func armDivide() []string { return []string{"hwdiv", "hwdiv-arm"} }

// genericARM is the target for every 32-bit Arm machine with NEON and VFPv4 (Cortex-A5, A7, A15,
// A17 and later).
func genericARM() Target {
	return Target{
		Name:         "generic-armv7",
		Arch:         "arm",
		CPU:          "generic",
		Features:     armBase(),
		VectorBits:   128,
		Registers:    16,
		CountOps:     2, // vcnt, vpaddl; vpadal is the addition
		ShortLookups: true,
		L1:           32 << 10,
		L2:           512 << 10,
		Cores:        4,
		Like:         "rpi3-armv7",
		QemuCPU:      "cortex-a7", // the smallest model qemu has that has VFPv4
		Board:        "any 32-bit Arm machine with NEON and VFPv4 (ARMv7-A); tuned for none",
	}
}
