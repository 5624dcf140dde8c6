package targets

// genericARM64 is the target for every 64-bit Arm machine: ARMv8.0-A with NEON and nothing more.
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
		QemuCPU:    "cortex-a53", // qemu's smallest 64-bit model, which refuses later instructions
		Board:      "any 64-bit Arm machine (ARMv8.0-A with NEON); tuned for none",
	}
}

// arm64Board is a board of four cores, which have CRC instructions, and an L2 cache of the given
// bytes. Its clock and prose are the caller's.
func arm64Board(name, cpu string, l2 int) Target {
	t := genericARM64()
	t.Name, t.CPU, t.QemuCPU, t.Like = name, cpu, cpu, ""
	t.Features = append(t.Features, "crc")
	t.L2, t.Threads = l2, t.Cores
	return t
}
