package strategy_test

import (
	"fmt"
	"strings"
	"testing"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/schedule/strategy"
	"ripc/targets"
)

// groups is a 3x3 layer of 96 channels in so many groups.
func groups(n int) *graph.FusedConv {
	a := &graph.FusedConv{KH: 3, KW: 3, SH: 1, SW: 1, In: 96, Out: 96, Groups: n, Pad: graph.Padding{Top: 1, Bottom: 1, Left: 1, Right: 1}}
	a.Epilogue = graph.Epilogue{OutBits: 1, OutEnc: ir.Unipolar, Thresholds: [][]int32{make([]int32, a.Out)}}
	return a
}

// TestOwnWords: words that each filter has for itself are made for a block of filters, in vectors, whatever is counted in them.
func TestOwnWords(t *testing.T) {
	for _, name := range []string{"rpi3", "rpi3-armv7", "x86-64-v3", "x86-64-v4"} {
		for _, w := range []graph.Integers{{Min: -1, Max: 1, Step: 2}, {Max: 1, Step: 1}, {Min: -1, Max: 1, Step: 1}, {Min: -3, Max: 3, Step: 2}, {Min: -2, Max: 1, Step: 1}} {
			t.Run(fmt.Sprint(name, w), func(t *testing.T) {
				m, err := targets.Lookup(name)
				if err != nil {
					t.Fatal(err)
				}
				x := graph.Value{Name: "x", LevelType: scalar.LevelType{Enc: ir.Unipolar, Bits: 1}, Shape: []int{1, 28, 28, 96}}
				a := groups(16)
				a.X, a.W = graph.IntegersOf(x.LevelType), w
				f, _ := ops.Conv(layout.NewConv(a, x, m, layout.PopcountLanes), ops.Slice{})
				trace := fmt.Sprint(at(t, f, m, "words", strategy.Values{"filters_outer": 1}).Trace)
				if !strings.Contains(trace, "\nvectorize xl.o") || !strings.Contains(trace, "\ncompute_at xl q") {
					t.Errorf("words of filters are no vectors of a block:\n%s", trace)
				}
			})
		}
	}
}
