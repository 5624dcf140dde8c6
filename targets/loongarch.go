package targets

// loongarch64 is any 64-bit LoongArch machine with Linux, without its vectors. VectorBits and
// Registers are those of its scalars.
func loongarch64() Target {
	return Target{
		Name:       "loongarch64",
		Arch:       "loongarch64",
		CPU:        "loongarch64",
		Features:   []string{"f", "d", "ual"},
		VectorBits: 64,
		Registers:  27, // without zero, ra, tp, sp and the reserved one
		CountOps:   12, // sums of neighbouring bits, written out
		L1:         32 << 10,
		L2:         256 << 10,
		Cores:      4,
		QemuCPU:    "la464",
		Board:      "any 64-bit LoongArch machine with Linux, without vectors",
		Like:       "cortex-m4",
	}
}
