package tuner

import (
	"testing"

	"ripc/lab/figures"
)

// TestOver: a search has the median of its seeds, as far as it went, if it was compared with the same reference.
func TestOver(t *testing.T) {
	ref := &figures.Figure{Values: map[string]float64{"default_cost": 2, "best_cost": 1}}
	f := &figures.Figure{Values: map[string]float64{"default_cost": 2, "best_cost": 1}, Curves: [][]float64{{2, 1.5}, {2}, {2, 1.25}}}
	if p, ok := excess(f, ref, 1); p != 50 || !ok {
		t.Errorf("%v, %v", p, ok)
	}
	if _, ok := excess(f, ref, 2); ok {
		t.Error("a search goes on after its last trial")
	}
	f.Values["best_cost"] = 0.5
	if _, ok := excess(f, ref, 1); ok {
		t.Error("another reference is the same")
	}
	if _, ok := excess(nil, ref, 1); ok {
		t.Error("a search that was not compared has a figure")
	}
}
