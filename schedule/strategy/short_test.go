package strategy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ripc/graph"
	"ripc/internal/testlayer"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/schedule/strategy"
	"ripc/targets"
)

// pointwise is a 1x1 layer whose outputs are levels of so many bits.
func pointwise(in, out, bits int) *graph.FusedConv {
	a := &graph.FusedConv{KH: 1, KW: 1, SH: 1, SW: 1, In: in, Out: out}
	a.Epilogue = graph.Epilogue{OutBits: bits, OutEnc: ir.Unipolar}
	for range 1<<bits - 1 {
		a.Epilogue.Thresholds = append(a.Epilogue.Thresholds, make([]int32, out))
	}
	return a
}

// TestShortWritten: counts that are added up in 8 or 16 bits have their loops over words written out only if the weights of all words fit registers, or are of a block of channels
// inside of a tile. By estimated cycles each default is the better of the two, in rows of 14 or 28.
func TestShortWritten(t *testing.T) {
	for _, c := range []struct {
		target       string
		w, in, out   int
		bits         int
		written      int
		filtersOuter int
	}{
		{"rpi5", 28, 192, 64, 2, 0, 1}, // 60,270 cycles, and 80,250 written out
		{"rpi5", 28, 64, 64, 1, 1, 1},
		{"rpi5", 28, 32, 64, 2, 1, 1},
		{"rpi5", 28, 32, 64, 3, 0, 1},
		{"rpi4", 14, 192, 256, 1, 1, 0}, // blocks of channels inside
		{"rpi3", 28, 64, 64, 2, 1, 1},   // which waits for loops
		{"rpi3", 28, 128, 64, 1, 1, 1},
		{"rpi3", 28, 128, 64, 2, 0, 1},
		{"rpi3", 28, 64, 64, 3, 0, 1},
		{"rpi3", 28, 256, 64, 2, 1, 1},       // a loop over words anyway
		{"rpi3-armv7", 28, 128, 64, 2, 1, 1}, // sums of 32 bits
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			m, err := targets.Lookup(c.target)
			if err != nil {
				t.Fatal(err)
			}
			l := strategy.LayerOf(testlayer.Integers(pointwise(c.in, c.out, c.bits), m, layout.Popcount, ir.Unipolar, c.bits, 1, 6, c.w, ops.Slice{}), m)
			for _, s := range strategy.For(l) {
				if s.Name != "words" {
					continue
				}
				if v := s.Defaults(l); v["unroll"] != c.written || v["filters_outer"] != c.filtersOuter {
					t.Errorf("the default is %s", v)
				}
			}
		})
	}
}

// TestPositionsWritten: the positions of a tile are written out whatever it takes to put the words together that are counted, of which 19, 21 and 22 channels have so many parts that copies of them
// would leave no room for sums in registers.
func TestPositionsWritten(t *testing.T) {
	for _, target := range []string{"rpi3", "rpi4", "rpi5"} {
		m, err := targets.Lookup(target)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range []int{16, 19, 20, 21, 22, 23} {
			a := pointwise(in, 64, 1)
			a.KH, a.KW, a.Pad = 3, 3, graph.Padding{Mode: graph.PadExplicit, Top: 1, Bottom: 1, Left: 1, Right: 1}
			c := byDefault(t, testlayer.Integers(a, m, layout.PopcountDense8, ir.Unipolar, 1, 1, 28, 28, ops.Slice{}), m)
			if !slices.Contains(c.Trace.Lines(), "unroll acc.w") {
				t.Errorf("%s, %d channels: the sums of a tile are a loop over its positions:\n%s", target, in, strings.Join(c.Trace.Lines(), "\n"))
			}
		}
	}
}

// TestPixelsByWords: short sums over one pixel, or one window that is put together, are counted word by word where bytes gain nothing, and in bytes for a position that is alone.
func TestPixelsByWords(t *testing.T) {
	for _, c := range []struct {
		target    string
		size, in  int
		algorithm layout.Algorithm
		want      string
	}{
		{"rpi3", 28, 640, layout.Popcount, "words"}, // 1,030 thousand estimated cycles, 1,074 by bytes
		{"rpi3", 28, 72, layout.PopcountDense, "words"},
		{"rpi3", 1, 1024, layout.Popcount, "bytes"}, // 9,824, and 11,850 by words
		{"rpi4", 28, 96, layout.Popcount, "words"},  // 68,601, and 77,092 by bytes
		{"rpi4", 28, 128, layout.Popcount, "bytes"}, // 85,965, and 89,210 by words
		{"rpi5", 28, 384, layout.Popcount, "words"}, // 253,621, and 280,629 by bytes
		{"rpi5", 28, 64, layout.Popcount, "bytes"},  // 44,245, and 46,978 by words
	} {
		m, err := targets.Lookup(c.target)
		if err != nil {
			t.Fatal(err)
		}
		a := pointwise(c.in, 64, 1)
		if c.algorithm == layout.PopcountDense {
			a.KH, a.KW, a.Pad = 3, 3, graph.Padding{Mode: graph.PadExplicit, Top: 1, Bottom: 1, Left: 1, Right: 1}
		}
		if got := byDefault(t, testlayer.Integers(a, m, c.algorithm, ir.Unipolar, 1, 1, c.size, c.size, ops.Slice{}), m).Strategy; got != c.want {
			t.Errorf("%s, %d channels, %dx%d pixels by %s: %s, want %s", c.target, c.in, c.size, c.size, c.algorithm, got, c.want)
		}
	}
}
