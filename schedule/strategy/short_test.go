package strategy_test

import (
	"slices"
	"strings"
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

// TestPositionsWritten: the positions of a tile are written out whatever it takes to put the words together that are counted, of which 19, 21 and 22 channels have so many parts that copies of them
// would leave no room for sums in registers.
func TestPositionsWritten(t *testing.T) {
	for _, target := range []string{"rpi3", "rpi4", "rpi5"} {
		m, err := targets.Lookup(target)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range []int{16, 19, 20, 21, 22, 23} {
			a := pointwise(in, 64, 1)
			a.KH, a.KW, a.Pad = 3, 3, graph.Padding{Mode: graph.PadExplicit, Top: 1, Bottom: 1, Left: 1, Right: 1}
			f := testlayer.Integers(a, m, layout.PopcountDense8, ir.Unipolar, 1, 1, 28, 28, ops.Slice{})
			c := at(t, f, m, "words", strategy.Values{"tile_w": 7, "part": 32, "unroll": 1})
			if !slices.Contains(c.Trace.Lines(), "unroll acc.w") {
				t.Errorf("%s, %d channels: the sums of a tile are a loop over its positions:\n%s", target, in, strings.Join(c.Trace.Lines(), "\n"))
			}
		}
	}
}
