package isa

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// ternary is a function of three bits, by its truth table.
func (c *code) ternary(a, b, d value, table int) value {
	if c.Arch == "nvptx64" {
		text := fmt.Sprintf("lop3.b32 $0, $1, $2, $3, %d;", table)
		return c.asm(assembly{text: text, constraints: "=r,r,r,r", pure: true}, []string{a.kind}, a, b, d)[0]
	}
	return c.call(a.kind, "llvm.x86.avx512.pternlog.d.512", a, b, d, value{"i32", fmt.Sprint(table)})
}

// Truth tables of ternary.
const (
	parity           = 0x96
	majority         = 0xE8
	majorityByParity = 0xB2 // majority of a, u and v, by a, a^u^v and u: where a is the parity, u and v are equal
)

// xorCount is the function of isa.XorCount: vpopcntd, or on AVX2 two vpshufb that look up the bits
// of each nibble, and vpmaddubsw and vpmaddwd that add up the four bytes.
func xorCount(c *code) {
	kind := vector(c.Lanes, 32)
	x := c.spreadWord("x", 0, 4, c.Lanes)
	differ := c.op("xor", c.load(kind, "w", 0, 4), x)
	if slices.Contains(c.Needs, "avx512vpopcntdq") {
		c.addTo("acc", 0, 4, c.call(kind, "llvm.ctpop."+suffix(kind), differ))
		return
	}
	n := 4 * c.Lanes
	nibbles := func(words value) value {
		low := c.op("and", c.cast("bitcast", words, vector(n, 8)), splat(vector(n, 8), 15))
		return c.call(low.kind, "llvm.x86.avx2.pshuf.b", byteConstant(n, func(l int) int {
			return bits.OnesCount(uint(l % 16))
		}), low)
	}
	counts := c.op("add", nibbles(differ), nibbles(c.op("lshr", differ, splat(kind, 4))))
	halves := c.call(vector(n/2, 16), "llvm.x86.avx2.pmadd.ub.sw", counts, splat(counts.kind, 1))
	c.addTo("acc", 0, 4, c.call(kind, "llvm.x86.avx2.pmadd.wd", halves, splat(halves.kind, 1)))
}

// xorCountPair is the function of isa.XorCountPair. Its five operations count two words, where
// plain xor and popcount take six. LLVM does not find the second vpternlogd.
func xorCountPair(c *code) {
	kind, word := vector(c.Lanes, 32), c.spreadWord
	if c.Lanes == 1 { // a thread of a device
		kind, word = "i32", func(of string, at, align, _ int) value { return c.load("i32", of, at, align) }
	}
	a, q := word("x", 0, 4, c.Lanes), word("x", 4, 4, c.Lanes)
	w, p := c.load(kind, "w", 0, 4), c.load(kind, "w", 4*c.Lanes, 4)
	u, s := c.op("xor", w, a), c.load(kind, "s", 0, 4)
	sum := c.ternary(s, p, q, parity)
	c.addTo("c", 0, 4, c.call(kind, "llvm.ctpop."+suffix(kind), c.ternary(s, sum, u, majorityByParity)))
	c.store(sum, "s", 0, 4)
}

// xorCountTile is the function of isa.XorCountTile. The last addition is opaque. The one before is
// not, so that nothing is left of adding to zero. A tile of one word has none before.
func xorCountTile(c *code) {
	spread := make([]value, c.Words)
	var words value
	if !c.Copies {
		words = c.load(vector(c.Words, 32), "x", 0, 1)
	}
	for w := range spread {
		if c.Copies {
			spread[w] = c.load(register, "x", 16*w, 1)
			continue
		}
		all := c.shuffle(vector(4, 32), words, "poison", Shuffle(4, func(int) int { return w }))
		spread[w] = c.cast("bitcast", all, register)
	}
	sums := make([]value, c.Lanes/4)
	for f := range sums {
		sums[f] = c.load(register, "acc", 16*f, 1)
	}
	var two value
	for w, x := range spread {
		for f := range sums {
			at := 4*c.Lanes*w + 16*f
			var weights value
			switch {
			case !c.Wide:
				weights = c.load(register, "w", at, 1)
			default:
				if f%2 == 0 {
					two = c.call("{ "+repeat(2, register)+" }", c.load2, c.pointer("w", at))
				}
				weights = c.set(register, "extractvalue %s, %d", two, f%2)
			}
			count := c.call(register, "llvm.ctpop.v16i8", c.op("xor", weights, x))
			switch {
			case w < c.Words-1:
				sums[f] = c.op("add", sums[f], count)
			case c.Words == 1 && c.Wide:
				sums[f] = c.opaqueUnlessKnown(sums[f], count)
			default:
				sums[f] = c.opaque(sums[f], count)
			}
		}
	}
	for f, s := range sums {
		c.store(s, "acc", 16*f, 1)
	}
}

