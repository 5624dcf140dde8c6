package isa

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ripc/targets/isa"
)

// sumMatrices is the function of isa.XorCountMatrix and of isa.DotMatrix, which the 32 threads of a
// warp run together by PTX's products of matrices: of bits, m16n8k256 and m16n8k128, and of bytes,
// m16n8k32 and m16n8k16. A word is 32 bits or four bytes. Thread 4g+t has rows g and g+8 of the
// first matrix and column g of the second. Its sums are in columns 2t and 2t+1 of rows g and g+8.
// It has one word in four of a row or column: any, if it is the same of both matrices.
//
// A row is a position. The last one stands for missing ones too: threads then store equal sums. A
// column is a filter. Words of a row of taps have numbers across its taps, as they lie in memory.
func sumMatrices(c *code) {
	number := func(n int) value { return value{"i32", strconv.Itoa(n)} }
	lane := c.op("and", c.call("i32", "llvm.nvvm.read.ptx.sreg.tid.x"), number(31))
	g, t := c.op("lshr", lane, number(2)), c.op("and", lane, number(3))
	m := &matrix{code: c, row: c.Taps * c.Words, wide: (c.Positions-1)*c.Stride + c.Taps, each: 1}
	m.inside = c.set("i1", "icmp ult %s, %d", t, m.row%4)
	xWord, wWord := t, t
	switch {
	case c.Words%8 == 0:
		m.each = 2
		xWord = c.op("shl", t, number(1))
		wWord = xWord
	case c.Words < 4: // of several taps
		tap := c.op("mul", c.op("udiv", t, number(c.Words)), number(c.Lanes*c.Words))
		wWord = c.op("add", tap, c.op("urem", t, number(c.Words)))
	}
	for r := 0; r < c.Rows*c.Positions; r += 8 {
		row := c.call("i32", "llvm.umin.i32", c.op("add", g, number(r)), number(c.Rows*c.Positions-1))
		down := c.op("mul", c.op("udiv", row, number(c.Positions)), number(c.Stride*m.wide*c.Words))
		right := c.op("mul", c.op("urem", row, number(c.Positions)), number(c.Stride*c.Words))
		m.x = append(m.x, m.words("x", c.op("add", down, right), xWord))
		sums := c.op("add", c.op("mul", row, number(c.Lanes)), c.op("shl", t, number(1)))
		m.sums = append(m.sums, m.at("acc", sums))
	}
	m.w = m.words("w", c.op("mul", g, number(c.Words)), wWord)
	m.counts = make([][4]value, c.Lanes/8)
	for f := range m.counts {
		m.counts[f] = [4]value{number(0), number(0), number(0), number(0)}
		if c.Doubles {
			m.eachSum(f, func(to string, at, align, k int) {
				m.counts[f][k] = c.op("shl", c.load("i32", to, at, align), number(1))
			})
		}
	}
	var halves []half
	for i := range c.Taps {
		for from := 0; from < m.row; from += 4 {
			halves = append(halves, half{i, from})
		}
	}
	for len(halves) > 0 {
		n := min(2, len(halves))
		m.multiply(halves[:n])
		halves = halves[n:]
	}
	for f, counts := range m.counts {
		m.eachSum(f, func(to string, at, align, k int) { c.store(counts[k], to, at, align) })
	}
}

// packWord is the function of isa.PackWord: a thread compares a sum, and all store the same word.
func packWord(c *code) {
	m := &matrix{code: c}
	lane := c.op("and", c.call("i32", "llvm.nvvm.read.ptx.sreg.tid.x"), value{"i32", "31"})
	sum, most := c.load("i32", m.at("acc", lane), 0, 4), c.load("i32", m.at("t", lane), 0, 4)
	bit := c.set("i1", "icmp sle %s, %s", sum, most.name)
	c.store(c.call("i32", "llvm.nvvm.vote.ballot.sync", value{"i32", "-1"}, bit), "y", 0, 4)
}

