package isa

import (
	"fmt"
	"slices"

	"ripc/targets/isa"
)

// Rows of look-ups of 32-bit Arm have half the registers, of which sums of bytes take up to eight. vtbl looks 8 filters up in a table of two registers of 8 bytes, and what two of them find is one register to be
// added. LLVM's model of the R52, which it has in the place of the A53, begins two operations a cycle: two vtbl, or an addition, which takes both halves of the vector unit, or one of these beside
// a load of 8 bytes. So a register of filters takes two and a quarter cycles at four positions of two; loads stand between the others, as many as are needed until the next. Behind each tap the bytes
// are added to sums of 16 bits in memory, eight bytes a cycle: LLVM would wait for each load and each addition. vldr wants addresses of four bytes, which whole rows of 32 filters and tables of 16 entries have.

// The registers of a row of look-ups, as many of each kind; the sums come behind them, and all of them widen sums.
const (
	armLookUpFound   = 2 // q0 and q1
	armLookUpTables  = 2 // q2 and q3
	armLookUpEntries = 4 // q4 to q7
	armLookUpSums    = armLookUpFound + armLookUpTables + armLookUpEntries
)

// The operands of a row of look-ups: addresses of tables and entries, and what counts taps, which it changes, and addresses that it does not.
const (
	armAtTables = iota
	armAtEntries
	armTap
	armOfSums
	armOfTables
	armOfEntries
)

// armLookUpRow is a row that is being put in order.
type armLookUpRow struct {
	listing
	i       isa.Instr
	ones    []count // of which the word is a table
	set     map[int]bool
	uses    map[rowLoad]int
	pending []rowLoad           // in the order of their first use
	free    map[bool]*registers // of entries, or not
	at      map[rowLoad]int     // the register
	half    string              // the second half of a load that has begun, of register halfOf
	halfOf  int
}

// armLookUpLines is the assembly of i.
func armLookUpLines(i isa.Instr) []string {
	r := &armLookUpRow{
		i: i, set: map[int]bool{}, uses: map[rowLoad]int{}, at: map[rowLoad]int{}, halfOf: -1,
		free: map[bool]*registers{false: {run(armLookUpFound, armLookUpTables)}, true: {run(armLookUpFound+armLookUpTables, armLookUpEntries)}},
	}
	r.list()
	r.line("mov $%d, $%d", armAtTables, armOfTables)
	r.line("mov $%d, $%d", armAtEntries, armOfEntries)
	if i.Taps > 1 {
		r.line("mov $%d, #%d", armTap, i.Taps)
		r.line("1:")
	}
	r.tap()
	r.widen()
	if i.Taps > 1 {
		r.line("add $%[1]d, $%[1]d, #%[2]d", armAtTables, i.Groups*i.Words)
		r.line("add $%[1]d, $%[1]d, #%[2]d", armAtEntries, i.Groups*i.Lanes)
		r.line("subs $%[1]d, $%[1]d, #1", armTap)
		r.line("bne 1b")
	}
	return r.lines
}

// list lists what a tap looks up: each table is read by all filters at once, so that few are kept.
func (r *armLookUpRow) list() {
	i, filters := r.i, r.i.Lanes/16
	for g := range i.Groups {
		for p := range i.Positions {
			for f := range filters {
				r.ones = append(r.ones, count{
					word:    rowPart{rowLoad: rowLoad{size: 1, at: i.Words * (p*i.Stride*i.Groups + g)}},
					weights: rowPart{rowLoad: rowLoad{weights: true, size: 1, at: 16 * (g*filters + f)}},
					sum:     p*filters + f,
				})
			}
		}
	}
	for _, o := range r.ones {
		for _, l := range o.reads() {
			if r.uses[l]++; r.uses[l] == 1 {
				r.pending = append(r.pending, l)
			}
		}
	}
}

