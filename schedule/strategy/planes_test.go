package strategy_test

import (
	"fmt"
	"testing"

	"ripc/graph"
	"ripc/internal/testlayer"
	"ripc/ir"
	"ripc/ir/arith"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/targets"
)

// TestPlanes: sums of 8 planes are shown to fit, also where a row is a few tiles and a narrower one.
func TestPlanes(t *testing.T) {
	for _, m := range machines(t) {
		for _, c := range []struct{ w, in, k int }{{5, 160, 3}, {9, 96, 1}, {9, 512, 3}, {13, 1000, 3}} {
			t.Run(fmt.Sprint(m.Name, c), func(t *testing.T) {
				a := &graph.FusedConv{KH: c.k, KW: c.k, SH: 1, SW: 1, In: c.in, Out: 64}
				a.Pad = graph.Padding{Top: c.k / 2, Bottom: c.k / 2, Left: c.k / 2, Right: c.k / 2}
				a.Epilogue = graph.Epilogue{OutBits: 1, OutEnc: ir.Unipolar, Thresholds: [][]int32{make([]int32, a.Out)}}
				f := testlayer.Integers(a, targets.Target{}, layout.Popcount, ir.Unipolar, 8, 1, 2, c.w, ops.Slice{})
				for _, c := range plain(t, f, m) {
					if err := arith.VerifyWidths(c.Func); err != nil {
						t.Error(c.Strategy, err)
					}
				}
			})
		}
	}
}
