package isa

import (
	"fmt"

	"ripc/targets/isa"
)

// A row of look-ups is one piece of assembly, too, for cores that begin instructions in their order: tbl and add, of which LLVM's model of the A53 begins one a cycle, and
// has the result six later. What is found takes one of few registers, so look-ups begin in even cycles and are added in odd ones: four registers
// are enough for two cycles a look-up then, where they would come in bursts otherwise. Loads are of two registers, of neighbouring filters or of tables of neighbouring groups, one every
// other cycle, which takes no cycle of the operations.

// The registers of a row of look-ups, as many of each kind; the sums of four positions have the other 16.
const (
	lookUpWeights = 4
	lookUpTables  = 8 // a pair for each position
	lookUpFound   = 4
)

// lookUpRow is a row that is being put in order.
type lookUpRow struct {
	listing
	ones  []count // of which the word is a table: sum += word[weights]
	sums  int
	reads *rowReads
	found registers

	fresh       map[int]bool
	under       []lookUpUnderWay // oldest first
	begun, done int
	now         int
}

type lookUpUnderWay struct{ sum, register, ready int }

// lookUpsOf lists what i looks up, in pairs of groups whose tables are loaded together. Positions are inside weights, so that few of these are kept, and the tables of each position.
func lookUpsOf(i isa.Instr) []count {
	var out []count
	filters := i.Lanes / 16
	for g := 0; g < i.Groups; g += 2 {
		add := func(p, k, f int) {
			out = append(out, count{
				word:    rowPart{rowLoad{size: 2, at: 16 * (p*i.Groups + g)}, k},
				weights: rowPart{rowLoad{weights: true, size: 2, at: 16 * ((g+k)*filters + f&^1)}, f & 1},
				sum:     p*filters + f,
			})
		}
		for n := range 2 * filters * i.Positions {
			pair := n / (2 * i.Positions) // of filters, of both groups
			add(n/2%i.Positions, pair/(filters/2), pair%(filters/2)*2+n%2)
		}
	}
	return out
}

// lookUpLines is the assembly of i, as rowLines.
func lookUpLines(i isa.Instr, fresh bool) []string {
	r := newLookUpRow(i, fresh)
	r.order()
	return r.lines
}

// newLookUpRow is a row of which nothing has been ordered.
func newLookUpRow(i isa.Instr, fresh bool) *lookUpRow {
	r := &lookUpRow{ones: lookUpsOf(i), sums: i.Positions * i.Lanes / 16, fresh: map[int]bool{}, found: registers{run(lookUpWeights+lookUpTables, lookUpFound)}}
	for s := range r.sums {
		r.fresh[s] = fresh
	}
	r.reads = newRowReads(r.ones, registers{run(0, lookUpWeights)}, registers{run(lookUpWeights, lookUpTables)}, r.sums, r.line)
	return r
}

// order writes the lines.
func (r *lookUpRow) order() {
	for ; r.done < len(r.ones); r.now++ {
		r.reads.load(r.now)
		if odd := r.now%2 == 1; !odd || !r.add() {
			r.begin(odd)
		}
	}
}

// add adds the oldest that was found.
func (r *lookUpRow) add() bool {
	if len(r.under) == 0 || r.under[0].ready > r.now {
		return false
	}
	u := r.under[0]
	r.line("add $%[1]d.16b, $%[1]d.16b, v%[2]d.16b", u.sum, u.register)
	r.found.release(u.register)
	r.under, r.done = r.under[1:], r.done+1
	return true
}

// begin begins the next look-up, if what it reads is there; in an odd cycle only one that sets its sum.
func (r *lookUpRow) begin(odd bool) {
	if r.begun == len(r.ones) {
		if !odd {
			r.add()
		}
		return
	}
	o := r.ones[r.begun]
	if !r.reads.there(o, r.now) {
		return
	}
	to := fmt.Sprintf("$%d", o.sum)
	if r.fresh[o.sum] {
		r.fresh[o.sum] = false
		r.done++
	} else {
		if odd {
			return
		}
		k, ok := r.found.take(1)
		if !ok {
			return
		}
		to = fmt.Sprintf("v%d", k)
		r.under = append(r.under, lookUpUnderWay{o.sum, k, r.now + arm64Latency})
	}
	r.reads.lookUp(o, to)
	r.begun++
}

// lookUps is the function of isa.LookUpRow.
func lookUps(i isa.Instr) Function {
	return ordered(i.Func, orderedLines{
		sums: i.Positions * i.Lanes / 16, lines: func(fresh bool) []string { return lookUpLines(i, fresh) },
		clobbers: arm64Clobbers(lookUpWeights + lookUpTables + lookUpFound), operands: "ptr %t, ptr %w", constraints: "r,r",
	})
}
