package kit

import (
	"fmt"
	"testing"
)

// TestAround: borders are numpy's, however wide.
func TestAround(t *testing.T) {
	for _, c := range []struct {
		border        Border
		n, front, end int
		want          string
	}{
		{Edge, 3, 2, 1, "[0 0 0 1 2 2]"},
		{Edge, 1, 1, 1, "[0 0 0]"},
		{Reflect, 3, 2, 1, "[2 1 0 1 2 1]"},
		{Reflect, 3, 5, 0, "[1 0 1 2 1 0 1 2]"},
		{Reflect, 1, 2, 1, "[0 0 0 0]"},
		{Symmetric, 3, 2, 1, "[1 0 0 1 2 2]"},
		{Symmetric, 2, 5, 0, "[0 0 1 1 0 0 1]"},
		{Wrap, 3, 2, 1, "[1 2 0 1 2 0]"},
		{Wrap, 2, 3, 3, "[1 0 1 0 1 0 1 0]"},
		{Wrap, 3, 0, 0, "[0 1 2]"},
	} {
		if got := fmt.Sprint(BorderPositions(c.n, c.front, c.end, c.border)); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestAlong: positions that stay as they are need nothing, and whole ones are moved.
func TestAlong(t *testing.T) {
	if a := AlongAxis(1, 3, []float32{0, 1, 2}); a != nil {
		t.Errorf("%+v", a)
	}
	if a := AlongAxis(1, 3, []float32{0, 1, 1}); a == nil || fmt.Sprint(a.Whole) != "[0 1 1]" {
		t.Errorf("%+v", a)
	}
	if a := AlongAxis(1, 3, []float32{0, 0.5, 1}); a == nil || a.Whole != nil || fmt.Sprint(a.Between) != "[0 0.5 1]" {
		t.Errorf("%+v", a)
	}
}
