package strategy_test

import (
	"fmt"
	"strings"
	"testing"

	"ripc/graph"
	"ripc/internal/testlayer"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
)

// TestKeptWritten: sums of looked-up bytes that a tile keeps in registers stay there: its positions are so few that the words that are made of them are written out, since
// registers have no index.
func TestKeptWritten(t *testing.T) {
	m := machines(t)[0] // a table is one register
	for _, c := range []struct{ in, out, k, w, planes int }{
		{32, 128, 1, 27, 3}, {64, 256, 1, 13, 2}, {64, 256, 1, 13, 3}, {48, 192, 1, 13, 3}, {16, 64, 3, 55, 3}, {32, 128, 3, 27, 3}, {16, 64, 1, 14, 3},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			a := &graph.FusedConv{KH: c.k, KW: c.k, SH: 1, SW: 1, In: c.in, Out: c.out}
			a.Pad = graph.Padding{Mode: graph.PadExplicit, Top: c.k / 2, Bottom: c.k / 2, Left: c.k / 2, Right: c.k / 2}
			thresholds := make([][]int32, 1<<c.planes-1)
			for i := range thresholds {
				thresholds[i] = make([]int32, c.out)
			}
			a.Epilogue = graph.Epilogue{OutBits: c.planes, OutEnc: ir.Unipolar, Thresholds: thresholds}
			f := testlayer.Integers(a, m, layout.Table6, ir.Unipolar, c.planes, 1, 2, c.w, ops.Slice{})
			d := byDefault(t, f, m)
			if d.Values["kept"] != 1 {
				t.Fatalf("the default is %s %s: this layer tests nothing", d.Strategy, d.Values)
			}
			for _, left := range d.LeftOut {
				if strings.HasPrefix(left.Step, "unroll") {
					t.Errorf("%s: %s, %s", d.Values, left.Step, left.Why)
				}
			}
		})
	}
}
