package isa

import (
	"fmt"
	"slices"
	"testing"

	"ripc/targets/isa"
)

// TestArmLookUpLines follows what each register holds: each sum in memory gets what each group's table has for its filters at each tap, once.
func TestArmLookUpLines(t *testing.T) {
	testWide(t, "arm", func(i isa.Instr) error { return followArmLookUps(i, linesOf(i, true)) })
}

// followArmLookUps runs lines on names of values instead of values; registers are those of 8 bytes.
func followArmLookUps(i isa.Instr, lines []string) error {
	const atTables, atEntries, tap, sums, tables, entries = 0, 1, 2, 3, 4, 5 // operands
	regs, bytes, wide, stored := map[int]string{}, map[int][]string{}, map[int][]string{}, map[int][]string{}
	start := map[int]int{atTables: -1, atEntries: -1} // how far addresses are beyond the operands
	taps, top := 0, 0
	for at := 0; at < len(lines); at++ {
		l := lines[at]
		var a, b, c, d, n int
		switch {
		case scan(l, "mov $%d, $%d", &a, &b) && b == map[int]int{atTables: tables, atEntries: entries}[a]:
			start[a] = 0
		case scan(l, "mov $%d, #%d", &a, &n) && a == tap:
			taps = n
		case l == "1:":
			top = at
		case scan(l, "add $%d, $%d, #%d", &a, &b, &n) && a == b && start[a] >= 0:
			start[a] += n
		case scan(l, "subs $%d, $%d, #1", &a, &b) && a == b && a == tap:
			taps--
		case l == "bne 1b":
			if taps > 0 {
				at = top
			}
		case scan(l, "vldr d%d, [$%d, #%d]", &a, &b, &n) && b == sums:
			wide[a] = slices.Clone(stored[n])
			if wide[a] == nil {
				wide[a] = []string{fmt.Sprint("old", n)}
			}
		case scan(l, "vldr d%d, [$%d, #%d]", &a, &b, &n) && n <= 1020 && start[b] >= 0:
			regs[a] = fmt.Sprintf("%c%d", "tw"[b], n+start[b])
		case scan(l, "vstr d%d, [$%d, #%d]", &a, &b, &n) && b == sums:
			stored[n] = wide[a]
		case scan(l, "vtbl.8 d%d, {d%d, d%d}, d%d", &a, &b, &c, &d) && c == b+1:
			var first, second int
			if !scan(regs[b], "t%d", &first) || !scan(regs[c], "t%d", &second) || second != first+8 {
				return fmt.Errorf("%q reads no table", l)
			}
			regs[a], bytes[a] = "", []string{regs[b] + "[" + regs[d] + "]"}
		case scan(l, "vadd.i8 q%d, q%d, q%d", &a, &b, &c) && a == b:
			for h := range 2 {
				bytes[2*a+h] = append(bytes[2*a+h], bytes[2*c+h]...)
				bytes[2*c+h] = nil // each is added once
			}
		case scan(l, "vaddw.u8 q%d, q%d, d%d", &a, &b, &c) && a == b:
			for h := range 2 { // of four filters each
				wide[2*a+h] = append(wide[2*a+h], bytes[c]...)
			}
			bytes[c] = nil
		default:
			return fmt.Errorf("%q is no instruction of a row, or reads what was not loaded", l)
		}
	}
	return storedSums(i, 4, stored)
}
