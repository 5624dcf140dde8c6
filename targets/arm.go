package targets

// genericARM is the target for every 32-bit Arm machine with NEON and VFPv4 (Cortex-A5, A7, A15,
// A17 and later). ripc generates 32-bit Arm code for no others: older floating-point units have no
// fused multiply-add.
func genericARM() Target {
	return Target{
		Name:         "generic-armv7",
		Arch:         "arm",
		CPU:          "generic",
		Features:     []string{"vfp2", "vfp3", "d32", "vfp4", "neon"},
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

// armBoard is a board of four cores that work in order and divide integers, in Arm and in Thumb
// mode. Its clock and prose are the caller's.
func armBoard(name, cpu, qemuCPU string) Target {
	t := genericARM()
	t.Name, t.CPU, t.QemuCPU, t.Like = name, cpu, qemuCPU, ""
	t.Features = append(t.Features, "hwdiv", "hwdiv-arm")
	t.InOrder, t.Threads = true, t.Cores
	return t
}
