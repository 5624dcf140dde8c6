// Package isa holds the machine instructions that a schedule may ask for: short sequences that a
// compiler does not find by itself. Each is an *ir.Func with a Body that is its meaning, for the
// interpreter and for matching by tensorize. Back ends write its code (codegen/llvm/isa). Its
// windows are aligned to the element, not to the vector. Schedules find instructions by their
// meaning ([Query]) or, in a trace, by name ([For]).
//
// Instructions are members of families. A family is one definition with parameters: four texts in
// the language of .ripir files, which are its name, parameters, loops and body. A member is a
// family, an [Instr] with its numbers, and a cpu: a row of the table of vector extensions. So
// popcounts that are accumulated over rows of taps are
//
//	f := family{
//		"${cpu}_xor_cnt_row_${positions}x${taps}x${words}x${lanes}",
//		"out %acc: u8[$positions, $lanes, 2, 2], %x: u32[$pixels, $words, 4], %w: u8[$taps, $words, $lanes, 4]",
//		"t:$taps c:$words p:$positions o:$registers l:4 i:2 j:2",
//		"%acc[%p, %o * 4 + %l, %i, %j] += popcount(...)",
//	}
//	a64().instr(f, Instr{Meaning: XorCountRow, Lanes: 16, Words: 2, Positions: 4, Taps: 3}, ...) // neon_xor_cnt_row_4x3x2x16
//	a32().instr(f, Instr{Meaning: XorCountRow, Lanes: 8, Words: 2, Positions: 4, Taps: 3}, ...)  // armv7_xor_cnt_row_4x3x2x8
//
// Back ends write code by family, too: codegen/llvm/isa has a function for each meaning, and a
// table of mnemonics for each architecture.
package isa

import (
	"slices"
	"strings"
	"sync"

	"ripc/ir"
	"ripc/targets"
)

// Meaning is the computation of an instruction. Lanes, words and types are fields of Instr.
type Meaning uint8

// The meanings. acc, y and c are written, w are weights.
const (
	// XorCount is acc[l] += popcount(x[0] ^ w[l]).
	XorCount Meaning = iota
	// XorCountPair is XorCount for two words with one popcount, as steps.CarrySave and
	// steps.Pair write it.
	XorCountPair
	// XorCountTile counts words against filters in lanes of bytes: acc[l, i, j] += popcount(x[c,
	// 2i+j] ^ w[c, l, 2i+j]), which steps.SetEncoding and steps.Rfactor make of words.
	XorCountTile
	// XorCountRow is XorCountTile, with Copies, of all words of neighbouring pixels, for several
	// positions: acc[p, l, i, j] += popcount(x[p+t, c, l%4] ^ w[t, c, l, 2i+j]), with t < Taps.
	XorCountRow
	// XorCountWindow is XorCount of the words of a window, which are kept as pairs (steps.Pair),
	// for several positions: acc[p, l] += popcount(x[r, p+t, c] ^ w[r, t, c, l]), with r < Rows and
	// t < Taps.
	XorCountWindow
	// XorCountMatrix is acc[p, q, l] = the sum of popcount(x[p*Stride+i, q*Stride+j, c] ^ w[i, j,
	// l, c]), with i, j < Taps and all c. A warp computes it for p < Rows and q < Positions. With
	// Doubles, the sum is added to twice acc[p, q, l].
	XorCountMatrix
	// DotMatrix is XorCountMatrix of fours of bytes: the sum of x[p*Stride+i, q*Stride+j, 4c+k] *
	// w[i, j, l, c, k], with k < 4.
	DotMatrix
	// DotBytes is acc[l] += sum over k < 4 of x[k] * w[l, k]. Of several words, each of four bytes:
	// x[4s+k] * w[s, l, k].
	DotBytes
	// DotPairs is acc[l, j] += sum over i < 2 of x[2j+i] * w[l, 2j+i], j < 2: DotBytes in two sums,
	// which AddPairs adds up. Of several words likewise.
	DotPairs
	// DotChannels is DotBytes for several positions and blocks of 16 channels, with channels in
	// lanes. acc[p, l, i, j] gets the sum over q, s and k of products x[p*Stride, 16q+8s+4i+2j+k] *
	// w[q, l, 2s+i, 2j+k]. All of i, j, s and k are below 2. AddPairs adds up the four sums.
	DotChannels
	// AddPairs is acc[l] += sum over j < 2 of r[l, j], or acc[l, i] += r[l, i, j], in one type.
	AddPairs
	// PackCompare is y[0] |= (acc[l] <= t[l]) << l. Of floats, >= takes the place of <=.
	PackCompare
	// PackWord is the word of bits (acc[l] <= t[l]) << l. A warp makes it by a ballot.
	PackWord
	// PackLess is the bits (acc[l] < t[l]) << l as words y. Of several Planes it is the bits of the
	// level that the thresholds t0 and up make of acc[l], from the lowest, y0, on.
	PackLess
	// Clear sets lanes to 0.
	Clear
	// WidenAdd adds neighbours to lanes twice as wide: acc[l, i] += r[l, i, j], or acc[l] += r[l,
	// i].
	WidenAdd
	// WidenAddMemory is WidenAdd for sums that stay in memory, of one position or of Positions.
	WidenAddMemory
	// LookUp is acc[l] += t[w[l]]: w holds entries of a table.
	LookUp
	// LookUpRow is LookUp of a run of groups, for several positions: acc[p, l] += the sum over
	// groups g of t[Stride*p, g, w[g, l]]. In sums of 16 bits it is of Taps: t[Stride*p+k, g, w[k,
	// g, l]].
	LookUpRow
	// Tables makes tables for LookUp: t[g, e] is the count of group g of the channels in words
	// against e.
	Tables
	// FmaRow is fused multiply-adds of a run of taps, in order, for several positions: acc[p, l] =
	// fma(x[Stride*p+t], w[t, l], acc[p, l]), with t < Taps. The filters of a tap may alternate
	// between registers (Alternate).
	FmaRow
)

