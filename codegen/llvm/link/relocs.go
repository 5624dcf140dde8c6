package link

import (
	"debug/elf"
	"encoding/binary"
)

// arch is the meaning of relocations on an architecture.
type arch struct {
	kinds map[uint32]kind
	// shorten, if not nil, rewrites two neighbouring relocations together, if it can. ld.lld does
	// the same, so that measured code equals shipped code.
	shorten func(first, second reloc, code []byte, at uint64) bool
	// between is a word that lies between functions.
	between uint32
}

// kind is how a relocation changes the 32 bits at its place.
type kind struct {
	// put is the word with the address of to; ok is false if that does not fit.
	put func(word uint32, to, at uint64) (changed uint32, ok bool)
	// addend returns the number in a word that is added to the symbol's address; nil where
	// relocations have addends of their own. ok is false for a word that such a relocation cannot
	// change.
	addend func(word uint32) (v int64, ok bool)
	role   role
	// low is the kind of the second half of a pair of instructions, for role pair.
	low *kind
}

// role is how a kind depends on others.
type role int

const (
	other    role = iota
	page          // the first instruction that shorten may rewrite
	inPage        // the second one
	pair          // it changes the next instruction, too
	labelled      // its symbol is the place of a relocation with the address
)

// archs lists the architectures that ripc compiles for. It has the relocations of LLVM's objects
// for ripc's modules, and similar ones.
func archs() map[elf.Machine]arch {
	relative := kind{put: relative32}
	branch := kind{put: branch64}
	branchArm := kind{put: branch32, addend: branchAddend}
	low, lowBranch := kind{put: lowPart}, kind{put: lowBranchPart}
	return map[elf.Machine]arch{
		elf.EM_X86_64: {
			kinds:   map[uint32]kind{uint32(elf.R_X86_64_PC32): relative, uint32(elf.R_X86_64_PLT32): relative},
			between: 0xcccccccc,
		},
		elf.EM_AARCH64: {
			kinds: map[uint32]kind{
				uint32(elf.R_AARCH64_ADR_PREL_PG_HI21):    {put: pageOf, role: page},
				uint32(elf.R_AARCH64_ADD_ABS_LO12_NC):     {put: withinPage(0), role: inPage},
				uint32(elf.R_AARCH64_LDST8_ABS_LO12_NC):   {put: withinPage(0)},
				uint32(elf.R_AARCH64_LDST16_ABS_LO12_NC):  {put: withinPage(1)},
				uint32(elf.R_AARCH64_LDST32_ABS_LO12_NC):  {put: withinPage(2)},
				uint32(elf.R_AARCH64_LDST64_ABS_LO12_NC):  {put: withinPage(3)},
				uint32(elf.R_AARCH64_LDST128_ABS_LO12_NC): {put: withinPage(4)},
				uint32(elf.R_AARCH64_JUMP26):              branch, uint32(elf.R_AARCH64_CALL26): branch,
			},
			shorten: shortenNear,
		},
		elf.EM_ARM: {
			kinds: map[uint32]kind{
				uint32(elf.R_ARM_REL32): {put: relative32,
					addend: func(word uint32) (int64, bool) { return int64(int32(word)), true }},
				uint32(elf.R_ARM_CALL): branchArm, uint32(elf.R_ARM_JUMP24): branchArm,
			},
		},
		elf.EM_RISCV: { // of objects that leave nothing to shorten
			kinds: map[uint32]kind{
				uint32(elf.R_RISCV_CALL_PLT):     {put: highPart, role: pair, low: &low},
				uint32(elf.R_RISCV_PCREL_HI20):   {put: highPart},
				uint32(elf.R_RISCV_PCREL_LO12_I): {put: lowPart, role: labelled},
				uint32(elf.R_RISCV_PCREL_LO12_S): {put: lowStorePart, role: labelled},
			},
		},
		elf.EM_LOONGARCH: { // of objects that leave nothing to shorten
			kinds: map[uint32]kind{
				uint32(elf.R_LARCH_CALL36):     {put: highBranchPart, role: pair, low: &lowBranch},
				uint32(elf.R_LARCH_PCALA_HI20): {put: nearPage},
				uint32(elf.R_LARCH_PCALA_LO12): {put: withinPage(0)},
			},
			between: 0x002a0000, // break 0
		},
	}
}

// fits reports whether v is a signed number of at most bits bits.
func fits(v int64, bits int) bool { return v >= -1<<(bits-1) && v < 1<<(bits-1) }

// relative32 is the distance.
func relative32(_ uint32, to, at uint64) (uint32, bool) {
	v := int64(to - at)
	return uint32(v), fits(v, 32)
}

