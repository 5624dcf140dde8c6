package isa

import (
	"fmt"
	"slices"
	"strings"

	"ripc/targets/isa"
)

// A row of taps is one piece of assembly, in an order that is found here, for cores that begin instructions in theirs. LLVM's scheduler
// leaves a tenth of the cycles empty in loops of so many operations, and stores sums. Each cycle takes the oldest operation whose operands are
// there, and what frees a register before what needs one, by LLVM's model of the A53: one operation on vectors a cycle (eor, cnt, add),
// whose result is there six cycles later, and results written in the order of the instructions.

// The registers of a row, as many of each kind; the sums are in others, which LLVM chooses. Fewer counts under way leave cycles empty, more
// of anything gained nothing.
const (
	rowWeights = 4  // v0 to v3: two pairs of weights, since two registers are loaded at once
	rowWords   = 4  // v4 to v7: words of the input
	rowCounts  = 6  // v8 to v13: differences and their counts
	rowStarts  = 12 // x4 to x15: addresses of pairs
	firstStart = 4
)

// Cycles from an operation to what reads its result.
const (
	vectorLatency = 6
	loadLatency   = 4
	pairLatency   = 5
)

// count is what a row does for one register of filters: sum += popcount(weights ^ word). The weights are half of a pair.
type count struct {
	word, weights rowLoad
	half, sum     int
}

// rowLoad is a register of the input, or a pair of registers of weights: what is to be loaded, at so many bytes.
type rowLoad struct {
	pair bool
	at   int
}

// rowCounting is a row that is being put in order.
type rowCounting struct {
	counts []count
	sums   int             // how many
	loads  []rowLoad       // in the order of their first use
	uses   map[rowLoad]int // that are still to come
	starts []rowLoad       // pairs without an address yet

	freeWeights, freeWords, freeCounts, freeStarts []int

	register map[rowLoad]int // the first one
	ready    map[rowLoad]int
	start    map[rowLoad]int // the register with a pair's address

	fresh   map[int]bool // sums that the first count sets
	under   []underWay   // oldest first
	begun   int          // counts
	ended   int
	now     int
	loading int // when the next load may begin
	wait    int // when a load of one register may, behind the last operation on vectors

	lines []string
}

// underWay is a count whose difference, or number of bits, is ready at some time.
type underWay struct {
	count, register, ready int
	counted                bool
}

// countsOf lists what i counts, words outside taps, since neighbouring taps read the same pixels: in the last tap of a word one position after the other, so that
// registers of its pixels are free for the next word, and otherwise one pair of weights after the other.
func countsOf(i isa.Instr) []count {
	var out []count
	registers := i.Lanes / 4
	for c := range i.Words {
		for t := range i.Taps {
			add := func(p, v int) {
				out = append(out, count{
					word:    rowLoad{at: 16 * ((p+t)*i.Words + c)},
					weights: rowLoad{true, 16 * ((t*i.Words+c)*registers + v&^1)},
					half:    v & 1, sum: p*registers + v,
				})
			}
			if t == i.Taps-1 {
				for k := range i.Positions * registers {
					add(k/registers, k%registers)
				}
				continue
			}
			for k := range i.Positions * registers {
				add(k%(2*i.Positions)/2, k/(2*i.Positions)*2+k%2)
			}
		}
	}
	return out
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
	r := &rowCounting{
		counts: countsOf(i), sums: i.Positions * i.Lanes / 4, fresh: map[int]bool{},
		uses: map[rowLoad]int{}, register: map[rowLoad]int{}, ready: map[rowLoad]int{}, start: map[rowLoad]int{},
		freeWeights: []int{0, 2}, freeWords: run(rowWeights, rowWords), freeCounts: run(rowWeights+rowWords, rowCounts), freeStarts: run(firstStart, rowStarts),
	}
	for s := range r.sums {
		r.fresh[s] = fresh
	}
	for _, c := range r.counts {
		for _, l := range []rowLoad{c.weights, c.word} {
			if r.uses[l]++; r.uses[l] == 1 {
				r.loads = append(r.loads, l)
				if l.pair {
					r.starts = append(r.starts, l)
				}
			}
		}
	}
	return r
}

