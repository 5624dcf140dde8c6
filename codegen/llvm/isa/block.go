package isa

import (
	"cmp"
	"fmt"
	"slices"
)

// A block is one piece of assembly that is scheduled here, for in-order cores. LLVM's scheduler
// leaves cycles empty in loops of many operations, and stores sums. It does not reorder assembly.
//
// A family writes chains of operations and the loads that these read, in the order of the program.
// The scheduler begins chains in that order. Among ready operations it prefers those that are
// farthest in their chains, since they free registers, and then the oldest. A load begins as soon
// as it has a register. The latencies are data: timing.
type block struct {
	listing
	streams [2]stream // the second goes before the first
	// cycles between chains of the first stream, so that they hold few registers; 0: they begin as
	// they can
	apart  int
	loads  []*operation
	loaded map[loadKey][]*cell
	pools  []*pool // of loads
	starts *pool   // for addresses of loads without offsets
	spare  *pool   // gets the registers of pools behind the last load

	// now is the cycle that is being written. slot and port are the first cycles with a free slot
	// for an operation and a free port for a load. beat is the number of cycles that the second
	// stream has left.
	now, slot, port, beat int
}

// stream is chains that begin in order, and those that have begun, oldest first.
type stream struct{ chains, under []*chain }

// timing is how long operations take, in cycles of a core.
type timing struct {
	latency int // to a reader of the result
	slots   int // in which no other operation on vectors begins
	port    int // in which no other load begins
}

// Timings by LLVM's models: of the Cortex-A53 (AArch64SchedA53.td) for 64-bit Arm, and of the
// Cortex-R52 (ARMScheduleR52.td), which it has in the place of the A53, for 32-bit Arm. On the A53
// results are written in order, so that a load of one register takes the place of an operation.
func a53Vector() timing { return timing{latency: 6, slots: 1} }
func a53Load() timing   { return timing{latency: 4, slots: 1, port: 1} }
func a53Pair() timing   { return timing{latency: 5, port: 2} }
func a53Store() timing  { return timing{slots: 1} }

// r52Vector is an operation on one half of the vector unit, or on both, in half cycles: the R52
// begins two operations a cycle. r52Load is a load of 8 bytes beside them.
func r52Vector(latency, halves int) timing { return timing{latency: 2 * latency, slots: halves} }
func r52Load() timing                      { return timing{latency: 8, port: 2} }

// pool is registers: those that are free, in the order in which they became so.
type pool struct {
	free []int
	held int // by loads
	most int // that loads may hold, where other operations take registers of the pool; 0 for all
}

// newPool has n registers from the first on.
func newPool(first, n int) *pool {
	p := &pool{}
	for k := range n {
		p.free = append(p.free, first+k)
	}
	return p
}

// take returns the first of n neighbouring registers. The first of two is even.
func (p *pool) take(n int) (k int, ok bool) {
	for _, k := range p.free {
		if n == 1 || k%2 == 0 && slices.Contains(p.free, k+1) {
			p.free = slices.DeleteFunc(p.free, func(f int) bool { return f >= k && f < k+n })
			return k, true
		}
	}
	return 0, false
}

// cell is a register of a block: of a pool, with a number below 0 until it is written, or fixed.
type cell struct {
	*pool
	k        int
	isLoaded bool
	ready    int
	// planned and begun are the numbers of operations that touch it in each way.
	planned, begun [3]int
}

// cell is a register of p that the scheduler chooses.
func (p *pool) cell() *cell { return &cell{pool: p, k: -1} }

// fixedCells are n cells that have registers from the first on.
func fixedCells(first, n int) []*cell {
	out := make([]*cell, n)
	for k := range out {
		out[k] = &cell{k: first + k}
	}
	return out
}

// hasBegun reports whether operations of way w have begun as often as before.
func (c *cell) hasBegun(before [3]int, ways ...int) bool {
	return !slices.ContainsFunc(ways, func(w int) bool { return c.begun[w] < before[w] })
}

// The ways in which operations touch a cell. Additions to a sum are in any order.
const (
	writes = iota
	adds
	reads
)

