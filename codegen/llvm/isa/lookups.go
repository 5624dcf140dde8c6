package isa

import (
	"math/bits"
	"slices"

	"ripc/targets/isa"
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
	case c.multiLoads():
		lookUpFives(c)
	default: // tbl, which gives 0 for what is no entry
		table, width := c.load(register, "t", 0, 1), min(16, c.Lanes)
		c.lookUpRegisters(width, func(w value) value {
			return c.call(register, "llvm.aarch64.neon.tbl1.v16i8", table, c.resize(w, width, 16))
		}, func(old, found value) value { return c.resize(c.opaque(c.resize(old, width, 16), found), 16, width) })
	}
}

// lookUpRegisters looks registers of so many filters up, one after the other.
func (c *code) lookUpRegisters(width int, find func(w value) value, add func(old, found value) value) {
	kind := vector(width, 8)
	for at := 0; at < c.Lanes; at += width {
		found := find(c.load(kind, "w", at, 1))
		c.store(add(c.load(kind, "acc", at, 1), found), "acc", at, 1)
	}
}

// lookUpX86 looks up by vpermb, which takes no more of an index than 6 bits, or by vpshufb of a table that is in each 128
// bits of a register. Of indices of 128 and more vpshufb would give 0, hence vpand. The addition is opaque.
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
		shuffle := map[int]string{16: "llvm.x86.ssse3.pshuf.b.128", 32: "llvm.x86.avx2.pshuf.b", 64: "llvm.x86.avx512.pshuf.b.512"}[width]
		one := c.load("<2 x i64>", "t", 0, 1)
		table := c.cast("bitcast", c.shuffle(vector(width/8, 64), one, "poison", Shuffle(width/8, func(k int) int { return k % 2 })), reg)
		find = func(w value) value { return c.call(reg, shuffle, table, c.op("and", w, splat(reg, 15))) }
	}
	c.lookUpRegisters(width, find, func(old, found value) value {
		return c.asm(assembly{text: "vpaddusb $2, $1, $0", constraints: "=v,v,v"}, []string{reg}, old, found)[0]
	})
}

// lookUpPair looks two registers of filters up by vpermb, in a table that is loaded once, and then adds twice. LLVM would
// put additions between the look-ups, or read the table from memory for each, where one load of 64 bytes a cycle is the
// limit. So all five operations are one piece of assembly.
func lookUpPair(c *code) {
	const reg = "<64 x i8>"
	var ws, olds []value
	for k := range 2 {
		ws, olds = append(ws, c.load(reg, "w", 64*k, 1)), append(olds, c.load(reg, "acc", 64*k, 1))
	}
	table := value{"ptr elementtype(" + reg + ")", "%t"}
	news := c.ifKnown(olds[:1], func() []value {
		found := c.asm(assembly{text: "vmovdqu64 $2, $1\nvpermb $1, $3, $0\nvpermb $1, $4, $1", constraints: "=&v,=&v,*m,v,v"}, []string{reg, reg}, table, ws[0], ws[1])
		return []value{c.op("add", olds[0], found[0]), c.op("add", olds[1], found[1])}
	}, func() []value {
		const text = "vmovdqu64 $4, $2\nvpermb $2, $5, $3\nvpermb $2, $6, $2\nvpaddusb $3, $0, $0\nvpaddusb $2, $1, $1"
		return c.asm(assembly{text: text, constraints: "=&v,=&v,=&v,=&v,*m,v,v,0,1"}, slices.Repeat([]string{reg}, 4), table, ws[0], ws[1], olds[0], olds[1])[:2]
	})
	for k, v := range news {
		c.store(v, "acc", 64*k, 1)
	}
}

// lookUpA32 looks up by vtbl, which gives 0 for what is no entry: 8 filters in a table of two registers. What two of them
// find lies in the halves of one register, which one addition takes.
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

// lookUpHalves looks up by tbl entries that are for both halves of a row: lower halves are added to the first sums, and
// upper ones to the second.
func lookUpHalves(c *code) {
	table := c.load(register, "t", 0, 1)
	for at := 0; at < c.Lanes; at += 16 {
		found := c.call(register, "llvm.aarch64.neon.tbl1.v16i8", table, c.load(register, "w", at, 1))
		lower, upper := c.op("and", found, splat(register, 15)), c.op("lshr", found, splat(register, 4))
		c.addTo("acc", at, 1, lower)
		c.addTo("acc", c.Lanes+at, 1, upper)
	}
}

