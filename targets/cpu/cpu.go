// Package cpu says which architecture and which features this machine has. Names of architectures
// are ripc's ("x86_64", "aarch64", "arm", "riscv64"), names of features LLVM's, without "+". It
// imports nothing of the compiler, so that a deployed program stays small.
package cpu

import (
	"debug/elf"
	"fmt"
	"strings"
)

// Arch is this machine's architecture; Go's name for it if ripc compiles for none of that kind.
func Arch() string { return arch }

// Features says of every feature that can be checked whether this CPU and its operating system
// offer it.
func Features() map[string]bool { return detect() }

// IsTuning reports whether a feature changes the choice of instructions, but not the set of them.
func IsTuning(feature string) bool {
	return strings.HasPrefix(feature, "prefer-") || strings.HasPrefix(feature, "fast-") ||
		strings.HasPrefix(feature, "slow-")
}

// VectorBits is the length of vector registers that a feature stands for, where code is for exactly
// that length; 0 of other features.
func VectorBits(feature string) (bits int) {
	if _, err := fmt.Sscanf(feature, "zvl%db", &bits); err != nil {
		return 0
	}
	return bits
}

// OfELF is the architecture of an ELF file; ELF's name for it if ripc compiles for none of that
// kind.
func OfELF(m elf.Machine) string {
	switch m {
	case elf.EM_X86_64:
		return "x86_64"
	case elf.EM_AARCH64:
		return "aarch64"
	case elf.EM_ARM:
		return "arm"
	case elf.EM_RISCV:
		return "riscv64"
	case elf.EM_LOONGARCH:
		return "loongarch64"
	}
	return m.String()
}
