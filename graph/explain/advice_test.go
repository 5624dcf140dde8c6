package explain

import (
	"strings"
	"testing"

	"ripc/graph"
	"ripc/ir"
	"ripc/runtime/describe"
)

// TestAdvise: one change is one advice, whatever the number of its layers, and the most useful one comes first.
func TestAdvise(t *testing.T) {
	float := func(name string, macs int64, why graph.Reason, where string, weightBits int) describe.Stage {
		args := ir.Args{Op: "mul", Bits: 2, Most: 8, WeightBits: weightBits, Weights: "bipolar"}
		return describe.Stage{Name: name, MACs: macs, Layer: ir.Layer{Kind: "float", Reason: ir.Reason{Code: why.String(), Where: where, Args: args}}}
	}
	binary := describe.Stage{Name: "c0", MACs: 9, Layer: ir.Layer{Kind: "binary", Reason: ir.Reason{Code: graph.WhySumsLeave.String()}}}
	picture := float("image", 50, graph.WhyRealWeights, "", 0)
	picture.Layer.Reason.Args.Bits = 8
	list := Advise([]describe.Stage{
		binary, picture,
		float("c1", 10, graph.WhyMakesReals, "a", 1), float("c2", 30, graph.WhyMakesReals, "b", 1), float("c3", 25, graph.WhyMakesReals, "a", 1),
		float("stem", 99, graph.WhyMakesReals, "a", 0), // real weights too: no half of a binary layer
		float("c4", 1, graph.WhyRealWeights, "", 0), float("c5", 2, graph.WhyRealWeights, "", 0),
	})
	var got []string
	for _, a := range list {
		got = append(got, strings.Join(a.Layers, "+")+": "+a.Change())
	}
	want := `c1+c3: quantize the result of mul "a"
c2: quantize the result of mul "b"
c5: train it with binary weights, or weights of few bits: its input has 2 bits
c4: train it with binary weights, or weights of few bits: its input has 2 bits`
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	if list[0].MACs != 35 {
		t.Errorf("%d MACs, want 35", list[0].MACs)
	}
}

// TestSigns: signs of three values are one advice, with the bitserial layers that read their levels, through bits as well.
func TestSigns(t *testing.T) {
	stage := func(name, kind string, why graph.Reason, reads string) describe.Stage {
		return describe.Stage{Name: name, MACs: 5, Layer: ir.Layer{Kind: kind, Reason: ir.Reason{Code: why.String()}},
			Reads: []describe.Tensor{{Name: reads}, {Name: name + ".w"}}, Writes: []describe.Tensor{{Name: name}}}
	}
	list := Advise([]describe.Stage{
		stage("s1", "bits", graph.WhyThreeSigns, "x"), stage("pool", "bits", graph.NoReason, "s1"), stage("c1", "binary", graph.WhySumsLeave, "pool"),
		stage("other", "bits", graph.NoReason, "x"), stage("c2", "binary", graph.NoReason, "other"), stage("c3", "binary", graph.NoReason, "c1"),
		stage("s2", "bits", graph.WhyFoldedSign, "c3"), stage("c4", "binary", graph.NoReason, "s2"), stage("f", "float", graph.WhySumsLeave, "s2"),
		stage("made", "binary", graph.WhyThreeSigns, "c4"), stage("c5", "binary", graph.NoReason, "made"),
	})
	if len(list) != 1 || strings.Join(list[0].Layers, " ") != "c1 c4 c5" || list[0].MACs != 15 || !strings.Contains(list[0].Change(), "1 bit") {
		t.Errorf("%+v", list)
	}
	if list := Advise([]describe.Stage{stage("s", "bits", graph.WhyThreeSigns, "x"), stage("f", "float", graph.NoReason, "s")}); len(list) != 0 {
		t.Errorf("levels that no bitserial layer reads: %+v", list)
	}
}

// TestChanges: each reason why an input is not quantized says what to change.
func TestChanges(t *testing.T) {
	weights, levels := changes()
	for why, text := range sentences() {
		if strings.HasPrefix(text, "%(but)its input is not quantized: ") && levels[why] == "" {
			t.Errorf("%s has no advice", why)
		}
	}
	for _, table := range []map[graph.Reason]string{weights, levels} {
		for why := range table {
			if text := (Advice{Reason: ir.Reason{Code: why.String()}}).Change(); text == "" || strings.Contains(text, "%(") {
				t.Errorf("%s: %s", why, text)
			}
		}
	}
}
