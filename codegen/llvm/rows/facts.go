package rows

import "ripc/targets"

// Facts are the properties of a target's instructions, and of LLVM's choice among them, on which
// package emit depends. The zero value of a field is LLVM's usual way.
type Facts struct {
	// Flushes says that float instructions flush subnormal operands and results, in the mode that
	// drivers set.
	Flushes bool
	Fuses   bool // an instruction multiplies and adds floats, rounded once
	Rounds  bool // an instruction rounds floats to integers
	// FusedBy is the intrinsic on four lanes for Fuses; "" is LLVM's own, on any number of them.
	FusedBy string
	// SelectBy is an intrinsic on four lanes that selects the bits of two floats by a mask; "" is
	// LLVM's select. With relaxed SIMD, LLVM makes minima and maxima of selects between compared
	// floats, with any result for NaN and for zeros of both signs.
	SelectBy string
	// Divides says that an instruction divides 32-bit integers. Where addresses have 64 bits, emit
	// does not ask.
	Divides bool
	// Canonicalizes says that llvm.canonicalize is one instruction, on vectors too. Elsewhere LLVM
	// scalarizes it, or fails.
	Canonicalizes bool
	// MixesZeros says that LLVM has patterns for which 0 and -0 are equal, and vectors of one float
	// are scalars.
	MixesZeros bool
	// QuietsNaNs says that instructions for a minimum or maximum with a constant return a signaling
	// NaN, made quiet, and code that flushes leaves it signaling.
	QuietsNaNs bool
	// FloatRegister is the constraint of a float in inline assembly.
	FloatRegister string
	// SaturatesByLane says that LLVM scalarizes conversions of f32 vectors to i32 that saturate.
	SaturatesByLane bool

	// MasksByRegister says that a comparison writes one mask register for each vector register, and
	// that LLVM is slow at joining mask registers.
	MasksByRegister bool
	// PairwiseAdd adds neighbouring bytes of two registers. emit makes an integer of a mask by it,
	// and a mask of an integer byte by byte, where LLVM would move lanes one by one.
	PairwiseAdd PairwiseAdd

	// ByteSigns is an intrinsic that gathers the signs of 16 bytes in an i32. emit makes an integer
	// of a mask by it. LLVM 22 has no code of WebAssembly for masks of 32 words or more.
	ByteSigns string

	// HighProduct is an intrinsic on four i32 lanes: the doubled product's upper half, rounded. It
	// saturates.
	HighProduct string
	// EvenProducts says that an instruction multiplies the even i32 lanes to i64 lanes.
	EvenProducts bool

	// Counts are the ways to add popcounts of words to 32-bit sums that are faster than LLVM's, the
	// widest first.
	Counts []Counts
	// NarrowCounts, with PairwiseAdd, adds popcounts of words to sums of 8 or 16 bits: an intrinsic
	// that adds neighbouring bytes to 16-bit lanes. LLVM would widen to 32 bits first.
	NarrowCounts string
}

// PairwiseAdd is an instruction on registers of a number of bytes. The zero value is none.
type PairwiseAdd struct {
	Bytes int
	Name  string
}

// Counts are the instructions that add the four bytes of each 32-bit lane, which hold popcounts.
type Counts struct {
	Lanes       int    // of 32 bits in a register
	Halves      string // intrinsic: adds neighbouring bytes to 16-bit lanes
	Words       string // intrinsic: adds neighbouring 16-bit lanes to 32-bit lanes
	Multiplies  bool   // both multiply by a second operand first
	Accumulates bool   // Words adds its second operand's neighbours to its first operand
}

func factsX86(t targets.Target) Facts {
	m := Facts{
		Flushes: true, Fuses: t.Has("fma"), Rounds: t.Has("sse4.1"), FloatRegister: "x", SaturatesByLane: true,
		MasksByRegister: t.Has("avx512f"), EvenProducts: t.Has("sse4.1"),
	}
	if t.Has("avx512vpopcntdq") {
		return m
	}
	if t.Has("avx512bw") {
		m.Counts = append(m.Counts, Counts{Lanes: 16, Multiplies: true, Halves: "llvm.x86.avx512.pmaddubs.w.512",
			Words: "llvm.x86.avx512.pmaddw.d.512"})
	}
	if t.Has("avx2") {
		m.Counts = append(m.Counts, Counts{Lanes: 8, Multiplies: true, Halves: "llvm.x86.avx2.pmadd.ub.sw",
			Words: "llvm.x86.avx2.pmadd.wd"})
	}
	if t.Has("ssse3") {
		m.Counts = append(m.Counts, Counts{Lanes: 4, Multiplies: true, Halves: "llvm.x86.ssse3.pmadd.ub.sw.128",
			Words: "llvm.x86.sse2.pmadd.wd"})
	}
	return m
}

func factsARM64(targets.Target) Facts {
	return Facts{
		Flushes: true, Fuses: true, Rounds: true, Canonicalizes: true, MixesZeros: true, FloatRegister: "w",
		PairwiseAdd:  PairwiseAdd{16, "llvm.aarch64.neon.addp.v16i8"},
		HighProduct:  "llvm.aarch64.neon.sqrdmulh.v4i32",
		NarrowCounts: "llvm.aarch64.neon.uaddlp.v8i16.v16i8",
	}
}

func factsARM(t targets.Target) Facts {
	return Facts{
		Flushes: true, Fuses: true, Rounds: t.Has("fp-armv8"), Divides: t.Has("hwdiv-arm"),
		MixesZeros: true, FloatRegister: "w",
		PairwiseAdd: PairwiseAdd{8, "llvm.arm.neon.vpadd.v8i8"},
		HighProduct: "llvm.arm.neon.vqrdmulh.v4i32",
		Counts: []Counts{{Lanes: 4, Halves: "llvm.arm.neon.vpaddlu.v8i16.v16i8",
			Words: "llvm.arm.neon.vpadalu.v4i32.v8i16", Accumulates: true}},
	}
}

func factsWASM(t targets.Target) Facts {
	m := Facts{
		Rounds: true, Divides: true, FloatRegister: "r",
		ByteSigns: "llvm.wasm.bitmask.v16i8",
		Counts: []Counts{{Lanes: 4, Halves: "llvm.wasm.extadd.pairwise.unsigned.v8i16",
			Words: "llvm.wasm.extadd.pairwise.unsigned.v4i32"}},
	}
	if t.Has("relaxed-simd") {
		m.Fuses, m.FusedBy, m.SelectBy = true, "llvm.wasm.relaxed.madd.v4f32", "llvm.wasm.bitselect.v4f32"
	}
	return m
}

// factsC is a machine for which C alone is made. emit counts code for it, and writes none.
func factsC() Facts { return Facts{Flushes: true, Fuses: true, Rounds: true, MixesZeros: true} }
