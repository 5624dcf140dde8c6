// Package rows holds LLVM's settings for each target, and the arguments of its tools. It has one
// row for each architecture, with the differences between CPUs. Package targets describes the
// machines themselves.
package rows

import (
	"debug/elf"
	"slices"
	"strings"

	"ripc/targets"
)

// Row has LLVM's settings for a target.
type Row struct {
	Backend string // LLVM's name of the code generator
	Triple  string // -mtriple
	CPU     string // -mcpu: chooses the pipeline model
	// Attrs is -mattr. "+" precedes the target's features and settings of instruction selection.
	// "-" precedes features that CPU implies and that the machine lacks, or may lack. Kernels never
	// rely on implied features.
	Attrs string
	// PreferVectorBits is the function attribute "prefer-vector-width", or 0 for none. Without it
	// LLVM may split 512-bit vectors into halves.
	PreferVectorBits int
	// VScale is the function attribute "vscale_range", or 0 for none: the length of a vector
	// register in units of 64 bits. Without it, code would ask the machine at each spill.
	VScale int
	Format Format // of objects and libraries
	Shares bool   // of modules: threads are instances with one memory, which the module imports
	// Emulation is ld.lld's -m. PageSize, in bytes, is the largest page that a kernel for the
	// target may use (Linux on Arm runs with 4, 16 or 64 KiB): it costs address space, but no byte
	// of the file.
	Emulation string
	PageSize  uint64
	// Machine, Class and Flags stand in the headers of ELF objects.
	Machine elf.Machine
	Class   elf.Class
	Flags   uint32

	CommentMark string // starts a comment in assembly
	Addition    string // an instruction that all models of llvm-mca know
	// AsmVariant is llvm-mc's -output-asm-variant of the assembly that LLVM reads back the fastest:
	// Apple's on 64-bit Arm, where the shape of a vector belongs to the mnemonic and leaves fewer
	// instructions to choose among.
	AsmVariant int
	// Model is -mcpu for llvm-mca, which estimates cycles by LLVM's model of a pipeline: that of
	// CPU, or of a core that is as much like it as any that LLVM has a model of. It is empty if
	// there is none.
	Model string
	// ModelInOrder says that the model's core begins instructions in their order, and so has few
	// under way at a time.
	ModelInOrder bool
	// HasShort says that an instruction has 2 bytes unless its lowest two bits are set. All others
	// have 4.
	HasShort bool
	// SetsVectors, if not nil, reports whether an instruction changes the meaning of later ones:
	// the width of lanes, and the number of registers that are one operand.
	SetsVectors  func(instruction uint32) bool
	SlowPairSums bool // that of the target
	Facts        Facts
	scheduling   scheduling
}

// Format is a format of objects and libraries.
type Format int

// The formats.
const (
	ELF Format = iota
	WASM
	PTX // text, which drivers assemble
)

// scheduling says in which order LLVM is to put instructions.
type scheduling uint8

const (
	usual scheduling = iota
	// fewestRegisters: with 16 vector registers, LLVM's own order of a tile's instructions spills,
	// and so does the order of the text ("source"). Bottom-up with the fewest registers ("burr")
	// does not. Where it has a pipeline, LLVM orders by that afterwards.
	fewestRegisters
	// asWritten: there is no pipeline to schedule for, and doing it all the same costs registers.
	asWritten
	// bottomUp: for wide pipelines (A57, A72), scheduling from both ends makes values live so long
	// that a tile of 16 accumulators is copied about and spilled: a third more instructions.
	bottomUp
	// inOrder: the core waits for each operand, so LLVM's order by its pipeline model matters most,
	// at the price of a few spills.
	inOrder
)

// arch is the row of an architecture.
type arch struct {
	name string
	Row  // common to all its targets

	disabled map[string][]string // by LLVM's CPU: implied features that machines lack, or that no kernel uses
	implied  map[string][]string // by LLVM's CPU: features of machines that it does not imply, and no kernel needs
	tuning   []tuning
	order    func(cpu string) scheduling // nil for usual
	facts    func(targets.Target) Facts  // nil for Row's
	models   map[string]model            // by CPU
}

// model is Row.Model and Row.ModelInOrder. LLVM is told to compile for it where it orders, as for
// want of one of the CPU itself.
type model struct {
	name    string
	inOrder bool
	orders  bool
}

