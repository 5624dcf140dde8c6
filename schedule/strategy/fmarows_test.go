package strategy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ripc/graph"
	"ripc/internal/difftest"
	"ripc/internal/testlayer"
	"ripc/lower/ops"
	"ripc/schedule/strategy"
	"ripc/targets"
)

// TestFmaRows: layers of floats on in-order cores have rows of taps at all values of the knobs, and the same bits.
func TestFmaRows(t *testing.T) {
	for _, c := range []struct {
		k, stride, in, out, w, bits int
		row                         string // for a number of channels; "": there is none
	}{
		{3, 2, 3, 16, 11, 0, "9x%d_s6"},
		{3, 1, 3, 32, 6, 1, "9x%d_s3"},
		{7, 2, 3, 32, 9, 0, "21x%d_s6"},
		{3, 1, 32, 16, 5, 0, "16x%d_s32"},
		{1, 2, 24, 48, 9, 0, "8x%d_s48"},
		{1, 1, 16, 64, 4, 1, "16x%d_s16"},
		{1, 1, 16, 64, 1, 0, ""}, // there are no neighbours
		{3, 1, 16, 32, 7, 0, "16x%d_s16"},
		{3, 1, 16, 24, 5, 0, "16x%d_s16"}, // channels fill no instruction of 16
		{3, 1, 20, 16, 5, 0, ""},          // so do inputs
		{3, 1, 264, 16, 5, 0, ""},         // no instruction has the stride
	} {
		name := fmt.Sprintf("%dx%dx%d to %d, by %d, %d bits", c.k, c.k, c.in, c.out, c.stride, c.bits)
		a := &graph.FusedConv{KH: c.k, KW: c.k, SH: c.stride, SW: c.stride, In: c.in, Out: c.out, Groups: 1}
		a.Pad = graph.Padding{Mode: graph.PadExplicit, Top: c.k / 2, Bottom: c.k / 2, Left: c.k / 2, Right: c.k / 2}
		if c.bits > 0 {
			a.Epilogue.OutBits, a.Epilogue.Levels = c.bits, []float32{0.5}
		}
		f := testlayer.Reals(a, 1, c.k, c.w, ops.Slice{})
		w := (c.w + c.stride - 1) / c.stride
		for target, tile := range map[string]struct{ most, lanes int }{"rpi3": {4, 16}, "generic-armv7": {5, 8}, "rpi4": {}} {
			most, lanes := tile.most, tile.lanes
			m, err := targets.Lookup(target)
			if err != nil {
				t.Fatal(err)
			}
			l := strategy.LayerOf(f, m)
			all := strategy.For(l)
			n := slices.IndexFunc(all, func(s strategy.Strategy) bool { return s.Name == "fma_rows" })
			if want := most > 0 && c.row != "" && c.out%lanes == 0; want != (n >= 0) {
				t.Errorf("%s on %s: rows: %t", name, target, n >= 0)
			}
			if n < 0 {
				continue
			}
			for _, k := range all[n].Knobs(l) {
				for _, v := range k.Domain {
					choice, err := all[n].Build(l, strategy.Values{k.Name: v})
					if err != nil {
						t.Errorf("%s: %v", name, err)
						continue
					}
					positions := []int{min(most, w)}
					if k.Name == "tile_w" && v > most {
						positions = append(positions, w%most)
					}
					for _, n := range positions {
						if trace, row := fmt.Sprint(choice.Trace), fmt.Sprintf("fma_row_%dx"+c.row, n, lanes); !strings.Contains(trace, row) {
							t.Errorf("%s: no row %s:\n%s", name, row, trace)
						}
					}
					if trace := fmt.Sprint(choice.Trace); c.in == 3 && !strings.Contains(trace, "vectorize xp.w.r") {
						t.Errorf("%s: pixels are copied one by one:\n%s", name, trace)
					}
					difftest.Same(t, f, choice.PackingFunc(), 1)
				}
			}
		}
	}
}
