package lower_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ripc/codegen"
	"ripc/fusedglue"
	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/importer/ripcjson"
	"ripc/internal/randnet"
	"ripc/ir"
	"ripc/ir/interp"
	"ripc/lower"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/runtime"
	"ripc/targets"
)

// fused is a random network of odd layers: groups, dilations, strides, all encodings, weights of 1 to 4 bits.
func fused(t *rapid.T, seed uint64) *graph.Graph {
	return parsed(t, randnet.Join([]map[string]any{randnet.Model(rand.New(rand.NewPCG(seed, 77)), "n")}, 1))
}

// parsed is the fused graph of a model.
func parsed(t *rapid.T, text []byte) *graph.Graph {
	g, err := ripcjson.Parse("net.json", text, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if g, err = fusedglue.Fuse(t.Context(), g, nil, nil); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return g
}

// TestAlgorithmsAgree: whatever algorithms that apply the layers of a network get, and wherever its levels are packed, it gives the same bits.
func TestAlgorithmsAgree(t *testing.T) {
	choices, groups := map[layout.Algorithm]int{}, map[layout.Algorithm]int{}
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "network")
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			agree(t, fewBits(t, seed), seed, choices)
		case 1:
			agree(t, single(t, seed, between(t, 2, 4, "groups")), seed, groups)
		case 2:
			agree(t, single(t, seed, 1), seed, choices)
		default:
			agree(t, fused(t, seed), seed, choices)
		}
	})
	for _, a := range layout.Algorithms() {
		if choices[a]+groups[a] == 0 {
			t.Errorf("no layer had the choice of %s", a)
		}
	}
	for _, a := range []layout.Algorithm{layout.Table4, layout.Table6, layout.Table4Halves} {
		if groups[a] == 0 {
			t.Errorf("no layer of groups had the choice of %s", a)
		}
	}
}

// TestSketch: a program without contents of constants has the Funcs of the whole one, by each algorithm.
func TestSketch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "network")
		g := []func() *graph.Graph{func() *graph.Graph { return fewBits(t, seed) }, func() *graph.Graph { return fused(t, seed) }}[rapid.IntRange(0, 1).Draw(t, "kind")]()
		all := targets.All()
		o := lower.Options{Target: all[rapid.IntRange(0, len(all)-1).Draw(t, "target")]}
		for _, choice := range lower.Uniform(lower.Free(g, o)) {
			o.Algorithms, o.Sketch = choice, false
			whole, err := lower.Program(t.Context(), g, o)
			if err != nil {
				t.Fatal(err)
			}
			o.Sketch = true
			sketch, err := lower.Program(t.Context(), lower.ApplyGlue(g, o.Target), o)
			if err != nil {
				t.Fatal(err)
			}
			if len(whole.Stages) != len(sketch.Stages) {
				t.Fatalf("%d stages, and %d of a sketch", len(whole.Stages), len(sketch.Stages))
			}
			for i, st := range whole.Stages {
				if f, k := whole.FuncByName(st.Func), sketch.FuncByName(sketch.Stages[i].Func); f.Key() != k.Key() {
					t.Errorf("%s:\n%s\nof a sketch:\n%s", st.Name, f, k)
				}
			}
		}
	})
}

// TestMergedGroups: so do filters of groups that look up in the tables of all groups, where what is no entry counts 0.
func TestMergedGroups(t *testing.T) {
	m, err := targets.Lookup("rpi3-armv7")
	if err != nil {
		t.Fatal(err)
	}
	merged := 0
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "network")
		g := single(t, seed, between(t, 2, 4, "groups"))
		f, x := g.Nodes[1].Attrs.(*graph.FusedConv), *g.Value(g.Nodes[1].Inputs[0])
		x.Shape = ops.Spatial(x.Shape)
		if layout.Table4.Lacks(f, &x) != "" {
			return
		}
		if layout.NewConv(f, x, m, layout.Table4).Accumulation.(*layout.Tables).Merged {
			merged++
		}
		want, by := run(t, g, lower.Options{}, seed), lower.Options{Target: m, Algorithms: map[string]layout.Algorithm{g.Nodes[1].Name: layout.Table4}}
		for i, got := range run(t, g, by, seed) {
			if !bytes.Equal(got, want[i]) {
				t.Fatalf("output %d differs\n%s", i, g)
			}
		}
	})
	if merged == 0 {
		t.Error("no filters look up in the tables of all groups")
	}
}

