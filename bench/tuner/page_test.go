package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ripc/internal/svg"
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

// TestCurves: a search that went on for fewer trials than others is drawn as far as it went, and nothing in the picture is NaN.
func TestCurves(t *testing.T) {
	r := report{Trials: 64, Tasks: []result{
		{Task: "a", Default: 2, Best: 1, Curves: map[string][][]float64{"random": {slices.Repeat([]float64{2}, 65)}, "shipped": {slices.Repeat([]float64{1.5}, 33)}, "xgb": {}}},
		{Task: "b", Default: 2, Best: 1, Curves: map[string][][]float64{"shipped": {{2, 1}}}},
		{Task: "c", Default: 2, Best: 1},
	}}
	picture := r.curves()
	if err := svg.Finite([]byte(picture)); err != nil {
		t.Fatal(err)
	}
	var points []int
	for _, line := range regexp.MustCompile(`points="([^"]*)"`).FindAllStringSubmatch(picture, -1) {
		points = append(points, len(strings.Fields(line[1])))
	}
	if !slices.Equal(points, []int{33, 65, 2}) {
		t.Errorf("lines of %v points\n%s", points, picture)
	}
}

// TestWrite: a report is written after each task, and has each task once, whatever an earlier one had of those that are still to come.
func TestWrite(t *testing.T) {
	out := filepath.Join(t.TempDir(), "page")
	task := func(name, search string) result {
		return result{Task: name, Points: 9, Reference: 9, Default: 2, Best: 1, Curves: map[string][][]float64{search: {{2, 1}}}}
	}
	for _, search := range []string{"random", "xgb"} {
		r := report{Trials: 1, Seeds: 1, Batch: 1}
		for _, name := range []string{"a", "b"} {
			r.Tasks = append(r.Tasks, task(name, search))
			if err := r.write(out); err != nil {
				t.Fatal(err)
			}
		}
	}
	var got report
	text, err := os.ReadFile(out + ".json")
	if err == nil {
		err = json.Unmarshal(text, &got)
	}
	if err != nil || len(got.Tasks) != 2 || len(got.Tasks[0].Curves) != 2 || len(got.Tasks[1].Curves) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
}