// pageOf is the distance of the pages, of 4 KiB whatever the system's, in adrp: its two lowest bits
// at 29, the others at 5.
func pageOf(word uint32, to, at uint64) (uint32, bool) {
	v := int64(to>>12<<12-at>>12<<12) >> 12
	return intoAdr(word, v), fits(v, 21)
}

func intoAdr(word uint32, v int64) uint32 {
	return word&^(3<<29|0x7ffff<<5) | uint32(v)&3<<29 | uint32(v>>2)&0x7ffff<<5
}

// withinPage is where in its page the target lies, in units of 1<<shift bytes, in the 12 bits of
// add, ldr or str at 10.
func withinPage(shift int) func(word uint32, to, at uint64) (uint32, bool) {
	return func(word uint32, to, _ uint64) (uint32, bool) {
		return word&^(0xfff<<10) | uint32(to&0xfff)>>shift<<10, to&(1<<shift-1) == 0
	}
}

// branch64 is the distance in instructions, in the 26 bits of b or bl.
func branch64(word uint32, to, at uint64) (uint32, bool) {
	v := int64(to - at)
	return word&^0x3ffffff | uint32(v>>2)&0x3ffffff, v&3 == 0 && fits(v, 28)
}

// branch32 is the distance in instructions, in the 24 bits of b or bl. A target that is no multiple
// of 4 is code of another instruction set.
func branch32(word uint32, to, at uint64) (uint32, bool) {
	v := int64(to - at)
	return word&^0xffffff | uint32(v>>2)&0xffffff, v&3 == 0 && fits(v, 26)
}

// branchAddend is the distance in b or bl. It refuses blx, which looks like them without a
// condition.
func branchAddend(word uint32) (int64, bool) { return int64(int32(word<<8) >> 6), word>>28 != 0xf }

// shortenNear makes
//
//	adrp x, page of target        nop
//	add  x, x, rest of target     adr x, target
//
// where the target lies within a megabyte.
func shortenNear(first, second reloc, code []byte, at uint64) bool {
	if first.kind.role != page || second.kind.role != inPage || first.symbol != second.symbol || first.addend != 0 ||
		second.addend != 0 {
		return false
	}
	adrp, add := binary.LittleEndian.Uint32(code), binary.LittleEndian.Uint32(code[4:])
	x := adrp & 31
	v := int64(second.target() - (at + 4))
	if adrp&0x9f000000 != 0x90000000 || add&0xffc003ff != 0x91000000|x<<5|x || !fits(v, 21) {
		return false
	}
	binary.LittleEndian.PutUint32(code, 0xd503201f)                   // nop
	binary.LittleEndian.PutUint32(code[4:], intoAdr(0x10000000|x, v)) // adr
	return true
}

// highPart is the distance in auipc, rounded to units of 4096 bytes. The remainder is a signed
// number of 12 bits.
func highPart(word uint32, to, at uint64) (uint32, bool) {
	v := int64(to-at) + 1<<11
	return word&0xfff | uint32(v)&^0xfff, fits(v, 32)
}

// lowPart is the remainder of highPart, in an instruction with a register and a number.
func lowPart(word uint32, to, at uint64) (uint32, bool) {
	return word&0xfffff | uint32(to-at)<<20, true
}

// lowStorePart is lowPart of an instruction that stores, which has the number in two pieces.
func lowStorePart(word uint32, to, at uint64) (uint32, bool) {
	v := uint32(to - at)
	return word&^(0x7f<<25|0x1f<<7) | v>>5<<25 | v&0x1f<<7, true
}

// intoPage puts a number into the 20 bits at 5 of an instruction that adds it to its own address.
func intoPage(word uint32, v int64) uint32 { return word&^(0xfffff<<5) | uint32(v)&0xfffff<<5 }

// nearPage is the distance of the pages, of 4 KiB, in pcalau12i. The place in a page is a signed
// number of 12 bits, and counts from the nearer page.
func nearPage(word uint32, to, at uint64) (uint32, bool) {
	v := int64((to+1<<11)>>12<<12-at>>12<<12) >> 12
	return intoPage(word, v), fits(v, 20)
}

// highBranchPart is the distance in pcaddu18i, rounded to units of 1<<18 bytes. The remainder is a
// signed number of 16 bits, in instructions.
func highBranchPart(word uint32, to, at uint64) (uint32, bool) {
	v := int64(to - at)
	return intoPage(word, (v+1<<17)>>18), v&3 == 0 && fits(v+1<<17, 38)
}

// lowBranchPart is the remainder of highBranchPart, in instructions, in the 16 bits at 10 of jirl.
func lowBranchPart(word uint32, to, at uint64) (uint32, bool) {
	return word&^(0xffff<<10) | uint32(to-at)>>2&0xffff<<10, true
}