// TestWeightsOfNineBits: so it is where weights are no i8, but bytes and what is beside these: with any zero point, and odd ones of 8 bits, over bytes
// and planes, in groups, behind a batch_norm that turns some channels around.
func TestWeightsOfNineBits(t *testing.T) {
	choices := map[layout.Algorithm]int{}
	rapid.Check(t, func(t *rapid.T) {
		type m = map[string]any
		var nodes []m
		last := "x"
		add := func(op string, attrs m) {
			name := fmt.Sprintf("n%d", len(nodes))
			nodes, last = append(nodes, m{"name": name, "op": op, "inputs": []string{last}, "attrs": attrs}), name
		}
		for range between(t, 1, 2, "layers") {
			q := m{"bits": rapid.SampledFrom([]int{1, 4, 8, 8}).Draw(t, "bits"), "encoding": rapid.SampledFrom([]string{"unipolar", "bipolar", "bipolar_inv", "affine"}).Draw(t, "encoding"), "scale": 0.05}
			if q["encoding"] == "affine" {
				q["zero_point"] = between(t, 0, 1, "zero")
			}
			add("quantize", q)
			w := m{"filters": rapid.SampledFrom([]int{8, 32, 64}).Draw(t, "filters"), "kernel": []int{between(t, 1, 3, "kh"), between(t, 1, 3, "kw")}, "weight_bits": 8, "weight_encoding": "bipolar",
				"padding": rapid.SampledFrom([]string{"same", "valid"}).Draw(t, "padding"), "strides": []int{between(t, 1, 2, "sh"), 1}}
			if rapid.Bool().Draw(t, "affine") {
				w["weight_encoding"], w["weight_zero_point"] = "affine", between(t, 0, 255, "weight zero")
			}
			if rapid.Bool().Draw(t, "grouped") {
				w["groups"] = rapid.SampledFrom([]int{2, 8}).Draw(t, "groups")
			}
			add("bitserial_conv2d", w)
			if rapid.Bool().Draw(t, "norm") {
				add("batch_norm", m{})
			}
		}
		if rapid.Bool().Draw(t, "levels") {
			add("quantize", m{"bits": rapid.SampledFrom([]int{1, 2, 8}).Draw(t, "output"), "encoding": "unipolar", "scale": 3})
		}
		seed := rapid.Uint64().Draw(t, "seed")
		text, err := json.Marshal(m{"format": "ripc.model/1", "name": "n", "weights": m{"init": "random", "seed": seed % 1000}, "nodes": nodes, "outputs": []string{last},
			"inputs": []m{{"name": "x", "dtype": "f32", "shape": []int{1, 7, 5, rapid.SampledFrom([]int{8, 32, 40}).Draw(t, "in")}}}})
		if err != nil {
			t.Fatal(err)
		}
		agree(t, parsed(t, text), seed, choices)
	})
	if choices[layout.Dot] == 0 {
		t.Error("no layer had the choice of products of bytes")
	}
}

