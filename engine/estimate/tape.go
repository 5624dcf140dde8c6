package estimate

// tape is straight code in which several lines lie, some over others: what is executed one after
// the other shares most of what was before it. llvm-mca takes far longer to read an instruction
// than to simulate it, and reads what lines share once.
type tape struct {
	code  line
	spans []span
}

// span is where a line lies on a tape, in instructions.
type span struct{ line, first, end int }

// tapes lays lines, those from first to end, on as few instructions as one look at each finds:
// where a line lies in a tape already, or behind the tape that ends with the most of what the line
// begins with.
func tapes(lines []line, first, end int) []tape {
	var all []tape
	for i := first; i < end; i++ {
		l := lines[i]
		borders := bordersOf(l)
		best, most, begin := -1, 0, 0
		for k := range all {
			at, n := meet(all[k].code, l, borders)
			if n > most {
				best, most, begin = k, n, at
			}
		}
		if best < 0 {
			best, all = len(all), append(all, tape{})
		}
		t := &all[best]
		t.code = append(t.code, l[most*step:]...)
		t.spans = append(t.spans, span{i, begin, begin + len(l)/step})
	}
	return all
}

// bordersOf gives, for each number of instructions that l begins with, how many of them are also
// the last of these, but for all (the failure function of Knuth, Morris and Pratt).
func bordersOf(l line) []int {
	n := len(l) / step
	borders := make([]int, n+1)
	for i, k := 1, 0; i < n; i++ {
		for k > 0 && !same(l, k, l, i) {
			k = borders[k]
		}
		if same(l, k, l, i) {
			k++
		}
		borders[i+1] = k
	}
	return borders
}

// meet finds where l lies in code, or begins so that what code has ends with its first
// instructions: it gives the place, and how many of l's instructions are there.
func meet(code, l line, borders []int) (first, n int) {
	k, length := 0, len(l)/step
	for i := range len(code) / step {
		for k > 0 && !same(l, k, code, i) {
			k = borders[k]
		}
		if same(l, k, code, i) {
			k++
		}
		if k == length {
			return i + 1 - k, k
		}
	}
	return len(code)/step - k, k
}

// same reports whether instruction i of a is instruction k of b.
func same(a line, i int, b line, k int) bool {
	return [step]byte(a[i*step:]) == [step]byte(b[k*step:])
}
