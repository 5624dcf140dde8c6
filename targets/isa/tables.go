package isa

import (
	"fmt"
	"math"
	"strings"

	"ripc/ir"
)

// MaxPlanes is the number of planes up to which there are instructions that make tables.
const MaxPlanes = 4

// entry returns the element of a table that byte w selects; table is a text of its indices, with #
// for that of the entry. If bounded, an index past the table selects 0. If not, its higher bits do
// not count.
func entry(table, w string, entries int, bounded bool) string {
	found := strings.ReplaceAll(table, "#", fmt.Sprintf("cast<i64>(%s & %du8)", w, entries-1))
	if bounded {
		return fmt.Sprintf("select(%s < %du8, %s, 0u8)", w, entries, found)
	}
	return found
}

// halfOf is the half of an entry for positions of half p of a row.
func halfOf(entry string) string { return entry + " >> cast<u8>(%p) * 4u8 & 15u8" }

// lookUps are of LookUp for numbers of filters.
func (c cpu) lookUps(entries int, filters ...int) []Instr {
	bounded := c.arch != "x86_64"
	const register = 64 // bytes, where lanes alternate between halves of registers
	name := "${cpu}_lookup${words}_x${lanes}"
	var is []Instr
	for _, n := range filters {
		i := Instr{Meaning: LookUp, Lanes: n, Words: entries, Type: ir.U8, Bounded: bounded}
		is = append(is, c.instr(family{
			name, "out %acc: u8[$lanes], %t: u8[$words], %w: u8[$lanes]", "l:$lanes",
			"%acc[%l] += " + entry("%t[#]", "%w[%l]", entries, bounded),
		}, i, nil))
		if i.Apart = register; c.prefix != "avx512" || n < register {
			continue
		}
		f := family{
			name + "_apart", "out %acc: u8[$lanes], %t: u8[$words], %w: u8[32, 2]", "l:32 k:2",
			"%acc[%l * 2 + %k] += " + entry("%t[#]", "%w[%l, %k]", entries, bounded),
		}
		if n > register {
			f.params, f.loops = "out %acc: u8[$lanes], %t: u8[$words], %w: u8[2, 32, 2]", "l:2 k:32 j:2"
			f.body = "%acc[%l * 64 + %k * 2 + %j] += " + entry("%t[#]", "%w[%l, %k, %j]", entries, bounded)
		}
		is = append(is, c.instr(f, i, nil))
	}
	return is
}

// lookUpHalves are of LookUp of entries with two sums.
func lookUpHalves() []Instr {
	var is []Instr
	for _, n := range []int{32, 64} {
		i := Instr{Meaning: LookUp, Lanes: n, Words: 16, Type: ir.U8, Bounded: true, Halves: true}
		is = append(is, a64().instr(family{
			"${cpu}_lookup${words}_halves_x${lanes}", "out %acc: u8[2, $lanes], %t: u8[$words], %w: u8[$lanes]",
			"p:2 l:$lanes",
			"%acc[%p, %l] += " + halfOf(entry("%t[#]", "%w[%l]", i.Words, true)),
		}, i, nil))
	}
	return is
}

// lookUpRows are of LookUpRow in sums of bytes, with strides up to the given one.
func (c cpu) lookUpRows(strides int) []Instr {
	var is []Instr
	for _, n := range []int{32, 64} {
		for positions := 1; positions <= 4; positions++ {
			for _, groups := range []int{8, 12, 16} {
				for stride := 1; stride <= strides; stride++ {
					i := Instr{Meaning: LookUpRow, Lanes: n, Words: 16, Positions: positions, Groups: groups,
						Stride: stride, Type: ir.U8, Bounded: true}
					p := textIf(stride > 1, " * $stride")
					is = append(is, c.instr(family{
						"${cpu}_lookup${words}_row_${positions}x${groups}x${lanes}" + textIf(stride > 1, "_s${stride}"),
						"out %acc: u8[$positions, $lanes], %t: u8[$pixels, $groups, $words], %w: u8[$groups, $lanes]",
						"g:$groups p:$positions l:$lanes",
						"%acc[%p, %l] += " + entry("%t[%p"+p+", %g, #]", "%w[%g, %l]", i.Words, true),
					}, i, values{"pixels": stride*(positions-1) + 1}))
				}
			}
		}
	}
	return is
}

// lookUpHalvesRows are of LookUpRow of entries with two sums. The tables of a word are made
// together, so a row has those of one word or of two.
func lookUpHalvesRows() []Instr {
	var is []Instr
	for positions := 1; positions <= 8; positions++ {
		for _, groups := range []int{8, 16} {
			i := Instr{Meaning: LookUpRow, Lanes: 32, Words: 16, Positions: positions, Groups: groups, Type: ir.U16,
				Bounded: true, Halves: true}
			is = append(is, a64().instr(family{
				"${cpu}_lookup${words}_halves_row_${positions}x${groups}x${lanes}",
				"out %acc: u16[$positions, 2, $lanes], %t: u8[$positions, $groups, $words], %w: u8[$groups, $lanes]",
				"g:$groups q:$positions p:2 l:$lanes",
				"%acc[%q, %p, %l] += cast<u16>(" + halfOf(entry("%t[%q, %g, #]", "%w[%g, %l]", i.Words, true)) + ")",
			}, i, nil))
		}
	}
	return is
}

