package strategy_test

import (
	"fmt"
	"strings"
	"testing"

	"ripc/graph"
	"ripc/internal/testlayer"
	"ripc/ir"
	"ripc/lower/ops"
	"ripc/schedule/strategy"
	"ripc/targets"
)

// TestPackedFilters: the weights of layers of floats lie by the blocks of filters in which they are read, where the first cache does not keep them or the core works in order, and blocks do not overlap. What
// a product of matrices reads in their place may be no constant, and stays.
func TestPackedFilters(t *testing.T) {
	layer := func(h, k, in, out, groups int) *ir.Func {
		a := &graph.FusedConv{KH: k, KW: k, SH: 1, SW: 1, In: in, Out: out, Groups: groups}
		a.Pad = graph.Padding{Mode: graph.PadExplicit, Top: k / 2, Bottom: k / 2, Left: k / 2, Right: k / 2}
		return testlayer.Reals(a, 1, h, h, ops.Slice{})
	}
	for _, c := range []struct {
		name, target string
		lanes        int
		f            *ir.Func
		want         string // "" if nothing is packed
	}{
		{"3x3", "x86-64-v4", 32, layer(7, 3, 512, 512, 1), "pack wt 3.o 0 1 2 3.i factor=32"},
		{"1x1", "x86-64-v4", 32, layer(14, 1, 512, 64, 1), "pack wt 3.o 0 1 2 3.i factor=32"},
		{"dense", "x86-64-v4", 128, layer(1, 1, 1024, 1024, 1), "pack wt 3.o 0 1 2 3.i factor=128"},
		{"groups", "x86-64-v4", 32, layer(14, 3, 256, 256, 2), "pack wt 3.o 0 1 2 3.i factor=32"},
		{"depthwise", "x86-64-v4", 32, layer(14, 3, 1024, 1024, 1024), "pack wt 3.o 0 1 2 3.i factor=32"},
		{"small", "x86-64-v4", 16, layer(14, 3, 16, 32, 1), ""}, // the first cache keeps 18 KB
		{"small for a core that works in order", "rpi3", 8, layer(14, 3, 16, 32, 1), "pack wt 3.o 0 1 2 3.i factor=8"},
		{"one block", "x86-64-v4", 32, layer(7, 3, 512, 32, 1), ""},
		{"overlapping", "x86-64-v4", 32, layer(7, 3, 512, 100, 1), ""},
		{"matrices", "x86-64-v4", 32, ops.MatMul([]int{64, 512}, []int{512, 512}), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := targets.Lookup(c.target)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, line := range strings.Split(fmt.Sprint(at(t, c.f, m, "float", strategy.Values{"lanes": c.lanes}).Trace), "\n") {
				if strings.HasPrefix(line, "pack ") {
					got += line
				}
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
