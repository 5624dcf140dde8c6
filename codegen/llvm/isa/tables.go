package isa

import (
	"fmt"
	"math/bits"
	"slices"
)

// tables is the function of isa.Tables.
func tables(c *code) {
	planes, words := len(c.Func.Params)-1, c.Func.Params[1].Shape[0]
	switch {
	case c.Arch != "x86_64":
		tablesOfConstants(c)
	case c.Words == 64 && planes <= knownPlanes:
		tablesOfHalves(c, planes, words)
	case c.Words == 64:
		tablesOfThrees(c, planes, words)
	default:
		tablesOfFours(c, planes)
	}
}

// knownPlanes is the number of planes up to which all that 3 channels may hold is so little that
// their tables, of 8 bytes each, are a constant: 512 bytes of 2 planes, 4 KiB of 3.
const knownPlanes = 3

// planeBytes puts a chunk of each plane into all lanes of lane bits of a register, as bytes.
func (c *code) planeBytes(planes, words, lane, width int) []value {
	out := make([]value, planes)
	for n := range out {
		v := c.load(fmt.Sprint("i", 32*words), fmt.Sprint("x", n), 0, 4)
		if lane > 32*words {
			v = c.cast("zext", v, "i64")
		}
		out[n] = c.cast("bitcast", c.spread(v, width*8/lane), vector(width, 8))
	}
	return out
}

// planeSum adds up the counts of planes, from the highest on: each counts half of the one above.
func (c *code) planeSum(planes int, count func(n int) value) value {
	sum := count(planes - 1)
	for n := planes - 2; n >= 0; n-- {
		one := count(n)
		sum = c.op("add", c.op("add", sum, sum), one)
	}
	return sum
}

// tablesOfThrees makes tables of 64 entries, of any number of planes: first those of 3 channels
// each, of 8 entries, eight in a register, by vpmultishiftqb and vpopcntb. Then of each two the
// sums of all pairs of entries, by two vpermb.
func tablesOfThrees(c *code, planes, words int) {
	const reg, permute = "<64 x i8>", "llvm.x86.avx512.permvar.qi.512"
	xs := c.planeBytes(planes, words, 64, 64)
	for r := range (2*c.Lanes + 7) / 8 {
		half := func(lane int) int { return 8*r + lane/8 }
		mask := byteConstant(64, func(l int) int { return 1<<max(0, min(3, 32*words-3*half(l))) - 1 })
		sum := c.planeSum(planes, func(n int) value {
			held := c.call(reg, "llvm.x86.avx512.pmultishift.qb.512", byteConstant(64, func(l int) int {
				return 3 * half(l) % 64
			}), xs[n])
			differ := c.op("xor", c.op("and", held, mask), byteConstant(64, func(l int) int { return l % 8 }))
			return c.call(reg, "llvm.ctpop.v64i8", differ)
		})
		for q := range min(4, c.Lanes-4*r) {
			low := c.call(reg, permute, sum, byteConstant(64, func(l int) int { return l%8 + 16*q }))
			high := c.call(reg, permute, sum, byteConstant(64, func(l int) int { return l/8 + 16*q + 8 }))
			c.store(c.op("add", low, high), "t", 64*(4*r+q), 1)
		}
	}
}

