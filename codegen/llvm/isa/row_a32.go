package isa

import (
	"fmt"
	"slices"
	"strings"

	"ripc/targets/isa"
)

// Rows of 32-bit Arm have half the registers, of which sums take up to eight. So a word is not kept for the next tap, and what is made of it goes
// where it was: two neighbouring words of a pixel are loaded at once, which takes as many instructions as to load each once for all taps. Loads have no offsets
// but move their address along, by what they load or by a register, and words are read in such an order that this is all it takes: the first ones of all positions from left
// to right, the next ones from right to left. The order is by LLVM's model of the R52, which it has in the place of the A53.

// The registers of a row.
const (
	armWeights  = 4 // q0 to q3: those of the words that are loaded at once
	armWords    = 4 // q4 to q7: these, differences and their counts
	armTogether = 2 // words
)

// Cycles from an operation to what reads its result, and from a load of two registers; of one it is two less.
const (
	armLatency     = 4
	armLoadLatency = 8
)

func armRows() rowCore {
	c := rowCore{
		weights: armWeights, words: armWords, shared: true,
		countsOf: armCounting,
		loader:   func(r *rowCounting) rowLoader { return &armLoader{row: r, words: wordsOf(r.counts)} },
		latency:  armLatency,
		differ:   "veor q%d, q%d, q%d",
		number:   "vcnt.8 q%[1]d, q%[1]d",
		set:      "vcnt.8 ${%d:q}, q%d",
		add:      "vadd.i8 ${%[1]d:q}, ${%[1]d:q}, q%[2]d",
		results:  []string{"=&r", "=&r"}, // the addresses where they end
		operands: func(i isa.Instr) string {
			args := "ptr %x, ptr %w"
			for _, d := range armSteps(wordsOf(armCounting(i))) {
				args += fmt.Sprintf(", i32 %d", d)
			}
			return args
		},
		constraints: func(i isa.Instr) string {
			sums := i.Positions * i.Lanes / 4
			return fmt.Sprintf("%d,%d", sums, sums+1) + strings.Repeat(",r", len(armSteps(wordsOf(armCounting(i)))))
		},
	}
	for _, k := range run(0, armWeights+armWords) {
		c.clobbers = append(c.clobbers, fmt.Sprintf("q%d", k))
	}
	return c
}

// armCounting lists what i counts: the words that are loaded at once, of one position after the other.
func armCounting(i isa.Instr) []count {
	var out []count
	filters, turn := i.Lanes/4, 0
	for t := range i.Taps {
		for c := 0; c < i.Words; c += armTogether {
			n := min(armTogether, i.Words-c)
			left := (t*((i.Words+armTogether-1)/armTogether)+c/armTogether)%2 == 1
			for p := range i.Positions {
				if left {
					p = i.Positions - 1 - p
				}
				words := rowLoad{size: n, at: 16 * ((p+t)*i.Words + c), turn: turn}
				turn++
				for k := range n * filters {
					at := (t*i.Words+c)*filters + k
					out = append(out, count{rowPart{words, k / filters}, rowPart{rowLoad{weights: true, size: 2, at: 16 * (at &^ 1)}, at & 1}, p*filters + k%filters})
				}
			}
		}
	}
	return out
}

// wordsOf lists the loads of words of counts.
func wordsOf(counts []count) []rowLoad {
	var out []rowLoad
	for _, c := range counts {
		if len(out) == 0 || out[len(out)-1] != c.word.rowLoad {
			out = append(out, c.word.rowLoad)
		}
	}
	return out
}

// armSteps lists by how many bytes the address of words moves that are not what a load moves it by.
func armSteps(words []rowLoad) []int {
	var out []int
	for n, l := range words[1:] {
		if d := l.at - words[n].at; d != 16*words[n].size && !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	return out
}

// armLoader moves two addresses along.
type armLoader struct {
	row   *rowCounting
	words []rowLoad // in the order in which they are loaded
}

func (a *armLoader) begin() {}

func (a *armLoader) operated() {}

func (a *armLoader) load(l rowLoad, k int) {
	r := a.row
	to := "d%[1]d, d%[2]d"
	if l.size == 2 {
		to += ", d%[3]d, d%[4]d"
	}
	to = fmt.Sprintf(to, 2*k, 2*k+1, 2*k+2, 2*k+3)
	address, move := r.sums+1, "!"
	if !l.weights {
		address = r.sums
		if n := slices.Index(a.words, l); n+1 < len(a.words) {
			if s := slices.Index(armSteps(a.words), a.words[n+1].at-l.at); s >= 0 {
				move = fmt.Sprintf(", $%d", r.sums+4+s)
			}
		}
	}
	r.line("vld1.8 {%s}, [$%d]%s", to, address, move)
	r.now += l.size // a load takes the place of so many operations
	r.loaded(l, 2*l.size, armLoadLatency-2*(2-l.size))
}
