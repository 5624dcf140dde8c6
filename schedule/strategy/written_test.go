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

// TestWritten: where AVX-512 has sums in registers, looked up or counted, a tile's positions are so few that the words that are made of them are written out, since registers have
// no index; and whole sums are.
func TestWritten(t *testing.T) {
	m := machines(t)[0]
	for _, c := range []struct {
		by                    layout.Algorithm
		in, out, k, w, planes int
	}{
		{layout.Table6, 32, 128, 1, 27, 3},
		{layout.Table6, 64, 256, 1, 13, 2},
		{layout.Table6, 64, 256, 1, 13, 3},
		{layout.Table6, 48, 192, 1, 13, 3},
		{layout.Table6, 16, 64, 3, 55, 3},
		{layout.Table6, 32, 128, 3, 27, 2},
		{layout.Table6, 16, 64, 1, 14, 3},
		{layout.PopcountDense8, 16, 64, 1, 55, 2},
		{layout.PopcountDense8, 16, 64, 1, 55, 3},
		{layout.PopcountDense, 8, 32, 3, 12, 3},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			a := &graph.FusedConv{KH: c.k, KW: c.k, SH: 1, SW: 1, In: c.in, Out: c.out}
			a.Pad = graph.Padding{Mode: graph.PadExplicit, Top: c.k / 2, Bottom: c.k / 2, Left: c.k / 2, Right: c.k / 2}
			thresholds := make([][]int32, 1<<c.planes-1)
			for i := range thresholds {
				thresholds[i] = make([]int32, c.out)
			}
			a.Epilogue = graph.Epilogue{OutBits: c.planes, OutEnc: ir.Unipolar, Thresholds: thresholds}
			d := byDefault(t, testlayer.Integers(a, m, c.by, ir.Unipolar, c.planes, 1, 2, c.w, ops.Slice{}), m)
			if d.Strategy == "table" && d.Values["kept"] != 1 {
				t.Fatalf("the default is %s %s: this layer tests nothing", d.Strategy, d.Values)
			}
			for _, left := range d.LeftOut {
				if strings.HasPrefix(left.Step, "unroll") {
					t.Errorf("%s %s: %s, %s", d.Strategy, d.Values, left.Step, left.Why)
				}
			}
		})
	}
}
