// Package guests holds the facts of each architecture for running artifacts in separate processes,
// of this machine or, under qemu-user, of another: programs, files, addresses, relocations. A guest
// is data, and a small program in its assembly that runs jobs (package engine/simulate lays them
// out in memory). To add one, add a row and such a program.
package guests

import (
	"debug/elf"
	"embed"
	"fmt"
)

//go:embed runners
var runners embed.FS

// Guest is the data of one architecture.
type Guest struct {
	Arch    string // as in descriptions
	Machine elf.Machine
	Qemu    string   // the program; "" if there is no simulation of it
	Triple  string   // the assembler's
	Go      []string // Go's environment when it builds for it
	Debian  string   // its name among Debian's architectures
	Wheel   string   // its name among Python's platforms, "" where no wheel is made
	Loader  string   // the system's dynamic linker, where Go names another one; "" where it does not
	Runner  string   // assembly of the program that runs jobs
	Base    uint64   // where an image lies; free in any process of qemu's
	Limit   int64    // bytes that are free there; 0 means no limit
	Direct  int64    // the same in a process without qemu
	Page    uint64   // bytes of the largest page that the kernel may use, which segments are aligned to
	Class   elf.Class
	Pointer int // bytes of an address
	// Relocations: added to the base; set to a symbol's address plus addend; and set to a symbol's
	// address. With 64-bit pointers they have addends (RELA), else the relocated place holds the
	// addend (REL).
	Relative uint32
	Symbolic []uint32
	Plain    []uint32
}

// All lists them. All are little endian.
func All() []Guest {
	return []Guest{{
		Arch: "aarch64", Machine: elf.EM_AARCH64, Qemu: "qemu-aarch64", Triple: "aarch64-linux-gnu",
		Go:     []string{"GOARCH=arm64"},
		Debian: "arm64", Wheel: "manylinux_2_17_aarch64",
		Runner: runner("runners/aarch64.s"), Base: 0x20_0000_0000, Page: 1 << 16, Class: elf.ELFCLASS64, Pointer: 8,
		Relative: uint32(elf.R_AARCH64_RELATIVE),
		Symbolic: []uint32{uint32(elf.R_AARCH64_ABS64), uint32(elf.R_AARCH64_GLOB_DAT),
			uint32(elf.R_AARCH64_JUMP_SLOT)},
	}, {
		Arch: "arm", Machine: elf.EM_ARM, Qemu: "qemu-arm", Triple: "armv7-linux-gnueabihf",
		Go:     []string{"GOARCH=arm", "GOARM=7"},
		Debian: "armhf",
		Loader: "/lib/ld-linux-armhf.so.3", // Go's is that of systems without a float unit
		// qemu puts the program below 0x4000_0000, and stack and mappings from there on. A process
		// of some kernels ends at 0x8000_0000, and its stack lies below.
		Runner: runner("runners/arm.s"), Base: 0x5000_0000, Limit: 0x9000_0000, Direct: 0x2000_0000, Page: 1 << 12,
		Class: elf.ELFCLASS32, Pointer: 4,
		Relative: uint32(elf.R_ARM_RELATIVE), Symbolic: []uint32{uint32(elf.R_ARM_ABS32)},
		Plain: []uint32{uint32(elf.R_ARM_GLOB_DAT), uint32(elf.R_ARM_JUMP_SLOT)},
	}, {
		Arch: "x86_64", Machine: elf.EM_X86_64, Triple: "x86_64-linux-gnu", Go: []string{"GOARCH=amd64"},
		Debian: "amd64", Wheel: "manylinux_2_17_x86_64",
		Runner: runner("runners/x86_64.s"), Base: 0x20_0000_0000, Page: 1 << 12, Class: elf.ELFCLASS64, Pointer: 8,
		Relative: uint32(elf.R_X86_64_RELATIVE),
		Symbolic: []uint32{uint32(elf.R_X86_64_64), uint32(elf.R_X86_64_GLOB_DAT), uint32(elf.R_X86_64_JMP_SLOT)},
	}, {
		Arch: "riscv64", Machine: elf.EM_RISCV, Qemu: "qemu-riscv64", Triple: "riscv64-linux-gnu",
		Go:     []string{"GOARCH=riscv64"},
		Debian: "riscv64",
		Loader: "/lib/ld-linux-riscv64-lp64d.so.1",
		Runner: runner("runners/riscv64.s"), Base: 0x20_0000_0000, Page: 1 << 12, Class: elf.ELFCLASS64, Pointer: 8,
		Relative: uint32(elf.R_RISCV_RELATIVE), Symbolic: []uint32{uint32(elf.R_RISCV_64)},
		Plain: []uint32{uint32(elf.R_RISCV_JUMP_SLOT)},
	}, {
		Arch: "loongarch64", Machine: elf.EM_LOONGARCH, Qemu: "qemu-loongarch64", Triple: "loongarch64-linux-gnu",
		Go:     []string{"GOARCH=loong64"},
		Debian: "loong64",
		Loader: "/lib64/ld-linux-loongarch-lp64d.so.1",
		Runner: runner("runners/loongarch64.s"), Base: 0x20_0000_0000, Page: 1 << 16, Class: elf.ELFCLASS64, Pointer: 8,
		Relative: uint32(elf.R_LARCH_RELATIVE), Symbolic: []uint32{uint32(elf.R_LARCH_64)},
		Plain: []uint32{uint32(elf.R_LARCH_JUMP_SLOT)},
	}}
}

// Of returns the guest for an architecture, and whether there is one.
func Of(arch string) (Guest, bool) {
	for _, g := range All() {
		if g.Arch == arch {
			return g, true
		}
	}
	return Guest{}, false
}

// GoBuild returns the arguments of Go, and additions to its environment, that build a package of
// this module as a program for g's machines. The same source and Go make the same bytes in every
// folder. A static program runs wherever there is a kernel, and cannot load libraries (package
// runtime); others need glibc.
func (g Guest) GoBuild(pkg, out string, static bool) (args, env []string) {
	args, ld := []string{"build", "-trimpath", "-buildvcs=false"}, "-s -w"
	switch {
	case static:
		args = append(args, "-tags=ripc_static")
	case g.Loader != "":
		ld += " -I " + g.Loader
	}
	env = append([]string{"CGO_ENABLED=0", "GOOS=linux", "GOFLAGS=", "GOEXPERIMENT=", "GOAMD64=", "GOARM64="}, g.Go...)
	return append(args, "-ldflags="+ld, "-o", out, pkg), env
}

// runner is the text of an embedded file.
func runner(name string) string {
	text, err := runners.ReadFile(name)
	if err != nil {
		panic(fmt.Sprintf("BUG: %v", err)) // a row names a file that is not here
	}
	return string(text)
}