// touch is the access of an operation to a cell, after numbers of others.
type touch struct {
	*cell
	way    int
	before [3]int
}

// isFree reports whether a touch may be in a cycle: all earlier writes are done before it reads,
// and all earlier reads before it writes.
func (t touch) isFree(now int) bool {
	switch t.way {
	case reads:
		return t.hasBegun(t.before, writes, adds) && t.ready <= now
	case adds:
		return t.hasBegun(t.before, writes, reads) && t.ready <= now
	}
	return t.hasBegun(t.before, writes, adds, reads)
}

// operation is a line of assembly.
type operation struct {
	timing
	line    func() string
	touches []touch
	start   *start
	isLoad  bool // which begins whether there is a slot or not
}

// chain is a run of operations that follow each other.
type chain struct {
	operations []*operation
	next       int
}

// do is an operation that writes, adds to and reads cells. Its line is made when these have
// registers.
func (b *block) do(t timing, line func() string, write, add []*cell, read ...*cell) *operation {
	o := &operation{timing: t, line: line}
	for way, cells := range [][]*cell{write, add, read} {
		for _, c := range cells {
			o.touches = append(o.touches, touch{c, way, c.planned})
		}
	}
	for _, t := range o.touches {
		t.planned[t.way]++
	}
	return o
}

// chain adds operations that follow each other to a stream.
func (b *block) chain(stream int, os ...*operation) {
	s := &b.streams[stream]
	s.chains = append(s.chains, &chain{operations: os})
}

// loadKey is a load: from byte at of an operand on. A second load of the same bytes has another
// turn.
type loadKey struct{ operand, at, turn int }

// load returns the n neighbouring cells of p that hold a load. A load that is new consists of an
// operation for each of lines, which write it for the first register.
func (b *block) load(key loadKey, n int, p *pool, t timing, lines ...func(k int) string) []*cell {
	if cells, ok := b.loaded[key]; ok {
		return cells
	}
	cells := make([]*cell, n)
	for k := range cells {
		cells[k] = &cell{pool: p, k: -1, isLoaded: true}
	}
	for _, line := range lines {
		o := b.do(t, func() string { return line(cells[0].k) }, cells, nil)
		o.isLoad = true
		b.loads = append(b.loads, o)
	}
	if b.loaded == nil {
		b.loaded = map[loadKey][]*cell{}
	}
	if b.loaded[key] = cells; !slices.Contains(b.pools, p) {
		b.pools = append(b.pools, p)
	}
	return cells
}

// loadHalves loads a register of 32-bit Arm, 8 bytes at a time.
func (b *block) loadHalves(key loadKey, p *pool) *cell {
	half := func(h int) func(k int) string {
		return func(k int) string { return fmt.Sprintf("vldr d%d, [$%d, #%d]", 2*k+h, key.operand, key.at+8*h) }
	}
	return b.load(key, 1, p, r52Load(), half(0), half(1))[0]
}

// start is the address of a load without an offset, in register k if that is not 0.
type start struct{ operand, at, k int }

// loadPair loads two registers of 64-bit Arm at once.
func (b *block) loadPair(key loadKey, p *pool) []*cell {
	known, s := len(b.loads), &start{operand: key.operand, at: key.at}
	cells := b.load(key, 2, p, a53Pair(), func(k int) string {
		from := fmt.Sprintf("$%d", s.operand)
		if s.k > 0 {
			from = fmt.Sprintf("x%d", s.k)
			b.starts.free = append(b.starts.free, s.k)
		}
		return fmt.Sprintf("ld1 {v%d.16b, v%d.16b}, [%s]", k, k+1, from)
	})
	if len(b.loads) > known && s.at > 0 {
		b.loads[known].start = s
	}
	return cells
}

// makeAddresses writes the addresses of the next loads while registers are free. The first waits
// for the vectors before it, the others do not.
func (b *block) makeAddresses() {
	for _, o := range b.loads {
		if o.start == nil || o.start.k > 0 {
			continue
		}
		k, ok := b.starts.take(1)
		if !ok {
			return
		}
		o.start.k = k
		b.line("add x%d, $%d, #%d", k, o.start.operand, o.start.at)
	}
}

