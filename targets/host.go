package targets

import (
	"fmt"
	"runtime"

	"github.com/klauspost/cpuid/v2"

	"ripc/targets/cpu"
)

// HostError says why ripc cannot compile for the machine it runs on.
type HostError struct {
	OS, Arch string // Go's names
	Reason   string
}

func (e *HostError) Error() string {
	return fmt.Sprintf("target host: %s/%s: %s", e.OS, e.Arch, e.Reason)
}

// allowed lists the features that ripc's kernels can profit from, in the order of Target.Features.
// Nothing else that the machine offers is used.
func allowed(arch string) []string {
	switch arch {
	case "x86_64":
		return []string{
			"sse2", "sse3", "ssse3", "sse4.1", "sse4.2", "popcnt", "avx", "avx2", "fma", "bmi", "bmi2", "f16c",
			"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd", "avx512vbmi", "avx512vbmi2", "avx512vnni",
			"avx512bitalg", "avx512vpopcntdq", "avx512ifma", "avxvnni",
		}
	case "aarch64":
		return []string{"fp-armv8", "neon", "crc", "lse", "dotprod", "fullfp16"}
	case "riscv64":
		return []string{"m", "a", "f", "d", "c", "zba", "zbb", "zbs", "v", "zvl128b", "zvl256b", "zvbb"}
	}
	return nil
}

// hostArch returns this machine's architecture in ripc's names, or "" if ripc has no code generator
// for it.
func hostArch() string {
	if allowed(cpu.Arch()) == nil {
		return ""
	}
	return cpu.Arch()
}

// HostFeatures returns the features of this machine that a Target may name, as the CPU and the
// operating system report them at run time. It is empty on architectures ripc does not generate
// code for.
func HostFeatures() []string {
	var out []string
	has := cpu.Features()
	for _, f := range allowed(cpu.Arch()) {
		if has[f] {
			out = append(out, f)
		}
	}
	return out
}

// Host describes the machine ripc runs on by its reported features, never by the name of its CPU.
// It fails with *HostError if ripc cannot generate code for it.
func Host() (Target, error) {
	arch := hostArch()
	if arch == "" {
		return Target{}, &HostError{runtime.GOOS, runtime.GOARCH,
			"ripc generates code for amd64, arm64 and riscv64 only"}
	}
	if runtime.GOOS != "linux" {
		return Target{}, &HostError{runtime.GOOS, runtime.GOARCH, "artifacts are ELF files for Linux"}
	}
	t := hostTarget(arch, HostFeatures())
	t.Family = family(t, cpu.Features())
	t.Cores = runtime.NumCPU()
	if n := cpuid.CPU.Cache.L1D; n > 0 {
		t.L1 = n
	}
	if n := cpuid.CPU.Cache.L2; n > 0 {
		t.L2 = n
	}
	if name := cpuid.CPU.BrandName; name != "" {
		t.Board = "this machine: " + name
	}
	if !t.Has("sse2") && !t.Has("neon") && !t.Has("d") {
		return Target{}, &HostError{runtime.GOOS, runtime.GOARCH,
			"the CPU reports no vector unit (SSE2 or NEON), or no floats"}
	}
	return t, nil
}

// family selects a host model by features, which generated code need not use: cores of one width
// differ most by the year.
func family(t Target, has map[string]bool) string {
	name := HostName + "-" + t.Like
	if t.MultipliesBytes() {
		name += "-dots"
	}
	for _, feature := range []string{"bf16", "fp16", "vp2intersect"} {
		if has["avx512"+feature] {
			name += "-" + feature
		}
	}
	return name
}

// hostTarget derives the shape of the vector unit from the features; sizes that only the machine
// knows are defaults.
func hostTarget(arch string, features []string) Target {
	if arch == "aarch64" {
		t := genericARM64()
		t.Name, t.Features, t.QemuCPU, t.Board = HostName, features, "", "this machine"
		if t.Has("dotprod") {
			t.CountOps, t.Like = rpi5().CountOps, rpi5().Name
		}
		return t
	}
	if arch == "riscv64" {
		t := riscv64()
		for _, row := range []Target{riscv64Vector(128), riscv64Vector(256), riscv64Zvbb()} {
			if len(row.Missing(features)) == 0 {
				t = row
			}
		}
		t.Name, t.QemuCPU, t.Board = HostName, "", "this machine"
		return t
	}
	t := Target{
		Name: HostName, Arch: arch, CPU: cpuX86, Features: features,
		VectorBits: 128, Registers: 16, CountOps: countOpsX86(features), L1: 32 << 10, L2: 256 << 10, Cores: 1,
		Board: "this machine", Like: x86v1().Name,
	}
	if t.Has("avx2") {
		t.VectorBits, t.Like = 256, x86v3().Name
	}
	if t.Has("avx512f") && t.Has("avx512bw") && t.Has("avx512dq") && t.Has("avx512vl") {
		t.VectorBits, t.Registers, t.Ternary, t.Like = 512, 32, true, x86v4().Name
	}
	return t
}