// fewBits is a network of layers whose windows have few bits: with any padding, encoding and number of planes, behind a batch_norm that turns some channels around.
func fewBits(t *rapid.T, seed uint64) *graph.Graph {
	type m = map[string]any
	var nodes []m
	last, in := "x", between(t, 1, 4, "in")
	add := func(op string, attrs m) {
		name := fmt.Sprintf("n%d", len(nodes))
		nodes, last = append(nodes, m{"name": name, "op": op, "inputs": []string{last}, "attrs": attrs}), name
	}
	quantize := func(most int) (bits int) {
		bits = between(t, 1, most, "bits")
		add("quantize", m{"bits": bits, "encoding": rapid.SampledFrom([]string{"unipolar", "bipolar", "bipolar_inv"}).Draw(t, "encoding"), "scale": rapid.SampledFrom([]float64{0.1, 1, 3}).Draw(t, "scale")})
		return bits
	}
	for channels := in; ; {
		planes := quantize(2)
		most := rapid.SampledFrom([]int{9, 18}).Draw(t, "bits of a window")
		kh := between(t, 1, min(3, max(1, most/(channels*planes))), "kh")
		kw := between(t, 1, min(3, max(1, most/(channels*planes*kh))), "kw")
		paddings := []any{"same", []int{kh - 1, 0, 0, kw - 1}}
		if len(nodes) == 1 { // of later layers strides may have left less than a window
			paddings = append(paddings, "valid")
		}
		attrs := m{"kernel": []int{kh, kw}, "strides": []int{between(t, 1, 2, "sh"), between(t, 1, 3, "sw")}, "padding": rapid.SampledFrom(paddings).Draw(t, "padding"),
			"filters": rapid.SampledFrom([]int{1, 3, 32, 70}).Draw(t, "filters"), "weight_bits": between(t, 1, 3, "weight bits"), "weight_encoding": "bipolar", "pad_value": rapid.SampledFrom([]string{"one", "zero"}).Draw(t, "pad")}
		add("bitserial_conv2d", attrs)
		if rapid.Bool().Draw(t, "norm") {
			add("batch_norm", m{})
		}
		if channels = attrs["filters"].(int); channels > 3 || len(nodes) > 6 {
			break
		}
	}
	quantize(3)
	text, err := json.Marshal(m{"format": "ripc.model/1", "name": "n", "weights": m{"init": "random", "seed": seed % 1000}, "nodes": nodes, "outputs": []string{last},
		"inputs": []m{{"name": "x", "dtype": "f32", "shape": []int{between(t, 1, 2, "batch"), between(t, 9, 16, "h"), between(t, 9, 20, "w"), in}}}})
	if err != nil {
		t.Fatal(err)
	}
	return parsed(t, text)
}

// single is a layer of n groups whose channels may have tables of their own, in one word or in several, whose windows may be larger than 8 bits count, and whose filters may fill registers.
func single(t *rapid.T, seed uint64, n int) *graph.Graph {
	type m = map[string]any
	in := n * rapid.SampledFrom([]int{4, 5, 6, 8, 12, 20, 24, 32, 48, 64}).Draw(t, "channels")
	levels := func(name string) m {
		return m{"bits": between(t, 1, 3, name+" bits"), "encoding": rapid.SampledFrom([]string{"unipolar", "bipolar", "bipolar_inv"}).Draw(t, name), "scale": 0.5}
	}
	nodes := []m{
		{"name": "x_bits", "op": "quantize", "inputs": []string{"x"}, "attrs": levels("input")},
		{"name": "c", "op": "bitserial_conv2d", "inputs": []string{"x_bits"}, "attrs": m{"filters": n * rapid.SampledFrom([]int{1, 5, 8, 16, 32, 48}).Draw(t, "filters"), "groups": n,
			"kernel": []int{between(t, 1, 3, "kh"), between(t, 1, 3, "kw")}, "strides": []int{1, between(t, 1, 2, "sw")}, "padding": rapid.SampledFrom([]string{"same", "valid"}).Draw(t, "padding"),
			"pad_value": rapid.SampledFrom([]string{"one", "zero"}).Draw(t, "pad")}},
		{"name": "b", "op": "batch_norm", "inputs": []string{"c"}},
	}
	if rapid.Bool().Draw(t, "levels") {
		nodes = append(nodes, m{"name": "q", "op": "quantize", "inputs": []string{"b"}, "attrs": levels("output")})
	}
	text, err := json.Marshal(m{"format": "ripc.model/1", "name": "n", "weights": m{"init": "random", "seed": seed % 1000}, "nodes": nodes, "outputs": []string{nodes[len(nodes)-1]["name"].(string)},
		"inputs": []m{{"name": "x", "dtype": "f32", "shape": []int{1, between(t, 3, 5, "h"), between(t, 3, 6, "w"), in}}}})
	if err != nil {
		t.Fatal(err)
	}
	return parsed(t, text)
}

// run is what the program of g gives in the interpreter for inputs filled from seed.
func run(t *rapid.T, g *graph.Graph, o lower.Options, seed uint64) [][]byte {
	p, err := lower.Program(t.Context(), g, o)
	if err != nil {
		t.Fatalf("%v\n%s", err, g)
	}
	d := codegen.Describe(codegen.Input{Program: p})
	var inputs [][]byte
	for i, in := range d.Inputs {
		b, err := runtime.FillRandom(in, seed, i)
		if err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, b)
	}
	out, err := interp.RunProgram(t.Context(), p, inputs, interp.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, p)
	}
	return out
}

