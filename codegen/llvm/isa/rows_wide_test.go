package isa

import (
	"fmt"
	"testing"

	"ripc/targets/isa"
)

// TestWideLines follows what each register holds: each sum gets what each group's table has for its filters at each tap, once, the second of two groups with the other sign, which the
// difference turns round.
func TestWideLines(t *testing.T) {
	testWide(t, "aarch64", func(i isa.Instr) error { return followWide(i, linesOf(i, false)) })
}

// testWide follows the instructions of an architecture that look up in sums of 16 bits, with taps.
func testWide(t *testing.T, arch string, follow func(isa.Instr) error) {
	rows := 0
	for _, i := range isa.All() {
		if i.Meaning != isa.LookUpRow || i.Taps == 0 || i.Arch != arch {
			continue
		}
		rows++
		if err := follow(i); err != nil {
			t.Errorf("%s: %v", i.Func.Name, err)
		}
	}
	if rows == 0 {
		t.Error("there are no such instructions")
	}
}

// storedSums compares what registers of so many sums are stored with what i adds to them: what each group's table has for their 8 filters at each tap.
func storedSums(i isa.Instr, lanes int, stored map[int][]string) error {
	want := map[int][]string{}
	for p := range i.Positions {
		for f := 0; f < i.Lanes; f += lanes {
			at := 2 * (p*i.Lanes + f)
			want[at] = []string{fmt.Sprint("old", at)}
			for k := range i.Taps {
				for g := range i.Groups {
					want[at] = append(want[at], fmt.Sprintf("t%d[w%d]", 16*((p*i.Stride+k)*i.Groups+g), (k*i.Groups+g)*i.Lanes+f&^7))
				}
			}
		}
	}
	return sameSums(stored, want)
}

// followWide runs lines on names of values instead of values.
func followWide(i isa.Instr, lines []string) error {
	regs, sums, stored := map[int]string{}, map[int][]string{}, map[int][]string{}
	starts := map[int]int{} // how far addresses are beyond the operand
	taps, top := 0, 0
	for at := 0; at < len(lines); at++ {
		l := lines[at]
		var a, b, c, k, n int
		switch {
		case scan(l, "ldr q%d, [$0, #%d]", &a, &n) && a >= 16:
			sums[a] = []string{fmt.Sprint("old", n)}
		case scan(l, "str q%d, [$0, #%d]", &a, &n) && a >= 16:
			stored[n] = sums[a]
		case scan(l, "mov x%d, $%d", &a, &b):
			starts[a] = 0
		case scan(l, "mov w%d, #%d", &a, &n) && a == 11:
			taps = n
		case l == "1:":
			top = at
		case scan(l, "add x%d, x%d, #%d", &a, &b, &n) && a == b:
			starts[a] += n
		case scan(l, "subs w%d, w%d, #%d", &a, &b, &n) && a == b && n == 1:
			taps--
		case l == "b.ne 1b":
			if taps > 0 {
				at = top
			}
		case scan(l, "ldr q%d, [$1, #%d]", &a, &n):
			regs[a] = fmt.Sprint("t", n)
		case scan(l, "ldr q%d, [x%d, #%d]", &a, &b, &n) && b == 9:
			regs[a] = fmt.Sprint("t", n+starts[b])
		case scan(l, "ldr d%d, [$2, #%d]", &a, &n):
			regs[a] = fmt.Sprint("w", n)
		case scan(l, "ldr d%d, [x%d, #%d]", &a, &b, &n) && b == 10:
			regs[a] = fmt.Sprint("w", n+starts[b])
		case scan(l, "neg v%d.16b, v%d.16b", &a, &b):
			regs[a] = "-" + regs[b]
		case scan(l, "tbl v%d.8b, {v%d.16b}, v%d.8b", &a, &b, &c):
			regs[a] = regs[b] + "[" + regs[c] + "]"
		case scan(l, "sabal v%d.8h, v%d.8b, v%d.8b", &a, &b, &k) && regs[k][0] == '-':
			sums[a] = append(sums[a], regs[b], regs[k][1:])
			regs[b], regs[k] = "", "" // each is added once
		default:
			return fmt.Errorf("%q is no instruction of a row, or reads what was not loaded", l)
		}
	}
	return storedSums(i, 8, stored)
}
