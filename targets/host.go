package targets

import (
	"fmt"
	"runtime"

	"github.com/klauspost/cpuid/v2"
)

// HostError says why ripc cannot compile for the machine it runs on.
type HostError struct {
	OS, Arch string // Go's names
	Reason   string
}

func (e *HostError) Error() string {
	return fmt.Sprintf("target host: %s/%s: %s; choose another with --target (see ripc targets)", e.OS, e.Arch, e.Reason)
}

// hostFeature pairs a feature's LLVM name with the CPU bits that must all be set for it.
type hostFeature struct {
	name string
	bits []cpuid.FeatureID
}

// allowed lists the features that ripc's kernels can profit from, in the order of Target.Features. Nothing else that
// the CPU reports is used.
func allowed(arch string) []hostFeature {
	one := func(name string, bits ...cpuid.FeatureID) hostFeature { return hostFeature{name, bits} }
	switch arch {
	case "x86_64":
		return []hostFeature{
			one("sse2", cpuid.SSE2), one("sse3", cpuid.SSE3), one("ssse3", cpuid.SSSE3),
			one("sse4.1", cpuid.SSE4), one("sse4.2", cpuid.SSE42), one("popcnt", cpuid.POPCNT),
			one("avx", cpuid.AVX), one("avx2", cpuid.AVX2), one("fma", cpuid.AVX, cpuid.FMA3),
			one("bmi", cpuid.BMI1), one("bmi2", cpuid.BMI2), one("f16c", cpuid.AVX, cpuid.F16C),
			one("avx512f", cpuid.AVX512F), one("avx512bw", cpuid.AVX512BW), one("avx512dq", cpuid.AVX512DQ),
			one("avx512vl", cpuid.AVX512VL), one("avx512cd", cpuid.AVX512CD), one("avx512vbmi", cpuid.AVX512VBMI),
			one("avx512vbmi2", cpuid.AVX512VBMI2), one("avx512vnni", cpuid.AVX512VNNI),
			one("avx512bitalg", cpuid.AVX512BITALG), one("avx512vpopcntdq", cpuid.AVX512VPOPCNTDQ),
			one("avx512ifma", cpuid.AVX512IFMA), one("avxvnni", cpuid.AVX2, cpuid.AVXVNNI),
		}
	case "aarch64":
		return []hostFeature{
			one("fp-armv8", cpuid.FP), one("neon", cpuid.ASIMD), one("crc", cpuid.CRC32),
			one("lse", cpuid.ATOMICS), one("dotprod", cpuid.ASIMDDP), one("fullfp16", cpuid.FPHP, cpuid.ASIMDHP),
		}
	}
	return nil
}

// hostArch returns this machine's architecture in ripc's names, or "" if ripc has no code generator for it.
func hostArch() string {
	switch runtime.GOARCH {
	case "amd64":
		return "x86_64"
	case "arm64":
		return "aarch64"
	}
	return ""
}

// HostFeatures returns the features of this machine that a Target may name, as the CPU and the operating system
// report them at run time. It is empty on architectures ripc does not generate code for.
func HostFeatures() []string {
	return detect(allowed(hostArch()), func(id cpuid.FeatureID) bool { return cpuid.CPU.Has(id) })
}

// detect keeps the features of list whose bits are all reported by has.
func detect(list []hostFeature, has func(cpuid.FeatureID) bool) []string {
	var out []string
	for _, f := range list {
		ok := true
		for _, b := range f.bits {
			ok = ok && has(b)
		}
		if ok {
			out = append(out, f.name)
		}
	}
	return out
}

// Host describes the machine ripc runs on by what it reports, never by the name of its CPU. It fails with *HostError
// if ripc cannot generate code for it.
func Host() (Target, error) {
	arch := hostArch()
	if arch == "" {
		return Target{}, &HostError{runtime.GOOS, runtime.GOARCH, "ripc generates code for amd64 and arm64 only"}
	}
	if runtime.GOOS != "linux" {
		return Target{}, &HostError{runtime.GOOS, runtime.GOARCH, "artifacts are ELF files for Linux"}
	}
	t := hostTarget(arch, HostFeatures())
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
	if !t.Has("sse2") && !t.Has("neon") {
		return Target{}, &HostError{runtime.GOOS, runtime.GOARCH, "the CPU reports no vector unit (SSE2 or NEON)"}
	}
	return t, nil
}

// hostTarget derives the shape of the vector unit from the features; sizes that only the machine knows are defaults.
func hostTarget(arch string, features []string) Target {
	if arch == "aarch64" {
		t := genericARM64()
		t.Name, t.Features, t.QemuCPU, t.Board = HostName, features, "", "this machine"
		if t.Has("dotprod") {
			t.CountOps = rpi5().CountOps
		}
		return t
	}
	t := Target{
		Name: HostName, Arch: arch, Triple: tripleX86, CPU: cpuX86, Features: features,
		VectorBits: 128, Registers: 16, CountOps: countOpsX86(features), L1: 32 << 10, L2: 256 << 10, Cores: 1, FTZ: "mxcsr", Board: "this machine",
	}
	if t.Has("avx2") {
		t.VectorBits, t.Tuning = 256, x86Tuning()
	}
	if t.Has("avx512f") && t.Has("avx512bw") && t.Has("avx512dq") && t.Has("avx512vl") {
		t.VectorBits, t.PreferVectorBits, t.Registers, t.Ternary = 512, 512, 32, true
	}
	return t
}
