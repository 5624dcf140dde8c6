package isa

import (
	"slices"

	"ripc/targets/isa"
)

// A row of taps is one piece of assembly, in an order that is found here, for cores that begin instructions in theirs. LLVM's scheduler
// leaves a tenth of the cycles empty in loops of so many operations, and stores sums; of assembly it knows no order at all. Each cycle takes the oldest
// operation whose operands are there, and what frees a register before what needs one, by LLVM's model of the core: one operation on vectors a cycle
// (eor, cnt, add), whose result is there some cycles later.

// rowCore is what differs between architectures, and the cores that their rows are ordered for.
type rowCore struct {
	// Registers, from the first one on; the sums are in others, which LLVM chooses. If shared, a word and the counts that are made of it
	// are in the same ones.
	weights, words, counts int
	shared                 bool
	clobbers               []string // beside those

	countsOf func(i isa.Instr) []count // in the order in which they begin
	loader   func(r *rowCounting) rowLoader

	latency int // cycles from an operation to what reads its result
	// Texts: of numbers of registers, but for the first one of set and of add, which is a sum's operand.
	differ, number, set, add string

	// What the assembly has beside sums: constraints of results, and operands with their constraints.
	results               []string // of type ptr
	operands, constraints func(i isa.Instr) string
}

// rowsOf is that of an architecture.
func rowsOf(arch string) rowCore {
	if arch == "arm" {
		return armRows()
	}
	return arm64Rows()
}

// rowLoader writes loads.
type rowLoader interface {
	begin()
	// load writes that of l into registers from k on.
	load(l rowLoad, k int)
	operated() // says that an operation on vectors has begun
}

// rowLoad is registers that are loaded at once, from so many bytes of the weights or the input on. What is loaded again has another turn.
type rowLoad struct {
	weights  bool
	size, at int
	turn     int
}

// rowPart is a register of a load.
type rowPart struct {
	rowLoad
	part int
}

// count is what a row does for one register of filters: sum += popcount(weights ^ word).
type count struct {
	word, weights rowPart
	sum           int
}

// rowCounting is a row that is being put in order.
type rowCounting struct {
	listing
	core   rowCore
	loader rowLoader
	counts []count
	sums   int             // how many
	loads  []rowLoad       // in the order of their first use
	uses   map[rowPart]int // that are still to come

	freeWeights, freeWords, freeCounts *registers
	held                               int // registers of words

	register map[rowLoad]int // the first one
	ready    map[rowLoad]int

	fresh   map[int]bool // sums that the first count sets
	under   []underWay   // oldest first
	begun   int          // counts
	ended   int
	now     int
	loading int // when the next load may begin
}

// underWay is a count whose difference, or number of bits, is ready at some time.
type underWay struct {
	count, register, ready int
	counted                bool
}

// rowLines is the assembly of i, whose sums are set by their first counts or, if not fresh, added to. Sums are operands from $0 on, behind them are the addresses
// of the words and the weights.
func rowLines(i isa.Instr, fresh bool) []string {
	r := newRow(i, fresh)
	r.order()
	return r.lines
}

// newRow is a row of which nothing has been ordered.
func newRow(i isa.Instr, fresh bool) *rowCounting {
	c := rowsOf(i.Arch)
	r := &rowCounting{
		core: c, counts: c.countsOf(i), sums: i.Positions * i.Lanes / 4, fresh: map[int]bool{},
		uses: map[rowPart]int{}, register: map[rowLoad]int{}, ready: map[rowLoad]int{},
		freeWeights: &registers{run(0, c.weights)}, freeWords: &registers{run(c.weights, c.words)}, freeCounts: &registers{run(c.weights+c.words, c.counts)},
	}
	if c.shared {
		r.freeWords.free = append(r.freeWords.free, r.freeCounts.free...)
		r.freeCounts = r.freeWords
	}
	for s := range r.sums {
		r.fresh[s] = fresh
	}
	for _, c := range r.counts {
		for _, p := range []rowPart{c.weights, c.word} {
			r.uses[p]++
			if !slices.Contains(r.loads, p.rowLoad) {
				r.loads = append(r.loads, p.rowLoad)
			}
		}
	}
	r.loader = c.loader(r)
	return r
}

