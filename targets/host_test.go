package targets

import (
	"runtime"
	"testing"
)

func TestHost(t *testing.T) {
	h, err := Host()
	if err != nil {
		if runtime.GOOS == "linux" && hostArch() != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	if !h.Native() || len(h.Features) == 0 || h.Cores != runtime.NumCPU() {
		t.Errorf("implausible host: %+v", h)
	}
	t.Logf("%d-bit vectors, L1 %d, L2 %d, %s", h.VectorBits, h.L1, h.L2, h.Features)
}

func TestHostShapes(t *testing.T) {
	avx512 := append(x86Base(), "avx512f", "avx512bw", "avx512dq", "avx512vl")
	tests := []struct {
		name, arch string
		features   []string
		bits, regs int
	}{
		{"sse only", "x86_64", []string{"sse2"}, 128, 16},
		{"avx without avx2", "x86_64", []string{"sse2", "avx"}, 128, 16},
		{"avx2", "x86_64", x86Base(), 256, 16},
		{"avx512f alone", "x86_64", append(x86Base(), "avx512f"), 256, 16},
		{"avx512", "x86_64", avx512, 512, 32},
		{"neon", "aarch64", []string{"fp-armv8", "neon"}, 128, 32},
		{"no vectors", "riscv64", []string{"m", "a", "f", "d", "c"}, 64, 27},
		{"v", "riscv64", riscv64Vector(256).Features, 256, 31},
		{"v without the length", "riscv64", []string{"m", "a", "f", "d", "c", "zba", "zbb", "zbs", "v"}, 64, 27},
	}
	for _, tt := range tests {
		h := hostTarget(tt.arch, tt.features)
		if h.VectorBits != tt.bits || h.Registers != tt.regs {
			t.Errorf("%s: %d bits, %d registers", tt.name, h.VectorBits, h.Registers)
		}
	}
}

// TestAllowListHasNothingRipcAvoids: features that change how the system must save state, or that no kernel uses.
func TestAllowListHasNothingRipcAvoids(t *testing.T) {
	for _, arch := range []string{"x86_64", "aarch64"} {
		for _, f := range allowed(arch) {
			switch f {
			case "amx-tile", "amx-int8", "amx-bf16", "avx512er", "avx512pf", "sve", "sve2":
				t.Errorf("%s: %s is in the list", arch, f)
			}
		}
	}
}
