package isa

import (
	"fmt"
	"slices"
	"strings"
)

// Rows are instructions of many operations, each of them one piece of assembly in the order of a
// block.

// lineOf writes an operation once its cells have registers; format takes their numbers.
func lineOf(format string, cells ...*cell) func() string {
	return func() string {
		ks := make([]any, len(cells))
		for n, c := range cells {
			ks[n] = c.k
		}
		return fmt.Sprintf(format, ks...)
	}
}

// cells lists cells.
func cells(cs ...*cell) []*cell { return cs }

// inRegisters writes a row with byte sums in registers: two pieces of assembly; LLVM drops one of
// them. In the first piece, for sums that LLVM knows to be zero, the first count of a sum sets it.
// Operands from $0 on are sums. Behind them are the addresses of the inputs.
func (c *code) inRegisters(sums int, clobbers []string, row func(c *code, first bool) *block) {
	olds := make([]value, sums)
	for s := range olds {
		olds[s] = c.load(register, "acc", 16*s, 1)
	}
	write := func(first bool) []value {
		b := row(c, first)
		b.order()
		constraints := append(slices.Repeat([]string{"=&w"}, sums), "r", "r")
		inputs := []value{{"ptr", "%" + c.Func.Params[1].Name}, {"ptr", "%" + c.Func.Params[2].Name}}
		for s := range olds {
			if !first {
				inputs, constraints = append(inputs, olds[s]), append(constraints, fmt.Sprint(s))
			}
		}
		code := assembly{text: b.text(), constraints: strings.Join(constraints, ","),
			clobbers: append(clobbers, "memory"), volatile: true}
		news := c.asm(code, slices.Repeat([]string{register}, sums), inputs...)
		for s := range olds {
			if first {
				news[s] = c.op("add", news[s], olds[s])
			}
		}
		return news
	}
	for s, v := range c.ifKnown(olds, func() []value { return write(true) }, func() []value { return write(false) }) {
		c.store(v, "acc", 16*s, 1)
	}
}

// inMemory writes a row with sums in memory. The addresses of sums, tables and entries are the
// operands behind the results.
func (c *code) inMemory(lines []string, results []string, clobbers ...string) {
	constraints := slices.Concat(slices.Repeat([]string{"=&r"}, len(results)), []string{"r", "r", "r"})
	l := listing{lines}
	code := assembly{text: l.text(), constraints: strings.Join(constraints, ","),
		clobbers: append(clobbers, "memory"), volatile: true}
	c.asm(code, results, c.pointer("acc", 0), c.pointer("t", 0), c.pointer("w", 0))
}

// registerNames lists n registers of a kind, from the first on.
func registerNames(kind string, first, n int) []string {
	out := make([]string, n)
	for k := range out {
		out[k] = fmt.Sprint(kind, first+k)
	}
	return out
}

// a64Starts are the registers of addresses of a row of 64-bit Arm.
func a64Starts() *pool { return newPool(4, 12) }

// a64Clobbers are vectors up to a number, and the registers of addresses.
func a64Clobbers(vectors int) []string {
	return append(registerNames("v", 0, vectors), registerNames("x", 4, 12)...)
}

// xorCountRow is the function of isa.XorCountRow.
func xorCountRow(c *code) {
	sums := c.Positions * c.Lanes / 4
	if c.Arch == "arm" {
		c.inRegisters(sums, registerNames("q", 0, 8), countRowA32)
		return
	}
	c.inRegisters(sums, a64Clobbers(14), countRowA64)
}

// popcounts are the lines of a count of 16 bytes.
type popcounts struct {
	differs, numbers, adds   timing
	differ, number, set, add string
}

// counter returns the function that adds a count of a register of filters to a sum; the first count
// sets it.
func (b *block) counter(l popcounts, sums int, first bool, results *pool) func(sum int, weights, word *cell) {
	all, isSet := fixedCells(0, sums), map[int]bool{}
	return func(sum int, weights, word *cell) {
		t, s := results.cell(), all[sum]
		begin := b.do(l.differs, lineOf(l.differ, t, weights, word), cells(t), nil, weights, word)
		if first && !isSet[sum] {
			isSet[sum] = true
			b.chain(0, begin, b.do(l.numbers, lineOf(l.set, s, t), cells(s), nil, t))
			return
		}
		b.chain(0, begin, b.do(l.numbers, lineOf(l.number, t), cells(t), nil, t),
			b.do(l.adds, lineOf(l.add, s, t), nil, cells(s), t))
	}
}