// clear is the function of isa.Clear.
func clear(c *code) { c.store(value{register, "zeroinitializer"}, "acc", 0, 1) }

// widenAdd is the function of isa.WidenAdd: from bytes to 16 bits, or from 16 to 32.
func widenAdd(c *code) {
	n := c.Type.Bits()
	from := c.load(vector(256/n, n/2), "r", 0, 1)
	c.store(c.widen(c.load(vector(128/n, n), "acc", 0, 1), from), "acc", 0, 1)
}

// sumsOf is how many sums an instruction adds to.
func (c *code) sumsOf() int {
	sums := 1
	for _, n := range c.Func.Params[0].Shape {
		sums *= n
	}
	return sums
}

// addPairs is the function of isa.AddPairs: by an intrinsic where a register holds the sums, since
// LLVM would load even and odd ones from memory apart.
func addPairs(c *code) {
	width, n := c.Type.Bits(), c.sumsOf()
	kind, align := vector(n, width), width/8
	r0, r1 := c.load(kind, "r", 0, align), c.load(kind, "r", n*align, align)
	var both value
	if c.Arch == "aarch64" && n*width == 128 {
		both = c.call(kind, "llvm.aarch64.neon.addp."+suffix(kind), r0, r1)
	} else {
		part := func(odd int) value {
			return c.shuffle(kind, r0, r1.name, Shuffle(n, func(l int) int { return 2*l + odd }))
		}
		both = c.op("add", part(0), part(1))
	}
	c.addTo("acc", 0, align, both)
}

// addToMemory is the function of isa.WidenAddMemory. The sums stay in memory, since they are needed
// so seldom that registers for them would be missing elsewhere. On 64-bit Arm up to four registers
// of sums are loaded before the first is added to, and that before the first is stored: a core that
// works in order waits for each load once.
func addToMemory(c *code) {
	n := c.sumsOf() / 8
	if c.Arch == "wasm32" {
		for v := range n {
			sums := c.load(vector(8, 16), "acc", 16*v, 1)
			c.store(c.widen(sums, c.load(register, "r", 16*v, 1)), "acc", 16*v, 1)
		}
		return
	}
	var from []value
	for v := range n {
		from = append(from, c.load(register, "r", 16*v, 1))
	}
	var l listing
	address, operand := value{"ptr", "%acc"}, strings.Repeat(",w", n)+",~{memory}"
	if c.Arch == "arm" {
		const wide = 6 // registers of sums
		l.lines = addHalves(0, n, newPool(0, wide), func(sum *cell, k int) string {
			return fmt.Sprintf("vpadal.u8 q%d, ${%d:q}", sum.k, 1+k)
		})
		code := assembly{text: l.text(), constraints: "r" + operand, clobbers: registerNames("q", 0, wide),
			volatile: true}
		c.asm(code, nil, append([]value{address}, from...)...)
		return
	}
	sums := min(n, 4)
	for v := 0; v < n; v += sums {
		pairs := func(op string) {
			for k := 0; k < sums; k += 2 {
				l.line("%s ${%d:q}, ${%d:q}, [$%d, #%d]", op, k, k+1, sums, 16*(v+k))
			}
		}
		pairs("ldp")
		for k := range sums {
			l.line("uadalp $%d.8h, $%d.16b", k, sums+1+v+k)
		}
		pairs("stp")
	}
	operand = strings.Repeat("=&w,", sums) + "r" + operand
	c.asm(assembly{text: l.text(), constraints: operand, volatile: true}, slices.Repeat([]string{register}, sums),
		append([]value{address}, from...)...)
}

// listing is assembly that is being written, line by line.
type listing struct{ lines []string }

func (l *listing) line(format string, args ...any) {
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

func (l *listing) text() string { return strings.Join(l.lines, "\n") }