// agree compares the outputs of g, filled from seed, of programs whose layers have one or other algorithm, and counts the choices that there were.
func agree(t *rapid.T, g *graph.Graph, seed uint64, choices map[layout.Algorithm]int) {
	want := run(t, g, lower.Options{}, seed)
	drawn := lower.Options{Algorithms: map[string]layout.Algorithm{}}
	all, archs := map[layout.Algorithm]lower.Options{}, rapid.Permutation([]string{"", "aarch64"}).Draw(t, "archs")
	for _, a := range layout.Algorithms() {
		all[a] = lower.Options{Algorithms: map[string]layout.Algorithm{}, Target: targets.Target{Arch: archs[a%2]}}
	}
	for _, n := range g.Nodes {
		f, ok := n.Attrs.(*graph.FusedConv)
		if !ok {
			continue
		}
		x := *g.Value(n.Inputs[0])
		x.Shape = ops.Spatial(x.Shape)
		apply := layout.Applying(f, &x)
		if len(apply) < 2 {
			continue
		}
		for _, a := range apply {
			choices[a]++
			all[a].Algorithms[n.Name] = a
		}
		drawn.Algorithms[n.Name] = rapid.SampledFrom(apply).Draw(t, n.Name)
	}
	drawn.PackApart = true
	for _, o := range append(slices.Collect(maps.Values(all)), drawn) {
		for i, got := range run(t, g, o, seed) {
			if !bytes.Equal(got, want[i]) {
				t.Fatalf("output %d differs with %v\n%s", i, o.Algorithms, g)
			}
		}
	}
}

// TestInexact: a layer whose sums f32 does not hold exactly counts bits, however expensive, and is never float.
func TestInexact(t *testing.T) {
	f := &graph.FusedConv{KH: 64, KW: 64, SH: 1, SW: 1, In: 64, Out: 1, X: graph.Integers{Max: 255, Step: 1}, W: graph.Integers{Min: -15, Max: 15, Step: 2}}
	x := graph.Value{Name: "x", Shape: []int{1, 64, 64, 64}, LevelType: scalar.LevelType{Enc: ir.Unipolar, Bits: 8}}
	for _, c := range []struct {
		weight int
		why    layout.Why
	}{{1, layout.Only}, {0, layout.Usual}} {
		f.Ints = graph.IntNumbers(64*64*64, func(int) int { return c.weight })
		if got := layout.Choose(f, &x); got.Algorithm != layout.Popcount || got.Why != c.why {
			t.Errorf("weights %d, sums up to %d: %+v", c.weight, layout.LargestSum(f), got)
		}
	}
}

// TestBitserial: a layer that is to count bits has the choice of the algorithms that do, gets the one that was chosen, and the first without a choice.
func TestBitserial(t *testing.T) {
	g, _ := formNet(t, byteNet)
	layer := g.Nodes[slices.IndexFunc(g.Nodes, func(n *graph.Node) bool { f, ok := n.Attrs.(*graph.FusedConv); return ok && f.X.Max < 64 })].Name
	o := lower.Options{Bitserial: []string{layer}}
	free := lower.Free(g, o)[layer]
	if len(free) < 2 || slices.ContainsFunc(free, func(a layout.Algorithm) bool { return !a.Counts() }) {
		t.Fatalf("%s has the choice of %v", layer, free)
	}
	last := free[len(free)-1]
	for _, c := range []struct {
		chosen map[string]layout.Choice
		want   layout.Algorithm
	}{
		{nil, free[0]},
		{map[string]layout.Choice{layer: {Algorithm: last, Why: layout.Cheaper}}, last},
		{map[string]layout.Choice{layer: {Algorithm: layout.Dot, Why: layout.Cheaper}}, free[0]},
	} {
		o.Chosen = c.chosen
		p, err := lower.Program(t.Context(), g, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range p.Stages {
			if by := s.Layer.Algorithm; s.Name == layer && (by.Name != c.want.String() || by.Why != layout.Asked.String()) {
				t.Errorf("chosen %v: %s is by %s, %s; want %s", c.chosen, layer, by.Name, by.Why, c.want)
			}
		}
	}
}
