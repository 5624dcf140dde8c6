package fusedglue

import (
	"math"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/f32"
	"ripc/ir"
)

// formulaOf returns a quantizer that divides by the spacing of thresholds t, rounds and clips, if
// it gives every f32 the same level as the thresholds of a. That may succeed if the spacing is a
// power of two. Otherwise it returns nil.
//
// The result has the level type of a if the levels stand for the quotients times the spacing.
// Otherwise its scale and zero are those of the formula, not of the real values of the levels.
//
// Each rounding of the formula is monotone, so the formula is. Hence testing both sides of each
// threshold proves equality everywhere.
func formulaOf(a *graph.ThresholdAttrs, t *graph.Tensor) *scalar.Quantizer {
	rows, columns := t.Shape[0], t.Shape[1]
	if a.NotLess || rows < 2 {
		return nil
	}
	steps := make([]float32, rows)
	for j := range steps {
		row := t.Data.Floats()[j*columns : (j+1)*columns]
		if steps[j] = f32.Flush(row[0]); steps[j]-steps[j] != 0 || differ(row) {
			return nil
		}
	}
	gap := float32((float64(steps[rows-1]) - float64(steps[0])) / float64(rows-1))
	for _, scale := range []float32{gap, f32.FromOrder(f32.Order(gap) + 1), f32.FromOrder(f32.Order(gap) - 1)} {
		first := math.Floor(float64(steps[0]) / float64(scale))
		if !(float64(scale) >= graph.MinScale && float64(scale) <= graph.MaxScale && math.Abs(first) < 1<<20) {
			continue
		}
		for zero := -int(first) - 1; zero <= 2-int(first); zero++ {
			q := &scalar.Quantizer{LevelType: scalar.LevelType{Bits: a.Bits, Enc: a.Enc, Scale: float64(scale),
				Zero: zero}, Range: &scalar.Range{Min: -zero, Max: rows - zero}}
			for _, q.Rounding = range scalar.Roundings() {
				if !matches(q, steps) {
					continue
				}
				if a.Enc == ir.Unipolar && float32(a.Scale) == scale && a.Zero == zero && a.Offset == 0 {
					q.LevelType = a.LevelType
				}
				return q
			}
		}
	}
	return nil
}

// matches reports whether q and the thresholds give the same levels.
func matches(q *scalar.Quantizer, thresholds []float32) bool {
	for j, x := range thresholds {
		if q.Eval(x) <= j || q.Eval(predecessor(x)) > j {
			return false
		}
	}
	return !slices.ContainsFunc(thresholds, func(x float32) bool { return x != x })
}

// predecessor returns the largest number less than x, treating subnormal numbers as 0.
func predecessor(x float32) float32 {
	if x == 0 {
		return -0x1p-126
	}
	return f32.Flush(f32.FromOrder(f32.Order(x) - 1))
}
