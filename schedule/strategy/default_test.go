package strategy_test

import (
	"testing"

	"ripc/graph"
	"ripc/internal/testlayer"
	"ripc/ir"
	"ripc/ir/size"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/schedule/strategy"
)

// TestPlainest: the plainest schedule is by the first strategy that can be built, at the first values of its knobs, and within limits of its code where there are any.
func TestPlainest(t *testing.T) {
	for name, f := range layers() {
		for _, m := range machines(t) {
			l := strategy.LayerOf(f, m)
			c, first := plainest(t, f, m), strategy.For(l)[0]
			if c.Strategy != first.Name {
				t.Errorf("%s on %s: %s, want %s", name, m.Name, c.Strategy, first.Name)
			}
			for _, k := range first.Knobs(l) {
				if c.Values[k.Name] != k.Domain[0] {
					t.Errorf("%s on %s: %s=%d, of %d", name, m.Name, k.Name, c.Values[k.Name], k.Domain)
				}
			}
			less, err := strategy.Plainest(f, m, 1, nil)
			if err != nil || size.Of(less.Func.Body) > size.Of(c.Func.Body) {
				t.Errorf("%s on %s, with as little code as may be: %d instructions and not %d: %v", name, m.Name, size.Of(less.Func.Body), size.Of(c.Func.Body), err)
			}
		}
	}
}

// TestPlainestOfStrides: layers whose positions are strides apart have schedules wherever counts are looked up, rows of look-ups or not.
func TestPlainestOfStrides(t *testing.T) {
	for _, in := range []int{32, 64} { // groups of a pixel: one run, or several
		for _, stride := range []int{2, 3} {
			a := &graph.FusedConv{KH: 3, KW: 3, SH: stride, SW: stride, In: in, Out: 64, Pad: graph.Padding{Top: 1, Bottom: 1, Left: 1, Right: 1}}
			a.Epilogue = graph.Epilogue{OutBits: 2, OutEnc: ir.Unipolar, Thresholds: [][]int32{make([]int32, a.Out), make([]int32, a.Out), make([]int32, a.Out)}}
			for _, m := range machines(t) {
				plain(t, testlayer.Integers(a, m, layout.Table4, ir.Unipolar, 2, 1, 18, 23, ops.Slice{}), m)
			}
		}
	}
}
