package cost_test

import (
	"testing"

	"ripc/schedule/cost"
	"ripc/targets"
)

// TestRoomyPositions: on a core that works in order, tiles of kept sums leave registers for what is under way, and for a row of taps that is written out; elsewhere, and where that leaves no tile, they have as many positions as fit.
func TestRoomyPositions(t *testing.T) {
	for _, c := range []struct {
		name, target                   string
		filters, bits, run, taps, most int
		want                           int
	}{
		{"two registers of filters", "rpi3", 32, 16, 4, 1, 4, 3},
		{"12 channels, a row of taps written out", "rpi3", 32, 16, 3, 1, 4, 3},
		{"8 channels, a row of taps written out", "rpi3", 32, 16, 2, 3, 4, 2},
		{"one position would be left", "rpi3", 64, 16, 6, 1, 2, 2},
		{"a tile that is smaller", "rpi3", 32, 16, 4, 1, 1, 1},
		{"bytes", "rpi3", 32, 8, 4, 1, 7, 7},
		{"a core that finds an order by itself", "rpi4", 32, 16, 2, 3, 4, 4},
	} {
		m, err := targets.Lookup(c.target)
		if err != nil {
			t.Fatal(err)
		}
		if n := cost.RoomyPositions(m, c.filters, c.bits, c.run, c.taps, c.most); n != c.want {
			t.Errorf("%s: %d positions, not %d", c.name, n, c.want)
		}
	}
}

// TestOrderedLookUpsLeftOver: one position that is left over of a tile is dearer than one of the others, unless it has many sums.
func TestOrderedLookUpsLeftOver(t *testing.T) {
	m, err := targets.Lookup("rpi3")
	if err != nil {
		t.Fatal(err)
	}
	s := cost.Lookups{Terms: 216, Adds: 27, Bits: 16, Stored: 8}
	whole, left := cost.Row{Width: 9, Tile: 3}, cost.Row{Width: 9, Tile: 9}
	if a, b := cost.OrderedLookUps(m, s, whole, 3, 2, 8, false), cost.OrderedLookUps(m, s, left, 4, 2, 8, false); a >= b {
		t.Errorf("two registers of filters: three tiles of 3 positions cost %.0f, 4, 4 and 1 cost %.0f", a, b)
	}
	if a, b := cost.OrderedLookUps(m, s, whole, 3, 4, 8, false), cost.OrderedLookUps(m, s, left, 4, 4, 8, false); a <= b {
		t.Errorf("four registers of filters: three tiles of 3 positions cost %.0f, 4, 4 and 1 cost %.0f", a, b)
	}
}

// TestSpilledSums: where two vectors are loaded in a cycle, sums that do not fit the registers cost a few operations of each, more if most of them are in memory; elsewhere they cost a quarter of all.
func TestSpilledSums(t *testing.T) {
	narrow := targets.Target{Arch: "x86_64", VectorBits: 512, Registers: 32, L1: 32 << 10}
	wide := narrow
	wide.L1 = 48 << 10
	for _, c := range []struct {
		target      targets.Target
		tile        int
		least, most float64
	}{{wide, 7, 1.02, 1.12}, {wide, 14, 1.12, 1.2}, {narrow, 7, 1.2, 1.4}} {
		s := cost.Lookups{Terms: 288, Adds: 48, Bits: 16, Beside: true}
		row := cost.Row{Width: 14, Tile: c.tile}
		fits := cost.LookUps(c.target, s, row, 2, true)
		s.Spilled = true
		if ratio := cost.LookUps(c.target, s, row, 2, true) / fits; ratio < c.least || ratio > c.most {
			t.Errorf("first cache of %d bytes, %d positions of two registers: spilled sums take %.2f times as long, want %.2f to %.2f", c.target.L1, c.tile, ratio, c.least, c.most)
		}
	}
}
