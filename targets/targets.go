// Package targets holds the facts of each machine that ripc can compile for: the features, spelled
// out one by one, the sizes of vectors, registers and caches, cores, which only reports show, and
// threads. The cost of code on a machine is learned (schedule/machine).
//
// A target is data: one file, one function that returns a [Target]. To add a board, add a file and
// a line in builtin. The package knows nothing of kernels, schedules or code generation.
package targets

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
)

// HostName is the name of the target that stands for the machine ripc runs on.
const HostName = "host"

// Target describes one machine.
type Target struct {
	Name string `json:"name"` // ripc's name, as in --target
	// "x86_64", "aarch64", "arm", "riscv64", "loongarch64", "wasm32", or "thumb": Arm chips without
	// a system
	Arch string `json:"arch"`
	CPU  string `json:"cpu"` // name of its core

	// Features are the instruction sets that generated code may use and that the machine must have,
	// in LLVM's names without "+". Every one is spelled out: features implied by CPU are never
	// relied on, because a virtual machine may hide them.
	Features []string `json:"features"`

	VectorBits int `json:"vector_bits"` // bits of one vector register
	Registers  int `json:"registers"`   // number of vector registers
	// CountOps is how many vector operations count the bits of each 32-bit lane of a register.
	CountOps int `json:"count_ops"`
	// Ternary says that any bitwise function of three registers is one operation.
	Ternary bool `json:"ternary,omitempty"`
	// ShortSums says that one operation adds neighbours of two vectors in lanes of any width.
	ShortSums bool `json:"short_sums,omitempty"`
	// PairLoads says that one load fills two vector registers.
	PairLoads bool `json:"pair_loads,omitempty"`
	// ShortLookups says that looking up bytes for half a register takes one operation, and for a
	// whole one more than two, or that there is no such instruction.
	ShortLookups bool `json:"short_lookups,omitempty"`
	// SlowPairSums says that adding neighbours to a sum keeps the unit of multiplications busy, and
	// adding neighbours alone does not.
	SlowPairSums bool `json:"slow_pair_sums,omitempty"`
	// InOrder says that the core waits for the operands of each instruction before it looks at the
	// next.
	InOrder bool `json:"in_order,omitempty"`

	L1    int `json:"l1_bytes"` // data cache of one core
	L2    int `json:"l2_bytes"` // cache behind it, shared by the cores of the Arm boards, one core's own on x86
	Cores int `json:"cores"`
	// RAM is the memory of small chips of this kind, which schedules are to be sparing with; 0
	// where there is enough.
	RAM int `json:"ram_bytes,omitempty"`
	// Fetched says that code travels to each machine that runs it, so the least of it is best where
	// times are alike.
	Fetched bool `json:"fetched,omitempty"`
	// ClockMHz is the highest clock of the cores by the board's specification, which the row cites;
	// 0 where the target stands for machines of many clocks.
	ClockMHz int `json:"clock_mhz,omitempty"`
	// Threads is the number of threads that share the rows of a layer. It is 0 if that is unknown,
	// because the target stands for many machines or others run its code as well.
	Threads int `json:"threads,omitempty"`

	// QemuCPU is the -cpu of qemu-user that refuses instructions the machine does not have; empty
	// if qemu has no such model.
	QemuCPU string `json:"qemu_cpu,omitempty"`
	// Bare says that the chip runs no operating system: compiled code becomes part of a program.
	Bare  bool   `json:"bare,omitempty"`
	Board string `json:"board"` // prose for people
	// Device is for machines that run kernels, in place of facts of a CPU.
	Device Device `json:"device,omitzero"`
	// Family is the name of its model's files (schedule/machine), or "" for Name.
	Family string `json:"family,omitempty"`
	// Like is the target with a model that serves, if this one has none.
	Like string `json:"like,omitempty"`
}

// Device holds the facts of a machine that runs kernels in blocks of threads.
type Device struct {
	MaxThreads  int `json:"max_threads"`  // of a block
	SharedBytes int `json:"shared_bytes"` // of a block
	Lanes       int `json:"lanes"`        // threads that run in step
	Units       int `json:"units"`        // that run blocks, side by side
	// ByteMatrices and BitMatrices say that it has products of matrices of bytes, and of bits. The
	// operation on bits is "and" with AndProducts, else "xor".
	ByteMatrices bool `json:"byte_matrices,omitempty"`
	BitMatrices  bool `json:"bit_matrices,omitempty"`
	AndProducts  bool `json:"and_products,omitempty"`
}

// IsDevice reports whether t runs kernels in blocks of threads.
func (t Target) IsDevice() bool { return t.Device != Device{} }

