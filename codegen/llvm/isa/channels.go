package isa

import (
	"fmt"
	"slices"
	"strings"
)

// dotChannels is the function of isa.DotChannels: one piece of assembly with all sums in registers.
// It goes through one pair of registers of weights after the other. One load has the levels of 32
// channels or, where an instruction takes 16, of two neighbouring positions.
func dotChannels(c *code) {
	const bytes = 16 // of a register
	n, sums := c.Positions*c.Lanes, vector(4, 32)
	blocks, held := c.Words/4, c.Positions
	switch {
	case blocks == 2:
		held = 2 * c.Positions
	case blocks > 2: // two more for the next channels
		held = min(2*c.Positions+2, 8)
	}
	b := &block{starts: a64Starts(), apart: 1}
	weights, levels, products := newPool(0, 4), newPool(4, held), newPool(4+held, 12-held)
	all := fixedCells(0, n)
	level := func(p, q int) *cell {
		at := bytes * (p*c.Stride*blocks + q)
		if blocks == 1 && (c.Stride > 1 || c.Positions == 1) {
			return b.load(loadKey{operand: n, at: at}, 1, levels, a53Load(), func(k int) string {
				return fmt.Sprintf("ldr q%d, [$%d, #%d]", k, n, at)
			})[0]
		}
		return b.loadPair(loadKey{operand: n, at: at &^ bytes}, levels)[at/bytes&1]
	}
	op := func(format string, write, add []*cell, read ...*cell) *operation {
		return b.do(a53Vector(), lineOf(format, slices.Concat(write, add, read)...), write, add, read...)
	}
	for q := range blocks {
		for k := range n {
			p, f := k/2%c.Positions, k/(2*c.Positions)*2+k%2
			w := b.loadPair(loadKey{operand: n + 1, at: bytes * (q*c.Lanes + f&^1)}, weights)[f&1]
			x, t, sum := level(p, q), products.cell(), all[p*c.Lanes+f]
			low := op("smull v%d.8h, v%d.8b, v%d.8b", cells(t), nil, w, x)
			add := func(t *cell, before ...*operation) {
				if !c.SlowPairSums {
					b.chain(0, append(before, op("sadalp $%d.4s, v%d.8h", nil, cells(sum), t))...)
					return
				}
				b.chain(0, append(before, op("saddlp v%d.4s, v%[1]d.8h", nil, cells(t)),
					op("add $%[1]d.4s, $%[1]d.4s, v%[2]d.4s", nil, cells(sum), t))...)
			}
			if c.Together == 2 {
				high := b.do(a53Vector(), lineOf("smlal2 v%d.8h, v%d.16b, v%d.16b", t, w, x), cells(t), nil, t, w, x)
				add(t, low, high)
				continue
			}
			high := products.cell()
			add(t, low)
			add(high, op("smull2 v%d.8h, v%d.16b, v%d.16b", cells(high), nil, w, x))
		}
	}
	b.order()
	inputs := []value{c.pointer("x", 0), c.pointer("w", 0)}
	constraints := append(slices.Repeat([]string{"=&w"}, n), "r", "r")
	for s := range n {
		inputs = append(inputs, c.load(sums, "acc", bytes*s, 4))
		constraints = append(constraints, fmt.Sprint(s))
	}
	for _, k := range append(a64Clobbers(16), "memory") {
		constraints = append(constraints, "~{"+k+"}")
	}
	code := assembly{text: b.text(), constraints: strings.Join(constraints, ","), volatile: true}
	for s, v := range c.asm(code, slices.Repeat([]string{sums}, n), inputs...) {
		c.store(v, "acc", bytes*s, 4)
	}
}
