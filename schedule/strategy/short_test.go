package strategy_test

import (
	"fmt"
	"testing"

	"ripc/graph"
	"ripc/internal/testlayer"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/schedule/strategy"
	"ripc/targets"
)

// pointwise is a 1x1 layer whose outputs are levels of so many bits.
func pointwise(in, out, bits int) *graph.FusedConv {
	a := &graph.FusedConv{KH: 1, KW: 1, SH: 1, SW: 1, In: in, Out: out}
	a.Epilogue = graph.Epilogue{OutBits: bits, OutEnc: ir.Unipolar}
	for range 1<<bits - 1 {
		a.Epilogue.Thresholds = append(a.Epilogue.Thresholds, make([]int32, out))
	}
	return a
}

// TestShortWritten: counts that are added up in 8 or 16 bits have their loops over words written out only if the weights of all words fit registers, or are of a block of channels
// inside of a tile. By estimated cycles each default is the better of the two, in rows of 14 or 28.
func TestShortWritten(t *testing.T) {
	for _, c := range []struct {
		target       string
		w, in, out   int
		bits         int
		written      int
		filtersOuter int
	}{
		{"rpi5", 28, 192, 64, 2, 0, 1}, // 60,270 cycles, and 80,250 written out
		{"rpi5", 28, 64, 64, 1, 1, 1},
		{"rpi5", 28, 32, 64, 2, 1, 1},
		{"rpi5", 28, 32, 64, 3, 0, 1},
		{"rpi4", 14, 192, 256, 1, 1, 0}, // blocks of channels inside
		{"rpi3", 28, 64, 64, 2, 1, 1},   // which waits for loops
		{"rpi3", 28, 128, 64, 1, 1, 1},
		{"rpi3", 28, 128, 64, 2, 0, 1},
		{"rpi3", 28, 64, 64, 3, 0, 1},
		{"rpi3", 28, 256, 64, 2, 1, 1},       // a loop over words anyway
		{"rpi3-armv7", 28, 128, 64, 2, 1, 1}, // sums of 32 bits
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			m, err := targets.Lookup(c.target)
			if err != nil {
				t.Fatal(err)
			}
			l := strategy.LayerOf(testlayer.Integers(pointwise(c.in, c.out, c.bits), m, layout.Popcount, ir.Unipolar, c.bits, 1, 6, c.w, ops.Slice{}), m)
			for _, s := range strategy.For(l) {
				if s.Name != "words" {
					continue
				}
				if v := s.Defaults(l); v["unroll"] != c.written || v["filters_outer"] != c.filtersOuter {
					t.Errorf("the default is %s", v)
				}
			}
		})
	}
}
