package targets

import "slices"

// cpuX86 is -mcpu of every x86 target: the baseline, to which Features are added. A later CPU's
// name would bring features that a virtual machine may hide, and prefer-256-bit on CPUs with
// 512-bit vectors.
const cpuX86 = "x86-64"

// x86Base are the features of x86-64-v3 that generated kernels can use.
func x86Base() []string {
	return []string{"sse2", "sse3", "ssse3", "sse4.1", "sse4.2", "popcnt", "avx", "avx2", "fma", "bmi", "bmi2", "f16c"}
}

// countOpsX86 returns Target.CountOps with features: vpopcntd; two table look-ups of nibbles, with
// two sums of neighbours; or sums of neighbours alone. It includes copies of registers, since SSE2
// overwrites an operand.
func countOpsX86(features []string) int {
	switch {
	case slices.Contains(features, "avx512vpopcntdq"):
		return 1
	case slices.Contains(features, "ssse3"):
		return 8
	}
	return 22
}

// x86v1 is the baseline of x86-64: SSE2, without popcnt, byte shuffles, roundings or fused
// multiply-adds. Code generation spells these out, to the same bits.
func x86v1() Target {
	return Target{
		Name:       "x86-64",
		Arch:       "x86_64",
		CPU:        cpuX86,
		Features:   []string{"sse2"},
		VectorBits: 128,
		Registers:  16,
		CountOps:   countOpsX86([]string{"sse2"}),
		L1:         32 << 10,
		L2:         256 << 10,
		Cores:      2,
		QemuCPU:    "kvm64,-sse3", // emulates SSE2 and no SSE3
		Board:      "any 64-bit PC or server (x86-64 baseline: SSE2); floats are slow without fused multiply-adds",
	}
}

// x86v3 is the x86-64-v3 level: AVX2.
func x86v3() Target {
	return Target{
		Name:       "x86-64-v3",
		Arch:       "x86_64",
		CPU:        cpuX86,
		Features:   x86Base(),
		VectorBits: 256,
		Registers:  16,
		CountOps:   countOpsX86(x86Base()),
		L1:         32 << 10,
		L2:         256 << 10,
		Cores:      4,
		QemuCPU:    "max", // emulates AVX2 and no AVX-512
		Board:      "PC or server with AVX2 (x86-64-v3: Haswell, Zen and later)",
	}
}

// x86v4 is the x86-64-v4 level: the first generation of AVX-512, without vpopcnt, VBMI or VNNI.
func x86v4() Target {
	t := x86v3()
	t.Name = "x86-64-v4"
	t.Features = append(t.Features, "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd")
	t.VectorBits = 512
	t.Registers = 32
	t.Ternary = true
	t.L2 = 1 << 20
	t.QemuCPU = "" // qemu emulates no AVX-512
	t.Board = "server with AVX-512 F, BW, DQ, VL and CD (x86-64-v4: Skylake-SP, Zen 4 and later)"
	return t
}
