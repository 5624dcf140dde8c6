package isa

// rowReads are the registers that a row of look-ups reads, loaded two at a time: of weights of neighbouring filters, or of tables of neighbouring groups.
type rowReads struct {
	line     func(format string, args ...any)
	pending  []rowLoad // in the order of their first use
	uses     map[rowLoad]int
	free     map[bool]*registers // of weights, or not
	starts   *arm64Addresses
	register map[rowLoad]int
	ready    map[rowLoad]int // the cycle from which on they are there
	next     int             // the cycle from which on a load may begin
}

// loadsApart is how many cycles loads are apart.
const loadsApart = 2

// newRowReads are what ones read, by registers for weights and for tables. The address of the tables is the operand of that number, that of the weights the next one.
func newRowReads(ones []count, weights, tables registers, operand int, line func(format string, args ...any)) *rowReads {
	r := &rowReads{
		line: line, uses: map[rowLoad]int{}, register: map[rowLoad]int{}, ready: map[rowLoad]int{},
		free: map[bool]*registers{true: &weights, false: &tables},
	}
	for _, o := range ones {
		for _, p := range o.reads() {
			if r.uses[p]++; r.uses[p] == 1 {
				r.pending = append(r.pending, p)
			}
		}
	}
	r.starts = newArm64Addresses(r.pending, func(p rowLoad, register int) {
		of := operand
		if p.weights {
			of++
		}
		line("add x%d, $%d, #%d", register, of, p.at)
	})
	return r
}

// reads are the loads of what o reads.
func (o count) reads() [2]rowLoad { return [2]rowLoad{o.word.rowLoad, o.weights.rowLoad} }

// load begins the next load in cycle now, if there are registers for it.
func (r *rowReads) load(now int) bool {
	if len(r.pending) == 0 || now < r.next {
		return false
	}
	p := r.pending[0]
	k, ok := r.free[p.weights].take(p.size)
	if !ok {
		return false
	}
	r.line("ld1 {v%d.16b, v%d.16b}, [x%d]", k, k+1, r.starts.take(p))
	r.register[p], r.pending, r.next = k, r.pending[1:], now+loadsApart
	r.ready[p] = now + arm64PairLatency
	return true
}

// there says that what o reads is in registers in cycle now.
func (r *rowReads) there(o count, now int) bool {
	for _, p := range o.reads() {
		if at, ok := r.ready[p]; !ok || at > now {
			return false
		}
	}
	return true
}

// lookUp writes the look-up of o into a register, behind which what nothing else reads is free.
func (r *rowReads) lookUp(o count, to string) {
	r.line("tbl %s.16b, {v%d.16b}, v%d.16b", to, r.register[o.word.rowLoad]+o.word.part, r.register[o.weights.rowLoad]+o.weights.part)
	for _, p := range o.reads() {
		if r.uses[p]--; r.uses[p] == 0 {
			for k := range p.size {
				r.free[p.weights].release(r.register[p] + k)
			}
		}
	}
}
