package cpu

import (
	"debug/elf"
	"runtime"
	"testing"
)

func TestHere(t *testing.T) {
	known := map[string]string{"amd64": "x86_64", "arm64": "aarch64", "arm": "arm", "riscv64": "riscv64"}[runtime.GOARCH]
	if known == "" {
		known = runtime.GOARCH
	}
	if Arch() != known {
		t.Errorf("%s is called %s", runtime.GOARCH, Arch())
	}
	if must := Features()["sse2"] || Features()["neon"]; must != (known == "x86_64" || known == "aarch64") && known != "arm" {
		t.Errorf("features: %v", Features())
	}
	if OfELF(elf.EM_AARCH64) != "aarch64" || OfELF(elf.EM_RISCV) != "riscv64" || OfELF(elf.EM_S390) != "EM_S390" {
		t.Error("machines of ELF files")
	}
	if !IsTuning("prefer-256-bit") || IsTuning("neon") {
		t.Error("tuning")
	}
	for feature, bits := range map[string]int{"zvl128b": 128, "zvl256b": 256, "zvbb": 0, "zvl": 0, "neon": 0} {
		if got := VectorBits(feature); got != bits {
			t.Errorf("%s: %d bits", feature, got)
		}
	}
}
