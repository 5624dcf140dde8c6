package features_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/golden"
	"ripc/internal/testlayer"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/schedule"
	"ripc/schedule/features"
	"ripc/schedule/strategy"
	"ripc/targets"
	"ripc/targets/isa"
)

func target(t testing.TB, name string) targets.Target {
	t.Helper()
	m, err := targets.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// binary is a layer of 3x3 windows over 14x14x64 levels.
func binary(t targets.Target, by layout.Algorithm, bits int) *ir.Func {
	a := &graph.FusedConv{SH: 1, SW: 1, In: 64, Out: 64, KH: 3, KW: 3, Pad: graph.Padding{Mode: graph.PadExplicit, Top: 1, Bottom: 1, Left: 1, Right: 1}}
	a.Epilogue = graph.Epilogue{OutBits: 1, OutEnc: ir.Unipolar, Thresholds: [][]int32{make([]int32, 64)}}
	return testlayer.Integers(a, t, by, ir.Unipolar, bits, 1, 14, 14, ops.Slice{})
}

// real is a layer of 3x3 windows over 14x14x16 floats.
func real() *ir.Func {
	a := &graph.FusedConv{SH: 1, SW: 1, In: 16, Out: 24, KH: 3, KW: 3, Bias: make([]float32, 24)}
	a.Epilogue.Steps = []scalar.Step{{Kind: scalar.Relu}}
	return testlayer.Reals(a, 1, 14, 14, ops.Slice{})
}

type kernel struct {
	name   string
	target targets.Target
	def    *ir.Func
}

func kernels(t testing.TB) []kernel {
	var all []kernel
	for _, name := range []string{"rpi3", "x86-64-v3", "x86-64-v4"} {
		m := target(t, name)
		all = append(all, kernel{"reals", m, real()})
		for _, by := range []layout.Algorithm{layout.Popcount, layout.Table4, layout.Dot, layout.Float} {
			for bits := 1; bits <= 2; bits++ {
				all = append(all, kernel{fmt.Sprint(by, " ", bits), m, binary(m, by, bits)})
			}
		}
	}
	return all
}

// TestTypical writes down what is said of typical schedules.
func TestTypical(t *testing.T) {
	names := features.Names()
	for name, points := range map[string]map[string]strategy.Choice{
		"rpi3": {
			"reals":    {Strategy: "float", Values: strategy.Values{"by_lane": 1, "filters_outer": 1, "lanes": 8, "tile_h": 3, "tile_w": 6, "unroll": 1}},
			"popcount": {Strategy: "bytes", Values: strategy.Values{"at": 0, "filters_outer": 1, "group": 0, "ordered": 1, "spread": 1, "step": 2, "tile_h": 4, "tile_w": 14, "vectors": 4, "whole": 0, "width": 4, "words": 2}},
			"table":    {Strategy: "table", Values: strategy.Values{"at": 2, "filters": 32, "kept": 0, "ordered": 1, "run": 16, "tile_h": 4, "tile_w": 14, "width": 4}},
		},
		"x86-64-v3": {
			"reals":    {Strategy: "float", Values: strategy.Values{"filters_outer": 1, "lanes": 8, "tile_h": 2, "tile_w": 12, "unroll": 1}},
			"popcount": {Strategy: "words", Values: strategy.Values{"filters_outer": 1, "part": 32, "tile_h": 2, "tile_w": 2, "unroll": 1}},
			"table":    {Strategy: "table", Values: strategy.Values{"at": 1, "filters": 32, "kept": 0, "run": 7, "tile_h": 4, "tile_w": 7}},
		},
	} {
		m := target(t, name)
		for layer, f := range map[string]*ir.Func{"reals": real(), "popcount": binary(m, layout.Popcount, 1), "table": binary(m, layout.Table4, 2)} {
			c := built(t, f, m, points[layer].Strategy, points[layer].Values)
			r, err := apply(m, f, c.Trace)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			for i, x := range features.For(m).Of(r, c.Values) {
				if x == x && x != 0 {
					fmt.Fprintf(&b, "%s %.3f\n", names[i], x)
				}
			}
			golden.Check(t, fmt.Sprintf("testdata/%s.%s.txt", layer, name), []byte(b.String()))
		}
	}
}

// TestAll looks at random schedules of many layers: as many features as names, all of them numbers, the same each time, no knob that
// is not among the features, and not the same for all schedules.
func TestAll(t *testing.T) {
	names := features.Names()
	if sorted := slices.Sorted(slices.Values(names)); len(slices.Compact(sorted)) != len(names) {
		t.Error("names stand for several features")
	}
	differ := map[string]bool{}
	for _, k := range kernels(t) {
		r := rand.New(rand.NewPCG(1, 1))
		d := features.For(k.target)
		for _, s := range strategy.For(strategy.LayerOf(k.def, k.target)) {
			for _, knob := range s.Knobs(strategy.LayerOf(k.def, k.target)) {
				if !slices.Contains(names, "knob."+knob.Name) {
					t.Errorf("%s on %s: strategy %s has knob %s, which is no feature", k.name, k.target.Name, s.Name, knob.Name)
				}
			}
		}
		var first []float32
		for range 5 {
			c, err := testlayer.Random(k.def, k.target, r)
			if err != nil {
				t.Fatal(err)
			}
			f, err := apply(k.target, k.def, c.Trace)
			if err != nil {
				t.Fatal(err)
			}
			x := d.Of(f, c.Values)
			if len(x) != len(names) {
				t.Fatalf("%d features, %d names", len(x), len(names))
			}
			if !same(x, features.For(k.target).Of(f, c.Values)) {
				t.Errorf("%s on %s: other features the second time", k.name, k.target.Name)
			}
			for i, v := range x {
				if math.IsInf(float64(v), 0) || v != v && !strings.HasPrefix(names[i], "knob.") {
					t.Errorf("%s on %s: %s is %v\n%s", k.name, k.target.Name, names[i], v, f)
				}
				if first != nil && v != first[i] {
					differ[names[i]] = true
				}
			}
			first = x
		}
	}
	for _, n := range names {
		if strings.HasPrefix(n, "target.") || strings.HasPrefix(n, "op.") || strings.HasPrefix(n, "call.") {
			continue
		}
		if !differ[n] {
			t.Logf("%s is the same for all schedules", n)
		}
	}
}

func same(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return x == y || x != x && y != y })
}