// order writes the lines.
func (b *block) order() {
	b.makeAddresses()
	for ; len(b.loads) > 0 || b.streams[0].left() || b.streams[1].left(); b.now++ {
		b.beginLoads()
		for b.beginChain(1) {
		}
		if b.slot <= b.now {
			b.beginChain(0)
			b.beat++
		}
	}
}

// left reports whether there are operations to begin.
func (s *stream) left() bool { return len(s.chains)+len(s.under) > 0 }

// beginLoads begins the next loads, as long as there are a port and registers.
func (b *block) beginLoads() {
	for len(b.loads) > 0 && b.begin(b.loads[0]) {
		b.loads = b.loads[1:]
	}
	if len(b.loads) == 0 && b.spare != nil {
		for _, p := range b.pools {
			b.spare.free, p.free = append(b.spare.free, p.free...), nil
		}
	}
}

// beginChain begins the next operation of a chain of a stream, or a chain.
func (b *block) beginChain(n int) bool {
	s := &b.streams[n]
	under := slices.Clone(s.under)
	slices.SortStableFunc(under, func(x, y *chain) int { return cmp.Compare(y.next, x.next) })
	if len(s.chains) > 0 {
		switch c := s.chains[0]; {
		case n > 0 || b.apart == 0 || len(c.operations) == 1:
			under = append(under, c)
		case b.beat%b.apart == 0:
			under = slices.Insert(under, 0, c)
		}
	}
	for _, c := range under {
		if !b.begin(c.operations[c.next]) {
			continue
		}
		if c.next++; c.next == 1 {
			s.chains, s.under = s.chains[1:], append(s.under, c)
		}
		if c.next == len(c.operations) {
			s.under = slices.DeleteFunc(s.under, func(u *chain) bool { return u == c })
		}
		return true
	}
	return false
}

// begin begins an operation in this cycle, if its units and operands are there, and registers for
// its results.
func (b *block) begin(o *operation) bool {
	if b.slot > b.now && o.slots > 0 && !o.isLoad || b.port > b.now && o.port > 0 {
		return false
	}
	if slices.ContainsFunc(o.touches, func(t touch) bool { return !t.isFree(b.now) }) {
		return false
	}
	if o.start != nil && o.start.k == 0 {
		if b.makeAddresses(); o.start.k == 0 {
			return false
		}
	}
	var results, ended []*cell
	for _, t := range o.touches {
		if t.begun[t.way]++; t.pool != nil && t.begun == t.planned {
			ended = append(ended, t.cell)
		}
		if t.way == writes && t.k < 0 {
			results = append(results, t.cell)
		}
	}
	if !b.place(results, ended) {
		for _, t := range o.touches {
			t.begun[t.way]--
		}
		return false
	}
	b.line("%s", o.line())
	for _, t := range o.touches {
		if t.way != reads {
			t.ready = b.now + o.latency
		}
	}
	b.slot, b.port = max(b.slot, b.now)+o.slots, max(b.port, b.now)+o.port
	return true
}

// place gives results registers: neighbours of one pool. Those of operands that nothing else reads
// are free for them.
func (b *block) place(results, ended []*cell) bool {
	var from *pool
	if n := len(results); n > 0 {
		from = results[0].pool
		before := slices.Clone(from.free)
		for _, c := range ended {
			if c.pool == from && c.k >= 0 {
				from.free = append(from.free, c.k)
			}
		}
		holds := results[0].isLoaded
		k, ok := from.take(n)
		if !ok || holds && from.most > 0 && from.held+n > from.most {
			from.free = before
			return false
		}
		for m, c := range results {
			c.k = k + m
		}
		if holds {
			from.held += n
		}
	}
	for _, c := range ended {
		if c.isLoaded {
			c.held--
		}
		if c.pool != from || slices.Contains(results, c) {
			c.free = append(c.free, c.k)
		}
	}
	return true
}
