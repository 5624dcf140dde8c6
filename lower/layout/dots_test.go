package layout

import (
	"testing"

	"ripc/ir"
)

// TestRangeOf: weights are said to be within the narrowest of a few ranges that has them, none where one is -128.
func TestRangeOf(t *testing.T) {
	for _, c := range []struct {
		weights []int8
		want    ir.Range
	}{
		{[]int8{0, 0}, ir.Range{From: -1, To: 1}},
		{[]int8{1, -1, 0}, ir.Range{From: -1, To: 1}},
		{[]int8{-2, 1}, ir.Range{From: -3, To: 3}},
		{[]int8{63, -64}, ir.Range{From: -127, To: 127}},
		{[]int8{63, -63}, ir.Range{From: -63, To: 63}},
		{[]int8{127, -127}, ir.Range{From: -127, To: 127}},
		{[]int8{127, -128}, ir.Range{}},
	} {
		if got := rangeOf(c.weights); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.weights, got, c.want)
		}
	}
}
