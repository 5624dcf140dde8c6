package isa

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"ripc/targets/isa"
)

// rows lists the instructions that count rows of taps.
func rows() []isa.Instr {
	return slices.DeleteFunc(isa.All(), func(i isa.Instr) bool { return i.Meaning != isa.XorCountRow })
}

// TestRowLines follows what each register of a row holds: each sum gets the counts of its filters, of all words and taps at its position, once,
// and nothing reads a register that something else was written to.
func TestRowLines(t *testing.T) {
	for _, i := range rows() {
		for _, fresh := range []bool{false, true} {
			if err := follow(i, rowLines(i, fresh), fresh); err != nil {
				t.Errorf("%s, fresh %t: %v", i.Func.Name, fresh, err)
			}
		}
	}
}

// follow runs lines on names of values instead of values.
func follow(i isa.Instr, lines []string, fresh bool) error {
	sums := i.Positions * i.Lanes / 4
	regs, starts := map[int]string{}, map[string]int{fmt.Sprintf("$%d", sums+1): 0}
	got := map[int][]string{}
	for _, l := range lines {
		var a, b, c, at int
		var from string
		scan := func(format string, args ...any) bool {
			n, err := fmt.Sscanf(l, format, args...)
			return err == nil && n == len(args)
		}
		switch {
		case scan("add x%d, $%d, #%d", &a, &b, &at):
			starts[fmt.Sprintf("x%d", a)] = at
		case scan("ldr q%d, [$%d, #%d]", &a, &b, &at) && b == sums:
			regs[a] = fmt.Sprintf("x%d", at)
		case scan("ld1 {v%d.16b, v%d.16b}, [%s", &a, &b, &from) && b == a+1:
			at, ok := starts[from[:len(from)-1]]
			if !ok {
				return fmt.Errorf("%s: no address", l)
			}
			regs[a], regs[b] = fmt.Sprintf("w%d", at), fmt.Sprintf("w%d", at+16)
		case scan("eor v%d.16b, v%d.16b, v%d.16b", &a, &b, &c):
			regs[a] = regs[b] + "^" + regs[c]
		case scan("cnt v%d.16b, v%d.16b", &a, &b):
			regs[a] = "count " + regs[b]
		case scan("cnt $%d.16b, v%d.16b", &a, &b):
			if !fresh || got[a] != nil {
				return fmt.Errorf("%s: the sum was set before", l)
			}
			got[a] = []string{"count " + regs[b]}
		case scan("add $%d.16b, $%d.16b, v%d.16b", &a, &b, &c) && a == b:
			if fresh && got[a] == nil {
				return fmt.Errorf("%s: the sum was not set", l)
			}
			got[a] = append(got[a], regs[c])
		default:
			return fmt.Errorf("unknown: %s", l)
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
	for s := range want {
		slices.Sort(want[s])
		slices.Sort(got[s])
	}
	if !maps.EqualFunc(got, want, slices.Equal) {
		return fmt.Errorf("the sums are\n%v, want\n%v", got, want)
	}
	return nil
}

// TestRowWaits: a row takes little more than an operation a cycle.
func TestRowWaits(t *testing.T) {
	for _, i := range rows() {
		if i.Positions < 3 {
			continue // there is too little between a load and what reads it
		}
		r := newRow(i, false)
		r.order()
		loads := (i.Positions + i.Taps - 1) * i.Words
		if least := 3*len(r.counts) + loads; 100*r.now > 105*least+1500 {
			t.Errorf("%s takes %d cycles, at least %d", i.Func.Name, r.now, least)
		}
	}
}
