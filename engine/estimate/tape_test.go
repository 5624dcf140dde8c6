package estimate

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// TestTapes: every line lies on a tape where its span says, on no more than the lines have together; what parts of one walk share is there
// once.
func TestTapes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.SampledFrom([]int{2, 200}).Draw(t, "kinds")
		walk := rapid.SliceOfN(rapid.IntRange(0, kinds), 1, 60).Draw(t, "walk")
		part := func(first, end int) line {
			var l line
			for _, x := range walk[first:end] {
				l = append(l, 0, 0, byte(x), 1) // bytes of neighbours look like instructions
			}
			return l
		}
		var lines []line
		total := 0
		for range rapid.IntRange(1, 8).Draw(t, "lines") {
			first := rapid.IntRange(0, len(walk)-1).Draw(t, "first")
			lines = append(lines, part(first, rapid.IntRange(first+1, len(walk)).Draw(t, "end")))
			total += len(lines[len(lines)-1])
		}
		begin := rapid.IntRange(0, len(lines)-1).Draw(t, "begin")
		length, seen := 0, map[int]bool{}
		for _, tape := range tapes(lines, begin, len(lines)) {
			length += len(tape.code)
			for _, s := range tape.spans {
				if seen[s.line] || !bytes.Equal(tape.code[s.first*step:s.end*step], lines[s.line]) {
					t.Fatalf("line %d is not at %d to %d of %v", s.line, s.first, s.end, tape.code)
				}
				seen[s.line] = true
			}
		}
		if len(seen) != len(lines)-begin || length > total {
			t.Fatalf("%d of %d lines lie on %d bytes, alone they have %d", len(seen), len(lines)-begin, length, total)
		}
	})
	ahead := func(first, end int) (l line) {
		for i := first; i < end; i++ {
			l = append(l, 0, 0, byte(i), 1)
		}
		return l
	}
	got := tapes([]line{ahead(0, 20), ahead(0, 30), ahead(5, 25), ahead(10, 40), ahead(60, 70)}, 0, 5)
	if len(got) != 2 || len(got[0].code) != 40*step || len(got[1].code) != 10*step {
		t.Errorf("parts of two walks lie on %d tapes: %v", len(got), got)
	}
}
