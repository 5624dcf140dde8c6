package strategy_test

import (
	"testing"

	"ripc/graph"
	"ripc/internal/testlayer"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/schedule/strategy"
	"ripc/targets"
)

// TestDefaultBuilds: where the cheapest strategy would make too much code, the next one is taken.
func TestDefaultBuilds(t *testing.T) {
	a := &graph.FusedConv{KH: 1, KW: 2, SH: 1, SW: 1, In: 4096, Out: 20, Pad: graph.Padding{Mode: graph.PadExplicit, Left: 1, Right: 1}}
	a.Epilogue = graph.Epilogue{OutBits: 1, OutEnc: ir.Bipolar, Thresholds: [][]int32{make([]int32, a.Out)}}
	f := testlayer.Integers(a, targets.Target{}, layout.Popcount, ir.Bipolar, 1, 1, 1, 2, ops.Slice{})
	m := machines(t)[0]
	l := strategy.LayerOf(f, m)
	if _, err := named(t, "pairs").Build(l, nil); err == nil {
		t.Fatal("pairs can be built: this layer tests nothing")
	}
	c := byDefault(t, f, m)
	if c.Strategy == "pairs" {
		t.Errorf("the default is %s", c.Strategy)
	}
}

// TestDefaultOfStrides: layers whose positions are strides apart have default schedules wherever counts are looked up, rows of look-ups or not.
func TestDefaultOfStrides(t *testing.T) {
	for _, in := range []int{32, 64} { // groups of a pixel: one run, or several
		for _, stride := range []int{2, 3} {
			a := &graph.FusedConv{KH: 3, KW: 3, SH: stride, SW: stride, In: in, Out: 64, Pad: graph.Padding{Top: 1, Bottom: 1, Left: 1, Right: 1}}
			a.Epilogue = graph.Epilogue{OutBits: 2, OutEnc: ir.Unipolar, Thresholds: [][]int32{make([]int32, a.Out), make([]int32, a.Out), make([]int32, a.Out)}}
			for _, m := range machines(t) {
				byDefault(t, testlayer.Integers(a, m, layout.Table4, ir.Unipolar, 2, 1, 18, 23, ops.Slice{}), m)
			}
		}
	}
}
