package strategy_test

import (
	"fmt"
	"testing"

	"ripc/graph"
	"ripc/internal/testlayer"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/targets"
)

// TestWidenedWords: words of a pixel that are widened in several parts are counted in lanes of bytes only where that is cheaper: nowhere where each word is a part
// of its own, as 37 words are, a prime above cost.MaxBytes. By estimated cycles each default is the better of the two.
func TestWidenedWords(t *testing.T) {
	for _, c := range []struct {
		target    string
		in, k     int
		by        layout.Algorithm
		short     bool
		preferred string
	}{
		{"rpi5", 130, 3, layout.PopcountDense, true, "words"}, // 94,730 cycles, and 209,574 in bytes
		{"rpi4", 130, 3, layout.PopcountDense, true, "words"},
		{"rpi3", 130, 3, layout.PopcountDense, true, "words"},
		{"rpi5", 128, 3, layout.PopcountDense, true, "words"}, // 36 words in two parts: 90,912 and 98,343
		{"rpi5", 96, 3, layout.PopcountDense, true, "bytes"},  // 27 words in one: 70,358 and 67,148
		{"rpi4", 1024, 1, layout.Popcount, true, "words"},
		{"rpi4", 768, 1, layout.Popcount, true, "bytes"},
		{"rpi4", 1024, 1, layout.Popcount, false, "bytes"}, // 98,402 and 82,262
		{"rpi4", 1184, 1, layout.Popcount, false, "words"},
		{"rpi5", 1024, 1, layout.Popcount, false, "words"},
		{"rpi3-armv7", 1184, 1, layout.Popcount, false, "bytes"}, // 840,141 and 722,348
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			m, err := targets.Lookup(c.target)
			if err != nil {
				t.Fatal(err)
			}
			m.ShortSums = c.short
			a := &graph.FusedConv{KH: c.k, KW: c.k, SH: 1, SW: 1, In: c.in, Out: 64}
			a.Pad = graph.Padding{Mode: graph.PadExplicit, Top: c.k / 2, Bottom: c.k / 2, Left: c.k / 2, Right: c.k / 2}
			a.Epilogue = graph.Epilogue{OutBits: 1, OutEnc: ir.Unipolar, Thresholds: [][]int32{make([]int32, a.Out)}}
			f := testlayer.Integers(a, m, c.by, ir.Unipolar, 1, 1, 6, 14, ops.Slice{})
			if got := byDefault(t, f, m).Strategy; got != c.preferred {
				t.Errorf("the default is %s", got)
			}
		})
	}
}
