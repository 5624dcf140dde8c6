package ablation

import (
	"strings"
	"testing"

	"ripc/lab/figures"
	"ripc/lower/ops"
	"ripc/targets"
)

// fake returns a figure that nothing measured.
func fake(target, network, variant string, cost, macs float64, unit string) figures.Figure {
	return figures.Figure{Key: figures.Key{Subject: network, Variant: variant, Target: target}, Values: map[string]float64{"cost": cost, "macs": macs}, Unit: unit}
}

// resultsOf are results of figures.
func resultsOf(all ...figures.Figure) results { return results{figures.New(all...)} }

// TestPage: a step that makes a network slower has its reason beside it, others have none.
func TestPage(t *testing.T) {
	all := []figures.Figure{fake("rpi3", ladderNetwork, floatTwin, 100, 0, "estimated cycles")}
	for i, s := range ladder("rpi3") {
		cost := []float64{50, 60, 20, 10, 5, 4}[i] // tiling is slower here
		all = append(all, fake("rpi3", ladderNetwork, s.on.String(), cost*1e6, 0, "estimated cycles"))
	}
	r := resultsOf(all...)
	page := r.page()
	if !strings.Contains(page, "| + tiling | 60.000 M | 0.00 | 0.83 |  | slower: "+reasons[tiling]+" |") || strings.Count(page, "slower: ") != 1 {
		t.Errorf("the page is\n%s", page)
	}
	if svg := r.bars(); strings.Count(svg, "<rect x=") != len(ladder("rpi3")) {
		t.Errorf("bars for %d steps:\n%s", len(ladder("rpi3")), svg)
	}
	for _, f := range features(targets.HostName) {
		if reasons[f] == "" || f.description() == "" {
			t.Errorf("nothing is said of %s", f)
		}
	}
}

// TestSources: each section says when its figures were measured and with how many threads.
func TestSources(t *testing.T) {
	board, host := fake("rpi3", ladderNetwork, floatTwin, 100, 0, "estimated cycles"), fake(targets.HostName, ladderNetwork, floatTwin, 1, 0, "ms")
	board.Mark = figures.Mark{Date: "2026-01-02", Commit: "0123456789ab", CPU: "cortex-a53"}
	host.Mark = figures.Mark{Date: "2026-01-03", Commit: "0123456789ab", CPU: "some CPU"}
	host.Values["threads"], host.Values["load"] = 4, 2
	first, second, _ := strings.Cut(resultsOf(board, host).page(), "## "+targets.HostName)
	for _, c := range []struct{ section, want, not string }{
		{first, "2026-01-02, commit 0123456789ab, cortex-a53: 1 figure.\n\nOne thread.", "busy"},
		{second, "2026-01-03, commit 0123456789ab, some CPU: 1 figure.\n\nWith 4 threads", "One thread."},
		{second, "busy with other work** (load up to 2.0)", "cortex-a53"},
	} {
		if !strings.Contains(c.section, c.want) || strings.Contains(c.section, c.not) {
			t.Errorf("%q is missing, or %q there, in\n%s", c.want, c.not, c.section)
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

// TestConvs: the page compares the precisions of convolutions that were measured in all of them, and says of how many.
func TestConvs(t *testing.T) {
	var all []figures.Figure
	full := setOf(features("rpi3")...).String()
	add := func(s shape, cost map[string]float64) {
		for variant, c := range cost {
			all = append(all, fake("rpi3", s.name(), variant, c*1e6, 80e6, "estimated cycles"))
		}
	}
	add(sweep()[0], map[string]float64{full: 1, eightBits: 5, floatTwin: 10})
	add(sweep()[1], map[string]float64{full: 2, eightBits: 20, floatTwin: 60})
	add(sweep()[2], map[string]float64{full: 2})
	all = append(all, fake("rpi3", ladderNetwork, full, 3e6, 80e6, "estimated cycles"))
	page := resultsOf(all...).page()
	for _, want := range []string{
		"2 of the 48 convolutions", "| binary beside | mean |",
		"| 8 bits | 7.5 | 9.0 | 5.0 to 10.0 |", "| floats | 20.0 | 27.1 | 10.0 to 30.0 |",
	} {
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
		for i, s := range sampleShapes(sweep(), n) {
			seen[s], extents[s.size] = true, true
			if n > 1 && i < n-1 && sampleShapes(sweep(), n-1)[i] != s {
				t.Fatalf("sample of %d has another shape at %d", n, i)
			}
		}
		if len(seen) != n || n >= 6 && len(extents) != 4 {
			t.Errorf("%d shapes of %d, extents %v", len(seen), n, extents)
		}
	}
}

// TestPaperRows: a row has the quotients of what was measured, and a row without figures is left out.
func TestPaperRows(t *testing.T) {
	full := setOf(features("rpi4")...).String()
	all := []figures.Figure{fake("rpi4", "alexnet_a1", full, 30, 0, ""), fake("rpi4", "alexnet_a1_bipolar", full, 24, 0, "")}
	for i, s := range resnetShapes() {
		all = append(all, fake("rpi4", s.name(), full, 10, 0, ""), fake("rpi4", s.name(), floatTwin, float64(150+10*i), 0, ""))
		if s.channels < 512 { // one is missing
			all = append(all, fake("rpi4", s.name(), eightBits, float64(50+10*i), 0, ""))
		}
	}
	last := resnetShapes()[3]
	for _, want := range []string{"rpi4 1.25x", "rpi4 1.25x|rpi4 15.0x, 16.0x, 17.0x, 18.0x; 5.0x, 6.0x, 7.0x, 8.0x"} {
		rows, used := PaperRows(figures.New(all...), []string{"rpi3", "rpi4"})
		var got []string
		for _, r := range rows {
			got = append(got, r.Ours)
		}
		if strings.Join(got, "|") != want || len(used) != len(all) {
			t.Errorf("%q of %d figures, want %q of %d", got, len(used), want, len(all))
		}
		all = append(all, fake("rpi4", last.name(), eightBits, 80, 0, ""))
	}
}
