package simulate

import (
	"debug/elf"
	"embed"
)

//go:embed guest
var guest embed.FS

// arch is what is particular to one simulated architecture. Another one needs an entry here and a runner.
type arch struct {
	name    string // as in descriptions
	machine elf.Machine
	qemu    string // the program
	triple  string // llvm-mc's
	runner  string // source in guest/
	base    uint64 // where the image lies; free in any process of qemu's
	// relocations: added to the base; and set to a symbol's address plus addend
	relative uint32
	symbolic []uint32
	// overhead counts the runner's own instructions in a counted region.
	overhead uint64
}

// arches lists what can be simulated. All are little endian with 64-bit pointers and RELA relocations.
func arches() []arch {
	return []arch{{
		name: "aarch64", machine: elf.EM_AARCH64, qemu: "qemu-aarch64", triple: "aarch64-linux-gnu",
		runner: "guest/runner_aarch64.s", base: 0x20_0000_0000,
		relative: uint32(elf.R_AARCH64_RELATIVE),
		symbolic: []uint32{uint32(elf.R_AARCH64_ABS64), uint32(elf.R_AARCH64_GLOB_DAT), uint32(elf.R_AARCH64_JUMP_SLOT)},
		overhead: 7,
	}}
}
