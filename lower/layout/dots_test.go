package layout

import (
	"testing"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
	"ripc/targets"
)

// TestRangeOf: weights are said to be within the narrowest of a few ranges that has them, none where one is -128.
func TestRangeOf(t *testing.T) {
	for _, c := range []struct {
		weights []int8
		want    ir.Range
	}{
		{[]int8{0, 0}, ir.Range{From: -1, To: 1}},
		{[]int8{1, -1, 0}, ir.Range{From: -1, To: 1}},
		{[]int8{-2, 1}, ir.Range{From: -3, To: 3}},
		{[]int8{63, -64}, ir.Range{From: -127, To: 127}},
		{[]int8{63, -63}, ir.Range{From: -63, To: 63}},
		{[]int8{127, -127}, ir.Range{From: -127, To: 127}},
		{[]int8{127, -128}, ir.Range{}},
	} {
		if got := rangeOf(farthestOf(graph.NumbersOf(c.weights))); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.weights, got, c.want)
		}
	}
}

// TestGroupsAtOnce: groups are computed as one where that makes whole steps of four channels, and whole vectors of filters.
func TestGroupsAtOnce(t *testing.T) {
	for _, c := range []struct{ groups, in, out, lanes, want int }{
		{1, 96, 96, 4, 1}, {2, 96, 96, 16, 1}, {4, 96, 96, 16, 2}, {16, 96, 96, 4, 2}, {16, 96, 96, 16, 8}, {32, 96, 96, 8, 8}, {48, 96, 96, 4, 2},
		{96, 96, 96, 16, 1}, // each filter its channel: these are lanes
		{4, 4, 8, 4, 4},     // all groups
		{2, 64, 62, 4, 2},   // of which the last vector is not full
		{9, 36, 27, 4, 1},   // of too many
		{3, 15, 12, 4, 1},   // no steps
		{2, 96, 96, 0, 1},   // no vectors
	} {
		f := &graph.FusedConv{KH: 3, KW: 3, In: c.in, Out: c.out, Groups: c.groups}
		if got := groupsAtOnce(f, c.lanes); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// TestBand: groups of two or three channels and as many filters are a band where 16 bits hold their sums and these are compared as they are, and channels each for themselves always.
func TestBand(t *testing.T) {
	arm, x86 := targets.Target{Arch: "aarch64", VectorBits: 128}, targets.Target{Arch: "x86_64", VectorBits: 256}
	for _, c := range []struct {
		machine         targets.Target
		groups, in, out int
		bits, weight    int
		rows            int
		levels          bool
		band, short     bool
		step, steps     int // of a tap
	}{
		{arm, 32, 3, 3, 3, 1, 8, true, true, true, 1, 5},
		{x86, 48, 2, 2, 3, 1, 8, true, true, true, 1, 3},
		{arm, 32, 3, 3, 3, 1, 1, true, false, false, 4, 3},  // one row; four groups are one
		{arm, 32, 3, 3, 3, 1, 8, false, false, false, 4, 3}, // floats
		{arm, 24, 4, 4, 2, 1, 8, true, false, false, 4, 1},  // a step
		{arm, 32, 3, 6, 2, 1, 8, true, false, false, 4, 3},  // lanes are no neighbours
		{x86, 32, 3, 3, 8, 1, 8, true, true, true, 1, 5},    // 45 products of 255 and 1 at most
		{x86, 32, 3, 3, 8, 2, 8, true, false, false, 4, 6},  // of 255 and up to 3; eight groups
		{arm, 96, 1, 1, 8, 15, 8, true, true, true, 1, 1},   // 9 products of -128 and 15
		{arm, 96, 1, 1, 8, -32, 8, true, true, false, 1, 1}, // up to 63
		{arm, 96, 1, 1, 4, -128, 8, true, true, true, 1, 1}, // of 15 and -128
		{arm, 96, 1, 1, 4, 15, 1, false, true, true, 1, 1},
		{x86, 1, 96, 96, 3, 1, 8, true, false, false, 4, 24}, // no groups
	} {
		n := c.groups * c.in
		f := &graph.FusedConv{KH: 3, KW: 3, SH: 1, SW: 1, Pad: graph.Padding{Top: 1, Bottom: 1}, In: n, Out: c.groups * c.out, Groups: c.groups, Ints: oneWeight(9*c.in*c.groups*c.out, c.weight),
			X: graph.Integers{Max: 1<<c.bits - 1, Step: 1}, W: graph.Integers{Min: -128, Max: 127, Step: 1}}
		if c.levels {
			f.Epilogue.OutBits, f.Epilogue.Thresholds = 1, [][]int32{make([]int32, f.Out)}
		}
		x := &graph.Value{LevelType: scalar.LevelType{Enc: ir.Unipolar, Bits: c.bits}, Shape: []int{1, c.rows, 8, n}}
		d := newDots(f, x, c.machine)
		if d.Band != c.band || d.Short != c.short || d.Step != c.step || d.Steps != c.steps {
			t.Errorf("%s: %d groups of %d and %d, %d bits by %d, %d rows: band %v, short %v, %d steps of %d", c.machine.Arch, c.groups, c.in, c.out, c.bits, c.weight, c.rows, d.Band, d.Short, d.Steps, d.Step)
		}
	}
}

// oneWeight are so many weights, of which one is not 0.
func oneWeight(count, weight int) graph.Numbers {
	return graph.IntNumbers(count, func(i int) int {
		if i == 5 {
			return weight
		}
		return 0
	})
}
