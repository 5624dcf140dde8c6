package main

import (
	"reflect"
	"testing"
)

// TestKeep: what was compared before stays where it was compared with the same, and what is new takes its place.
func TestKeep(t *testing.T) {
	curve := func(v float64) [][]float64 { return [][]float64{{2, v}} }
	task := func(name string, best float64, curves map[string][][]float64) result {
		return result{Task: name, Points: 9, Reference: 9, Default: 2, Best: best, Curves: curves}
	}
	old := report{Trials: 128, Tasks: []result{
		task("a", 1, map[string][][]float64{"xgb": curve(1), "random": curve(1.5)}),
		task("b", 1, map[string][][]float64{"xgb": curve(1)}),
		task("c", 1, map[string][][]float64{"xgb": curve(1)}),
	}}
	r := report{Trials: 32, Tasks: []result{
		task("a", 1, map[string][][]float64{"shipped": curve(1.1), "xgb": curve(1.2)}),
		task("b", 0.9, map[string][][]float64{"shipped": curve(0.9)}),
	}}
	r.keep(&old)
	want := report{Trials: 128, Tasks: []result{
		task("a", 1, map[string][][]float64{"shipped": curve(1.1), "xgb": curve(1.2), "random": curve(1.5)}),
		task("b", 0.9, map[string][][]float64{"shipped": curve(0.9)}),
		task("c", 1, map[string][][]float64{"xgb": curve(1)}),
	}}
	if !reflect.DeepEqual(r, want) {
		t.Errorf("%+v, not %+v", r, want)
	}
}
