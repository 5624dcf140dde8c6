package cpu

import "golang.org/x/sys/cpu"

const arch = "riscv64"

// detect says of every feature that can be checked whether it is there, by the kernel's
// riscv_hwprobe. The length of vector registers is a feature, since code is for one length. Go runs
// on no machine without the rest.
func detect() map[string]bool {
	c := &cpu.RISCV64
	return map[string]bool{
		"m": true, "a": true, "f": true, "d": true, "c": c.HasC,
		"zba": c.HasZba, "zbb": c.HasZbb, "zbs": c.HasZbs, "v": c.HasV, "zvbb": c.HasZvbb,
		"zvl128b": c.VLENB == 128/8, "zvl256b": c.VLENB == 256/8,
	}
}
