package strategy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/internal/difftest"
	"ripc/internal/testlayer"
	"ripc/lower/layout"
	"ripc/schedule/strategy"
	"ripc/targets"
	"ripc/targets/isa"
)

// TestWindowsSame: layers whose windows have few bits give the same levels however what a table has of a window is copied, with strides, several planes, rows of the
// table for each class of border positions, and slices of wider outputs.
func TestWindowsSame(t *testing.T) {
	m := machines(t)[0]
	classed, split := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		a := &graph.FusedConv{SH: intRange(rt, 1, 3, "sh"), SW: intRange(rt, 1, 3, "sw"), Out: channels(rt, "out")}
		a.KH, a.KW = intRange(rt, 1, 3, "kh"), intRange(rt, 1, 3, "kw")
		h, w := intRange(rt, 1, 5, "h"), intRange(rt, 1, 40, "w")
		a.Pad = padding(rt, a.KH, a.KW, h, w)
		planes := intRange(rt, 1, 2, "planes")
		by, most, bits := layout.TableWindow, 9, 3
		if rapid.Bool().Draw(rt, "split") { // of one bit, and the same at borders
			by, most, bits = layout.TableWindowSplit, 18, 1
		}
		a.In = intRange(rt, 1, max(1, most/(a.KH*a.KW*planes)), "in")
		enc := encoding(rt)
		a.Epilogue = graph.Epilogue{OutBits: intRange(rt, 1, bits, "bits"), OutEnc: enc, Shift: &graph.ShiftAdd{}}
		if bits > 1 && rapid.Bool().Draw(rt, "border") {
			a.Epilogue.Border = []int32{1}
			classed++
		}
		x := graph.Value{Shape: []int{1, h, w, a.In}}
		x.Enc, x.Bits = enc, planes
		a.X, a.W = graph.IntegersOf(x.LevelType), graph.Integers{Min: -1, Max: 1, Step: 2} // as testlayer sets them
		if by.Lacks(a, &x) != "" {
			return
		}
		if by == layout.TableWindowSplit {
			split++
		}
		f := testlayer.Integers(a, targets.Target{}, by, enc, planes, intRange(rt, 1, 2, "batch"), h, w, slice(rt, a))
		s, l := named(t, "window"), strategy.LayerOf(f, m)
		if ok, why := s.Applies(l); !ok {
			rt.Fatal(why)
		}
		v := strategy.Values{}
		for _, k := range s.Knobs(l) {
			v[k.Name] = rapid.SampledFrom(k.Domain).Draw(rt, k.Name)
		}
		c, err := s.Build(l, v)
		if err != nil {
			rt.Fatal(err)
		}
		difftest.Same(&failing{t, rt, fmt.Sprintf("trace:\n%s", c.Trace)}, f, legal(rt, f, c.Trace, m), 1)
	})
	if classed == 0 || split == 0 {
		t.Errorf("%d tables have rows for border positions, and %d are of parts of windows", classed, split)
	}
}

// TestLevelsSame: so do single pixels of one bit, of which instructions look up several positions, as many of them written out as may be.
func TestLevelsSame(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := rapid.SampledFrom(machines(t)).Draw(rt, "machine")
		a := &graph.FusedConv{KH: 1, KW: 1, SH: intRange(rt, 1, 2, "sh"), SW: intRange(rt, 1, 2, "sw"), In: 1, Out: rapid.SampledFrom([]int{3, 32, 64, 128}).Draw(rt, "out")}
		a.Epilogue = graph.Epilogue{OutBits: intRange(rt, 1, 2, "bits"), OutEnc: encoding(rt), Shift: &graph.ShiftAdd{}}
		f := testlayer.Integers(a, targets.Target{}, layout.TableWindow, encoding(rt), 1, intRange(rt, 1, 2, "batch"), intRange(rt, 1, 3, "h"), intRange(rt, 32, 80, "w"), slice(rt, a))
		y := f.Buffers()["y"].Shape
		s, l := named(t, "window"), strategy.LayerOf(f, m)
		v := strategy.Values{}
		for _, k := range s.Knobs(l) {
			if k.Name == "run" {
				v[k.Name] = rapid.SampledFrom(k.Domain).Draw(rt, k.Name)
				all := isa.Query(isa.LookUpLevels, m)
				v["tile_w"] = all[slices.IndexFunc(all, func(i isa.Instr) bool { return i.Lanes == layout.Words(a.Out) && i.Stride == a.SW })].Positions
			}
		}
		c, err := s.Build(l, v)
		if err != nil {
			rt.Fatal(err)
		}
		has := a.Epilogue.OutBits == 1 && y[len(y)-1] == layout.Words(a.Out) && (m.Has("avx512f") || m.Has("neon"))
		if called := strings.Contains(c.Trace.String(), "tensorize"); called != has || has != (v["run"] > 0) {
			rt.Errorf("%s, %d filters: an instruction looks up levels of %d bits: %v\n%s", m.Name, a.Out, a.Epilogue.OutBits, called, c.Trace)
		}
		difftest.Same(&failing{t, rt, fmt.Sprintf("trace:\n%s", c.Trace)}, f, legal(rt, f, c.Trace, m), 1)
	})
}
