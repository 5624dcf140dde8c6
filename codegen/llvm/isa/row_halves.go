package isa

import (
	"fmt"
	"slices"

	"ripc/targets/isa"
)

// A row of look-ups for both halves of a row of positions is one piece of assembly on any core. Of what tbl finds whole bytes are added up, and their upper halves by usra; at the end of
// a run 16 times the sum of these is taken off the sum of bytes, and both are added to sums of 16 bits in memory. Positions come in blocks of eight registers of sums: those of a block are added to memory
// between the look-ups of the next, since cores that work in order would wait for it, and others have no use for loads and stores then. Look-ups begin every third cycle, as those of lookUpRow
// every second.

// The registers of a row for both halves, as many of each kind; v16 to v31 have the sums of two blocks.
const (
	halvesWeights = 4
	halvesTables  = 4
	halvesFound   = 3
	halvesSixteen = halvesWeights + halvesTables + halvesFound // has 16 in each byte
	halvesWide    = 4                                          // two pairs of sums of 16 bits
	halvesSums    = 16
	halvesBlock   = 8
	halvesEach    = 3 // operations of a look-up
)

// halvesRow is a row that is being put in order.
type halvesRow struct {
	listing
	i       isa.Instr
	inOrder bool
	ones    []count // of which the word is a table, and the sum that of bytes
	left    []int   // look-ups that are to be added to each sum

	reads       *rowReads
	found, wide registers

	under            []lookUpUnderWay // oldest first
	second           bool             // the oldest is added, but for its upper halves
	begun, now, slot int

	ended []endedSum       // whose halves are to be taken apart
	still []wideSum        // bytes that are to be added to memory
	wides []wideSum        // that are being added
	busy  map[int]struct{} // registers of sums
}

// endedSum is a sum of bytes that is complete from a cycle on.
type endedSum struct{ sum, ready int }

// wideSum is a register of bytes that is complete from a cycle on, where its sums lie in memory, the registers in which these are, and how many of them it was added to.
type wideSum struct{ bytes, at, ready, pair, added int }

// perBlock is how many positions have sums in registers together.
func (r *halvesRow) perBlock() int { return halvesBlock / (2 * r.i.Lanes / 16) }

// bytes is the register of a sum of bytes; that of its upper halves is half a block further.
func (r *halvesRow) bytes(sum int) int {
	const half = halvesBlock / 2
	return halvesSums + sum/half%2*halvesBlock + sum%half
}

// list lists what is looked up, block by block.
func (r *halvesRow) list() {
	filters, each := r.i.Lanes/16, r.perBlock()
	for first := 0; first < r.i.Positions; first += each {
		block := min(each, r.i.Positions-first)
		for n := range r.i.Groups * block * filters {
			f, p, g := n%filters, first+n/filters%block, n/filters/block
			r.ones = append(r.ones, count{
				word:    rowPart{rowLoad{size: 2, at: 16 * (p*r.i.Groups + g&^1)}, g & 1},
				weights: rowPart{rowLoad{weights: true, size: 2, at: 16 * (g*filters + f&^1), turn: first}, f & 1},
				sum:     p*filters + f,
			})
		}
	}
}

// newHalvesRow is a row of which nothing has been ordered.
func newHalvesRow(i isa.Instr, inOrder bool) *halvesRow {
	r := &halvesRow{
		i: i, inOrder: inOrder, left: make([]int, i.Positions*i.Lanes/16), busy: map[int]struct{}{},
		found: registers{run(halvesWeights+halvesTables, halvesFound)}, wide: registers{run(halvesSixteen+1, halvesWide)},
	}
	r.list()
	for _, o := range r.ones {
		r.left[o.sum]++
	}
	r.reads = newRowReads(r.ones, registers{run(0, halvesWeights)}, registers{run(halvesWeights, halvesTables)}, 1, r.line)
	return r
}

// order writes the lines.
func (r *halvesRow) order() {
	if r.inOrder {
		r.line("movi v%d.16b, #16", halvesSixteen)
	}
	for r.begun < len(r.ones) || len(r.under)+len(r.ended)+len(r.still)+len(r.wides) > 0 {
		r.load()
		if !r.widen() {
			if r.slot%halvesEach != 0 {
				r.add()
			} else if !r.begin() {
				r.add()
			}
			r.slot++
		}
		r.now++
	}
}

// load begins the next load, if there are registers for it: of weights or tables, or else of sums.
func (r *halvesRow) load() {
	if r.reads.load(r.now) || r.now < r.reads.next || len(r.still) == 0 {
		return
	}
	if len(r.reads.pending) == 0 { // what is free of theirs is not needed any more
		for _, weights := range []bool{true, false} {
			r.wide.free = append(r.wide.free, r.reads.free[weights].free...)
			r.reads.free[weights].free = nil
		}
	}
	k, ok := r.wide.take(2)
	if !ok {
		return
	}
	w := r.still[0]
	w.pair = k
	r.line("ldp q%d, q%d, [$0, #%d]", k, k+1, w.at)
	w.ready = max(w.ready, r.now+arm64PairLatency)
	r.still, r.wides, r.reads.next = r.still[1:], append(r.wides, w), r.now+loadsApart
}