// multiLoads reports whether one load fills several registers: those of lookUpFives.
func (c *code) multiLoads() bool {
	return c.Meaning == isa.LookUp && c.Arch == "aarch64" && c.Words > 16
}

// lookUpFives looks up in tables of 32 entries, two registers, by tbl. One ld1 fills several registers, which some cores
// begin as fewer operations than loads of pairs. Tiles have few positions, so nothing should be left of adding to zero. What
// is known of the sums is found where they are loaded before anything branches.
func lookUpFives(c *code) {
	load := func(of string, n int) []value {
		if n == 1 {
			return []value{c.load(register, of, 0, 1)}
		}
		all := slices.Repeat([]string{register}, n)
		name := map[int]string{2: "llvm.aarch64.neon.ld1x2.v16i8.p0", 4: "llvm.aarch64.neon.ld1x4.v16i8.p0"}[n]
		return c.parts(c.call("{ "+repeat(n, register)+" }", name, c.pointer(of, 0)), all)
	}
	ts, ws := load("t", 2), load("w", c.Lanes/16)
	sums := make([]value, len(ws))
	for k := range sums {
		sums[k] = c.load(register, "acc", 16*k, 1)
	}
	for k, w := range ws {
		sums[k] = c.opaqueUnlessKnown(sums[k], c.call(register, "llvm.aarch64.neon.tbl2.v16i8", ts[0], ts[1], w))
	}
	for k, s := range sums {
		c.store(s, "acc", 16*k, 1)
	}
}

// lookUpLevels is the function of isa.LookUpLevels: of two entries the bit of each position selects one. Of more, each word
// of a register of positions' levels has an index of its own into the table, which lies in one register or in two.
func lookUpLevels(c *code) {
	const lanes, reg = 16, "<16 x i32>"
	if c.Words == 2 {
		chooseLevels(c)
		return
	}
	at := c.op("and", c.positionWords(lanes, c.Lanes), splat(reg, c.Words-1))
	at = c.op("shl", at, splat(reg, bits.TrailingZeros(uint(c.Lanes))))
	at = c.op("or", at, constant(reg, lanes, func(l int) int { return l % c.Lanes }))
	if n := c.Words * c.Lanes; n <= lanes {
		table := c.load(vector(n, 32), "t", 0, 4)
		table = c.shuffle(reg, table, "poison", ShuffleRun(0, n, lanes))
		at = c.call(reg, "llvm.x86.avx512.permvar.si.512", table, at)
	} else {
		at = c.call(reg, "llvm.x86.avx512.vpermi2var.d.512", c.load(reg, "t", 0, 4), at, c.load(reg, "t", 64, 4))
	}
	c.store(at, "y", 0, 4)
}

// chooseLevels chooses by a mask of each position's bit between the words of two entries. Words of a position are taken by
// twos if there is an even number of them. Of two words, and of positions in steps of 2, the words that are read lie as
// those that are written do. The second half of them ends where the last position is.
func chooseLevels(c *code) {
	size, parts := 2-c.Lanes%2, 1
	if c.Stride == 2 && c.Lanes == 2 {
		parts = 2
	}
	words := c.Lanes / size
	n := c.Positions * words / parts
	reg := vector(n, 32*size)
	var entries []value
	for e := range 2 {
		one := c.load(vector(words, 32*size), "t", 4*c.Lanes*e, 4)
		entries = append(entries, c.shuffle(reg, one, "poison", Shuffle(n, func(l int) int { return l % words })))
	}
	for part := range parts {
		var x value
		bit := 1
		if parts == 1 {
			x = c.positionWords(n, words)
		} else {
			x, bit = c.load(reg, "x", 4*part*(c.Positions-1), 4), 1<<(32*part)
		}
		bits := c.op("and", x, splat(x.kind, bit))
		set := c.set(vector(n, 1), "icmp ne %s, zeroinitializer", bits)
		c.store(c.set(reg, "select %s, %s, %s", set, entries[1], entries[0]), "y", 4*size*n*part, 4)
	}
}

// positionWords is a vector of n lanes: the words of all positions, each of them so many times.
func (c *code) positionWords(n, times int) value {
	part, behind := vector(c.Positions, 32), (c.Stride-1)*(c.Positions-1)
	x, other := c.load(part, "x", 0, 4), "poison"
	if c.Stride > 1 { // the first half of the positions, and the other, which ends where the last one is
		other = c.load(part, "x", 4*behind, 4).name
	}
	return c.shuffle(vector(n, 32), x, other, Shuffle(n, func(l int) int {
		at := c.Stride * (l / times)
		if at >= c.Positions {
			at += c.Positions - behind
		}
		return at
	}))
}
