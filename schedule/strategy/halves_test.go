package strategy_test

import (
	"testing"

	"ripc/internal/testlayer"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/targets"
)

// TestNarrowHalves: rows of few positions have schedules too, such as those of 2, whose halves have no loop.
func TestNarrowHalves(t *testing.T) {
	m, err := targets.Lookup("rpi3")
	if err != nil {
		t.Fatal(err)
	}
	for w := 2; w <= 5; w++ {
		for _, in := range []int{64, 96, 128} {
			f := testlayer.Integers(pointwise(in, 64, 2), m, layout.Table4Halves, ir.Unipolar, 2, 1, 7, w, ops.Slice{})
			plain(t, f, m)
		}
	}
}