// order writes the lines.
func (r *rowCounting) order() {
	for r.addresses(); r.ended < len(r.counts); r.now++ {
		r.load()
		if r.add() || r.number() || r.differ() {
			r.wait = r.now + vectorLatency - loadLatency
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

func (r *rowCounting) line(format string, args ...any) {
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

// load begins the next loads, as long as there are registers for them.
func (r *rowCounting) load() {
	for len(r.loads) > 0 {
		l := r.loads[0]
		switch {
		case !l.pair && len(r.freeWords) > 0:
			r.register[l] = r.take(&r.freeWords)
			r.line("ldr q%d, [$%d, #%d]", r.register[l], r.sums, l.at)
			if r.now < r.wait { // results are written in order: it begins later, and takes the place of an operation
				r.now++
			}
			r.loaded(l, 1, loadLatency)
		case l.pair && len(r.freeWeights) > 0:
			if _, ok := r.start[l]; !ok && l.at > 0 {
				r.addresses()
			}
			r.register[l] = r.take(&r.freeWeights)
			at := fmt.Sprintf("$%d", r.sums+1)
			if k, ok := r.start[l]; ok {
				at = fmt.Sprintf("x%d", k)
				r.freeStarts = append(r.freeStarts, k)
			}
			r.line("ld1 {v%d.16b, v%d.16b}, [%s]", r.register[l], r.register[l]+1, at)
			r.loaded(l, 2, pairLatency)
		default:
			return
		}
		r.loads = r.loads[1:]
	}
}

// loaded says when a load that has just begun is done, which takes so many cycles of what loads.
func (r *rowCounting) loaded(l rowLoad, cycles, latency int) {
	begin := max(r.now, r.loading)
	r.ready[l], r.loading = begin+latency, begin+cycles
}

// addresses makes the next pairs' addresses, as many as there are registers for: a number that is there early waits for the vectors before it, but
// only the first one does.
func (r *rowCounting) addresses() {
	for len(r.starts) > 0 && len(r.freeStarts) > 0 {
		s := r.starts[0]
		r.starts = r.starts[1:]
		if s.at == 0 {
			continue
		}
		r.start[s] = r.take(&r.freeStarts)
		r.line("add x%d, $%d, #%d", r.start[s], r.sums+1, s.at)
	}
}

func (r *rowCounting) take(free *[]int) int {
	k := (*free)[0]
	*free = (*free)[1:]
	return k
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
	r.line("add $%[1]d.16b, $%[1]d.16b, v%[2]d.16b", r.counts[u.count].sum, u.register)
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
		r.line("cnt $%d.16b, v%d.16b", s, u.register)
		r.end(k)
		return true
	}
	r.line("cnt v%[1]d.16b, v%[1]d.16b", u.register)
	u.counted, u.ready = true, r.now+vectorLatency
	return true
}

func (r *rowCounting) end(k int) {
	r.freeCounts = append(r.freeCounts, r.under[k].register)
	r.under = slices.Delete(r.under, k, k+1)
	r.ended++
}

// differ begins the next count, if what it reads is there.
func (r *rowCounting) differ() bool {
	if r.begun == len(r.counts) || len(r.freeCounts) == 0 {
		return false
	}
	c := r.counts[r.begun]
	for _, l := range []rowLoad{c.weights, c.word} {
		if ready, ok := r.ready[l]; !ok || ready > r.now {
			return false
		}
	}
	k := r.take(&r.freeCounts)
	r.line("eor v%d.16b, v%d.16b, v%d.16b", k, r.register[c.weights]+c.half, r.register[c.word])
	r.under = append(r.under, underWay{count: r.begun, register: k, ready: r.now + vectorLatency})
	r.begun++
	if r.uses[c.weights]--; r.uses[c.weights] == 0 {
		r.freeWeights = append(r.freeWeights, r.register[c.weights])
	}
	if r.uses[c.word]--; r.uses[c.word] == 0 {
		r.freeWords = append(r.freeWords, r.register[c.word])
	}
	return true
}

// row is the function of isa.XorCountRow: two pieces of assembly, of which one remains. Sums that LLVM knows to be zero are set by their first counts.
func row(i isa.Instr) Function {
	sums := i.Positions * i.Lanes / 4
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	result := "{ " + strings.Repeat("<16 x i8>, ", sums-1) + "<16 x i8> }"
	clobbers := ""
	for k := range rowWeights + rowWords + rowCounts {
		clobbers += fmt.Sprintf(",~{v%d}", k)
	}
	for _, k := range run(firstStart, rowStarts) {
		clobbers += fmt.Sprintf(",~{x%d}", k)
	}
	p("define internal void @%s(ptr %%acc, ptr %%x, ptr %%w) alwaysinline {", i.Func.Name)
	all := "true"
	for s := range sums {
		p("  %%at%[1]d = getelementptr inbounds i8, ptr %%acc, i32 %[2]d", s, 16*s)
		p("  %%old%[1]d = load <16 x i8>, ptr %%at%[1]d, align 1", s)
		p("  %%constant%[1]d = call i1 @llvm.is.constant.v16i8(<16 x i8> %%old%[1]d)", s)
		p("  %%known%[1]d = and i1 %%constant%[1]d, %[2]s", s, all)
		all = fmt.Sprintf("%%known%d", s)
	}
	p("  br i1 %s, label %%first, label %%later", all)
	tied, olds := "", ""
	for s := range sums {
		tied, olds = tied+fmt.Sprintf(",%d", s), olds+fmt.Sprintf(", <16 x i8> %%old%d", s)
	}
	for _, v := range []struct {
		label, tied, olds string
	}{{label: "first"}, {"later", tied, olds}} {
		p("%s:", v.label)
		lines := strings.Join(rowLines(i, v.label == "first"), `\0A`)
		p("  %%%s.all = call %s asm sideeffect \"%s\", \"%sr,r%s%s,~{memory}\"(ptr %%x, ptr %%w%s) nounwind",
			v.label, result, lines, strings.Repeat("=&w,", sums), v.tied, clobbers, v.olds)
		for s := range sums {
			p("  %%%[1]s%[2]d = extractvalue %[3]s %%%[1]s.all, %[2]d", v.label, s, result)
			if v.label == "first" {
				p("  %%sum%[1]d = add <16 x i8> %%first%[1]d, %%old%[1]d", s)
			}
		}
		p("  br label %%done")
	}
	p("done:")
	for s := range sums {
		p("  %%new%[1]d = phi <16 x i8> [ %%sum%[1]d, %%first ], [ %%later%[1]d, %%later ]", s)
	}
	for s := range sums {
		p("  store <16 x i8> %%new%[1]d, ptr %%at%[1]d, align 1", s)
	}
	p("  ret void")
	p("}")
	return Function{[]Declaration{isConstant()}, b.String()}
}
