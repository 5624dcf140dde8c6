package layout_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/lower/layout"
)

// TestMultiplesOf: which floats of layers are integers times one number, and which form holds them.
func TestMultiplesOf(t *testing.T) {
	levels, weights := graph.Integers{Min: -1, Max: 1, Step: 2}, graph.Integers{Min: -1, Max: 1, Step: 2}
	layer := func(channels int, steps ...scalar.Step) *graph.FusedConv {
		return &graph.FusedConv{KH: 3, KW: 3, In: channels, Out: 2, X: levels, W: weights, Epilogue: graph.Epilogue{Steps: steps}}
	}
	by := func(s ...float32) scalar.Step { return scalar.Step{Kind: scalar.Mul, A: s} }
	joined := func(s float32) *graph.FusedConv {
		f := layer(64, by(s))
		f.Epilogue.Joins = []graph.Join{{Function: scalar.Plus}}
		return f
	}
	window := layer(64)
	window.Window = &graph.Window{}
	inf := float32(math.Inf(1))
	for name, c := range map[string]struct {
		f     *graph.FusedConv
		other *layout.Multiples
		form  layout.Form // Floats where the layer makes no multiples, or none that are small
		bound int64
	}{
		"alone":                        {layer(64), nil, layout.Int16s, 576},
		"one factor":                   {layer(64, by(0.3)), nil, layout.Int16s, 576},
		"one factor for each":          {layer(64, by(0.3, 0.3)), nil, layout.Int16s, 576},
		"few":                          {layer(8), nil, layout.Int8s, 72},
		"many":                         {layer(4096), nil, layout.Floats, 36864},
		"factors":                      {layer(64, by(0.3, 0.4)), nil, layout.Floats, 0},
		"a factor below 0":             {layer(64, by(-1)), nil, layout.Floats, 0},
		"a factor of 0":                {layer(64, by(0)), nil, layout.Floats, 0},
		"an infinite factor":           {layer(64, by(inf)), nil, layout.Floats, 0},
		"another step":                 {layer(64, by(1), scalar.Step{Kind: scalar.Relu}), nil, layout.Floats, 0},
		"offsets":                      {window, nil, layout.Floats, 0},
		"sum":                          {joined(0.5), &layout.Multiples{Unit: 0.5, Bound: 100}, layout.Int16s, 676},
		"sum with floats":              {joined(0.5), nil, layout.Floats, 0},
		"sum of other units":           {joined(0.5), &layout.Multiples{Unit: 1, Bound: 100}, layout.Floats, 0},
		"sum that is rounded":          {joined(0.3), &layout.Multiples{Unit: 0.3, Bound: 100}, layout.Floats, 0},
		"sum of what is no f32 at all": {joined(0x1p-140), &layout.Multiples{Unit: 0x1p-140, Bound: 100}, layout.Floats, 0},
	} {
		m, ok := layout.MultiplesOf(c.f, []*layout.Multiples{c.other})
		form, small := m.Form()
		if ok && m.Bound != c.bound || ok != (c.bound > 0) || ok && (form != c.form || small != (form != layout.Floats)) {
			t.Errorf("%s: %+v %v, form %v %v; want the bound %d and form %v", name, m, ok, form, small, c.bound, c.form)
		}
	}
}

// TestMultiplesThresholds: integers reach the integer thresholds exactly where their floats reach the thresholds.
func TestMultiplesThresholds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, unit := range []float32{1, 0.5, 0.3, 1e-40, 3e37} {
		m := layout.Multiples{Unit: unit, Bound: 40}
		thresholds := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0, 1e-45, -1e-45, 40 * unit, -40 * unit, 41 * unit}
		for range 100 {
			thresholds = append(thresholds, (r.Float32()*90-45)*unit)
		}
		for _, notLess := range []bool{false, true} {
			a := &graph.ThresholdAttrs{NotLess: notLess}
			for i, k := range m.Thresholds(a, thresholds) {
				for v := -m.Bound; v <= m.Bound; v++ {
					if got, want := v >= k, a.Reaches(m.Float(v), thresholds[i]); got != want {
						t.Fatalf("unit %v, not less %v: %d reaches %v: %v, and its integer %d: %v", unit, notLess, v, thresholds[i], want, k, got)
					}
				}
			}
		}
	}
}