// Instr is an instruction with its requirements, and the properties by which a schedule chooses.
type Instr struct {
	Func    *ir.Func
	Meaning Meaning
	Family  string   // its name, with the names of numbers in place of these
	Arch    string   // a Target's
	Needs   []string // CPU features, in the names that targets have for them

	Lanes int // sums, filters or bits
	// words for each lane, or bytes if Type has 8 bits; 0 where there are none; entries of a table;
	// of products of bytes, fours of them
	Words int
	// of products of bytes: operations on vectors, but for loads, by which a schedule chooses among
	// those that fit
	Ops  int
	Type ir.Type // of the result
	// Positions and Taps are those of XorCountRow and, with Rows, of XorCountWindow, along a row,
	// and Positions, Groups, Stride and, in sums of 16 bits, Taps those of LookUpRow;
	// WidenAddMemory has Positions where it adds to those of such a row. FmaRow has Positions, Taps
	// and a Stride, DotChannels Positions and a Stride, XorCountMatrix and DotMatrix all but
	// Groups.
	Positions, Taps, Rows, Groups, Stride int
	Planes                                int // of PackLess
	// of DotChannels: products that are added up in 16 bits; of LookUpRow in sums of 16 bits on
	// 32-bit Arm: groups that are added up in bytes
	Together int
	// each word of activations is there once for each filter of a register (steps.Replicate)
	Copies bool
	Wide   bool // weights are loaded two registers at a time
	// Doubles says that the old sums count twice: those of the higher planes of activations.
	Doubles bool
	// Alternate says that neighbouring filters in memory go to different registers.
	Alternate bool
	// Bounded says that an index past the table looks up 0, and not the entry of its lower bits.
	Bounded bool
	// Halves says that an entry has two sums, of half a byte each, for positions of both halves of
	// a row: acc has those side by side.
	Halves bool
	// Apart says that byte lanes of a LookUp alternate between the lower and the upper half of each
	// Apart filters (the option apart of narrow_accumulate); 0: they are in order.
	Apart int
}

// All lists the instructions of all CPUs. Their Funcs are shared, and not to be changed.
func All() []Instr {
	return slices.Concat(ofX86(), ofA64(), ofA32(), ofThumb(), ofArch("nvptx64"), ofWASM(), ofRVV())
}