// countRowA64 has words outside taps, since neighbouring taps read the same pixels. In most taps it
// goes through one pair of registers of weights after the other. In the last tap of a word it goes
// through one position after the other, so that registers of its pixels are free for the next word.
// The sums of four positions have the upper half of the registers.
func countRowA64(c *code, first bool) *block {
	b := &block{starts: a64Starts()}
	weights, words := newPool(0, 4), newPool(4, 4)
	sums, filters := c.Positions*c.Lanes/4, c.Lanes/4
	count := b.counter(popcounts{
		a53Vector(), a53Vector(), a53Vector(), "eor v%d.16b, v%d.16b, v%d.16b", "cnt v%[1]d.16b, v%[1]d.16b",
		"cnt $%d.16b, v%d.16b", "add $%[1]d.16b, $%[1]d.16b, v%[2]d.16b",
	}, sums, first, newPool(8, 6))
	for w := range c.Words {
		for t := range c.Taps {
			for k := range c.Positions * filters {
				p, v := k%(2*c.Positions)/2, k/(2*c.Positions)*2+k%2
				if t == c.Taps-1 {
					p, v = k/filters, k%filters
				}
				pair := b.loadPair(loadKey{operand: sums + 1, at: 16 * ((t*c.Words+w)*filters + v&^1)}, weights)
				at := 16 * ((p+t)*c.Words + w)
				word := b.load(loadKey{operand: sums, at: at}, 1, words, a53Load(), func(k int) string {
					return fmt.Sprintf("ldr q%d, [$%d, #%d]", k, sums, at)
				})
				count(p*filters+v, pair[v&1], word[0])
			}
		}
	}
	return b
}

// countRowA32 has half the registers, and sums take up to eight. So a word is not kept for the next
// tap, and its last product overwrites it. vldr wants addresses of four bytes, which whole pixels
// and rows of weights have.
func countRowA32(c *code, first bool) *block {
	b := &block{}
	weights, words := newPool(0, 3), newPool(3, 5)
	words.most = 2 // products need the others
	sums, filters := c.Positions*c.Lanes/4, c.Lanes/4
	count := b.counter(popcounts{
		r52Vector(4, 2), r52Vector(4, 1), r52Vector(4, 2), "veor q%d, q%d, q%d", "vcnt.8 q%[1]d, q%[1]d",
		"vcnt.8 ${%d:q}, q%d", "vadd.i8 ${%[1]d:q}, ${%[1]d:q}, q%[2]d",
	}, sums, first, words)
	for tap := range c.Taps * c.Words {
		for p := range c.Positions {
			word := b.loadHalves(loadKey{sums, 16 * (p*c.Words + tap), tap}, words)
			for f := range filters {
				count(p*filters+f, b.loadHalves(loadKey{operand: sums + 1, at: 16 * (tap*filters + f)}, weights), word)
			}
		}
	}
	return b
}

// lookUpRow is the function of isa.LookUpRow.
func lookUpRow(c *code) {
	switch {
	case c.Arch == "arm":
		lookUpRowA32(c)
	case c.Arch == "riscv64":
		lookUpRVV(c)
	case c.Halves:
		b := halvesRow(c)
		b.order()
		c.inMemory(b.lines, nil, a64Clobbers(32)...)
	case c.Taps > 0:
		lookUpRowWide(c)
	default:
		c.inRegisters(c.Positions*c.Lanes/16, a64Clobbers(16), lookUpRowA64)
	}
}

