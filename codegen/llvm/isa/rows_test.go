package isa

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ripc/targets/isa"
)

// rows lists the instructions that count rows of taps.
func rows() []isa.Instr {
	return slices.DeleteFunc(isa.All(), func(i isa.Instr) bool { return i.Meaning != isa.XorCountRow })
}

// ordered is the block of i in order.
func ordered(i isa.Instr, row func(*code, bool) *block, fresh bool) *block {
	b := row(&code{Instr: i, machine: machineOf(i.Arch, Core{InOrder: true})}, fresh)
	b.order()
	return b
}

// countRow is what writes the block of a row of taps.
func countRow(i isa.Instr) func(*code, bool) *block {
	if i.Arch == "arm" {
		return countRowA32
	}
	return countRowA64
}

// linesOf are the lines of the assembly of i.
func linesOf(i isa.Instr, inOrder bool) []string {
	_, text, _ := strings.Cut(function(i, Core{InOrder: inOrder}).Text, `asm sideeffect "`)
	text, _, _ = strings.Cut(text, `"`)
	return strings.Split(text, `\0A`)
}

// withStarts has registers for the addresses of operands in lines that load pairs.
func withStarts(lines []string) []string {
	var out []string
	for _, l := range lines {
		before, of, found := strings.Cut(l, "}, [$")
		if found && strings.HasPrefix(l, "ld1 ") {
			of = strings.TrimSuffix(of, "]")
			out = append(out, fmt.Sprintf("add x10%s, $%s, #0", of, of))
			l = fmt.Sprintf("%s}, [x10%s]", before, of)
		}
		out = append(out, l)
	}
	return out
}

// TestRowLines follows what each register of a row holds: each sum gets the counts of its filters, of all words and taps at its position, once,
// and nothing reads a register that something else was written to.
func TestRowLines(t *testing.T) {
	for _, i := range rows() {
		for _, fresh := range []bool{false, true} {
			if err := follow(i, ordered(i, countRow(i), fresh).lines, fresh); err != nil {
				t.Errorf("%s, fresh %t: %v", i.Func.Name, fresh, err)
			}
		}
	}
}

// rowState is what registers hold, as names of values, and what was added to sums.
type rowState struct {
	sums   int // how many
	regs   map[int]string
	starts map[string]int // addresses that registers hold
	got    map[int][]string
}

// follow runs lines on names of values instead of values.
func follow(i isa.Instr, lines []string, fresh bool) error {
	sums := i.Positions * i.Lanes / 4
	s := &rowState{sums: sums, regs: map[int]string{}, got: map[int][]string{}, starts: map[string]int{fmt.Sprintf("$%d", sums): 0, fmt.Sprintf("$%d", sums+1): 0}}
	load := s.loadA64
	if i.Arch == "arm" {
		load = s.loadA32
	}
	for _, l := range lines {
		if !load(l) && !s.operate(l, fresh) {
			return fmt.Errorf("%q is no instruction of a row, reads what was not loaded, or sets what was set", l)
		}
	}
	want := map[int][]string{}
	registers := i.Lanes / 4
	for p := range i.Positions {
		for f := range registers {
			for t := range i.Taps {
				for c := range i.Words {
					s := p*registers + f
					want[s] = append(want[s], fmt.Sprintf("count w%d^x%d", 16*((t*i.Words+c)*registers+f), 16*((p+t)*i.Words+c)))
				}
			}
		}
	}
	return sameSums(s.got, want)
}

// scan reads all numbers of a line that looks like format.
func scan(line, format string, args ...any) bool {
	n, err := fmt.Sscanf(line, format, args...)
	return err == nil && n == len(args)
}

// loadA64 does what loads of 64-bit Arm and their addresses do.
func (s *rowState) loadA64(l string) bool {
	var a, b, at int
	var from string
	switch {
	case scan(l, "add x%d, $%d, #%d", &a, &b, &at) && b == s.sums+1:
		s.starts[fmt.Sprintf("x%d", a)] = at
	case scan(l, "ldr q%d, [$%d, #%d]", &a, &b, &at) && b == s.sums:
		s.regs[a] = fmt.Sprintf("x%d", at)
	case scan(l, "ld1 {v%d.16b, v%d.16b}, [%s", &a, &b, &from) && b == a+1:
		at, ok := s.starts[from[:len(from)-1]]
		if !ok {
			return false
		}
		s.regs[a], s.regs[b] = fmt.Sprintf("w%d", at), fmt.Sprintf("w%d", at+16)
	default:
		return false
	}
	return true
}

// loadA32 does what loads of 32-bit Arm do, of the lower half of a register and then of the upper one.
func (s *rowState) loadA32(l string) bool {
	const reach = 1020
	var to, operand, at int
	if !scan(l, "vldr d%d, [$%d, #%d]", &to, &operand, &at) || operand < s.sums || operand > s.sums+1 || at > reach {
		return false
	}
	name := fmt.Sprintf("%c%d", "xw"[operand-s.sums], at-8*(to%2))
	if to%2 == 0 {
		s.regs[to/2] = "half " + name
		return true
	}
	isWhole := s.regs[to/2] == "half "+name
	s.regs[to/2] = name
	return isWhole
}

// operate does what an operation on vectors does.
func (s *rowState) operate(l string, fresh bool) bool {
	var a, b, c int
	either := func(a64, a32 string, args ...any) bool { return scan(l, a64, args...) || scan(l, a32, args...) }
	switch {
	case either("eor v%d.16b, v%d.16b, v%d.16b", "veor q%d, q%d, q%d", &a, &b, &c):
		s.regs[a] = s.regs[b] + "^" + s.regs[c]
	case either("cnt v%d.16b, v%d.16b", "vcnt.8 q%d, q%d", &a, &b):
		s.regs[a] = "count " + s.regs[b]
	case either("cnt $%d.16b, v%d.16b", "vcnt.8 ${%d:q}, q%d", &a, &b):
		if !fresh || s.got[a] != nil {
			return false
		}
		s.got[a] = []string{"count " + s.regs[b]}
	case either("add $%d.16b, $%d.16b, v%d.16b", "vadd.i8 ${%d:q}, ${%d:q}, q%d", &a, &b, &c) && a == b:
		if fresh && s.got[a] == nil {
			return false
		}
		s.got[a] = append(s.got[a], s.regs[c])
	default:
		return false
	}
	return true
}

// TestRowWaits: a row takes little more than its operations, and on 64-bit Arm its loads.
func TestRowWaits(t *testing.T) {
	for _, i := range rows() {
		if i.Positions < 3 {
			continue // there is too little between a load and what reads it
		}
		r := ordered(i, countRow(i), false)
		counts := i.Positions * i.Taps * i.Words * i.Lanes / 4
		least, most := 3*counts+(i.Positions+i.Taps-1)*i.Words, 105
		if i.Arch == "arm" { // in half cycles, and with few registers
			least, most = 5*counts, 140
		}
		if 100*r.now > most*least+1500 {
			t.Errorf("%s takes %d cycles, at least %d", i.Func.Name, r.now, least)
		}
	}
}