// ofArch lists those of an architecture. They are made once, since a tuner asks for each schedule
// that it thinks of, and not to be changed.
func ofArch(arch string) []Instr {
	switch arch {
	case "x86_64":
		return ofX86()
	case "aarch64":
		return ofA64()
	case "arm":
		return ofA32()
	case "thumb":
		return ofThumb()
	case "nvptx64":
		return ofNV()
	case "wasm32":
		return ofWASM()
	case "riscv64":
		return ofRVV()
	}
	return nil
}

var (
	ofX86 = sync.OnceValue(func() []Instr {
		vbmi := avx512().with("avx512vbmi")
		return slices.Concat(xorCounts(), xorCountPairs()[:1], quads("x86_64"), packLesses(), xorCountWindows(),
			multiplyAdds(),
			vbmi.lookUps(64, 32, 64, 128), avx512().lookUps(16, 64, 128), avx2().lookUps(16, 16, 32, 64),
			allTables("x86_64"))
	})
	ofA64 = sync.OnceValue(func() []Instr {
		c := a64()
		return slices.Concat(quads("aarch64"), byteLanes(c), productPairs(c), channelProducts(c, 8),
			c.lookUps(16, 8, 16, 32, 64), lookUpHalves(), c.lookUpRows(1),
			c.lookUpWideRows(32), c.lookUpWideRows(64), lookUpHalvesRows(), fmaRows(c, 16, 4),
			allTables("aarch64"))
	})
	ofA32 = sync.OnceValue(func() []Instr {
		c := a32()
		return slices.Concat(byteLanes(c), productPairs(c), channelProducts(c, 4), c.lookUps(16, 8, 16, 32),
			c.lookUpWideRows(32), fmaRows(c.with("vfp4"), 8, 5), allTables("arm"))
	})
	ofThumb = sync.OnceValue(halfProducts)
	ofWASM  = sync.OnceValue(func() []Instr {
		c := wasm()
		return slices.Concat(quads("wasm32"), xorCountTiles(c), clears(c), sumsOfNeighbours(c), wordProducts(c),
			c.lookUps(16, 8, 16, 32, 64), allTables("wasm32"))
	})
	ofRVV = sync.OnceValue(func() []Instr {
		return slices.Concat(rvv().lookUps(16, 16, 32, 64, 128), rvv().lookUpRows(2), allTables("riscv64"))
	})
	ofNV = sync.OnceValue(func() []Instr {
		pairs := slices.DeleteFunc(xorCountPairs(), func(i Instr) bool { return i.Arch != nv().arch })
		return append(slices.Concat(pairs, xorCountMatrices(), dotMatrices()), packWord())
	})
)

// byteLanes are the instructions that count words in lanes of bytes, which additions of neighbours
// widen.
func byteLanes(c cpu) []Instr {
	return slices.Concat(xorCountTiles(c), xorCountRows(c), packCompares(c), clears(c), sumsOfNeighbours(c))
}

// runs reports whether t has the features that i needs.
func (i *Instr) runs(t targets.Target) bool {
	return !slices.ContainsFunc(i.Needs, func(n string) bool { return !t.Has(n) })
}

// For gives the instructions of t by name, as traces write them.
func For(t targets.Target) map[string]*ir.Func {
	out := map[string]*ir.Func{}
	all := ofArch(t.Arch)
	for k := range all {
		if i := &all[k]; i.runs(t) {
			out[i.Func.Name] = i.Func
		}
	}
	return out
}

// Named is the instruction of that name. ok is false where there is none.
func Named(name string) (i Instr, ok bool) {
	for _, c := range []cpu{avx512(), avx2(), a64(), a32(), thumb(), nv(), wasm(), rvv()} {
		if !strings.HasPrefix(name, c.prefix+"_") {
			continue
		}
		all := ofArch(c.arch)
		if k := slices.IndexFunc(all, func(i Instr) bool { return i.Func.Name == name }); k >= 0 {
			return all[k], true
		}
	}
	return Instr{}, false
}

// Query lists the instructions of t that mean m, in the order of All. It is empty where t has none.
func Query(m Meaning, t targets.Target) []Instr {
	var out []Instr
	all := ofArch(t.Arch)
	for k := range all {
		if i := &all[k]; i.Meaning == m && i.runs(t) {
			out = append(out, *i)
		}
	}
	return out
}
