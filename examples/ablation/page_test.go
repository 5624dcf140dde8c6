package main

import (
	"strings"
	"testing"

	"ripc/lower/ops"
	"ripc/targets"
)

// TestPage: a step that makes a network slower has its reason beside it, others have none.
func TestPage(t *testing.T) {
	r := &results{Figures: []figure{{Target: "rpi3", Network: ladderNetwork, Variant: floatTwin, Cost: 100, Unit: "estimated cycles"}}}
	for i, s := range ladder("rpi3") {
		cost := []float64{50, 60, 20, 10, 5, 4}[i] // tiling is slower here
		r.Figures = append(r.Figures, figure{Target: "rpi3", Network: ladderNetwork, Variant: s.on.String(), Cost: cost * 1e6, Unit: "estimated cycles"})
	}
	page := r.page()
	if !strings.Contains(page, "| + tiling | 60.000 M | 0.00 | 0.83 | slower: "+reasons[tiling]+" |") || strings.Count(page, "slower: ") != 1 {
		t.Errorf("the page is\n%s", page)
	}
	if svg := r.bars(); strings.Count(svg, "<rect x=") != len(ladder("rpi3")) {
		t.Errorf("bars for %d steps:\n%s", len(ladder("rpi3")), svg)
	}
	for _, f := range features(targets.HostName) {
		if reasons[f] == "" || f.what() == "" {
			t.Errorf("nothing is said of %s", f)
		}
	}
}

// TestTrace: a trace has no steps of what is off, and all where everything is on.
func TestTrace(t *testing.T) {
	m, err := targets.Lookup("rpi3")
	if err != nil {
		t.Fatal(err)
	}
	f := ops.GlobalAvgPool([]int{1, 7, 7, 64})
	for _, s := range append(ladder("rpi3"), leaveOneOut("rpi3")...) {
		trace, err := s.on.trace(f, m)
		if err != nil {
			t.Fatal(err)
		}
		for _, st := range trace {
			if !s.on[featureOf(st.Op)] {
				t.Errorf("%s: step %s", s.on, st)
			}
		}
		if s.on[tiling] && s.on[vectorize] && len(trace) == 0 || len(s.on) == 0 && len(trace) > 0 {
			t.Errorf("%s: trace\n%s", s.on, trace)
		}
	}
}