// TestTile: more positions in registers load the weights less often, and need more registers.
func TestTile(t *testing.T) {
	m := target(t, "rpi3")
	f := binary(m, layout.Popcount, 1)
	l := strategy.LayerOf(f, m)
	get := func(tile int) map[string]float32 {
		for _, s := range strategy.For(l) {
			if s.Name != "words" {
				continue
			}
			c, err := s.Build(l, strategy.Values{"tile_w": tile, "part": 32})
			if err != nil {
				t.Fatal(err)
			}
			g, err := apply(m, f, c.Trace)
			if err != nil {
				t.Fatal(err)
			}
			out := map[string]float32{}
			for i, x := range features.For(m).Of(g, c.Values) {
				out[features.Names()[i]] = x
			}
			return out
		}
		t.Fatal("no strategy words")
		return nil
	}
	one, seven := get(1), get(2)
	if one["total.loads"] <= seven["total.loads"] || one["registers.kept"] >= seven["registers.kept"] {
		t.Errorf("loads %v and %v, registers %v and %v", one["total.loads"], seven["total.loads"], one["registers.kept"], seven["registers.kept"])
	}
}

func BenchmarkOf(b *testing.B) {
	for _, k := range kernels(b) {
		if k.target.Name != "rpi3" {
			continue
		}
		c, err := strategy.Plainest(k.def, k.target, 0, nil)
		if err != nil {
			b.Fatal(err)
		}
		f, err := apply(k.target, k.def, c.Trace)
		if err != nil {
			b.Fatal(err)
		}
		d := features.For(k.target)
		b.Run(k.name, func(b *testing.B) {
			for b.Loop() {
				d.Of(f, c.Values)
			}
		})
	}
}

// built is the schedule of f at a point of a strategy.
func built(t *testing.T, f *ir.Func, m targets.Target, name string, v strategy.Values) strategy.Choice {
	l := strategy.LayerOf(f, m)
	for _, s := range strategy.For(l) {
		if s.Name == name {
			c, err := s.Build(l, v)
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
	}
	t.Fatalf("there is no strategy %s", name)
	return strategy.Choice{}
}

// apply is f behind a trace.
func apply(m targets.Target, f *ir.Func, tr schedule.Trace) (*ir.Func, error) {
	r, err := tr.ApplyAll(f, schedule.WithInstrs(isa.For(m)))
	if err != nil {
		return nil, err
	}
	return r.Func, nil
}

// TestInstructions: every instruction of every target is among what is counted.
func TestInstructions(t *testing.T) {
	for _, m := range targets.All() {
		known := map[string]bool{}
		for _, name := range features.For(m).Instructions() {
			known[name] = true
		}
		for name := range isa.For(m) {
			if !known[name] {
				t.Errorf("%s: %s is not counted", m.Name, name)
			}
		}
	}
}

// TestDevice: schedules with blocks and threads have features, too.
func TestDevice(t *testing.T) {
	m, err := targets.Lookup("mali-t860")
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(5, 1))
	for _, k := range kernels(t) {
		c, err := testlayer.Random(k.def, m, r)
		if err != nil {
			t.Fatal(err)
		}
		x := features.For(m).Of(c.Func, c.Values)
		if len(x) != len(features.Names()) || slices.ContainsFunc(x, func(v float32) bool { return math.IsInf(float64(v), 0) }) {
			t.Errorf("%s: %v", k.name, x)
		}
	}
}
