package isa

import (
	"fmt"
	"slices"
	"strings"
)

// resize is the first n lanes of v, behind which others may hold anything.
func (c *code) resize(v value, lanes, n int) value {
	if lanes == n {
		return v
	}
	return c.shuffle(vector(n, 8), v, "poison", ShuffleRun(0, min(lanes, n), n))
}

// lookUp is the function of isa.LookUp. Several registers of filters read one table.
func lookUp(c *code) {
	switch {
	case c.Halves:
		lookUpHalves(c)
	case c.Arch == "arm":
		lookUpA32(c)
	case c.Arch == "x86_64":
		lookUpX86(c)
	case c.Arch == "riscv64":
		lookUpRVV(c)
	default:
		table, width := c.load(register, "t", 0, 1), min(16, c.Lanes)
		c.lookUpRegisters(width, func(w value) value {
			return c.call(register, c.find, table, c.resize(w, width, 16))
		}, func(old, found value) value { return c.resize(c.opaque(c.resize(old, width, 16), found), 16, width) })
	}
}

// lookUpRegisters looks registers of `width` filters up, one after the other.
func (c *code) lookUpRegisters(width int, find func(w value) value, add func(old, found value) value) {
	kind := vector(width, 8)
	for at := 0; at < c.Lanes; at += width {
		found := find(c.load(kind, "w", at, 1))
		c.store(add(c.load(kind, "acc", at, 1), found), "acc", at, 1)
	}
}

// lookUpRVV is the function of isa.LookUp and of isa.LookUpRow. vrgather gives 0 for an index past
// the register. So the half of a register behind a table is 0, and a mask loads the other half. In
// the shadow of a look-up, in-order cores load operands of the next ones. Addresses of a group are
// made together, since scalars wait for the vectors before them.
func lookUpRVV(c *code) {
	positions, groups, stride, width := max(1, c.Positions), max(1, c.Groups), max(1, c.Stride), min(32, c.Lanes)
	filters := c.Lanes / width
	sums := positions * filters
	turns := min(2, groups) // of registers that groups take
	weights := func(g, f int) int { return 32 - turns*filters + g%2*filters + f }
	tables := func(g, p int) int { return weights(0, 0) - turns*positions + g%2*positions + p }
	found := tables(0, 0) - 1
	var l listing
	type read struct {
		register, operand, at int
		mask                  string
	}
	readsOf := func(g int) []read { // in the order of their use
		var all []read
		for s := range sums {
			p, f := s/filters, s%filters
			if p == 0 {
				all = append(all, read{weights(g, f), sums + 1, g*c.Lanes + f*width, ""})
			}
			if f == 0 {
				all = append(all, read{tables(g, p), sums, c.Words * (p*stride*groups + g), ", v0.t"})
			}
		}
		return all
	}
	var loads []string
	load := func() {
		if len(loads) > 0 {
			l.line("%s", loads[0])
			loads = loads[1:]
		}
	}
	address := func(reads []read) {
		for k, r := range reads {
			l.line("addi t%d, $%d, %d", k, r.operand, r.at)
			loads = append(loads, fmt.Sprintf("vle8.v v%d, (t%d)%s", r.register, k, r.mask))
		}
	}
	l.line("vsetvli t6, zero, e8, m1, tu, mu")
	for k := range turns * positions {
		l.line("vmv.v.i v%d, 0", tables(0, k))
	}
	if width < 32 {
		l.line("vsetivli zero, %d, e8, m1, tu, mu", width)
	}
	first := readsOf(0)
	for _, r := range first[:2] {
		l.line("vle8.v v%d, ($%d)%s", r.register, r.operand, r.mask)
	}
	address(first[2:])
	for g := range groups {
		if g+1 < groups {
			for len(loads) > 0 {
				load()
			}
			address(readsOf(g + 1))
		}
		for s := range sums {
			l.line("vrgather.vv v%d, v%d, v%d", found, tables(g, s/filters), weights(g, s%filters))
			load()
			l.line("vadd.vv $%[1]d, $%[1]d, v%[2]d", s, found)
			load()
		}
	}
	kind, mask := vector(width, 8), constant("<32 x i1>", 32, func(l int) int { return max(0, 1-l/c.Words) })
	args := []value{c.pointer("t", 0), c.pointer("w", 0), mask}
	constraints := strings.Repeat("=&^vr,", sums) + "r,r,^vm"
	for s := range sums {
		args = append(args, c.load(kind, "acc", s*width, 1))
		constraints += fmt.Sprint(",", s)
	}
	code := assembly{text: l.text(), constraints: constraints, volatile: true, clobbers: slices.Concat(
		registerNames("v", found, 32-found), registerNames("x", 5, 3), registerNames("x", 28, 4),
		[]string{"vl", "vtype", "memory"})}
	for s, v := range c.asm(code, slices.Repeat([]string{kind}, sums), args...) {
		c.store(v, "acc", s*width, 1)
	}
}