// lookUpRowA64 looks up in tables of pairs of groups, which are loaded together. Positions are
// inside weights, so that few weights are kept, and the tables of each position. A look-up is two
// operations, tbl and add. So one begins every second cycle, and few registers hold found entries.
// The sums of four positions have the upper half of the registers.
func lookUpRowA64(c *code, first bool) *block {
	b := &block{starts: a64Starts(), apart: 2}
	weights, tables, found := newPool(0, 4), newPool(4, 8), newPool(12, 4)
	n, filters := c.Positions*c.Lanes/16, c.Lanes/16
	sums, isSet := fixedCells(0, n), map[int]bool{}
	for k := range c.Groups * filters * c.Positions {
		pair := k / (2 * c.Positions) // of filters, of both groups
		g, f, p := pair/filters*2+pair%filters/(filters/2), pair%(filters/2)*2+k%2, k/2%c.Positions
		table := b.loadPair(loadKey{operand: n, at: 16 * (p*c.Groups + g&^1)}, tables)[g&1]
		w := b.loadPair(loadKey{operand: n + 1, at: 16 * (g*filters + f&^1)}, weights)[f&1]
		s := p*filters + f
		if first && !isSet[s] {
			isSet[s] = true
			b.chain(0, b.do(a53Vector(), lineOf("tbl $%d.16b, {v%d.16b}, v%d.16b", sums[s], table, w), cells(sums[s]),
				nil, table, w))
			continue
		}
		t := found.cell()
		b.chain(0, b.do(a53Vector(), lineOf("tbl v%d.16b, {v%d.16b}, v%d.16b", t, table, w), cells(t), nil, table, w),
			b.do(a53Vector(), lineOf("add $%[1]d.16b, $%[1]d.16b, v%[2]d.16b", sums[s], t), nil, cells(sums[s]), t))
	}
	return b
}

// halvesRow is a row for both halves of a row of positions, on any core. Whole bytes of found
// entries are added up, and their upper halves by usra. At the end 16 times the latter sum is taken
// off the sum of bytes, and both are added to sums of 16 bits in memory. Positions come in blocks
// of eight registers of sums. Those of a block are added to memory between the look-ups of the
// next. In-order cores would wait for the additions otherwise, and other cores have idle ports for
// loads and stores then. A look-up is three operations.
func halvesRow(c *code) *block {
	const vectors = 8 // of sums of a block
	b := &block{starts: a64Starts(), apart: 3}
	weights, tables, found, sums := newPool(0, 4), newPool(4, 4), newPool(8, 3), newPool(16, 2*vectors)
	sixteen := fixedCells(11, 1)[0]
	b.spare = newPool(12, 4)
	if c.InOrder {
		b.line("movi v%d.16b, #16", sixteen.k)
	}
	op := func(format string, write, add []*cell, read ...*cell) *operation {
		return b.do(a53Vector(), lineOf(format, slices.Concat(write, add, read)...), write, add, read...)
	}
	filters := c.Lanes / 16
	each := vectors / 2 / filters // positions of a block
	for first := 0; first < c.Positions; first += each {
		n := min(each, c.Positions-first) * filters
		var bytes, uppers []*cell
		for range n {
			bytes, uppers = append(bytes, sums.cell()), append(uppers, sums.cell())
		}
		for k := range c.Groups * n {
			s, g := k%n, k/n
			p, f := first+s/filters, s%filters
			table := b.loadPair(loadKey{operand: 1, at: 16 * (p*c.Groups + g&^1)}, tables)[g&1]
			w := b.loadPair(loadKey{operand: 2, at: 16 * (g*filters + f&^1), turn: first}, weights)[f&1]
			const find = "tbl v%d.16b, {v%d.16b}, v%d.16b"
			if g == 0 {
				b.chain(0, op(find, cells(bytes[s]), nil, table, w),
					op("ushr v%d.16b, v%d.16b, #4", cells(uppers[s]), nil, bytes[s]))
				continue
			}
			t := found.cell()
			b.chain(0, op(find, cells(t), nil, table, w), op("add v%[1]d.16b, v%[1]d.16b, v%[2]d.16b", nil,
				cells(bytes[s]), t),
				op("usra v%d.16b, v%d.16b, #4", nil, cells(uppers[s]), t))
		}
		for s := range n {
			if c.InOrder { // on other cores it is two operations
				b.chain(1, op("mls v%[1]d.16b, v%[3]d.16b, v%[4]d.16b", cells(bytes[s]), nil, bytes[s], uppers[s],
					sixteen))
			} else {
				t := found.cell()
				b.chain(1, op("shl v%d.16b, v%d.16b, #4", cells(t), nil, uppers[s]),
					op("sub v%[1]d.16b, v%[1]d.16b, v%[3]d.16b", cells(bytes[s]), nil, bytes[s], t))
			}
			const of = 2 * 16 // bytes of 16 sums
			at := ((first+s/filters)*2*filters + s%filters) * of
			for half, from := range cells(bytes[s], uppers[s]) {
				low, high := b.spare.cell(), b.spare.cell()
				memory := fmt.Sprintf("p q%%d, q%%d, [$0, #%d]", at+half*filters*of)
				b.chain(1, b.do(a53Pair(), lineOf("ld"+memory, low, high), cells(low, high), nil),
					op("uaddw v%[1]d.8h, v%[1]d.8h, v%[3]d.8b", cells(low), nil, low, from),
					op("uaddw2 v%[1]d.8h, v%[1]d.8h, v%[3]d.16b", cells(high), nil, high, from),
					b.do(a53Store(), lineOf("st"+memory, low, high), nil, nil, low, high))
			}
		}
	}
	return b
}

