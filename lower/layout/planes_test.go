package layout

import (
	"slices"
	"testing"

	"ripc/graph"
)

// TestCut: weights take as many planes as they have bits, and their bits add up to them.
func TestCut(t *testing.T) {
	for _, c := range []struct {
		w       graph.Integers
		falling bool
		ones    bool
		coefs   []int32
	}{
		{graph.Integers{Min: -1, Max: 1, Step: 2}, true, false, []int32{1}},
		{graph.Integers{Min: -1, Max: 1, Step: 1}, true, false, []int32{1, 1}},
		{graph.Integers{Min: -7, Max: 7, Step: 2}, false, false, []int32{1, 2, 4}},
		{graph.Integers{Min: 0, Max: 1, Step: 1}, false, true, []int32{1}},
		{graph.Integers{Min: 0, Max: 15, Step: 1}, false, true, []int32{1, 2, 4, 8}},
		{graph.Integers{Min: -2, Max: 1, Step: 1}, false, true, []int32{1, -2}},
		{graph.Integers{Min: -4, Max: 3, Step: 1}, false, true, []int32{1, 2, -4}},
		{graph.Integers{Min: -4, Max: 3, Step: 1}, true, false, []int32{1, 2, 4, 1}}, // 4 has no three bits
		{graph.Integers{Min: -3, Max: 4, Step: 1}, false, false, []int32{1, 2, 4, 1}},
		{graph.Integers{Min: -8, Max: 7, Step: 1}, false, true, []int32{1, 2, 4, -8}},
	} {
		f := &graph.FusedConv{Out: 2, W: c.w}
		if c.falling {
			f.Epilogue.Falling = []bool{false, true}
		}
		var ints []int16
		for v := c.w.Min; v <= c.w.Max; v += c.w.Step {
			ints = append(ints, int16(v), int16(v))
		}
		f.Ints = graph.NumbersOf(ints)
		got := cutOf(f)
		if got.ones != c.ones || !slices.Equal(got.coefs, c.coefs) {
			t.Errorf("%v: %+v, want %v", c.w, got, c.coefs)
			continue
		}
		for _, v := range f.Ints.All() {
			sum := 0
			for j, coef := range got.coefs {
				switch bit := got.bit(j, int(v)); {
				case bit:
					sum += int(coef)
				case !got.ones:
					sum -= int(coef)
				}
			}
			if !got.ones {
				sum = sum * c.w.Step / 2
			}
			if sum != int(v) {
				t.Errorf("%v: %g is stored as %d", c.w, v, sum)
			}
		}
	}
}