// lookUpX86 looks up by vpermb, which takes no more of an index than 6 bits, or by vpshufb of a
// table that is in each 128 bits of a register. Of indices of 128 and more vpshufb would give 0,
// hence vpand. The addition is opaque.
func lookUpX86(c *code) {
	width := min(64, c.Lanes)
	if !slices.Contains(c.Needs, "avx512bw") {
		width = min(32, c.Lanes)
	}
	reg, full := vector(width, 8), "<64 x i8>"
	var find func(w value) value
	switch {
	case c.Words == 64 && c.Lanes == 2*width:
		lookUpPair(c)
		return
	case c.Words == 64:
		table := c.load(full, "t", 0, 1)
		find = func(w value) value {
			return c.resize(c.call(full, "llvm.x86.avx512.permvar.qi.512", table, c.resize(w, width, 64)), 64, width)
		}
	default:
		shuffle := map[int]string{16: "llvm.x86.ssse3.pshuf.b.128", 32: "llvm.x86.avx2.pshuf.b",
			64: "llvm.x86.avx512.pshuf.b.512"}[width]
		one := c.load("<2 x i64>", "t", 0, 1)
		table := c.cast("bitcast", c.shuffle(vector(width/8, 64), one, "poison", Shuffle(width/8, func(k int) int {
			return k % 2
		})), reg)
		find = func(w value) value { return c.call(reg, shuffle, table, c.op("and", w, splat(reg, 15))) }
	}
	c.lookUpRegisters(width, find, func(old, found value) value {
		return c.asm(assembly{text: "vpaddusb $2, $1, $0", constraints: "=v,v,v"}, []string{reg}, old, found)[0]
	})
}

// lookUpPair looks two registers of filters up by vpermb, in a table that is loaded once, and then
// adds twice. LLVM would put additions between the look-ups, or read the table from memory for
// each, where one load of 64 bytes a cycle is the limit. So all five operations are one piece of
// assembly.
func lookUpPair(c *code) {
	const reg = "<64 x i8>"
	var ws, olds []value
	for k := range 2 {
		ws, olds = append(ws, c.load(reg, "w", 64*k, 1)), append(olds, c.load(reg, "acc", 64*k, 1))
	}
	table := value{"ptr elementtype(" + reg + ")", "%t"}
	news := c.ifKnown(olds[:1], func() []value {
		found := c.asm(assembly{text: "vmovdqu64 $2, $1\nvpermb $1, $3, $0\nvpermb $1, $4, $1",
			constraints: "=&v,=&v,*m,v,v"}, []string{reg, reg}, table, ws[0], ws[1])
		return []value{c.op("add", olds[0], found[0]), c.op("add", olds[1], found[1])}
	}, func() []value {
		const text = "vmovdqu64 $4, $2\nvpermb $2, $5, $3\nvpermb $2, $6, $2\nvpaddusb $3, $0, $0\nvpaddusb $2, $1, $1"
		return c.asm(assembly{text: text, constraints: "=&v,=&v,=&v,=&v,*m,v,v,0,1"}, slices.Repeat([]string{reg}, 4),
			table, ws[0], ws[1], olds[0], olds[1])[:2]
	})
	for k, v := range news {
		c.store(v, "acc", 64*k, 1)
	}
}

// lookUpA32 looks up by vtbl, which gives 0 for an index past the table: 8 filters in a table of
// two registers. The results of two vtbl are the halves of one register, which one addition takes.
func lookUpA32(c *code) {
	const half = "<8 x i8>"
	all := c.load(register, "t", 0, 1)
	part := func(v value, at int) value { return c.shuffle(half, v, "poison", ShuffleRun(at, 8, 8)) }
	table := []value{part(all, 0), part(all, 8)}
	find := func(w value) value { return c.call(half, "llvm.arm.neon.vtbl2", table[0], table[1], w) }
	if c.Lanes == 8 {
		c.lookUpRegisters(8, find, func(old, found value) value { return c.op("add", old, found) })
		return
	}
	c.lookUpRegisters(16, func(w value) value {
		return c.shuffle(register, find(part(w, 0)), find(part(w, 8)).name, ShuffleRun(0, 16, 16))
	}, c.opaque)
}

// lookUpHalves looks up by tbl entries that are for both halves of a row: lower halves are added to
// the first sums, and upper ones to the second.
func lookUpHalves(c *code) {
	table := c.load(register, "t", 0, 1)
	for at := 0; at < c.Lanes; at += 16 {
		found := c.call(register, "llvm.aarch64.neon.tbl1.v16i8", table, c.load(register, "w", at, 1))
		lower, upper := c.op("and", found, splat(register, 15)), c.op("lshr", found, splat(register, 4))
		c.addTo("acc", at, 1, lower)
		c.addTo("acc", c.Lanes+at, 1, upper)
	}
}
