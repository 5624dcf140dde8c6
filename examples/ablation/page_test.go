package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ripc/lower/ops"
	"ripc/measure/provenance"
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
	if !strings.Contains(page, "| + tiling | 60.000 M | 0.00 | 0.83 |  | slower: "+reasons[tiling]+" |") || strings.Count(page, "slower: ") != 1 {
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

// TestSources: each section says when its figures were measured and with how many threads. Writing them again changes nothing.
func TestSources(t *testing.T) {
	at := func(date, cpu string) provenance.Mark {
		return provenance.Mark{Date: date, Commit: "0123456789ab", CPU: cpu}
	}
	r := &results{Figures: []figure{
		{Target: "rpi3", Network: ladderNetwork, Variant: floatTwin, Cost: 100, Unit: "estimated cycles", Threads: 1, Mark: at("2026-01-02", "cortex-a53")},
		{Target: targets.HostName, Network: ladderNetwork, Variant: floatTwin, Cost: 1, Unit: "ms", Threads: 4, Load: 2, Mark: at("2026-01-03", "some CPU")},
	}}
	out := filepath.Join(t.TempDir(), "ablation")
	var texts [][]byte
	for range 2 {
		if err := r.write(out); err != nil {
			t.Fatal(err)
		}
		page, err := os.ReadFile(out + ".md")
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, page)
		if r, err = readResults(out + ".json"); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(texts[0], texts[1]) {
		t.Errorf("written again, the page is\n%s", texts[1])
	}
	board, host, _ := strings.Cut(string(texts[0]), "## "+targets.HostName)
	for _, c := range []struct{ section, want, not string }{
		{board, "2026-01-02, commit 0123456789ab, cortex-a53: 1 figure.\n\nOne thread.", "busy"},
		{host, "2026-01-03, commit 0123456789ab, some CPU: 1 figure.\n\nWith 4 threads", "One thread."},
	} {
		if !strings.Contains(c.section, c.want) || strings.Contains(c.section, c.not) {
			t.Errorf("%q is missing, or %q there, in\n%s", c.want, c.not, c.section)
		}
	}
	if !strings.Contains(host, "busy with other work** (load up to 2.0)") {
		t.Errorf("nothing is said of the load in\n%s", host)
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

// TestConvs: the page compares the precisions of convolutions that were measured in all of them, and says of how many.
func TestConvs(t *testing.T) {
	r, full := &results{}, setOf(features("rpi3")...).String()
	add := func(s shape, cost map[string]float64) {
		for variant, c := range cost {
			r.Figures = append(r.Figures, figure{Target: "rpi3", Network: s.name(), Variant: variant, Cost: c * 1e6, MACs: 80e6, Unit: "estimated cycles"})
		}
	}
	add(sweep()[0], map[string]float64{full: 1, eightBits: 5, floatTwin: 10})
	add(sweep()[1], map[string]float64{full: 2, eightBits: 20, floatTwin: 60})
	add(sweep()[2], map[string]float64{full: 2})
	page := r.page()
	for _, want := range []string{"2 of the 48 convolutions", "| binary beside | mean |", "| 8 bits | 7.5 | 9.0 | 5.0 to 10.0 |", "| floats | 20.0 | 27.1 | 10.0 to 30.0 |"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}

// TestSample: samples are distinct, have all extents soon, and smaller ones are parts of larger ones.
func TestSample(t *testing.T) {
	for n := 1; n <= len(sweep()); n++ {
		seen := map[shape]bool{}
		extents := map[int]bool{}
		for i, s := range sampled(sweep(), n) {
			seen[s], extents[s.size] = true, true
			if n > 1 && i < n-1 && sampled(sweep(), n-1)[i] != s {
				t.Fatalf("sample of %d has another shape at %d", n, i)
			}
		}
		if len(seen) != n || n >= 6 && len(extents) != 4 {
			t.Errorf("%d shapes of %d, extents %v", len(seen), n, extents)
		}
	}
}
