package kit

import "testing"

// TestSample: positions that are repeated equally often, or follow one another, need no list.
func TestSample(t *testing.T) {
	for _, c := range []struct {
		n      int
		from   []int
		times  int
		cut    Span
		listed bool
	}{
		{3, []int{0, 0, 1, 1, 2, 2}, 2, WholeSpan(3), false},
		{3, []int{0, 1, 2}, 1, WholeSpan(3), false},
		{6, []int{1, 3, 5}, 1, Span{1, 3, 2}, false},
		{4, []int{0, 1, 3}, 1, WholeSpan(4), true},
		{2, []int{0, 0, 0, 1}, 1, WholeSpan(2), true},
	} {
		if times, cut, listed := Sample(c.n, c.from); times != c.times || cut != c.cut || listed != c.listed {
			t.Errorf("%v of %d: %d times, %v, listed %v; want %d, %v, %v", c.from, c.n, times, cut, listed, c.times, c.cut, c.listed)
		}
	}
}

func TestForward(t *testing.T) {
	for _, c := range []struct {
		s, forward Span
		reversed   bool
	}{
		{Span{1, 3, 2}, Span{1, 3, 2}, false},
		{Span{5, 3, -2}, Span{1, 3, 2}, true},
		{Span{4, 1, -3}, Span{4, 1, 1}, false},
	} {
		if f, r := c.s.Forward(); f != c.forward || r != c.reversed {
			t.Errorf("%v forward is %v, reversed %v; want %v, %v", c.s, f, r, c.forward, c.reversed)
		}
	}
}