// lookUpRowWide is a row in sums of 16 bits, for out-of-order cores on which tbl takes three
// operations for 16 filters and one for 8. With 8 filters byte sums gain nothing. So one operation
// adds the found entries of two groups and widens them: sabal adds the absolute difference of
// bytes, and the tables of every other group are negated, so that a difference is a sum. Entries
// are less than 128. Taps are a loop, and the sums stay in registers.
func lookUpRowWide(c *code) {
	const atTables, atWeights, tap, firstSum = 9, 10, 11, 16
	n, blocks := c.Positions*c.Lanes/8, c.Lanes/8
	var l listing
	memory := func(op string) {
		for s := range n {
			l.line("%s q%d, [$0, #%d]", op, firstSum+s, 16*s)
		}
	}
	memory("ldr")
	addresses := [2]string{"$1", "$2"}
	if c.Taps > 1 {
		addresses = [2]string{fmt.Sprint("x", atTables), fmt.Sprint("x", atWeights)}
		l.line("mov x%d, $1", atTables)
		l.line("mov x%d, $2", atWeights)
		l.line("mov w%d, #%d", tap, c.Taps)
		l.line("1:")
	}
	anyOrder := timing{slots: 1}
	b := &block{}
	sums := fixedCells(firstSum, n)
	tables, weights, found := newPool(4, 8), newPool(0, 4), newPool(12, 4)
	var ws [2]*cell
	for k := range c.Groups / 2 * n {
		g, f, p := k/n*2, k%n/c.Positions, k%c.Positions
		var os []*operation
		var ts, ends [2]*cell
		for h := range 2 {
			at := 16 * (p*c.Stride*c.Groups + g + h)
			line := fmt.Sprintf("ldr q%%d, [%s, #%d]", addresses[0], at)
			if h == 1 {
				line += "\nneg v%[1]d.16b, v%[1]d.16b"
			}
			ts[h] = b.load(loadKey{at: at}, 1, tables, timing{}, func(k int) string { return fmt.Sprintf(line, k) })[0]
			if ends[h] = found.cell(); p == 0 {
				ws[h] = weights.cell()
				line := fmt.Sprintf("ldr d%%d, [%s, #%d]", addresses[1], (g+h)*c.Lanes+8*f)
				os = append(os, b.do(anyOrder, lineOf(line, ws[h]), cells(ws[h]), nil))
			}
		}
		for h := range 2 {
			os = append(os, b.do(anyOrder, lineOf("tbl v%d.8b, {v%d.16b}, v%d.8b", ends[h], ts[h], ws[h]),
				cells(ends[h]), nil, ts[h], ws[h]))
		}
		s := sums[p*blocks+f]
		// It holds the tables, so that the next ones are loaded behind it.
		os = append(os, b.do(anyOrder, lineOf("sabal v%d.8h, v%d.8b, v%d.8b", s, ends[0], ends[1]), nil, cells(s),
			ends[0], ends[1], ts[0], ts[1]))
		b.chain(0, os...)
	}
	b.order()
	l.lines = append(l.lines, b.lines...)
	if c.Taps > 1 {
		l.line("add x%[1]d, x%[1]d, #%[2]d", atTables, c.Groups*c.Words)
		l.line("add x%[1]d, x%[1]d, #%[2]d", atWeights, c.Groups*c.Lanes)
		l.line("subs w%[1]d, w%[1]d, #1", tap)
		l.line("b.ne 1b")
	}
	memory("str")
	c.inMemory(l.lines, nil, slices.Concat(registerNames("v", 0, firstSum+n), registerNames("x", atTables, 3),
		[]string{"cc"})...)
}