// tablesOfHalves makes tables of 64 entries from two tables of 3 channels each. Those are read, not
// computed: pdep spreads the bits that select them to fields of 8 or 16 bits. So a table takes a
// shuffle and an addition beside its reader.
func tablesOfHalves(c *code, planes, words int) {
	const reg = "<64 x i8>"
	field := 8
	if 3*planes > field {
		field = 16
	}
	halves := c.global("halves", fmt.Sprintf("[%d x i64]", 1<<(3*planes)), 64,
		list(1<<(3*planes), func(held int) string {
			// The counts of 3 channels with bits held, all planes of a channel side by side: a
			// byte for each entry.
			var counts uint64
			for e := range 8 {
				for at := range 3 * planes {
					counts += uint64(held>>at&1^e>>(at/planes)&1) << (at%planes + 8*e)
				}
			}
			return fmt.Sprint("i64 ", int64(counts))
		}))
	all := make([]value, planes)
	for n := range all {
		all[n] = c.cast("zext", c.load(fmt.Sprint("i", 32*words), fmt.Sprint("x", n), 0, 4), "i128")
	}
	shift := func(v value, by int) value { return c.op("lshr", v, value{v.kind, fmt.Sprint(by)}) }
	read := func(fields value) value {
		at := c.op("and", fields, value{"i64", fmt.Sprint(1<<field - 1)})
		from := c.set("ptr", "getelementptr inbounds i64, ptr %s, %s", halves, at)
		return c.cast("bitcast", c.spread(c.set("i64", "load i64, %s, align 8", from), 8), reg)
	}
	each := 64 / (2 * field) // groups in the fields of a word
	var fields value
	for g := range c.Lanes {
		if g%each != 0 {
			fields = shift(fields, 2*field)
		} else {
			for n, z := range all { // each field has 3 channels, and the planes of a channel side by side
				var mask uint64
				for at := 0; at < 64; at += field {
					for k := range 3 {
						mask |= 1 << (at + k*planes + n)
					}
				}
				from := c.cast("trunc", shift(z, 6*g), "i64")
				in := c.call("i64", "llvm.x86.bmi.pdep.64", from, value{"i64", fmt.Sprint(int64(mask))})
				if n > 0 {
					in = c.op("or", fields, in)
				}
				fields = in
			}
		}
		// Opaque, so that LLVM shifts by two fields and takes bytes, and does not shift and mask
		// each field by itself.
		fields = c.asm(assembly{constraints: "=r,0"}, []string{"i64"}, fields)[0]
		upper := shift(fields, field)
		low, high := read(fields), read(upper)
		high = c.call(reg, "llvm.x86.avx512.pshuf.b.512", high, byteConstant(64, func(l int) int { return l / 8 }))
		c.store(c.op("add", low, high), "t", 64*g, 1)
	}
}

// tablesOfFours makes tables of 16 entries, one register at a time: vpshufb and vpsrlvd bring a
// group's channels to all bytes of its table, vpshufb counts.
func tablesOfFours(c *code, planes int) {
	width, shuffle := 64, "llvm.x86.avx512.pshuf.b.512"
	if !slices.Contains(c.Needs, "avx512bw") {
		width, shuffle = 32, "llvm.x86.avx2.pshuf.b"
	}
	reg, words, each := vector(width, 8), vector(width/4, 32), width/16
	xs := c.planeBytes(planes, 1, 32, width)
	for r := range c.Lanes / each {
		sum := c.planeSum(planes, func(n int) value {
			group := c.call(reg, shuffle, xs[n], byteConstant(width, func(l int) int { return (r*each + l/16) / 2 }))
			group = c.op("lshr", c.cast("bitcast", group, words), constant(words, width/4, func(l int) int {
				return l / 4 % 2 * 4
			}))
			group = c.op("and", c.cast("bitcast", group, reg), splat(reg, 15))
			differ := c.op("xor", group, byteConstant(width, func(l int) int { return l % 16 }))
			return c.call(reg, shuffle, byteConstant(width, func(l int) int {
				return bits.OnesCount(uint(l % 16))
			}), differ)
		})
		c.store(sum, "t", width*r, 1)
	}
}

// tablesOfConstants makes tables of 16 entries on Arm as sums of constants: for each plane, the
// counts of a group's bits against all entries. That takes half the vector operations of counting.
// With halves, the counts of the pixel half a row further go above the others.
func tablesOfConstants(c *code) {
	const entries, group = 16, 4
	pixels := []string{"x"}
	if c.Halves {
		pixels = append(pixels, "y")
	}
	planes := (len(c.Func.Params) - 1) / len(pixels)
	counts, chunks := make([]string, planes), map[string]value{}
	for n := range counts {
		counts[n] = c.global(fmt.Sprint("plane", n), fmt.Sprintf("[%d x i8]", entries*entries), 16,
			list(entries*entries, func(at int) string {
				return fmt.Sprint("i8 ", int8(bits.OnesCount(uint(at>>group^at&(entries-1)))<<n))
			}))
	}
	for _, x := range pixels {
		for n := range planes {
			chunks[fmt.Sprint(x, n)] = c.cast("zext", c.load("i32", fmt.Sprint(x, n), 0, 4), "i64")
		}
	}
	for g := range c.Lanes {
		var sums []value
		for _, x := range pixels {
			sums = append(sums, c.total(planes, func(n int) value {
				at := c.op("lshr", chunks[fmt.Sprint(x, n)], value{"i64", fmt.Sprint(group * g)})
				at = c.op("and", at, value{"i64", fmt.Sprint(entries - 1)})
				from := c.set("ptr", "getelementptr inbounds %s, ptr %s, %s", register, counts[n], at)
				return c.set(register, "load %s, %s, align 16", register, from)
			}))
		}
		if c.Halves {
			sums[0] = c.op("or disjoint", sums[0], c.op("shl", sums[1], splat(register, 4)))
		}
		c.store(sums[0], "t", entries*g, 1)
	}
}
