package autotune_test

import (
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ripc/autotune"
	"ripc/autotune/records"
	"ripc/compile"
	"ripc/graph"
	"ripc/ir"
	"ripc/lower"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/targets"
)

// coupled draws a network of a few layers that read levels of 1, 6 or 8 bits of each other, by themselves or through what moves, chooses or
// adds levels, or makes floats of them.
func coupled(t *rapid.T) *graph.Graph {
	var nodes []string
	var tensors []string
	bits := rapid.SampledFrom([]int{1, 6, 8, 8}).Draw(t, "bits")
	levels := fmt.Sprintf(`{"bits": %d, "encoding": "unipolar"}`, bits)
	node := func(name, op, attrs string, inputs ...string) string {
		nodes = append(nodes, fmt.Sprintf(`{"name": %q, "op": %q, "inputs": ["%s"], "attrs": %s}`, name, op, strings.Join(inputs, `", "`), attrs))
		return name
	}
	input := fmt.Sprintf(`{"name": "x", "dtype": "u8", "encoding": "unipolar", "bits": %d, "shape": [1, 3, 3, 4], "layout": "NHWC"}`, bits)
	first := "x"
	if rapid.Bool().Draw(t, "floats") {
		input = `{"name": "x", "dtype": "f32", "shape": [1, 3, 3, 4], "layout": "NHWC"}`
		first = node("q", "quantize", levels, "x")
	}
	tensors = append(tensors, first)
	read := map[string]bool{}
	for i := range rapid.IntRange(1, 4).Draw(t, "layers") {
		from := rapid.SampledFrom(tensors).Draw(t, "from")
		read[from] = true
		switch rapid.IntRange(0, 5).Draw(t, "through") {
		case 0:
			from = node(fmt.Sprintf("m%d", i), "max_pool", `{"kernel": [1, 1]}`, from)
		case 1:
			from = node(fmt.Sprintf("t%d", i), "transpose", `{"perm": [0, 2, 1, 3]}`, from)
		case 2:
			other := rapid.SampledFrom(tensors).Draw(t, "other")
			read[other] = true
			from = node(fmt.Sprintf("s%d", i), "concat", `{}`, from, other)
		}
		c := node(fmt.Sprintf("c%d", i), "bitserial_conv2d", fmt.Sprintf(`{"filters": 4, "kernel": [1, 1], "weight_bits": %d}`, rapid.SampledFrom([]int{1, 2}).Draw(t, "weights")), from)
		tensors = append(tensors, node(fmt.Sprintf("q%d", i), "quantize", levels, c))
	}
	var outputs []string
	for _, name := range tensors {
		if name != "x" && (!read[name] || rapid.Bool().Draw(t, "shown")) {
			if read[name] || rapid.Bool().Draw(t, "real") {
				name = node(name+"_real", "dequantize", `{}`, name)
				if rapid.Bool().Draw(t, "steps") {
					name = node(name+"_relu", "relu", `{}`, name)
				}
			}
			outputs = append(outputs, name)
		}
	}
	text := fmt.Sprintf(`{"format": "ripc.model/1", "name": "net", "inputs": [%s], "weights": {"init": "random", "seed": 4}, "outputs": ["%s"], "nodes": [
%s]}`, input, strings.Join(outputs, `", "`), strings.Join(nodes, ",\n"))
	return parsed(t, text)
}

// assignments are all that the layers of g may be computed by.
func assignments(g *graph.Graph) []map[string]layout.Algorithm {
	list := []map[string]layout.Algorithm{{}}
	for _, n := range g.Nodes {
		f, ok := n.Attrs.(*graph.FusedConv)
		if !ok {
			continue
		}
		x := *g.Value(n.Inputs[0])
		x.Shape = ops.Spatial(x.Shape)
		var longer []map[string]layout.Algorithm
		for _, a := range list {
			for _, by := range layout.Applying(f, &x) {
				b := maps.Clone(a)
				b[n.Name] = by
				longer = append(longer, b)
			}
		}
		list = longer
	}
	return list
}

// TestAgreeBest: the assignment of algorithms to layers that is taken costs no more, by the records, than the network without a tuner and
// those of one algorithm each, with kernels among those that were not measured; mostly it is the best of all assignments.
func TestAgreeBest(t *testing.T) {
	changed, mixed, best, drawn := 0, 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		n := &autotune.Network{Graph: coupled(t), Target: targets.Target{Name: "made up", Arch: rapid.SampledFrom([]string{"x86_64", "aarch64"}).Draw(t, "arch")}}
		all := assignments(n.Graph)
		if len(all) > 100 {
			t.Skip("too many")
		}
		costs := map[string]float64{}
		set := &records.Set{}
		total := func(p *ir.Program, usual bool) float64 {
			sum := 0.0
			for _, s := range p.Stages {
				f := p.FuncByName(s.Func)
				key := f.Key()
				if _, ok := costs[key]; !ok {
					costs[key] = float64(rapid.IntRange(1, 1000).Draw(t, "cost"))
					if !usual && rapid.IntRange(0, 9).Draw(t, "measured") == 0 {
						costs[key] = math.Inf(1)
					} else {
						set.Records = append(set.Records, records.Record{Format: records.Format, Workload: records.Workload{Op: s.Op, Key: key}, Target: n.Target.Name,
							Candidate: records.Candidate{Algorithm: s.Layer.Algorithm.Name, Trace: []string{}},
							Result:    records.Measurement{Cost: costs[key], Unit: records.Cycles}, Machine: records.Machine{CPU: "made up", Simulated: true},
							Versions: records.Versions{Ripc: compile.Version}})
					}
				}
				sum += costs[key]
			}
			return sum
		}
		lowered := func(a map[string]layout.Algorithm) *ir.Program {
			p, err := lower.Program(t.Context(), n.Graph, lower.Options{Target: n.Target, Algorithms: a})
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		usual := total(lowered(nil), true)
		least := usual
		for _, a := range all {
			least = min(least, total(lowered(a), false))
		}
		a, err := autotune.Agree(t.Context(), n, set, "made up")
		if err != nil {
			t.Fatal(err)
		}
		most := usual
		for _, choice := range lower.Uniform(lower.Free(n.Graph, lower.Options{Target: n.Target})) {
			most = min(most, total(lowered(choice), false))
		}
		got := total(lowered(a.Algorithms), false)
		if got > most {
			t.Fatalf("%v costs %v, of one algorithm %v, the best of %d assignments %v, without a tuner %v\n%v", a.Algorithms, got, most, len(all), least, usual, n.Graph)
		}
		if drawn++; got == least {
			best++
		}
		if least < usual {
			changed++
		}
		reads := map[bool]bool{}
		for _, by := range a.Algorithms {
			reads[by.ReadsBytes()] = true
		}
		if len(reads) == 2 {
			mixed++
		}
	})
	if changed == 0 || mixed == 0 {
		t.Errorf("%d networks cost less, %d by bytes and by bits", changed, mixed)
	}
	t.Logf("%d of %d are the best", best, drawn)
	if 20*best < 19*drawn {
		t.Errorf("%d of %d are the best", best, drawn)
	}
}