// Features of devices with products of matrices.
const (
	BitMatrices  = "b1"
	ByteMatrices = "s8"
)

// Has reports whether feature is among t.Features, or is one of its products of matrices.
func (t Target) Has(feature string) bool {
	return slices.Contains(t.Features, feature) || feature == ByteMatrices && t.Device.ByteMatrices ||
		feature == BitMatrices && t.Device.BitMatrices
}

// Milliseconds is how long cycles take at the clock of the board. ok is whether that is known.
func (t Target) Milliseconds(cycles float64) (ms float64, ok bool) {
	const perMHz = 1e3 // cycles a millisecond
	if t.ClockMHz == 0 {
		return 0, false
	}
	return cycles / (float64(t.ClockMHz) * perMHz), true
}

// Missing returns the features of t that are not in have, in t's order: the features that a machine
// lacks to run code made for t.
func (t Target) Missing(have []string) []string {
	return slices.DeleteFunc(slices.Clone(t.Features), func(f string) bool { return slices.Contains(have, f) })
}

// PointerBits is the width of an address.
func (t Target) PointerBits() int {
	if t.Arch == "arm" || t.Arch == "thumb" || t.Arch == "wasm32" {
		return 32
	}
	return 64
}

// MultipliesByLane says that one instruction multiplies a vector with one lane of another and adds,
// fused, so that factors may come as vectors: AArch64's fmla by element. In 32-bit NEON only
// products that are rounded before they are added can be had so, and on x86 a factor is read from
// memory beside the product.
func (t Target) MultipliesByLane() bool { return t.Arch == "aarch64" }

// MultipliesBytes says that one instruction adds up products of bytes in lanes of 32 bits.
func (t Target) MultipliesBytes() bool {
	return t.Has("avx512vnni") || t.Has("avxvnni") || t.Has("dotprod")
}

// Native reports whether code for t runs on this machine without an emulator.
func (t Target) Native() bool {
	return t.Arch == hostArch() && runtime.GOOS == "linux" && len(t.Missing(HostFeatures())) == 0
}

// builtin lists the targets that do not depend on this machine, in the order of listings.
func builtin() []Target {
	return []Target{
		rpi2(), rpi3(), rpi3ARM(), rpi4(), rpi5(), jetsonTX2(), pixel1(), genericARM(), genericARM64(), x86v1(),
		x86v3(), x86v4(), riscv64(), riscv64Vector(128), riscv64Vector(256), riscv64Zvbb(), bananaF3(),
		loongarch64(), wasm32(), wasm32Relaxed(),
		cortexM4(), cortexM33(),
		openclCPU(), maliT860(), gtx1080OpenCL(), webGPU(),
		cuda("sm_61", "ptx50", "NVIDIA GeForce GTX 1080", Device{Units: 20}),
		cuda("sm_62", "ptx50", "NVIDIA Jetson TX2", Device{Units: 2}),
		cuda("sm_75", "ptx63", "NVIDIA T4", Device{Units: 40}),
		cuda("sm_80", "ptx70", "NVIDIA A100", Device{Units: 108, ByteMatrices: true, BitMatrices: true}),
		cuda("sm_87", "ptx74", "NVIDIA Jetson AGX Orin", Device{Units: 16, ByteMatrices: true, BitMatrices: true}),
		cuda("sm_90", "ptx78", "NVIDIA H100",
			Device{Units: 132, ByteMatrices: true, BitMatrices: true, AndProducts: true}),
		cuda("sm_100", "ptx86", "NVIDIA B200", Device{Units: 148, ByteMatrices: true}),
	}
}

// All returns every target. The host comes first, and is left out where ripc cannot compile for it;
// Host says why.
func All() []Target {
	var out []Target
	if h, err := Host(); err == nil {
		out = append(out, h)
	}
	return append(out, builtin()...)
}

// UnknownTargetError says that no target has the given name.
type UnknownTargetError struct {
	Name  string
	Known []string // accepted names, in listing order
}

func (e *UnknownTargetError) Error() string {
	return fmt.Sprintf("unknown target %q; there are %s", e.Name, strings.Join(e.Known, ", "))
}

// BadInput reports that the input is at fault.
func (*UnknownTargetError) BadInput() bool { return true }

// Lookup returns the target called name. It fails with *UnknownTargetError, or, for "host", with
// Host's error.
func Lookup(name string) (Target, error) {
	if name == HostName {
		return Host()
	}
	known := []string{HostName}
	for _, t := range builtin() {
		if t.Name == name {
			return t, nil
		}
		known = append(known, t.Name)
	}
	return Target{}, &UnknownTargetError{Name: name, Known: known}
}
