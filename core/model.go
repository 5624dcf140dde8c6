package core

import (
	"fmt"
	"math/bits"
	"slices"
)

// The cycles that an instruction takes besides its steps. Load has to wait for the memory as well.
const (
	beginCycles = 1 // from the queue to the first step
	endCycles   = 2 // from the last step to the tokens of compute and store
)

// FetchCycles is the number of cycles between the fetches of two instructions.
func (c Config) FetchCycles(latency int) int { return 512/c.Lanes + latency + 1 }

// Cycles is the exact number of cycles from start to done, with a memory that answers after latency
// cycles. It fails if tokens would be lost or waited for in vain.
func (p *Program) Cycles(latency int) (total int, err error) {
	fetch := p.Config.FetchCycles(latency) - 1
	var free [units]int
	var begun [units][]int    // when each instruction left its queue
	var given [units][2][]int // when each token can be seen, by the unit that takes it
	var taken [units][2]int   // tokens
	asked := 0
	for k, i := range p.Instrs {
		u := i.Op.Unit()
		pushed := asked + fetch
		if n := len(begun[u]); n >= queueDepth {
			pushed = max(pushed, begun[u][n-queueDepth]+1)
		}
		asked = pushed + 1
		at := max(pushed+1, free[u])
		for way := range 2 {
			if !i.Pop[way] {
				continue
			}
			n := taken[u][way]
			if n >= len(given[u][way]) {
				return 0, fmt.Errorf("instruction %d (%s) waits in vain for a token", k, &p.Instrs[k])
			}
			at = max(at, given[u][way][n])
			taken[u][way]++
		}
		end := at + beginCycles + i.Steps() + endCycles
		if u == Loading {
			end = at + beginCycles + i.Steps() + latency
		}
		begun[u], free[u] = append(begun[u], at), end
		for way := range 2 {
			if i.Push[way] { // the unit before has u behind it
				to := (u + Unit(2-way)) % units
				given[to][1-way] = append(given[to][1-way], end)
			}
		}
		total = max(total, end)
	}
	for u := range units {
		for way := range 2 {
			if taken[u][way] != len(given[u][way]) {
				return 0, fmt.Errorf("%d tokens for unit %d are left", len(given[u][way])-taken[u][way], u)
			}
		}
	}
	return max(total, asked+fetch+1), nil
}

// machine is the state of the core.
type machine struct {
	Config
	far     []uint32
	inputs  []uint32 // Lanes bits a word
	weights []uint32 // Lanes bits a row
	tables  []uint32
	sums    []int32
	words   int // numbers of 32 bits in a word
}

// Run carries out the instructions one after the other on a copy of the memory, and returns it: the
// definition of the core's results.
func (p *Program) Run() []uint32 {
	c := p.Config
	n := c.Lanes / 32
	m := &machine{c, slices.Clone(p.Memory), make([]uint32, n<<c.Inputs), make([]uint32, c.Rows*n<<c.Weights),
		make([]uint32, c.Rows<<c.Tables), make([]int32, c.Rows<<c.Sums), n}
	for k := range p.Instrs {
		m.instr(&p.Instrs[k])
	}
	return m.far
}

func (m *machine) instr(i *Instr) {
	var counts [maxLoops]int
	at := i.At
	acc := make([]int32, m.Rows)
	for {
		first, last := true, true
		for k, l := range i.Loops[:min(i.Inner, len(i.Loops))] {
			first, last = first && counts[k] == 0, last && counts[k] == l.Count-1
		}
		m.step(i, at, counts[0], first, last, acc)
		k := 0
		for ; k < len(i.Loops); k++ {
			l := i.Loops[k]
			counts[k]++
			for f := range at {
				at[f] += l.Strides[f]
			}
			if counts[k] < l.Count {
				break
			}
			counts[k] = 0
			for f := range at {
				at[f] -= l.Count * l.Strides[f]
			}
		}
		if k == len(i.Loops) {
			return
		}
	}
}

// word is a word of a memory.
func (m *machine) word(from []uint32, at int) []uint32 { return from[at*m.words : (at+1)*m.words] }

// vector is a vector of accumulators.
func (m *machine) vector(at int) []int32 { return m.sums[at*m.Rows : (at+1)*m.Rows] }

// piece is the piece of Rows bits at a place, as bits.
func (m *machine) bit(from []uint32, piece, r int) int {
	at := piece*m.Rows + r
	return int(from[at/32] >> (at % 32) & 1)
}

// wrap is v as an accumulator holds it.
func (m *machine) wrap(v int32) int32 { return v << (32 - m.AccBits) >> (32 - m.AccBits) }

func (m *machine) step(i *Instr, at [3]int, plane int, first, last bool, acc []int32) {
	switch i.Op {
	case LoadInput:
		copy(m.word(m.inputs, at[0]), m.word(m.far, at[1]))
		return
	case LoadWeight:
		copy(m.word(m.weights, at[0]), m.word(m.far, at[1]))
		return
	case LoadTable:
		copy(m.word(m.tables, at[0]), m.word(m.far, at[1]))
		return
	case Store, StoreBytes:
		v := m.vector(at[0])
		for r := range m.Rows {
			b := v[r%m.Rows] >> min(plane, m.AccBits-1)
			if i.Op == StoreBytes {
				b = v[plane*m.Rows/8+r/8] >> (r % 8)
			}
			k := at[1]*m.Rows + r
			m.far[k/32] = m.far[k/32]&^(1<<(k%32)) | uint32(b&1)<<(k%32)
		}
		return
	}
	if first {
		clear(acc)
		if !i.Reset {
			copy(acc, m.vector(at[0]))
		}
	}
	for r := range acc {
		switch i.Op {
		case Planes:
			n := 0
			w := m.word(m.weights, at[2]*m.Rows+r)
			for k, x := range m.word(m.inputs, at[1]) {
				n += bits.OnesCount32(^(x ^ w[k]))
			}
			acc[r] += int32(n) << plane
		case Bytes:
			w := m.word(m.weights, at[2]*m.Rows+r)
			for k, x := range m.word(m.inputs, at[1]) {
				for b := 0; b < 32; b += 8 {
					acc[r] += int32(uint8(x>>b)) * int32(int8(w[k]>>b))
				}
			}
		case Take:
			acc[r] += int32(m.bit(m.inputs, at[1], r) << plane)
		case TakeBytes:
			if part := m.Rows / 8; plane == r/part {
				for b := range 8 {
					acc[r] += int32(m.bit(m.inputs, at[1], r%part*8+b) << b)
				}
			}
		case Level:
			if m.vector(at[1])[r] >= m.wrap(int32(m.tables[at[2]*m.Rows+r])) {
				acc[r]++
			}
		case Largest:
			if v := m.vector(at[1])[r]; first || v > acc[r] {
				acc[r] = v
			}
		}
		acc[r] = m.wrap(acc[r])
	}
	if last {
		copy(m.vector(at[0]), acc)
	}
}
