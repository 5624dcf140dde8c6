package kit

import "math"

// Span is a part of an axis: Count positions from Begin on, each Step further.
type Span struct{ Begin, Count, Step int }

// Cut is the span that a slice from start to end takes of an axis of the given extent, as numpy has
// it: ends count from behind where they are negative, and are clamped. step is not 0.
func Cut(extent, start, end, step int) Span {
	lo, hi := 0, extent
	if step < 0 {
		lo, hi = -1, extent-1
	}
	clamp := func(v int) int {
		if v < 0 {
			v += extent
		}
		return min(max(v, lo), hi)
	}
	s := Span{Begin: clamp(start), Step: step}
	distance, by := clamp(end)-s.Begin, step
	if step < 0 {
		if step == math.MinInt { // its negative is no number
			s.Step = -extent - 1
		}
		distance, by = -distance, -s.Step
	}
	if distance > 0 {
		s.Count = (distance-1)/by + 1
	}
	return s
}

// Runs cuts positions of an axis into spans, in their order: as long as they go up by equal steps
// they are one.
func Runs(positions []int) []Span {
	var runs []Span
	for i := 0; i < len(positions); {
		count, step := 1, 1
		if i+1 < len(positions) {
			step = max(1, positions[i+1]-positions[i])
		}
		for i+count < len(positions) && positions[i+count] == positions[i]+count*step {
			count++
		}
		if count == 1 {
			step = 1
		}
		runs = append(runs, Span{positions[i], count, step})
		i += count
	}
	return runs
}
