package isa

import (
	"fmt"

	"ripc/targets/isa"
)

// Rows of 64-bit Arm are ordered by LLVM's model of the A53: an operation on vectors has its result six cycles later, and results are written in the order of the
// instructions.

// The registers of a row; the sums of four positions have the other 16. Fewer counts under way leave cycles empty, more of anything gained nothing.
const (
	arm64Weights = 4  // v0 to v3: two pairs of weights, since two registers are loaded at once
	arm64Words   = 4  // v4 to v7: words of the input
	arm64Counts  = 6  // v8 to v13: differences and their counts
	arm64Starts  = 12 // x4 to x15: addresses of pairs
	arm64Start   = 4
)

// Cycles from an operation to what reads its result.
const (
	arm64Latency     = 6
	arm64LoadLatency = 4
	arm64PairLatency = 5
)

func arm64Rows() rowCore {
	c := rowCore{
		weights: arm64Weights, words: arm64Words, counts: arm64Counts,
		countsOf: arm64Counting,
		loader: func(r *rowCounting) rowLoader {
			return &arm64Loader{row: r, start: map[rowLoad]int{}, free: registers{run(arm64Start, arm64Starts)}}
		},
		latency: arm64Latency,
		differ:  "eor v%d.16b, v%d.16b, v%d.16b",
		number:  "cnt v%[1]d.16b, v%[1]d.16b",
		set:     "cnt $%d.16b, v%d.16b",
		add:     "add $%[1]d.16b, $%[1]d.16b, v%[2]d.16b",

		constraints: func(isa.Instr) string { return "r,r" },
		operands:    func(isa.Instr) string { return "ptr %x, ptr %w" },
	}
	for _, k := range run(0, arm64Weights+arm64Words+arm64Counts) {
		c.clobbers = append(c.clobbers, fmt.Sprintf("v%d", k))
	}
	for _, k := range run(arm64Start, arm64Starts) {
		c.clobbers = append(c.clobbers, fmt.Sprintf("x%d", k))
	}
	return c
}

// arm64Counting lists what i counts, words outside taps, since neighbouring taps read the same pixels: in the last tap of a word one position after the other, so that
// registers of its pixels are free for the next word, and otherwise one pair of weights after the other.
func arm64Counting(i isa.Instr) []count {
	var out []count
	filters := i.Lanes / 4
	for c := range i.Words {
		for t := range i.Taps {
			add := func(p, v int) {
				out = append(out, count{
					word:    rowPart{rowLoad{size: 1, at: 16 * ((p+t)*i.Words + c)}, 0},
					weights: rowPart{rowLoad{weights: true, size: 2, at: 16 * ((t*i.Words+c)*filters + v&^1)}, v & 1},
					sum:     p*filters + v,
				})
			}
			if t == i.Taps-1 {
				for k := range i.Positions * filters {
					add(k/filters, k%filters)
				}
				continue
			}
			for k := range i.Positions * filters {
				add(k%(2*i.Positions)/2, k/(2*i.Positions)*2+k%2)
			}
		}
	}
	return out
}

// arm64Loader loads words by themselves, and weights two registers at a time, whose address has to be in a register.
type arm64Loader struct {
	row    *rowCounting
	starts []rowLoad       // pairs without an address yet
	start  map[rowLoad]int // the register with a pair's address
	free   registers
	wait   int // when a load of one register may begin, behind the last operation on vectors
}

func (a *arm64Loader) begin() {
	for _, l := range a.row.loads {
		if l.weights && l.at > 0 {
			a.starts = append(a.starts, l)
		}
	}
	a.addresses()
}

func (a *arm64Loader) operated() { a.wait = a.row.now + arm64Latency - arm64LoadLatency }

func (a *arm64Loader) load(l rowLoad, k int) {
	r := a.row
	if !l.weights {
		r.line("ldr q%d, [$%d, #%d]", k, r.sums, l.at)
		if r.now < a.wait { // results are written in order: it begins later, and takes the place of an operation
			r.now++
		}
		r.loaded(l, 1, arm64LoadLatency)
		return
	}
	if _, ok := a.start[l]; !ok && l.at > 0 {
		a.addresses()
	}
	at := fmt.Sprintf("$%d", r.sums+1)
	if s, ok := a.start[l]; ok {
		at = fmt.Sprintf("x%d", s)
		a.free.release(s)
	}
	r.line("ld1 {v%d.16b, v%d.16b}, [%s]", k, k+1, at)
	r.loaded(l, 2, arm64PairLatency)
}

// addresses makes the next pairs' addresses, as many as there are registers for: a number that is there early waits for the vectors before it, but
// only the first one does.
func (a *arm64Loader) addresses() {
	for len(a.starts) > 0 {
		k, ok := a.free.take(1)
		if !ok {
			return
		}
		s := a.starts[0]
		a.starts, a.start[s] = a.starts[1:], k
		a.row.line("add x%d, $%d, #%d", k, a.row.sums+1, s.at)
	}
}
