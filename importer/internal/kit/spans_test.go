package kit

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestCutSpan: the positions are those that counting from start to end visits.
func TestCutSpan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		end := rapid.OneOf(rapid.IntRange(-12, 12), rapid.SampledFrom([]int{-1 << 62, 1 << 62}))
		extent, step := rapid.IntRange(1, 9).Draw(t, "extent"), rapid.SampledFrom([]int{1, 2, 3, 20, -1, -2, -20, -1 << 63}).Draw(t, "step")
		start, stop := end.Draw(t, "start"), end.Draw(t, "end")
		clamp := func(v, lo, hi int) int {
			if v < 0 {
				v += extent
			}
			return max(lo, min(v, hi))
		}
		var want []int
		if step > 0 {
			for i := clamp(start, 0, extent); i < clamp(stop, 0, extent); i += step {
				want = append(want, i)
			}
		} else {
			by := max(step, -extent-1)
			for i := clamp(start, -1, extent-1); i > clamp(stop, -1, extent-1); i += by {
				want = append(want, i)
			}
		}
		s := Cut(extent, start, stop, step)
		var got []int
		for k := range s.Count {
			got = append(got, s.Begin+k*s.Step)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%d[%d:%d:%d] is %v, %v; want %v", extent, start, stop, step, s, got, want)
		}
	})
}

// TestRuns: the spans give the positions again, and rising ones of equal steps are one span.
func TestRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		positions := rapid.SliceOf(rapid.IntRange(0, 6)).Draw(t, "positions")
		var got []int
		for _, s := range Runs(positions) {
			for k := range s.Count {
				got = append(got, s.Begin+k*s.Step)
			}
		}
		if !slices.Equal(got, positions) {
			t.Fatalf("%v became %v", positions, got)
		}
	})
	if runs := Runs([]int{1, 4, 7, 2, 2, 3}); !slices.Equal(runs, []Span{{1, 3, 3}, {2, 1, 1}, {2, 2, 1}}) {
		t.Errorf("%v", runs)
	}
}
