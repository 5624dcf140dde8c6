package explain

import (
	"strings"
	"testing"

	"ripc/graph"
	"ripc/ir"
)

// TestSentences: each reason has a sentence of words that there are, and a code that is read back.
func TestSentences(t *testing.T) {
	for _, r := range graph.Reasons() {
		if back, err := graph.ParseReason(r.String()); err != nil || back != r {
			t.Errorf("%s is read back as %s, %v", r, back, err)
		}
		s := Reason(ir.Reason{Code: r.String(), Where: "n", Args: ir.Args{Op: "relu", Bits: 2, WeightBits: 1, Count: 3}})
		if s == "" || strings.Contains(s, "%(") {
			t.Errorf("%s: %q", r, s)
		}
	}
	if n := len(sentences()); n != len(graph.Reasons()) {
		t.Errorf("%d sentences for %d reasons", n, len(graph.Reasons()))
	}
}

func TestReason(t *testing.T) {
	pad := graph.Verdict{Reason: graph.WhyPadValue, Where: "p", Args: ir.Args{Op: "pad", Value: "1", Bits: 1, Levels: "bipolar"}}
	binary := pad
	binary.Args.WeightBits, binary.Args.Weights = 2, "ternary"
	for _, c := range []struct {
		r    ir.Reason
		want string
	}{
		{pad.AsReason(), `its input is not quantized: pad "p" adds 1, which is none of the 1-bit bipolar levels`},
		{binary.AsReason(), `it has ternary weights, but its input is not quantized: pad "p" adds 1, which is none of the 1-bit bipolar levels`},
		{ir.Reason{}, ""},
		{ir.Reason{Code: "of_tomorrow"}, "for a reason that this ripc does not know: of_tomorrow"},
		{ir.Reason{Code: "not_finite", Where: "%(value)", Args: ir.Args{Value: "+Inf", Channel: 3}}, `"%(value)" makes +Inf of a sum of channel 3, so no thresholds equal its glue`},
	} {
		if got := Reason(c.r); got != c.want {
			t.Errorf("%+v: %q, want %q", c.r, got, c.want)
		}
	}
}

func TestBecame(t *testing.T) {
	for want, l := range map[string]ir.Layer{
		"binary 2x4": {Kind: "binary", ActivationBits: 2, WeightBits: 4},
		"float":      {Kind: "float", ActivationBits: 32, WeightBits: 32},
		"float glue": {Kind: "glue"},
		"bits":       {Kind: "bits"},
		"unknown":    {Kind: "of tomorrow"},
	} {
		if got := Became(l); got != want {
			t.Errorf("%+v: %q, want %q", l, got, want)
		}
	}
	if got := Became(ir.Layer{}); got != "unknown" {
		t.Errorf("nothing: %q", got)
	}
}

func TestGlue(t *testing.T) {
	for want, g := range map[string]ir.Glue{
		"thresholds(2 bits), after max_pool 2x2": {Form: "thresholds", Bits: 2, MaxH: 2, MaxW: 2},
		"mul, mean of 169 positions":             {Form: "steps", Steps: []string{"mul"}, Mean: 169},
		"add, shift, clip(1 bit)":                {Form: "shift", Bits: 1},
		"mul fma":                                {Form: "steps", Steps: []string{"mul", "fma"}},
		"mul levels(2 bits)":                     {Form: "steps", Steps: []string{"mul"}, Bits: 2},
		"levels(4 bits, per channel)":            {Form: "steps", Bits: 4, PerChannel: true},
		"":                                       {},
		"of tomorrow":                            {Form: "of tomorrow", Bits: 2},
	} {
		if got := Glue(g); got != want {
			t.Errorf("%+v: %q, want %q", g, got, want)
		}
	}
}

func TestAlgorithm(t *testing.T) {
	for want, a := range map[string]ir.Algorithm{
		"": {},
		"float: about 5.2 M instructions (measured), by popcount 9.81 M (predicted)":              {Name: "float", Why: "cheaper", Costs: map[string]int64{"float": 5_200_000, "popcount": 9_810_000}, Unit: "instructions", Measured: []string{"float"}},
		"popcount, as asked: about 950 cycles, by of tomorrow 30 k, by float 31 k, all predicted": {Name: "popcount", Why: "asked", Costs: map[string]int64{"float": 31_000, "popcount": 950, "of tomorrow": 30_000}, Unit: "cycles"},
		"popcount: no other gives its sums exactly":                                               {Name: "popcount", Why: "only"},
		"popcount": {Name: "popcount", Why: "usual"},
		"float":    {Name: "float", Why: "only"},

		"dot: about 4 cycles, by float 9, all predicted; the next best takes 6 more of loads, 1 less of spills": {Name: "dot", Why: "cheaper", Costs: map[string]int64{"dot": 4, "float": 9}, Unit: "cycles", Terms: map[string]int64{"spills": -1, "loads": 6}},
		"of tomorrow": {Name: "of tomorrow", Why: "asked", Costs: map[string]int64{"float": 3}},
		"float: about 1 cycles, by popcount 2, all measured": {Name: "float", Why: "of tomorrow", Costs: map[string]int64{"float": 1, "popcount": 2}, Unit: "cycles", Measured: []string{"popcount", "float"}},
	} {
		if got := Algorithm(a); got != want {
			t.Errorf("%+v: %q, want %q", a, got, want)
		}
	}
}

// TestNumbers: nouns are singular behind 1.
func TestNumbers(t *testing.T) {
	v := graph.Verdict{Reason: graph.WhyRealWeights, Args: ir.Args{Bits: 1}}
	if got, want := Verdict(v), "its input has 1 bit, but it has real weights"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if v.Args.Bits = 2; !strings.Contains(Verdict(v), "has 2 bits") {
		t.Errorf("%q", Verdict(v))
	}
}