// tap writes the look-ups of a tap: each is added behind the next one but one, when its result is there.
func (r *armLookUpRow) tap() {
	due, halves, parts := 0, 2*len(r.pending), 2*len(r.ones) // one part of the loads behind each addition, and one behind each look-up
	for r.load() {
	}
	between := func() {
		for due += halves; due >= parts && r.load(); {
			due -= parts
		}
	}
	for n := range len(r.ones) + armLookUpFound {
		if n >= armLookUpFound {
			r.add(n - armLookUpFound)
			between()
		}
		if n < len(r.ones) {
			r.find(n)
			between()
		}
	}
}

// load writes a half of the next load, if there is a register for it.
func (r *armLookUpRow) load() bool {
	if r.half != "" {
		r.line("%s", r.half)
		r.half, r.halfOf = "", -1
		return true
	}
	for n, l := range r.pending {
		k, ok := r.free[l.weights].take(1)
		if !ok {
			continue
		}
		r.at[l], r.pending = k, slices.Delete(r.pending, n, n+1)
		from := armAtTables
		if l.weights {
			from = armAtEntries
		}
		r.line("vldr d%d, [$%d, #%d]", 2*k, from, l.at)
		r.half, r.halfOf = fmt.Sprintf("vldr d%d, [$%d, #%d]", 2*k+1, from, l.at+8), k
		return true
	}
	return false
}

// find looks up, once what it reads is loaded: into the sum if that is the first.
func (r *armLookUpRow) find(n int) {
	o := r.ones[n]
	for _, l := range o.reads() {
		for _, there := r.at[l]; !there && r.load(); _, there = r.at[l] {
		}
	}
	t, w := r.at[o.word.rowLoad], r.at[o.weights.rowLoad]
	if r.halfOf == t || r.halfOf == w {
		r.load()
	}
	to := n % armLookUpFound
	if !r.set[o.sum] {
		to = armLookUpSums + o.sum
	}
	for h := range 2 {
		r.line("vtbl.8 d%d, {d%d, d%d}, d%d", 2*to+h, 2*t, 2*t+1, 2*w+h)
	}
	for _, l := range o.reads() {
		if r.uses[l]--; r.uses[l] == 0 {
			r.free[l.weights].release(r.at[l])
		}
	}
}

// add adds what the n-th found, unless that is the sum.
func (r *armLookUpRow) add(n int) {
	s := r.ones[n].sum
	if r.set[s] {
		r.line("vadd.i8 q%[1]d, q%[1]d, q%[2]d", armLookUpSums+s, n%armLookUpFound)
	}
	r.set[s] = true
}

// widen adds the bytes to memory: the next sums are loaded before those that are there are stored.
func (r *armLookUpRow) widen() {
	const together = 2 // registers of bytes, with half of what is free
	sums := r.i.Positions * r.i.Lanes / 16
	each := func(s int, do func(bytes, wide, at int)) { // for each half of a register of bytes, where the sums are to be and where they are
		for k := range min(together, sums-s) {
			for h := range 2 {
				do(2*(armLookUpSums+s+k)+h, s/together%2*2*together+2*k+h, 16*(2*(s+k)+h))
			}
		}
	}
	memory := func(operation string, s int) {
		each(s, func(_, wide, at int) {
			r.line("%s d%d, [$%d, #%d]", operation, 2*wide, armOfSums, at)
			r.line("%s d%d, [$%d, #%d]", operation, 2*wide+1, armOfSums, at+8)
		})
	}
	memory("vldr", 0)
	for s := 0; s < sums; s += together {
		if s+together < sums {
			memory("vldr", s+together)
		}
		each(s, func(bytes, wide, _ int) { r.line("vaddw.u8 q%[1]d, q%[1]d, d%[2]d", wide, bytes) })
		memory("vstr", s)
	}
}

// armLookUps is the function of isa.LookUpRow on 32-bit Arm.
func armLookUps(i isa.Instr) Function {
	var clobbers []string
	for _, k := range run(0, armLookUpSums+i.Positions*i.Lanes/16) {
		clobbers = append(clobbers, fmt.Sprint("q", k))
	}
	const result, written = "{ ptr, ptr, i32 }", "=&r,=&r,=&r," // armAtTables, armAtEntries and armTap
	return inMemory(i.Func.Name, armLookUpLines(i), result, written, append(clobbers, "cc"))
}
