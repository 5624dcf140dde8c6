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
	limit   int64  // bytes that are free there
	class   elf.Class
	pointer int // bytes of an address
	// relocations: added to the base; set to a symbol's address plus addend; and set to a symbol's address
	relative uint32
	symbolic []uint32
	plain    []uint32
	// overhead counts the runner's own instructions in a counted region.
	overhead uint64
}

// arches lists what can be simulated. All are little endian; relocations have addends (RELA) where pointers have 64 bits,
// else the addend is what lies in the relocated place (REL).
func arches() []arch {
	return []arch{{
		name: "aarch64", machine: elf.EM_AARCH64, qemu: "qemu-aarch64", triple: "aarch64-linux-gnu",
		runner: "guest/runner_aarch64.s", base: 0x20_0000_0000, limit: maxImage, class: elf.ELFCLASS64, pointer: 8,
		relative: uint32(elf.R_AARCH64_RELATIVE),
		symbolic: []uint32{uint32(elf.R_AARCH64_ABS64), uint32(elf.R_AARCH64_GLOB_DAT), uint32(elf.R_AARCH64_JUMP_SLOT)},
		overhead: 7,
	}, {
		name: "arm", machine: elf.EM_ARM, qemu: "qemu-arm", triple: "armv7-linux-gnueabihf",
		// qemu puts the program below 0x4000_0000, and stack and mappings from there on.
		runner: "guest/runner_arm.s", base: 0x5000_0000, limit: 0x9000_0000, class: elf.ELFCLASS32, pointer: 4,
		relative: uint32(elf.R_ARM_RELATIVE), symbolic: []uint32{uint32(elf.R_ARM_ABS32)},
		plain:    []uint32{uint32(elf.R_ARM_GLOB_DAT), uint32(elf.R_ARM_JUMP_SLOT)},
		overhead: 10,
	}}
}
