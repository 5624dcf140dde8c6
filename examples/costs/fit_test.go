package main

import (
	"math"
	"testing"

	"ripc/schedule/cost/measured"
	"ripc/targets"
)

// TestLeastSquares: constants that made the measurements are found again, what they say nothing of stays, and none is below zero.
func TestLeastSquares(t *testing.T) {
	rows := [][]float64{{1, 0, 0}, {0.5, 0.25, 0}, {0, 0.5, 0}, {2, -0.5, 0}}
	x := leastSquares(rows, []float64{0.1, 0.1, 7}, []float64{1e-9, 1e-9, 1e-9})
	for k, want := range []float64{1, 2, 7} {
		if math.Abs(x[k]-want) > 5e-3*want {
			t.Errorf("constant %d is %v, not %v", k, x[k], want)
		}
	}
	if x := leastSquares([][]float64{{-1}}, []float64{0.5}, []float64{0}); x[0] != 0 {
		t.Errorf("below zero is better: %v", x)
	}
}

// TestFitted: fitting again to what is kept moves nothing but what rounding does.
func TestFitted(t *testing.T) {
	all, err := measured.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		m, err := targets.Measured(s.Target)
		if err != nil {
			t.Fatal(err)
		}
		c, _, err := fittedSums(s, m)
		if err != nil {
			t.Fatal(err)
		}
		if was := targets.FittedTo(s.Target).Word; math.Abs(c.Word/was-1) > 0.05 {
			t.Errorf("%s: a word costs %v, and %v when it is fitted again; run go run ./examples/costs fit", s.Target, was, c.Word)
		}
	}
}
