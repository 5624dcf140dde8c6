package core

import (
	"fmt"
	"strings"
)

// Op is the operation of an instruction. Its number is that in the core's Verilog.
type Op int

// The operations. Planes are bits of levels, one plane a step of loop 0; bytes are whole levels.
const (
	End        Op = 0
	LoadInput  Op = 1
	LoadWeight Op = 2
	LoadTable  Op = 3
	Store      Op = 4 // a piece of one bit of each accumulator, loop 0 counting bits
	StoreBytes Op = 5 // a piece of bytes of some accumulators, loop 0 counting pieces
	Planes     Op = 8
	Bytes      Op = 9
	Take       Op = 10
	TakeBytes  Op = 11
	Level      Op = 12
	Largest    Op = 13
	Zero       Op = 14
)

// String is the operation's name in listings.
func (o Op) String() string {
	return [...]string{"end", "load_input", "load_weight", "load_table", "store", "store_bytes", "", "", "planes",
		"bytes", "take", "take_bytes", "level", "largest", "zero"}[o]
}

// Unit is a unit with a queue.
type Unit int

// The units, in their ring.
const (
	Loading Unit = iota
	Computing
	Storing
	units
)

// Unit is the unit that carries o out.
func (o Op) Unit() Unit {
	switch {
	case o >= Planes:
		return Computing
	case o >= Store:
		return Storing
	}
	return Loading
}

// Target is the memory that o writes.
func (o Op) Target() Memory {
	switch o.Unit() {
	case Storing:
		return Outside
	case Computing:
		return Sums
	}
	return Inputs + Memory(o-LoadInput)
}

// Result is the operand in that memory.
func (o Op) Result() int {
	if o.Unit() == Storing {
		return 1
	}
	return 0
}

// maxLoops is the number of loops of an instruction.
const maxLoops = 7

// MaxLoops is the number of loops that a unit sees.
func (u Unit) MaxLoops() int {
	if u == Computing {
		return maxLoops
	}
	return 5
}

// Loop is a loop of an instruction, with the stride of each operand.
type Loop struct {
	Count   int
	Strides [3]int
}

// Instr is an instruction. Operands of load and store are the core's own memory, then the one
// outside. Loads count in words outside: a row of weights is one. Stores count pieces outside.
// Compute counts words, and vectors of tables and sums; take counts pieces of inputs.
type Instr struct {
	Op        Op
	Reset     bool // the reduction begins with 0, not with the result's old value
	Inner     int  // loops 0..Inner-1 are the reduction
	Pop, Push [2]bool
	At        [3]int
	Loops     []Loop // the innermost first
}

// Steps is the number of iterations.
func (i *Instr) Steps() int {
	n := 1
	for _, l := range i.Loops {
		n *= l.Count
	}
	return n
}

// String is the instruction in listings.
func (i *Instr) String() string {
	var b strings.Builder
	b.WriteString(i.Op.String())
	for k, way := range []string{"before", "behind"} {
		if i.Pop[k] {
			b.WriteString(" pop=" + way)
		}
	}
	if i.Reset {
		b.WriteString(" reset")
	}
	fmt.Fprintf(&b, " inner=%d at %d", i.Inner, i.At)
	for _, l := range i.Loops {
		fmt.Fprintf(&b, " %dx%d", l.Count, l.Strides)
	}
	for k, way := range []string{"before", "behind"} {
		if i.Push[k] {
			b.WriteString(" push=" + way)
		}
	}
	return b.String()
}

// fields are the widths of an instruction's addresses.
func (o Op) fields() []int {
	if o.Unit() == Computing {
		return []int{16, 16, 16}
	}
	return []int{16, 32}
}

// Encode is the instruction as 8 words: a head and the loops. A loop has its count less one. For
// each operand it has the change of the address when the loop goes on and those inside begin anew.
func (i *Instr) Encode() [8]uint64 {
	var w [8]uint64
	bit := func(b bool, at int) {
		if b {
			w[0] |= 1 << at
		}
	}
	w[0] = uint64(i.Op) | uint64(i.Inner)<<5
	bit(i.Reset, 4)
	for k := range 2 {
		bit(i.Pop[k], 8+k)
		bit(i.Push[k], 10+k)
	}
	back := [3]int{}
	for k, l := range append([]Loop{{}}, i.Loops...) {
		at, value := 16, l.Strides
		for f, width := range i.Op.fields() {
			v := value[f] - back[f]
			if k == 0 {
				v = i.At[f]
			}
			w[k] |= uint64(v) & (1<<width - 1) << at
			at += width
		}
		if k > 0 {
			w[k] |= uint64(l.Count - 1)
			for f := range back {
				back[f] += (l.Count - 1) * l.Strides[f]
			}
		}
	}
	return w
}

// Program is a list of instructions, End left out, and the memory outside before they run.
type Program struct {
	Config Config
	Instrs []Instr
	Memory []uint32 // Lanes/32 numbers a word
	At     int      // the word where the instructions lie
}

// Words is the number of words of the memory outside.
func (p *Program) Words() int { return len(p.Memory) * 32 / p.Config.Lanes }

// Place puts the instructions, and an End, at the end of the memory.
func (p *Program) Place() {
	p.At = p.Words()
	for _, i := range append(p.Instrs[:len(p.Instrs):len(p.Instrs)], Instr{Op: End}) {
		for _, w := range i.Encode() {
			p.Memory = append(p.Memory, uint32(w), uint32(w>>32))
		}
	}
}
