package isa

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"ripc/targets/isa"
)

// lookUpRows lists the instructions of 64-bit Arm that look rows up.
func lookUpRows() []isa.Instr {
	return slices.DeleteFunc(isa.All(), func(i isa.Instr) bool {
		return i.Meaning != isa.LookUpRow || i.Halves || i.Taps > 0 || i.Arch != "aarch64"
	})
}

// TestLookUpLines follows what each register holds: each sum gets what each group's table has for its filters, once, and nothing reads a register that something else was
// written to.
func TestLookUpLines(t *testing.T) {
	for _, i := range lookUpRows() {
		for _, fresh := range []bool{false, true} {
			if err := followLookUps(i, withStarts(ordered(i, lookUpRowA64, fresh).lines), fresh); err != nil {
				t.Errorf("%s, fresh %t: %v", i.Func.Name, fresh, err)
			}
		}
	}
}

// followLookUps runs lines on names of values instead of values.
func followLookUps(i isa.Instr, lines []string, fresh bool) error {
	filters, sums := i.Lanes/16, i.Positions*i.Lanes/16
	regs, starts, got := map[int]string{}, map[int]string{}, map[int][]string{}
	for _, l := range lines {
		var a, b, c, at int
		name := map[int]string{sums: "t", sums + 1: "w"}
		switch {
		case scan(l, "add x%d, $%d, #%d", &a, &b, &at) && name[b] != "":
			starts[a] = name[b] + fmt.Sprint(at)
		case scan(l, "ld1 {v%d.16b, v%d.16b}, [x%d]", &a, &b, &c) && b == a+1 && starts[c] != "":
			var of rune
			if _, err := fmt.Sscanf(starts[c], "%c%d", &of, &at); err != nil {
				return err
			}
			regs[a], regs[b] = fmt.Sprintf("%c%d", of, at), fmt.Sprintf("%c%d", of, at+16)
		case scan(l, "tbl v%d.16b, {v%d.16b}, v%d.16b", &a, &b, &c):
			regs[a] = regs[b] + "[" + regs[c] + "]"
		case scan(l, "tbl $%d.16b, {v%d.16b}, v%d.16b", &a, &b, &c) && fresh && got[a] == nil:
			got[a] = []string{regs[b] + "[" + regs[c] + "]"}
		case scan(l, "add $%d.16b, $%d.16b, v%d.16b", &a, &b, &c) && a == b && (!fresh || got[a] != nil):
			got[a] = append(got[a], regs[c])
		default:
			return fmt.Errorf("%q is no instruction of a row, reads what was not loaded, or sets what was set", l)
		}
	}
	want := map[int][]string{}
	for p := range i.Positions {
		for f := range filters {
			for g := range i.Groups {
				want[p*filters+f] = append(want[p*filters+f], fmt.Sprintf("t%d[w%d]", 16*(p*i.Groups+g), 16*(g*filters+f)))
			}
		}
	}
	return sameSums(got, want)
}

// sameSums compares what sums are of, in whatever order.
func sameSums(got, want map[int][]string) error {
	for k := range want {
		slices.Sort(want[k])
		slices.Sort(got[k])
	}
	if !maps.EqualFunc(got, want, slices.Equal) {
		return fmt.Errorf("the sums are\n%v, want\n%v", got, want)
	}
	return nil
}

// TestLookUpWaits: what is ordered has an operation in nearly each cycle.
func TestLookUpWaits(t *testing.T) {
	for _, i := range lookUpRows() {
		r := ordered(i, lookUpRowA64, false)
		if least := 2 * i.Groups * i.Positions * i.Lanes / 16; i.Positions > 2 && r.now > least+20 {
			t.Errorf("%s takes %d cycles, at least %d", i.Func.Name, r.now, least)
		}
	}
}
