package cost_test

import (
	"testing"

	"ripc/schedule/cost"
	"ripc/targets"
)

// TestLanes: a dense layer of few channels, which one thread computes, has as few blocks as registers allow; blocks that threads can share are as
// small as those need.
func TestLanes(t *testing.T) {
	m := targets.Target{VectorBits: 128, Registers: 32, Threads: 4}
	for _, c := range []struct{ channels, width, lanes int }{
		{10, 1, 8}, {18, 1, 8}, {26, 1, 16}, // not shared
		{12, 1, 4}, {20, 1, 4}, {64, 1, 16}, // shared
		{10, 8, 4}, {64, 8, 8}, // rows are shared
	} {
		if n := cost.Lanes(m, c.channels, c.width); n != c.lanes {
			t.Errorf("%d channels, rows of %d: %d together, want %d", c.channels, c.width, n, c.lanes)
		}
	}
}
