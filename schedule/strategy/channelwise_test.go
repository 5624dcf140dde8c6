package strategy_test

import (
	"fmt"
	"strings"
	"testing"

	"ripc/graph"
	"ripc/internal/testlayer"
	"ripc/lower/ops"
	"ripc/targets"
)

// TestChannelwiseReadsItsInput: a layer of floats whose channels each read one reads the input itself, not a copy with a border; where filters share what is read, the copy stays.
func TestChannelwiseReadsItsInput(t *testing.T) {
	for _, c := range []struct {
		name                       string
		h, k, stride, in, out, per int // channels that a filter reads
		inline                     bool
	}{
		{"a blur", 13, 3, 2, 256, 256, 1, true},
		{"depthwise", 14, 3, 1, 64, 64, 1, true},
		{"depthwise, channels that fill no vectors", 14, 3, 1, 19, 19, 1, true},
		{"no border", 14, 1, 1, 64, 64, 1, false},
		{"groups of two", 14, 3, 1, 64, 64, 2, false},
		{"two filters of each channel", 14, 3, 1, 32, 64, 1, false},
		{"all channels", 14, 3, 1, 64, 64, 64, false},
	} {
		for _, target := range []string{"rpi3", "x86-64-v3", "rpi2"} {
			m, err := targets.Lookup(target)
			if err != nil {
				t.Fatal(err)
			}
			a := &graph.FusedConv{KH: c.k, KW: c.k, SH: c.stride, SW: c.stride, In: c.in, Out: c.out, Groups: c.in / c.per}
			a.Pad = graph.Padding{Mode: graph.PadExplicit, Top: c.k / 2, Bottom: c.k / 2, Left: c.k / 2, Right: c.k / 2}
			trace := fmt.Sprint(plainest(t, testlayer.Reals(a, 1, c.h, c.h, ops.Slice{}), m).Trace)
			if got := strings.Contains(trace, "compute_inline"); got != c.inline {
				t.Errorf("%s on %s: is the copy gone? %t, not %t:\n%s", c.name, target, got, c.inline, trace)
			}
		}
	}
}
