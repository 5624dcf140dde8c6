package isa

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// windowPairs is how many pairs of words one position adds up before the next one does. Their
// weights stay in registers meanwhile.
const windowPairs = 4

// levels are the vectors of a position that are not yet added up, by the power of two that their
// bits count.
type levels [][]value

// xorCountWindow is the function of isa.XorCountWindow. It counts the words of a window against a
// vector of filters by carry-save adders (Harley and Seal, see Warren, Hacker's Delight, 5-1):
// three words of the same weight become one, and one of twice the weight, each in one vpternlogd.
// Only the final words are counted, by vpshufb. Words are kept as pairs (steps.Pair),
// which saves the second difference of each, as in xorCountPair.
func xorCountWindow(c *code) {
	// Else LLVM spreads all words at once, for several blocks of filters, and keeps them on the
	// stack.
	x := c.asm(assembly{constraints: "=r,0,~{memory}", volatile: true}, []string{"ptr"}, c.pointer("x", 0))[0]
	var words [][3]int // row, tap and the first word of each pair
	for r := range c.Rows {
		for t := range c.Taps {
			for w := 0; w < c.Words; w += 2 {
				words = append(words, [3]int{r, t, w})
			}
		}
	}
	sums := make([]levels, c.Positions)
	for pairs := range slices.Chunk(words, windowPairs) {
		for p := range sums {
			for _, w := range pairs {
				c.addPair(&sums[p], x, ((w[0]*(c.Positions+c.Taps-1)+p+w[1])*c.Words+w[2])*4,
					((w[0]*c.Taps+w[1])*c.Words+w[2])*4*c.Lanes)
			}
			c.fix(sums[p])
		}
	}
	for p := range sums {
		c.addTo("acc", 4*c.Lanes*p, 4, c.countLevels(&sums[p]))
	}
}

// addPair adds two words of a position, at some bytes of x and of the weights.
func (c *code) addPair(s *levels, x value, at, weights int) {
	kind := vector(c.Lanes, 32)
	word := func(at int) value {
		from := c.set("ptr", "getelementptr inbounds i8, %s, i64 %d", x, at)
		return c.spread(c.set("i32", "load i32, %s, align 4", from), c.Lanes)
	}
	u := c.op("xor", c.load(kind, "w", weights, 4), word(at))
	other, spread := c.load(kind, "w", weights+4*c.Lanes, 4), word(at+4)
	if len(*s) == 0 {
		d := c.op("xor", other, spread)
		*s = levels{{d}}
		c.addLevel(s, 1, c.op("and", u, c.op("xor", d, splat(kind, -1))))
		return
	}
	old := (*s)[0][0]
	(*s)[0][0] = c.ternary(old, other, spread, parity)
	c.addLevel(s, 1, c.ternary(old, (*s)[0][0], u, majorityByParity))
}

// fix is an empty piece of assembly that each vector of s goes through. Without it LLVM would begin
// many positions at once, and there are no registers for these.
func (c *code) fix(s levels) {
	all := slices.Concat(s...)
	var kinds, tied []string
	for k, v := range all {
		kinds, tied = append(kinds, v.kind), append(tied, fmt.Sprint(k))
	}
	results := strings.Repeat("=v,", len(all))
	fixed := c.asm(assembly{constraints: results + strings.Join(tied, ","), volatile: true}, kinds, all...)
	for level := range s {
		fixed = fixed[copy(s[level], fixed):]
	}
}

// addLevel adds a vector of bits that count 1<<level each.
func (c *code) addLevel(s *levels, level int, v value) {
	for len(*s) <= level {
		*s = append(*s, nil)
	}
	at := append((*s)[level], v)
	if len(at) == 3 {
		(*s)[level] = []value{c.ternary(at[0], at[1], at[2], parity)}
		c.addLevel(s, level+1, c.ternary(at[0], at[1], at[2], majority))
		return
	}
	(*s)[level] = at
}

// countLevels adds up the vectors of a position. The bits of each nibble are looked up, times the
// weight of its level, as long as bytes hold the sums.
func (c *code) countLevels(s *levels) value {
	for level := range *s { // an adder of two and one of three cost less than to count one vector more
		if at := (*s)[level]; len(at) == 2 && level+1 < len(*s) && len((*s)[level+1]) == 2 {
			(*s)[level] = []value{c.op("xor", at[0], at[1])}
			c.addLevel(s, level+1, c.op("and", at[0], at[1]))
		}
	}
	var total, counts value
	sum := func(a, b value) value {
		if a.name == "" {
			return b
		}
		return c.op("add", a, b)
	}
	base, most := 0, 0
	flush := func() {
		if counts.name != "" {
			total = sum(total, c.call("<32 x i16>", "llvm.x86.avx512.pmaddubs.w.512", counts,
				splat(counts.kind, 1<<base)))
		}
		counts, most = value{}, 0
	}
	for level, vs := range *s {
		for _, v := range vs {
			if counts.name != "" && most+8<<(level-base) > 255 {
				flush()
			}
			if counts.name == "" {
				base = level
			}
			most += 8 << (level - base)
			const nibbles = 0x0F0F0F0F
			low := c.op("and", v, splat(v.kind, nibbles))
			high := c.op("and", c.op("lshr", v, splat(v.kind, 4)), splat(v.kind, nibbles))
			for _, v := range []value{low, high} {
				v = c.cast("bitcast", v, "<64 x i8>")
				table := byteConstant(64, func(k int) int { return bits.OnesCount(uint(k%16)) << (level - base) })
				counts = sum(counts, c.call(v.kind, "llvm.x86.avx512.pshuf.b.512", table, v))
			}
		}
	}
	flush()
	return c.multiplyWords(total, splat(total.kind, 1))
}