// tuning are features of LLVM that steer instruction selection and need nothing from the machine,
// for targets that have a feature.
type tuning struct {
	with  string
	attrs []string
}

func archs() []arch {
	return []arch{
		{
			name: "x86_64",
			Row: Row{Backend: "X86", Triple: "x86_64-unknown-linux-gnu", Emulation: "elf_x86_64", PageSize: 4096,
				CommentMark: "#", Machine: elf.EM_X86_64, Class: elf.ELFCLASS64},
			// These selection hints hold for every CPU with AVX2.
			tuning: []tuning{{"avx2", []string{"fast-variable-crosslane-shuffle", "fast-variable-perlane-shuffle"}}},
			facts:  factsX86,
		},
		{
			name: "aarch64",
			Row: Row{Backend: "AArch64", Triple: "aarch64-unknown-linux-gnu", Emulation: "aarch64linux",
				PageSize: 65536, CommentMark: "//", Addition: "add sp, sp, #16", AsmVariant: 1,
				Machine: elf.EM_AARCH64, Class: elf.ELFCLASS64},
			disabled: map[string][]string{
				"cortex-a53": {"aes", "sha2"}, "cortex-a57": {"aes", "sha2"}, "cortex-a72": {"aes", "sha2"},
				"cortex-a76": {"aes", "sha2", "ssbs"}, "kryo": {"aes", "sha2"},
			},
			facts: factsARM64,
			order: func(cpu string) scheduling {
				switch cpu {
				case "generic":
					return asWritten
				case "cortex-a53":
					return inOrder
				}
				return bottomUp
			},
			// The A76 and the N1 are one design; under the A76's own name LLVM has the A57's model,
			// as it has for the A72.
			models: map[string]model{"cortex-a53": {name: "cortex-a53", inOrder: true},
				"cortex-a57": {name: "cortex-a57"}, "cortex-a72": {name: "cortex-a72"},
				"cortex-a76": {name: "neoverse-n1"}, "kryo": {name: "kryo"}},
		},
		{
			name: "arm",
			Row: Row{Backend: "ARM", Triple: "armv7-unknown-linux-gnueabihf", Emulation: "armelf_linux_eabi",
				PageSize: 65536, CommentMark: "@", Addition: "add sp, sp, #16", Machine: elf.EM_ARM,
				Class: elf.ELFCLASS32,
				Flags: 0x05000000}, // EABI version 5
			disabled: map[string][]string{
				"cortex-r52": {"rclass", "virtualization", "v8", "acquire-release", "fp-armv8", "fp-armv8sp",
					"fp-armv8d16", "fp-armv8d16sp", "crc", "aes", "sha2"},
				"generic": {"hwdiv", "hwdiv-arm"}, // Cortex-A5 has none
			},
			facts: factsARM,
			order: func(string) scheduling { return fewestRegisters },
			// In its 32-bit part LLVM has no model of the A53. The R52 is close: it also issues two
			// instructions in order, and adds in vectors of 64 bits twice a cycle. No model is
			// close to the A7. That order is better only by the model; no board has been measured.
			models: map[string]model{"cortex-a53": {name: "cortex-r52", inOrder: true, orders: true}},
			// Objects name the profile of their machine, and a linker refuses to mix real-time
			// objects with others.
			implied: map[string][]string{"cortex-r52": {"aclass", "trustzone"}},
		},
		{
			name: "riscv64",
			Row: Row{Backend: "RISCV", Triple: "riscv64-unknown-linux-gnu", Emulation: "elf64lriscv", PageSize: 4096,
				CommentMark: "#", Addition: "add sp, sp, 16", Machine: elf.EM_RISCV, Class: elf.ELFCLASS64,
				Flags:       0x5, // compressed instructions; doubles in registers
				HasShort:    true,
				SetsVectors: func(i uint32) bool { return i&0x707f == 0x7057 }, // vsetvli and its kin
				Facts:       Facts{Fuses: true, Rounds: true, MixesZeros: true, FloatRegister: "f"}},
			// relax lets linkers shorten calls: shipped code would not be the measured code.
			disabled: map[string][]string{
				"generic-rv64": {"relax"},
				"spacemit-x60": {"relax", "zicond", "zfh", "zfhmin", "zvfh", "zvfhmin", "zicbop", "zicboz",
					"zicbom", "xsmtvdot"},
			},
			order: func(cpu string) scheduling {
				if cpu == "spacemit-x60" { // its pipeline asks for loads early, and they spill
					return fewestRegisters
				}
				return usual
			},
			models: map[string]model{"spacemit-x60": {name: "spacemit-x60", inOrder: true}},
		},
		{
			name: "loongarch64",
			Row: Row{Backend: "LoongArch", Triple: "loongarch64-unknown-linux-gnu", Emulation: "elf64loongarch",
				PageSize: 65536, CommentMark: "#", Addition: "addi.d $sp, $sp, 16", Machine: elf.EM_LOONGARCH,
				Class: elf.ELFCLASS64, Flags: 0x43, // doubles in registers, version 1 of relocations
				Facts: Facts{Fuses: true, MixesZeros: true, QuietsNaNs: true, FloatRegister: "f"}},
			disabled: map[string][]string{"loongarch64": {"lsx", "lasx", "relax"}},
		},
		{
			name: "wasm32",
			Row: Row{Backend: "WebAssembly", Triple: "wasm32-unknown-unknown", Format: WASM, PageSize: 65536,
				CommentMark: "#"},
			facts: factsWASM,
		},
		{
			name: "nvptx64",
			// Subnormals are left to code: which results near 2^-126 the instructions with .ftz
			// flush is not specified bit by bit.
			Row: Row{Backend: "NVPTX", Triple: "nvptx64-nvidia-cuda", Format: PTX, CommentMark: "//",
				Facts: Facts{Fuses: true, Rounds: true, Divides: true, MixesZeros: true, FloatRegister: "f"}},
		},
	}
}

