package strategy_test

import (
	"fmt"
	"strings"
	"testing"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/testlayer"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
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
				trace := fmt.Sprint(byDefault(t, f, m).Trace)
				if !strings.Contains(trace, "\nvectorize xl.o") || !strings.Contains(trace, "\ncompute_at xl q") {
					t.Errorf("words of filters are no vectors of a block:\n%s", trace)
				}
			})
		}
	}
}

// TestVectorsFirst: where the cheapest way to count would have to do without vectors, so that code is not too large, another one is taken. 5x5 layers in 2 groups took 8 to 13 times as long on x86-64-v4.
func TestVectorsFirst(t *testing.T) {
	for _, name := range []string{"x86-64", "x86-64-v4"} {
		m, err := targets.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		a := groups(2)
		a.KH, a.KW, a.Pad = 5, 5, graph.Padding{Top: 2, Bottom: 2, Left: 2, Right: 2}
		c := byDefault(t, testlayer.Integers(a, m, layout.PopcountDense, ir.Unipolar, 1, 1, 28, 28, ops.Slice{}), m)
		for _, l := range c.LeftOut {
			if strings.HasPrefix(l.Step, "vectorize acc.o") {
				t.Errorf("%s, %s: %s is left out: %s", name, c.Strategy, l.Step, l.Why)
			}
		}
	}
}

// TestGatheredRows: the copy of the input of which words of groups are put together stays on the stack, where it can.
func TestGatheredRows(t *testing.T) {
	m, err := targets.Lookup("rpi3")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ bits, groups, width, rows int }{
		{1, 8, 28, 7},
		{2, 8, 28, 1},
		{3, 8, 28, 1},  // 3 rows of 30 pixels of 36 bytes
		{3, 8, 112, 4}, // a row does not fit
	} {
		f := testlayer.Integers(groups(c.groups), m, layout.PopcountDense, ir.Unipolar, c.bits, 1, 28, c.width, ops.Slice{})
		if got := byDefault(t, f, m).Values["tile_h"]; got != c.rows {
			t.Errorf("%d bits, %d groups, %d columns: blocks of %d rows, want %d", c.bits, c.groups, c.width, got, c.rows)
		}
	}
}
