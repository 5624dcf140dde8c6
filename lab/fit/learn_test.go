package fit

import (
	"path/filepath"
	"reflect"
	"testing"

	"ripc/internal/need"
	"ripc/lab/figures"
	"ripc/targets"
)

// TestLearn measures a small layer on a simulated microcontroller, and keeps its points.
func TestLearn(t *testing.T) {
	need.Board(t, nil)
	chip, err := targets.Lookup("cortex-m4")
	if err != nil {
		t.Fatal(err)
	}
	c, err := openCollector(t.Context(), chip, options{from: 2, layers: 1, multiplies: 80_000, points: 3})
	if err != nil {
		need.Board(t, err)
		t.Fatal(err)
	}
	all, err := c.layersOf(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	points, err := all[0].measure(t.Context())
	if err != nil {
		need.Board(t, err)
		t.Fatal(err)
	}
	taken := 0
	for _, p := range points {
		if p.Cost <= 0 {
			t.Errorf("%s by %s costs %v", p.Stage, p.Strategy, p.Cost)
		}
		if p.Taken {
			taken++
		}
	}
	if len(points) < 3 || taken == 0 {
		t.Errorf("%d points, of which %d were taken", len(points), taken)
	}
	path := filepath.Join(t.TempDir(), "learn", "points")
	if err := figures.AppendLines(path, points); err != nil {
		t.Fatal(err)
	}
	if kept, err := figures.ReadLines[point](path); err != nil || !reflect.DeepEqual(kept, points) {
		t.Errorf("%d points of %d were kept: %v", len(kept), len(points), err)
	}
}
