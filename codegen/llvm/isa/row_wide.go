package isa

import (
	"fmt"

	"ripc/targets/isa"
)

// A row of look-ups in sums of 16 bits is for cores on which tbl takes three operations for 16 filters and one for 8, as the Cortex-A72. Of 8 filters there is nothing to gain by sums of bytes, as
// all registers would be half empty. So an operation adds what two groups have found, and widens it: sabal adds the absolute difference of bytes, and the tables of every other group are negated,
// so that a difference is a sum. That is three operations for 8 filters and 8 channels of all planes, where it takes four to add each look-up by itself. What the tables hold is less than 128.
// The order is that of use, since such cores find their own; tables are loaded as soon as there are registers for them. Taps are a loop, in which the sums stay in registers.

// The registers of a row in sums of 16 bits, as many of each kind; those of the sums come behind them.
const (
	wideWeights = 4
	wideTables  = 8
	wideFound   = 4
	wideSums    = wideWeights + wideTables + wideFound
)

// wideRow is a row that is being written.
type wideRow struct {
	listing
	i       isa.Instr
	at      [2]string // the addresses of the tables and of the weights of a tap
	tables  registers
	loaded  map[[2]int]int // the first of two registers, of the tables of a pair of groups at a position
	pending [][2]int       // such tables, in the order of their use
	found   int            // look-ups so far
}

// The registers of addresses, and of what counts taps.
const (
	wideAtTables = iota + 9
	wideAtWeights
	wideTap
)

// wideLines is the assembly of i: $0 are the sums, $1 the tables, $2 the weights.
func wideLines(i isa.Instr) []string {
	r := &wideRow{i: i, at: [2]string{"$1", "$2"}, tables: registers{run(wideWeights, wideTables)}, loaded: map[[2]int]int{}}
	sums := i.Positions * i.Lanes / 8
	for s := range sums {
		r.line("ldr q%d, [$0, #%d]", wideSums+s, 16*s)
	}
	if i.Taps > 1 {
		r.at = [2]string{fmt.Sprint("x", wideAtTables), fmt.Sprint("x", wideAtWeights)}
		r.line("mov x%d, $1", wideAtTables)
		r.line("mov x%d, $2", wideAtWeights)
		r.line("mov w%d, #%d", wideTap, i.Taps)
		r.line("1:")
	}
	r.tap()
	if i.Taps > 1 {
		r.line("add x%[1]d, x%[1]d, #%[2]d", wideAtTables, i.Groups*i.Words)
		r.line("add x%[1]d, x%[1]d, #%[2]d", wideAtWeights, i.Groups*i.Lanes)
		r.line("subs w%[1]d, w%[1]d, #1", wideTap)
		r.line("b.ne 1b")
	}
	for s := range sums {
		r.line("str q%d, [$0, #%d]", wideSums+s, 16*s)
	}
	return r.lines
}

// tap looks the groups of a tap up.
func (r *wideRow) tap() {
	i, blocks := r.i, r.i.Lanes/8
	for g := 0; g < i.Groups; g += 2 {
		for p := range i.Positions {
			r.pending = append(r.pending, [2]int{g, p})
		}
	}
	r.load()
	for g := 0; g < i.Groups; g += 2 {
		for f := range blocks {
			weights := (g/2*blocks + f) % 2 * 2
			for k := range 2 {
				r.line("ldr d%d, [%s, #%d]", weights+k, r.at[1], (g+k)*i.Lanes+8*f)
			}
			for p := range i.Positions {
				r.lookUp(wideSums+p*blocks+f, weights, r.loaded[[2]int{g, p}])
				if f == blocks-1 {
					r.release([2]int{g, p})
				}
			}
		}
	}
}

// load loads the next tables that there are registers for, and negates the second of each two.
func (r *wideRow) load() {
	for len(r.pending) > 0 {
		at := r.pending[0]
		k, ok := r.tables.take(2)
		if !ok {
			return
		}
		r.loaded[at], r.pending = k, r.pending[1:]
		for n := range 2 {
			r.line("ldr q%d, [%s, #%d]", k+n, r.at[0], 16*(at[1]*r.i.Stride*r.i.Groups+at[0]+n))
		}
		r.line("neg v%[1]d.16b, v%[1]d.16b", k+1)
	}
}

// release gives the registers of tables back that nothing reads any more.
func (r *wideRow) release(at [2]int) {
	k := r.loaded[at]
	r.tables.release(k)
	r.tables.release(k + 1)
	r.load()
}

// lookUp adds what 8 filters find in two tables.
func (r *wideRow) lookUp(sum, weights, tables int) {
	to := wideWeights + wideTables + r.found%2*2
	r.found++
	for k := range 2 {
		r.line("tbl v%d.8b, {v%d.16b}, v%d.8b", to+k, tables+k, weights+k)
	}
	r.line("sabal v%d.8h, v%d.8b, v%d.8b", sum, to, to+1)
}

// lookUpWideRow is the function of isa.LookUpRow in sums of 16 bits.
func lookUpWideRow(i isa.Instr) Function {
	var clobbers []string
	for _, k := range run(0, wideSums+i.Positions*i.Lanes/8) {
		clobbers = append(clobbers, fmt.Sprint("v", k))
	}
	for _, k := range []int{wideAtTables, wideAtWeights, wideTap} {
		clobbers = append(clobbers, fmt.Sprint("x", k))
	}
	return inMemory(i.Func.Name, wideLines(i), "void", "", append(clobbers, "cc"))
}