// addHalves adds to n registers of sums behind an operand, by an operation for each, on 32-bit Arm.
func addHalves(operand, n int, p *pool, add func(sum *cell, k int) string) []string {
	b, store := &block{}, timing{slots: 1, port: 2}
	for k := range n {
		at := 16 * k
		sum := b.loadHalves(loadKey{operand: operand, at: at}, p)
		os := []*operation{b.do(r52Vector(4, 2), func() string { return add(sum, k) }, cells(sum), nil, sum)}
		for h := range 2 {
			os = append(os, b.do(store, func() string {
				return fmt.Sprintf("vstr d%d, [$%d, #%d]", 2*sum.k+h, operand, at+8*h)
			}, nil, nil, sum))
		}
		b.chain(0, os...)
	}
	b.order()
	return b.lines
}

// lookUpRowA32 has half the registers, and byte sums take up to eight. vtbl looks 8 filters up in a
// table of two registers of 8 bytes, and two vtbl fill one register to add. The R52 begins two
// operations a cycle: two vtbl, or an addition, which takes both halves of the vector unit, or one
// of these beside a load of 8 bytes. Bytes hold the sums of Together groups. Then they are added to
// sums of 16 bits in memory, eight bytes a cycle: LLVM would wait for each load and each addition.
// vldr wants addresses of four bytes, which whole rows of 32 filters and tables of 16 entries have.
func lookUpRowA32(c *code) {
	const (
		atTables, atEntries, tap       = 0, 1, 2 // results
		sumsOperand, tables0, entries0 = 3, 4, 5
		firstSum                       = 8
	)
	find, add := r52Vector(4, 1), r52Vector(4, 2)
	n, filters := c.Positions*c.Lanes/16, c.Lanes/16
	sums := fixedCells(firstSum, n)

	lookUp := func(first int) []string { // of the groups that bytes add up
		b := &block{}
		found, tables, entries, isSet := newPool(0, 2), newPool(2, 2), newPool(4, 4), map[int]bool{}
		for k := range c.Together * n { // each table is read by all filters at once, so that few are kept
			g, p, f := first+k/n, k%n/filters, k%filters
			table := b.loadHalves(loadKey{operand: atTables, at: c.Words * (p*c.Stride*c.Groups + g)}, tables)
			w := b.loadHalves(loadKey{operand: atEntries, at: 16 * (g*filters + f)}, entries)
			to := found.cell()
			if !isSet[p*filters+f] {
				to = sums[p*filters+f]
			}
			var os []*operation
			for h := range 2 {
				os = append(os, b.do(find, func() string {
					return fmt.Sprintf("vtbl.8 d%d, {d%d, d%d}, d%d", 2*to.k+h, 2*table.k, 2*table.k+1, 2*w.k+h)
				}, cells(to), nil, table, w))
			}
			if s := sums[p*filters+f]; to != s {
				os = append(os, b.do(add, lineOf("vadd.i8 q%[1]d, q%[1]d, q%[2]d", s, to), nil, cells(s), to))
			}
			isSet[p*filters+f] = true
			b.chain(0, os...)
		}
		b.order()
		return b.lines
	}

	memory := addHalves(sumsOperand, 2*n, newPool(0, firstSum), func(sum *cell, k int) string {
		return fmt.Sprintf("vaddw.u8 q%[1]d, q%[1]d, d%[2]d", sum.k, 2*firstSum+k)
	})

	var l listing
	l.line("mov $%d, $%d", atTables, tables0)
	l.line("mov $%d, $%d", atEntries, entries0)
	if c.Taps > 1 {
		l.line("mov $%d, #%d", tap, c.Taps)
		l.line("1:")
	}
	for first := 0; first < c.Groups; first += c.Together {
		l.lines = slices.Concat(l.lines, lookUp(first), memory)
	}
	if c.Taps > 1 {
		l.line("add $%[1]d, $%[1]d, #%[2]d", atTables, c.Groups*c.Words)
		l.line("add $%[1]d, $%[1]d, #%[2]d", atEntries, c.Groups*c.Lanes)
		l.line("subs $%[1]d, $%[1]d, #1", tap)
		l.line("bne 1b")
	}
	c.inMemory(l.lines, []string{"ptr", "ptr", "i32"}, append(registerNames("q", 0, firstSum+n), "cc")...)
}