// widen writes the next operation that brings sums of bytes to memory, if one can begin.
func (r *halvesRow) widen() bool {
	for k := range r.wides {
		w := &r.wides[k]
		if w.ready > r.now {
			continue
		}
		switch w.added++; w.added {
		case 1:
			r.line("uaddw v%[1]d.8h, v%[1]d.8h, v%[2]d.8b", w.pair, w.bytes)
		case 2:
			r.line("uaddw2 v%[1]d.8h, v%[1]d.8h, v%[2]d.16b", w.pair+1, w.bytes)
			w.ready = r.now + arm64Latency
			delete(r.busy, w.bytes)
		default:
			r.line("stp q%d, q%d, [$0, #%d]", w.pair, w.pair+1, w.at)
			r.wide.release(w.pair)
			r.wide.release(w.pair + 1)
			r.wides = slices.Delete(r.wides, k, k+1)
		}
		return true
	}
	if len(r.ended) == 0 || r.ended[0].ready > r.now {
		return false
	}
	return r.takeApart()
}

// takeApart takes 16 times the sum of upper halves off that of bytes: on cores that work in order at once, which is two operations for others.
func (r *halvesRow) takeApart() bool {
	e := r.ended[0]
	bytes, upper := r.bytes(e.sum), r.bytes(e.sum)+halvesBlock/2
	if r.inOrder {
		r.line("mls v%d.16b, v%d.16b, v%d.16b", bytes, upper, halvesSixteen)
	} else {
		t, ok := r.found.take(1)
		if !ok {
			return false
		}
		r.line("shl v%d.16b, v%d.16b, #4", t, upper)
		r.line("sub v%[1]d.16b, v%[1]d.16b, v%[2]d.16b", bytes, t)
		r.found.release(t)
	}
	r.ended = r.ended[1:]
	const of = 2 * 16 // bytes of 16 sums
	filters := r.i.Lanes / 16
	at := (e.sum/filters*2*filters + e.sum%filters) * of
	r.still = append(r.still, wideSum{bytes: bytes, at: at, ready: r.now + arm64Latency}, wideSum{bytes: upper, at: at + filters*of, ready: r.now})
	return true
}

// add adds the oldest that was found, or what is left of that.
func (r *halvesRow) add() {
	if len(r.under) == 0 || r.under[0].ready > r.now {
		return
	}
	u := r.under[0]
	bytes := r.bytes(u.sum)
	switch {
	case u.register == bytes: // set by the look-up
		r.line("ushr v%d.16b, v%d.16b, #4", bytes+halvesBlock/2, bytes)
	case !r.second:
		r.line("add v%[1]d.16b, v%[1]d.16b, v%[2]d.16b", bytes, u.register)
		r.second = true
		return
	default:
		r.line("usra v%d.16b, v%d.16b, #4", bytes+halvesBlock/2, u.register)
		r.found.release(u.register)
	}
	r.under, r.second = r.under[1:], false
	if r.left[u.sum]--; r.left[u.sum] == 0 {
		r.ended = append(r.ended, endedSum{u.sum, r.now + arm64Latency})
	}
}

// begin begins the next look-up, if what it reads is there, and registers for what it finds.
func (r *halvesRow) begin() bool {
	if r.begun == len(r.ones) {
		return false
	}
	o := r.ones[r.begun]
	if !r.reads.there(o, r.now) {
		return false
	}
	to := r.bytes(o.sum)
	if r.left[o.sum] == r.i.Groups && !slices.ContainsFunc(r.under, func(u lookUpUnderWay) bool { return u.sum == o.sum }) { // the first of the sum
		for _, k := range []int{to, to + halvesBlock/2} {
			if _, busy := r.busy[k]; busy {
				return false
			}
		}
		r.busy[to], r.busy[to+halvesBlock/2] = struct{}{}, struct{}{}
	} else {
		k, ok := r.found.take(1)
		if !ok {
			return false
		}
		to = k
	}
	r.reads.lookUp(o, fmt.Sprintf("v%d", to))
	r.under = append(r.under, lookUpUnderWay{o.sum, to, r.now + arm64Latency})
	r.begun++
	return true
}

// halvesLines is the assembly of i.
func halvesLines(i isa.Instr, inOrder bool) []string {
	r := newHalvesRow(i, inOrder)
	r.order()
	return r.lines
}

// lookUpHalvesRow is the function of isa.LookUpRow for both halves of a row.
func lookUpHalvesRow(i isa.Instr, inOrder bool) Function {
	return inMemory(i.Func.Name, halvesLines(i, inOrder), "void", "", arm64Clobbers(halvesSums+2*halvesBlock))
}
