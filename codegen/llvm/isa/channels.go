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
	if c.Arch == "arm" {
		dotChannelsA32(c)
		return
	}
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
	clobbers := append(a64Clobbers(16), "memory")
	code := assembly{text: b.text(), constraints: strings.Join(constraints, ","), clobbers: clobbers, volatile: true}
	for s, v := range c.asm(code, slices.Repeat([]string{sums}, n), inputs...) {
		c.store(v, "acc", bytes*s, 4)
	}
}

// dotChannelsA32 is dotChannels for 32-bit Arm. Each load moves its address along. Two filters have
// weights in registers, and a product for each position. The next ones are loaded behind the last
// multiplications that read them.
func dotChannelsA32(c *code) {
	const levels, weights, products, ends, sums = 8, 10, 12, 16, "<4 x i32>"
	var l listing
	n, pairs := c.Positions*c.Lanes, c.Lanes/2
	steps := c.Words / 4 * pairs
	load := func(k int) { // the operands of a step
		if k%pairs == 0 {
			for p := range c.Positions {
				l.line("vldmia $%d!, {d%d-d%d}", n+1+p, 2*(levels+p), 2*(levels+p)+1)
			}
		}
		l.line("vldmia $%d!, {d%d-d%d}", n, 2*weights, 2*weights+3)
	}
	// all writes an operation for each sum of a step's filters, with the halves of its product, its
	// weights and its levels from register d on.
	all := func(write func(sum, product, w, x int)) {
		for k := range 2 * c.Positions {
			f, p := k/c.Positions, k%c.Positions
			write(p*c.Lanes+f, products+k, 2*(weights+f), 2*(levels+p))
		}
	}
	load(0)
	for k := range steps {
		first := k % pairs * 2
		add := func() {
			all(func(sum, product, _, _ int) { l.line("vpadal.s16 ${%d:q}, q%d", sum+first, product) })
		}
		multiply := func(op string, half int) {
			all(func(_, product, w, x int) { l.line("%s.s8 q%d, d%d, d%d", op, product, w+half, x+half) })
		}
		multiply("vmull", 0)
		if c.Together == 2 {
			multiply("vmlal", 1)
		} else {
			add()
			multiply("vmull", 1)
		}
		if k+1 < steps {
			load(k + 1)
		}
		add()
	}
	inputs := []value{c.pointer("w", 0)}
	for p := range c.Positions {
		inputs = append(inputs, c.pointer("x", 4*p*c.Stride*c.Words))
	}
	results := append(slices.Repeat([]string{sums}, n), slices.Repeat([]string{"ptr"}, len(inputs))...)
	constraints := append(slices.Repeat([]string{"=&w"}, n), slices.Repeat([]string{"=&r"}, len(inputs))...)
	for k := range inputs {
		constraints = append(constraints, fmt.Sprint(n+k))
	}
	for s := range n {
		inputs = append(inputs, c.load(sums, "acc", 16*s, 4))
		constraints = append(constraints, fmt.Sprint(s))
	}
	clobbers := append(registerNames("q", levels, ends-levels), "memory")
	code := assembly{text: l.text(), constraints: strings.Join(constraints, ","), clobbers: clobbers, volatile: true}
	for s, v := range c.asm(code, results, inputs...)[:n] {
		c.store(v, "acc", 16*s, 4)
	}
}