// matrix is an instruction of products of matrices that is being written.
type matrix struct {
	*code
	row, wide int        // words of a row of taps, and columns of x
	each      int        // neighbouring words that a thread has of eight
	inside    value      // whether a thread has a word at the end of a row of taps
	x         []words    // for rows g, and g+8
	w         words      // for filter g
	sums      []string   // addresses for rows g, and g+8
	counts    [][4]value // sums of 8 filters each
}

// eachSum calls see with the place of each of a thread's sums k of 8 filters, number f of them.
func (m *matrix) eachSum(f int, see func(to string, at, align, k int)) {
	for r, to := range m.sums {
		for k := range 2 {
			see(to, 4*(8*f+k), 8-4*k, 2*r+k)
		}
	}
}

// words is where a thread's words begin, and where those at the end of a row do.
type words struct{ all, end string }

// half is four words of a row of taps, half of the words of a product.
type half struct{ tap, from int }

// at is the address of an element of parameter of.
func (m *matrix) at(of string, element value) string {
	bytes := m.cast("zext", m.op("shl", element, value{"i32", "2"}), "i64")
	return strings.TrimPrefix(m.set("ptr", "getelementptr inbounds i8, ptr %%%s, %s", of, bytes).name, "%")
}

func (m *matrix) words(of string, base, word value) words {
	all := words{all: m.at(of, m.op("add", base, word))}
	if m.row%4 != 0 {
		within := m.set("i32", "select %s, %s, i32 0", m.inside, word)
		all.end = m.at(of, m.op("add", base, within))
	}
	return all
}

// word loads the word of a thread that lies `at` words behind its first, or 0 where a row of taps
// has ended.
func (m *matrix) word(of words, h half, at int) value {
	if m.row-h.from >= 4 {
		return m.load("i32", of.all, 4*at, 4)
	}
	return m.set("i32", "select %s, %s, i32 0", m.inside, m.load("i32", of.end, 4*at, 4))
}

// multiply adds the product of one half of a matrix or of both.
func (m *matrix) multiply(halves []half) {
	// The second half's word is the neighbour of the first one's, or its own four words.
	place := func(k int) half {
		if m.each == 2 {
			return half{halves[0].tap, halves[0].from + k}
		}
		return halves[k]
	}
	var a, b []value
	for k := range halves {
		h := place(k)
		for _, x := range m.x {
			a = append(a, m.word(x, halves[k], h.tap*m.wide*m.Words+h.from))
		}
		if len(m.x) == 1 {
			a = append(a, value{"i32", "0"})
		}
	}
	for f := range m.counts {
		b = nil
		for k := range halves {
			h := place(k)
			tap := h.tap*m.Taps + h.from/m.Words
			b = append(b, m.word(m.w, halves[k], (tap*m.Lanes+8*f)*m.Words+h.from%m.Words))
		}
		m.counts[f] = m.add(m.counts[f], a, b)
	}
}

// add adds a product to sums: of bytes, of "xor", or of "and" with the complements of either
// factor.
func (m *matrix) add(sums [4]value, a, b []value) [4]value {
	name, pairs := "llvm.nvvm.mma.xor.popc.m16n8k%d.row.col.b1", [][2][]value{{a, b}}
	columns := 128 * len(b)
	switch {
	case m.Meaning == isa.DotMatrix:
		name, columns = "llvm.nvvm.mma.m16n8k%d.row.col.u8.s8", 16*len(b)
	case m.AndProducts:
		not := func(all []value) (out []value) {
			for _, v := range all {
				out = append(out, m.op("xor", v, value{"i32", "-1"}))
			}
			return out
		}
		name, pairs = "llvm.nvvm.mma.and.popc.m16n8k%d.row.col.b1", [][2][]value{{a, not(b)}, {not(a), b}}
	}
	for _, p := range pairs {
		all := m.call("{ "+repeat(4, "i32")+" }", fmt.Sprintf(name, columns), slices.Concat(p[0], p[1], sums[:])...)
		copy(sums[:], m.parts(all, slices.Repeat([]string{"i32"}, 4)))
	}
	return sums
}
