package isa

import (
	"fmt"
	"slices"

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
	return rowCore{
		weights: arm64Weights, words: arm64Words, counts: arm64Counts,
		countsOf: arm64Counting,
		loader: func(r *rowCounting) rowLoader {
			return &arm64Loader{row: r}
		},
		latency: arm64Latency,
		differ:  "eor v%d.16b, v%d.16b, v%d.16b",
		number:  "cnt v%[1]d.16b, v%[1]d.16b",
		set:     "cnt $%d.16b, v%d.16b",
		add:     "add $%[1]d.16b, $%[1]d.16b, v%[2]d.16b",

		constraints: func(isa.Instr) string { return "r,r" },
		operands:    func(isa.Instr) string { return "ptr %x, ptr %w" },
		clobbers:    arm64Clobbers(arm64Weights + arm64Words + arm64Counts),
	}
}

// arm64Clobbers are so many registers of vectors, and those of addresses.
func arm64Clobbers(vectors int) []string {
	var out []string
	for _, k := range run(0, vectors) {
		out = append(out, fmt.Sprintf("v%d", k))
	}
	for _, k := range run(arm64Start, arm64Starts) {
		out = append(out, fmt.Sprintf("x%d", k))
	}
	return out
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
	starts *arm64Addresses // of pairs, but for the first
	wait   int             // when a load of one register may begin, behind the last operation on vectors
}

func (a *arm64Loader) begin() {
	r := a.row
	pairs := slices.DeleteFunc(slices.Clone(r.loads), func(l rowLoad) bool { return !l.weights || l.at == 0 })
	a.starts = newArm64Addresses(pairs, func(l rowLoad, k int) { r.line("add x%d, $%d, #%d", k, r.sums+1, l.at) })
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
	at := fmt.Sprintf("$%d", r.sums+1)
	if l.at > 0 {
		at = fmt.Sprintf("x%d", a.starts.take(l))
	}
	r.line("ld1 {v%d.16b, v%d.16b}, [%s]", k, k+1, at)
	r.loaded(l, 2, arm64PairLatency)
}

// arm64Addresses has the addresses of loads in registers, before they begin.
type arm64Addresses struct {
	write   func(l rowLoad, register int)
	pending []rowLoad // without an address yet
	made    map[rowLoad]int
	free    registers
}

// newArm64Addresses are those of loads, in the order in which these begin; the first ones are written.
func newArm64Addresses(loads []rowLoad, write func(l rowLoad, register int)) *arm64Addresses {
	a := &arm64Addresses{write, loads, map[rowLoad]int{}, registers{run(arm64Start, arm64Starts)}}
	a.next()
	return a
}

// next writes the next addresses, as many as there are registers for: a number that is there early waits for the vectors before it, but
// only the first one does.
func (a *arm64Addresses) next() {
	for len(a.pending) > 0 {
		k, ok := a.free.take(1)
		if !ok {
			return
		}
		l := a.pending[0]
		a.pending, a.made[l] = a.pending[1:], k
		a.write(l, k)
	}
}

// take gives the register of l's address, which is free behind the load.
func (a *arm64Addresses) take(l rowLoad) int {
	if _, ok := a.made[l]; !ok {
		a.next()
	}
	a.free.release(a.made[l])
	return a.made[l]
}
