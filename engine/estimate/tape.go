package estimate

// tape is straight-line code that contains several lines, with overlaps: consecutive lines share
// most of their code. llvm-mca takes far longer to read an instruction than to simulate it, and so
// reads shared code once.
type tape struct {
	code  line
	spans []span
}

// span is where a line lies on a tape, in instructions.
type span struct{ line, first, end int }

// tapes packs the lines from first to end greedily on few instructions. A line goes where a tape
// contains it already, or behind the tape that ends with the longest prefix of the line.
func tapes(lines []line, first, end int) []tape {
	var all []tape
	for i := first; i < end; i++ {
		l := lines[i]
		borders := borders(l)
		best, most, begin := -1, 0, 0
		for k := range all {
			at, n := overlapWith(all[k].code, l, borders)
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

// borders returns, for each prefix of l, the length of its longest proper border: a prefix that is
// also a suffix (the failure function of Knuth, Morris and Pratt).
func borders(l line) []int {
	n := len(l) / step
	borders := make([]int, n+1)
	for i, k := 1, 0; i < n; i++ {
		for k > 0 && !sameInstruction(l, k, l, i) {
			k = borders[k]
		}
		if sameInstruction(l, k, l, i) {
			k++
		}
		borders[i+1] = k
	}
	return borders
}

// overlapWith finds l in code, or the longest prefix of l that ends code. It returns the place, and
// the number of l's instructions found there.
func overlapWith(code, l line, borders []int) (first, n int) {
	k, length := 0, len(l)/step
	for i := range len(code) / step {
		for k > 0 && !sameInstruction(l, k, code, i) {
			k = borders[k]
		}
		if sameInstruction(l, k, code, i) {
			k++
		}
		if k == length {
			return i + 1 - k, k
		}
	}
	return len(code)/step - k, k
}

// sameInstruction reports whether instruction i of a is instruction k of b.
func sameInstruction(a line, i int, b line, k int) bool {
	return [step]byte(a[i*step:]) == [step]byte(b[k*step:])
}
