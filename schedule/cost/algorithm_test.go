package cost_test

import (
	"maps"
	"math"
	"slices"
	"testing"

	"ripc/lower/layout"
	"ripc/schedule/cost"
	"ripc/schedule/cost/measured"
	"ripc/targets"
)

// TestEstimates: what was measured is estimated to a factor, and what would be chosen costs little more than what was cheapest. Times
// are of caches and other programs as well, and so is the order of instructions on cores that keep to it.
func TestEstimates(t *testing.T) {
	const near, loss = 2, 1.25
	all, err := measured.All()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, s := range all {
		m, err := targets.Measured(s.Target)
		if err != nil {
			t.Fatal(err)
		}
		if m.MeasuredOn() != s.Target || m.Sums().Unit != s.Unit {
			t.Errorf("%s: its own costs are those of %s, in %s", s.Target, m.MeasuredOn(), m.Sums().Unit)
		}
		if f := targets.FittedTo(s.Target); f.Date != s.Date || f.Machine != s.Machine {
			t.Errorf("%s: measured on %s, %s, but fitted to %s, %s; run go run ./examples/costs fit", s.Target, s.Date, s.Machine, f.Date, f.Machine)
		}
		seen[s.Target] = true
		if len(s.Layers) < 25 {
			t.Errorf("%s: only %d layers", s.Target, len(s.Layers))
		}
		worst, lost := 1.0, 1.0
		for _, l := range s.Layers {
			a, x := l.Conv()
			shape := layout.Shape(a, &x, m)
			best, least, chosen := math.Inf(1), math.Inf(1), 0.0
			for _, name := range slices.Sorted(maps.Keys(l.Costs)) {
				c := l.Costs[name]
				by, err := layout.ParseAlgorithm(name)
				if err != nil {
					t.Fatal(err)
				}
				e := float64(by.Cost(m, shape))
				q := max(e/c, c/e)
				worst = max(worst, q)
				if q > near {
					t.Errorf("%s, %s: by %s it takes %.0f, the estimate is %.0f", s.Target, l, by, c, e)
				}
				if e < least {
					least, chosen = e, c
				}
				best = min(best, c)
			}
			lost = max(lost, chosen/best)
			if chosen > loss*best {
				t.Errorf("%s, %s: the choice costs %.2f times the least", s.Target, l, chosen/best)
			}
		}
		t.Logf("%s: estimates are off by a factor of %.2f, choices cost up to %.2f", s.Target, worst, lost)
	}
	for _, m := range targets.All() {
		if on := m.MeasuredOn(); (on != "") == m.Bare || on != "" && !seen[on] {
			t.Errorf("%s: nothing was measured on %q", m.Name, on)
		}
	}
}

// TestFewBitsStay: with weights of 1 bit, and with 2 by 2 bits, bits are always cheaper; 4 by 4 bits are not on rpi4.
func TestFewBitsStay(t *testing.T) {
	l := cost.Layer{Outputs: 28 * 28, Rows: 28, Cols: 28, Filters: 128, Taps: 9, TapRows: 3, Channels: 128, Words: 4, Inputs: 30 * 30 * 128}
	for _, m := range targets.All() {
		for _, c := range []struct {
			activations, weights int64
			float                bool
		}{{1, 1, false}, {2, 1, false}, {2, 2, false}, {4, 4, m.MeasuredOn() == "rpi4"}} {
			l.ActivationPlanes, l.WeightPlanes, l.Levels = c.activations, c.weights, 1<<c.activations-1
			got := cost.Float(m, l) < cost.Popcount(m, l)
			if got != c.float && (c.weights < 4 || c.float) {
				t.Errorf("%s, %dx%d: float is %v", m.Name, c.activations, c.weights, got)
			}
		}
	}
}