// order writes the lines.
func (r *rowCounting) order() {
	for r.loader.begin(); r.ended < len(r.counts); r.now++ {
		r.load()
		if r.add() || r.number() || r.differ() {
			r.loader.operated()
		}
	}
}

// run lists n numbers.
func run(from, n int) []int {
	var out []int
	for k := range n {
		out = append(out, from+k)
	}
	return out
}

// registers are those that are free, in the order in which they became so.
type registers struct{ free []int }

// take gives the first of n neighbours, of which the first is even if they are two.
func (g *registers) take(n int) (k int, ok bool) {
	for _, k := range g.free {
		if n == 1 || k%2 == 0 && slices.Contains(g.free, k+1) {
			g.free = slices.DeleteFunc(g.free, func(f int) bool { return f >= k && f < k+n })
			return k, true
		}
	}
	return 0, false
}

func (g *registers) release(k int) { g.free = append(g.free, k) }

// load begins the next loads, as long as there are registers for them.
func (r *rowCounting) load() {
	for len(r.loads) > 0 {
		l, from := r.loads[0], r.freeWeights
		if !l.weights {
			from = r.freeWords
			if r.core.shared && r.held+l.size >= r.core.words+r.core.counts { // a difference needs one
				return
			}
		}
		k, ok := from.take(l.size)
		if !ok {
			return
		}
		if !l.weights {
			r.held += l.size
		}
		r.register[l] = k
		r.loader.load(l, k)
		r.loads = r.loads[1:]
	}
}

// loaded says when a load that has just begun is done, which takes so many cycles of what loads.
func (r *rowCounting) loaded(l rowLoad, cycles, latency int) {
	begin := max(r.now, r.loading)
	r.ready[l], r.loading = begin+latency, begin+cycles
}

// oldest is the first count under way that is ready, and counted or not; -1 if there is none.
func (r *rowCounting) oldest(counted bool) int {
	return slices.IndexFunc(r.under, func(u underWay) bool { return u.counted == counted && u.ready <= r.now })
}

// add adds a number of bits to its sum.
func (r *rowCounting) add() bool {
	k := r.oldest(true)
	if k < 0 {
		return false
	}
	u := r.under[k]
	r.line(r.core.add, r.counts[u.count].sum, u.register)
	r.end(k)
	return true
}

// number makes a number of bits of a difference, which a fresh sum begins with.
func (r *rowCounting) number() bool {
	k := r.oldest(false)
	if k < 0 {
		return false
	}
	u := &r.under[k]
	if s := r.counts[u.count].sum; r.fresh[s] {
		r.fresh[s] = false
		r.line(r.core.set, s, u.register)
		r.end(k)
		return true
	}
	r.line(r.core.number, u.register)
	u.counted, u.ready = true, r.now+r.core.latency
	return true
}

func (r *rowCounting) end(k int) {
	r.freeCounts.release(r.under[k].register)
	r.under = slices.Delete(r.under, k, k+1)
	r.ended++
}

// differ begins the next count, if what it reads is there.
func (r *rowCounting) differ() bool {
	if r.begun == len(r.counts) {
		return false
	}
	c := r.counts[r.begun]
	for _, p := range []rowPart{c.weights, c.word} {
		if ready, ok := r.ready[p.rowLoad]; !ok || ready > r.now {
			return false
		}
	}
	if len(r.freeCounts.free) == 0 && (!r.core.shared || r.uses[c.word] > 1) {
		return false
	}
	word, weights := r.register[c.word.rowLoad]+c.word.part, r.register[c.weights.rowLoad]+c.weights.part
	if r.uses[c.weights]--; r.uses[c.weights] == 0 {
		r.freeWeights.release(weights)
	}
	if r.uses[c.word]--; r.uses[c.word] == 0 {
		r.freeWords.release(word)
		r.held--
	}
	k, _ := r.freeCounts.take(1)
	r.line(r.core.differ, k, weights, word)
	r.under = append(r.under, underWay{count: r.begun, register: k, ready: r.now + r.core.latency})
	r.begun++
	return true
}

// row is the function of isa.XorCountRow.
func row(i isa.Instr) Function {
	c := rowsOf(i.Arch)
	return ordered(i.Func, orderedLines{
		sums: i.Positions * i.Lanes / 4, lines: func(fresh bool) []string { return rowLines(i, fresh) },
		results: c.results, clobbers: c.clobbers, operands: c.operands(i), constraints: c.constraints(i),
	})
}
