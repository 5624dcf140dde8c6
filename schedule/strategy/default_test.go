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