// Of is t's row; ok is false if LLVM is told nothing of its architecture.
func Of(t targets.Target) (row Row, ok bool) {
	for _, a := range archs() {
		if a.name == t.Arch && !t.Bare {
			row = a.Row
			row.CPU, row.Attrs, row.PreferVectorBits = a.cpu(t), a.attrs(t), prefer(t)
			if t.Has("v") {
				row.VScale = t.VectorBits / 64
			}
			row.Shares = t.Has(targets.Atomics)
			row.Model, row.ModelInOrder = a.models[t.CPU].name, a.models[t.CPU].inOrder
			row.SlowPairSums = t.SlowPairSums
			if a.order != nil {
				row.scheduling = a.order(t.CPU)
			}
			if a.facts != nil {
				row.Facts = a.facts(t)
			}
			return row, true
		}
	}
	return Row{CPU: t.CPU, Facts: factsC()}, false
}

// cpu is the CPU that LLVM compiles for.
func (a arch) cpu(t targets.Target) string {
	if m := a.models[t.CPU]; m.orders {
		return m.name
	}
	return t.CPU
}

func (a arch) attrs(t targets.Target) string {
	var parts []string
	for _, f := range t.Features {
		parts = append(parts, "+"+f)
	}
	for _, hint := range a.tuning {
		if t.Has(hint.with) {
			for _, f := range hint.attrs {
				parts = append(parts, "+"+f)
			}
		}
	}
	for _, f := range a.implied[a.cpu(t)] {
		parts = append(parts, "+"+f)
	}
	for _, f := range a.disabled[a.cpu(t)] {
		if !slices.Contains(t.Features, f) {
			parts = append(parts, "-"+f)
		}
	}
	return strings.Join(parts, ",")
}

// prefer is PreferVectorBits: LLVM only thinks of narrower vectors than the widest where these have
// 512 bits.
func prefer(t targets.Target) int {
	if t.VectorBits == 512 {
		return 512
	}
	return 0
}

// InOrder reports whether LLVM orders instructions for an in-order pipeline. There, instructions of
// unknown latency cost more than a few registers.
func (r Row) InOrder() bool { return r.scheduling == inOrder }

// LLC are arguments for llc of a version of LLVM.
func (r Row) LLC(version string) []string {
	switch r.scheduling {
	case fewestRegisters:
		return []string{"-pre-RA-sched=list-burr"}
	case asWritten:
		return []string{"-enable-misched=false"}
	case bottomUp:
		if strings.HasPrefix(version, "19.") {
			return []string{"-misched-bottomup"}
		}
		return []string{"-misched-prera-direction=bottomup"}
	}
	return nil
}
