package tuner

import (
	"slices"
	"testing"
)

// TestTasks: each task has a space, a default and random points, the same ones each time.
func TestTasks(t *testing.T) {
	all, err := rows()
	if err != nil || len(all) < 12 {
		t.Fatalf("%d tasks, %v", len(all), err)
	}
	for _, r := range all {
		k, err := r.open()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := k.space.Default(); err != nil {
			t.Errorf("%s: %v", r.Name, err)
		}
		draw := func() []string {
			points, err := k.points(t.Context(), 5)
			if err != nil {
				t.Fatal(err)
			}
			var keys []string
			for _, p := range points {
				keys = append(keys, keyOf(p))
			}
			return keys
		}
		if a, b := draw(), draw(); len(a) != 5 || !slices.Equal(a, b) {
			t.Errorf("%s: %v, then %v", r.Name, a, b)
		}
	}
}
