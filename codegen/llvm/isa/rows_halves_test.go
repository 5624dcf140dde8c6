package isa

import (
	"fmt"
	"slices"
	"testing"

	"ripc/targets/isa"
)

// TestHalvesLines follows what each register holds: what leaves a row for each register of sums is what each group's table has for its filters, once, and of the sums of bytes without their upper halves.
func TestHalvesLines(t *testing.T) {
	for _, i := range isa.All() {
		if i.Meaning != isa.LookUpRow || !i.Halves {
			continue
		}
		for _, inOrder := range []bool{false, true} {
			if err := followHalves(i, withStarts(linesOf(i, inOrder))); err != nil {
				t.Errorf("%s, in order %t: %v", i.Func.Name, inOrder, err)
			}
		}
	}
}

// followHalves runs lines on names of values instead of values: of sums these are what was added, in any order.
func followHalves(i isa.Instr, lines []string) error {
	type sums = []string
	regs, starts, stored := map[int]sums{}, map[int]string{}, map[int]sums{}
	for _, l := range lines {
		var a, b, c, at int
		switch {
		case scan(l, "movi v%d.16b, #16", &a):
			regs[a] = sums{"16"}
		case scan(l, "add x%d, $%d, #%d", &a, &b, &at):
			starts[a] = fmt.Sprintf("%c%d", " tw"[b], at)
		case scan(l, "ld1 {v%d.16b, v%d.16b}, [x%d]", &a, &b, &c) && b == a+1 && starts[c] != "":
			var of rune
			if _, err := fmt.Sscanf(starts[c], "%c%d", &of, &at); err != nil {
				return err
			}
			regs[a], regs[b] = sums{fmt.Sprintf("%c%d", of, at)}, sums{fmt.Sprintf("%c%d", of, at+16)}
		case scan(l, "tbl v%d.16b, {v%d.16b}, v%d.16b", &a, &b, &c):
			regs[a] = sums{regs[b][0] + "[" + regs[c][0] + "]"}
		case scan(l, "ushr v%d.16b, v%d.16b, #4", &a, &b) && len(regs[b]) == 1:
			regs[a] = sums{regs[b][0] + ">>4"}
		case scan(l, "usra v%d.16b, v%d.16b, #4", &a, &b) && len(regs[b]) == 1:
			regs[a] = append(slices.Clone(regs[a]), regs[b][0]+">>4")
		case scan(l, "shl v%d.16b, v%d.16b, #4", &a, &b):
			regs[a] = append(sums{"16 *"}, regs[b]...)
		case scan(l, "add v%d.16b, v%d.16b, v%d.16b", &a, &b, &c) && a == b:
			regs[a] = append(slices.Clone(regs[a]), regs[c]...)
		case scan(l, "sub v%d.16b, v%d.16b, v%d.16b", &a, &b, &c) && a == b && regs[c][0] == "16 *" && len(regs[c]) == i.Groups+1,
			scan(l, "mls v%d.16b, v%d.16b, v%d.16b", &a, &b, &c) && regs[c][0] == "16" && len(regs[b]) == i.Groups:
			regs[a] = append(slices.Clone(regs[a]), "lower")
		case scan(l, "ldp q%d, q%d, [$0, #%d]", &a, &b, &at):
			regs[a], regs[b] = sums{fmt.Sprintf("y%d", at)}, sums{fmt.Sprintf("y%d", at+16)}
		case scan(l, "uaddw v%d.8h, v%d.8h, v%d.8b", &a, &b, &c) && a == b, scan(l, "uaddw2 v%d.8h, v%d.8h, v%d.16b", &a, &b, &c) && a == b:
			regs[a] = append(slices.Clone(regs[a]), regs[c]...)
		case scan(l, "stp q%d, q%d, [$0, #%d]", &a, &b, &at):
			stored[at], stored[at+16] = regs[a], regs[b]
		default:
			return fmt.Errorf("%q is no instruction of a row", l)
		}
	}
	filters := i.Lanes / 16
	for at := 0; at < 16*2*filters*2*i.Positions; at += 16 {
		f, p, q := at/32%filters, at/32/filters%2, at/32/filters/2
		want := sums{fmt.Sprintf("y%d", at)}
		for g := range i.Groups {
			found := fmt.Sprintf("t%d[w%d]", 16*(q*i.Groups+g), 16*(g*filters+f))
			if p == 1 {
				found += ">>4"
			}
			want = append(want, found)
		}
		if p == 0 {
			want = append(want, "lower")
		}
		got := slices.Clone(stored[at])
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			return fmt.Errorf("at %d is\n%v, want\n%v", at, got, want)
		}
	}
	return nil
}
