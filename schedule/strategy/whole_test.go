package strategy_test

import (
	"fmt"
	"testing"

	"ripc/internal/testlayer"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/targets"
)

// TestWholeSums: blocks of channels are inside of tiles where sums have no loop, there are several blocks, and each has several vectors; cores that work in
// order then have tiles that leave registers for the weights of all words. By estimated cycles these are the best tiles of rpi3's points
// without loops of the first two layers, or within 4 % of them.
func TestWholeSums(t *testing.T) {
	for _, c := range []struct {
		target               string
		w, in, out           int
		filtersOuter, atOnce int
	}{
		{"rpi3", 13, 48, 192, 0, 7},
		{"rpi3", 27, 32, 128, 0, 9},
		{"rpi4", 13, 48, 192, 0, 13},  // which does not wait for what is spilled
		{"rpi3", 13, 64, 256, 1, 13},  // a loop over 8 words
		{"rpi3", 55, 16, 64, 1, 11},   // two blocks
		{"rpi3", 13, 48, 8192, 1, 13}, // more weights than the first cache keeps
		{"x86-64-v3", 13, 48, 192, 1, 13},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			m, err := targets.Lookup(c.target)
			if err != nil {
				t.Fatal(err)
			}
			f := testlayer.Integers(pointwise(c.in, c.out, 1), m, layout.PopcountDense8, ir.Unipolar, 1, 1, c.w, c.w, ops.Slice{})
			v := byDefault(t, f, m).Values
			if v["filters_outer"] != c.filtersOuter || v["tile_w"] != c.atOnce {
				t.Errorf("the default is %s, want filters_outer=%d and tile_w=%d", v, c.filtersOuter, c.atOnce)
			}
		})
	}
}
