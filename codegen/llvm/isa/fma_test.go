package isa

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ripc/targets/isa"
)

// TestFmaLines follows what each register of a row holds: each sum gets the products of its position and filters, once and in the order of
// taps, and no load leaves the operands.
func TestFmaLines(t *testing.T) {
	rows := slices.DeleteFunc(isa.All(), func(i isa.Instr) bool { return i.Meaning != isa.FmaRow })
	if len(rows) == 0 {
		t.Fatal("there are no rows")
	}
	for _, i := range rows {
		f := fmaLines{Instr: i, sums: i.Positions * i.Lanes / 4}
		f.write()
		if err := followFma(i, f.lines); err != nil {
			t.Errorf("%s: %v", i.Func.Name, err)
		}
	}
}

func followFma(i isa.Instr, lines []string) error {
	filters := i.Lanes / 4
	sums, inputs := i.Positions*filters, (i.Positions-1)*i.Stride+i.Taps
	starts := map[string]int{fmt.Sprintf("$%d", sums+1): 0}
	first := map[int]int{}   // the first element of inputs in a register
	weights := map[int]int{} // of a register: its tap and filters
	taps := make([]int, sums)
	at32 := map[int]int{}    // by operand: how far its address has moved
	byInput := map[int]int{} // of a register that an input fills
	steps := map[int]int{sums + 4: 4 * i.Stride, sums + 5: 4 * (1 - (i.Positions-1)*i.Stride)}
	for _, l := range lines {
		var to, x, w, lane, at, operand int
		var kind rune
		switch op, args, _ := strings.Cut(l, " "); op {
		case "add":
			if n, _ := fmt.Sscanf(args, "x%d, $%d, #%d", &to, &operand, &at); n < 3 || operand != sums+1 {
				return fmt.Errorf("%s", l)
			}
			starts[fmt.Sprint("x", to)] = at
		case "ldr":
			n, _ := fmt.Sscanf(args, "%c%d, [$%d, #%d]", &kind, &to, &operand, &at)
			size := map[rune]int{'s': 4, 'd': 8, 'q': 16}[kind]
			isNear := at < 256 || at%max(1, size) == 0 && at < 4096*size
			if n < 4 || operand != sums || at%4 != 0 || at+size > 4*inputs || size == 0 || !isNear {
				return fmt.Errorf("%s: a wrong load", l)
			}
			for e := range 4 {
				delete(first, 4*to+e)
			}
			for e := range size / 4 {
				first[4*to+e] = at/4 + e
			}
		case "ld4":
			var last int
			var from string
			n, _ := fmt.Sscanf(args, "{v%d.4s-v%d.4s}, [%s", &to, &last, &from)
			at, known := starts[strings.TrimSuffix(from, "]")]
			if n < 3 || last != to+filters-1 || !known {
				return fmt.Errorf("%s: a wrong load of weights", l)
			}
			for o := range filters {
				weights[to+o] = at/(4*i.Lanes)*filters + o
			}
		case "fmla":
			if n, _ := fmt.Sscanf(args, "$%d.4s, v%d.4s, v%d.s[%d]", &to, &w, &x, &lane); n < 4 {
				return fmt.Errorf("%s", l)
			}
			tap := taps[to]
			taps[to]++
			element, known := first[4*x+lane]
			if !known || element != to/filters*i.Stride+tap {
				return fmt.Errorf("%s: tap %d multiplies input %d", l, tap, element)
			}
			if set, known := weights[w]; !known || set != tap*filters+to%filters {
				return fmt.Errorf("%s: tap %d multiplies weights %d", l, tap, set)
			}
		case "vld1.32":
			var step int
			n, _ := fmt.Sscanf(args, "{d%d[], d%d[]}, [$%d], $%d", &to, &lane, &operand, &step)
			at = at32[operand]
			if n < 4 || to%2 > 0 || lane != to+1 || operand != sums || at < 0 || at+4 > 4*inputs || steps[step] == 0 {
				return fmt.Errorf("%s: a wrong load", l)
			}
			byInput[to/2] = at / 4
			at32[operand] += steps[step]
		case "vldmia":
			n, _ := fmt.Sscanf(args, "$%d!, {d%d-d%d}", &operand, &to, &lane)
			at = at32[operand]
			if size := 8 * (lane + 1 - to); n < 3 || operand != sums+1 || to%2 > 0 || at+size > 4*i.Taps*i.Lanes {
				return fmt.Errorf("%s: a wrong load of weights", l)
			}
			for r := to / 2; r <= lane/2; r++ {
				weights[r] = at32[operand] / 16
				at32[operand] += 16
			}
		case "vfma.f32":
			n, _ := fmt.Sscanf(args, "${%d:q}, q%d, q%d", &to, &w, &x)
			tap := taps[to]
			taps[to]++
			element, known := byInput[x]
			set, isSet := weights[w]
			if n < 3 || !known || !isSet || element != to/filters*i.Stride+tap || set != tap*filters+to%filters {
				return fmt.Errorf("%s: tap %d multiplies input %d by weights %d", l, tap, element, set)
			}
		default:
			return fmt.Errorf("%s: unknown", l)
		}
	}
	for s, n := range taps {
		if n != i.Taps {
			return fmt.Errorf("sum %d has %d taps", s, n)
		}
	}
	return nil
}
