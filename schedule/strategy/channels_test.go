package strategy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ripc/graph"
	"ripc/internal/difftest"
	"ripc/internal/testlayer"
	"ripc/ir"
	"ripc/schedule/strategy"
	"ripc/targets"
)

// TestDotChannels: a row of an odd number of positions is a tile with an instruction for its last position, and has the same bits.
func TestDotChannels(t *testing.T) {
	for _, target := range []string{"rpi3", "generic-armv7"} {
		m, err := targets.Lookup(target)
		if err != nil {
			t.Fatal(err)
		}
		testChannels(t, m)
	}
}

func testChannels(t *testing.T, m targets.Target) {
	for _, c := range []struct{ k, stride, in, w int }{{3, 1, 32, 5}, {3, 2, 16, 5}, {1, 1, 64, 3}, {1, 2, 128, 6}, {3, 1, 16, 4}} {
		name := fmt.Sprintf("%s, %dx%dx%d, by %d, %d columns", m.Name, c.k, c.k, c.in, c.stride, c.w)
		a := &graph.FusedConv{KH: c.k, KW: c.k, SH: c.stride, SW: c.stride, In: c.in, Out: 16, Groups: 1}
		a.Pad = graph.Padding{Mode: graph.PadExplicit, Top: c.k / 2, Bottom: c.k / 2, Left: c.k / 2, Right: c.k / 2}
		f := testlayer.Bytes(a, m, ir.Unipolar, 8, 1, c.k, c.w)
		l := strategy.LayerOf(f, m)
		all := strategy.For(l)
		s := all[slices.IndexFunc(all, func(s strategy.Strategy) bool { return s.Name == "dot_channels" })]
		widest, w := 0, (c.w+c.stride-1)/c.stride
		for _, k := range s.Knobs(l) {
			for _, v := range k.Domain {
				choice, err := s.Build(l, strategy.Values{k.Name: v})
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				difftest.Same(t, f, choice.PackingFunc(), 1)
				if k.Name != "tile_w" {
					continue
				}
				widest = v
				for positions, want := range map[int]bool{2: true, 1: v > 2} {
					if instr := fmt.Sprintf("smull_channels_%ds%d", positions, c.stride); want != strings.Contains(fmt.Sprint(choice.Trace), instr) {
						t.Errorf("%s, tile_w=%d: %s: %t", name, v, instr, !want)
					}
				}
			}
		}
		if want := w - (1-w%2)*(w-2); widest != want {
			t.Errorf("%s: the widest tile has %d positions, want %d", name, widest, want)
		}
	}
}