// lookUpWideRows are LookUpRow in sums of 16 bits, with the number of positions that registers
// hold. On 64-bit Arm, entries are signed bytes that are negated in every other group. On 32-bit
// Arm bytes hold the sums of Together groups.
func (c cpu) lookUpWideRows(filters int) []Instr {
	const entries, sums, reach = 16, 128, 1020 // reach is that of loads of 32-bit Arm
	var is []Instr
	for positions := 1; positions <= sums/filters; positions++ {
		for _, n := range [][2]int{{4, 4}, {8, 8}, {8, 4}, {16, 16}} { // groups, and those that bytes add up
			groups, together := n[0], n[1]
			if together < groups && c.arch != "arm" {
				continue
			}
			for _, taps := range []int{1, 3, 5} {
				for stride := 1; stride <= min(2, positions); stride++ { // one position has no stride
					most, p, k, outer := math.MaxInt8, "%p", "", ""
					if c.arch == "arm" {
						if most = math.MaxUint8 / together; entries*((positions-1)*stride*groups+groups) > reach+8 {
							continue
						}
					}
					if stride > 1 {
						p = "%p * $stride"
					}
					loops := "g:$groups p:$positions l:$lanes"
					if taps > 1 {
						p, k, outer, loops = p+" + %k", "%k, ", "$taps, ", "k:$taps "+loops
					}
					i := Instr{
						Meaning: LookUpRow, Lanes: filters, Words: entries, Positions: positions, Taps: taps,
						Groups: groups, Together: together, Stride: stride,
						Type: ir.U16, Bounded: true,
					}
					is = append(is, c.instr(family{
						"${cpu}_lookup${words}_wide_row_${positions}x${taps}x${groups}x${lanes}_s${stride}" +
							textIf(together < groups, "_by${together}"),
						"out %acc: u16[$positions, $lanes], %t: u8[$pixels, $groups, $words] from 0 to $most, %w: u8[" +
							outer + "$groups, $lanes]", loops,
						"%acc[%p, %l] += cast<u16>(" + entry("%t["+p+", %g, #]", "%w["+k+"%g, %l]", entries, true) +
							")",
					}, i, values{"pixels": stride*(positions-1) + taps, "most": most, "together": together}))
				}
			}
		}
	}
	return is
}

// tables is an instruction of Tables for groups of channels of one word or of two, and planes. With
// halves an entry also has 16 times the counts of the words y.
func (c cpu) tables(planes, groups, channels, words int, halves bool) Instr {
	chunk, read := ir.U32, "%#[0]"
	if words == 2 {
		chunk, read = ir.U64, "(cast<u64>(%#[0]) | cast<u64>(%#[1]) << 32u64)"
	}
	var params []string
	pixel := func(name string) string {
		var counts []string
		for n, x := range numberTexts(planes, name+"#") {
			params = append(params, fmt.Sprintf("%%%s: u32[%d]", x, words))
			group := strings.ReplaceAll(read, "#", x) + " >> cast<$chunk>(%j) * $channels$chunk & $mask$chunk"
			count := "popcount(cast<u8>(" + group + ") ^ cast<u8>(%e))"
			if n > 0 {
				count = fmt.Sprintf("(%s << %du8)", count, n)
			}
			counts = append(counts, count)
		}
		return strings.Join(counts, " + ")
	}
	count := pixel("x")
	if halves {
		count += " + ((" + pixel("y") + ") << 4u8)"
	}
	i := Instr{Meaning: Tables, Lanes: groups, Words: 1 << channels, Type: ir.U8, Halves: halves}
	return c.instr(family{
		"${cpu}_tables${words}${halves}_x${lanes}_a$planes", "out %t: u8[$lanes, $words], " +
			strings.Join(params, ", "), "j:$lanes e:$words", "%t[%j, %e] = " + count,
	}, i, values{"halves": textIf(halves, "_halves"), "planes": planes, "chunk": chunk, "channels": channels,
		"mask": i.Words - 1})
}

// allTables are the instructions of Tables. A single chunk has only the groups of its channels
// (lower/layout).
func allTables(arch string) []Instr {
	var is []Instr
	for n := 1; n <= MaxPlanes; n++ {
		for _, groups := range []int{8, 4} {
			switch arch {
			case "x86_64":
				is = append(is, avx512().tables(n, groups, 4, 1, false), avx2().tables(n, groups, 4, 1, false))
			case "arm":
				is = append(is, a32().tables(n, groups, 4, 1, false))
			case "wasm32":
				is = append(is, wasm().tables(n, groups, 4, 1, false))
			case "riscv64":
				is = append(is, rvv().tables(n, groups, 4, 1, false))
			case "aarch64":
				// half an entry does not hold the counts of more planes
				if is = append(is, a64().tables(n, groups, 4, 1, false)); n <= 2 {
					is = append(is, a64().tables(n, groups, 4, 1, true))
				}
			}
		}
		if arch == "x86_64" {
			for _, s := range [][2]int{{11, 2}, {8, 2}, {6, 1}, {4, 1}, {3, 1}} {
				is = append(is, avx512().with("avx512vbmi", "avx512bitalg", "bmi2").tables(n, s[0], 6, s[1], false))
			}
		}
	}
	return is
}
