package strategy_test

import (
	"testing"

	"ripc/internal/testlayer"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/targets"
)

// TestSinglePosition: sums of three planes of few narrow words have one position and half a word of channels at a time on the A72, or two positions of one or two words.
func TestSinglePosition(t *testing.T) {
	for _, c := range []struct {
		target   string
		bits, in int
		tile     int
		part     int
	}{
		{"rpi4", 3, 16, 2, 16},
		{"rpi4", 3, 32, 1, 16},
		{"rpi5", 3, 16, 2, 32},
		{"rpi4", 2, 32, 9, 32},
		{"rpi4", 3, 96, 4, 32}, // a loop over 12 words
	} {
		m, err := targets.Lookup(c.target)
		if err != nil {
			t.Fatal(err)
		}
		f := testlayer.Integers(pointwise(c.in, 64, 1), m, layout.PopcountDense8, ir.Unipolar, c.bits, 1, 27, 27, ops.Slice{})
		if v := byDefault(t, f, m).Values; v["tile_w"] != c.tile || v["part"] != c.part {
			t.Errorf("%d bits, %d channels on %s: the default is %s, want tile_w=%d and part=%d", c.bits, c.in, c.target, v, c.tile, c.part)
		}
	}
}
