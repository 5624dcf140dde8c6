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

// TestFloatLanes: sums of floats of one position that wait have more registers where all threads have blocks of them, and cores that find an order by themselves two units.
func TestFloatLanes(t *testing.T) {
	m := targets.Target{VectorBits: 128, Registers: 32, Threads: 4}
	for _, c := range []struct{ channels, width, inOrder, others int }{
		{1000, 1, 16, 32}, {512, 1, 16, 32}, {256, 1, 16, 32}, {128, 1, 16, 16}, {1000, 7, 8, 8}, {10, 1, 8, 8},
	} {
		for _, m.InOrder = range []bool{true, false} {
			want := c.others
			if m.InOrder {
				want = c.inOrder
			}
			if n := cost.FloatLanes(m, c.channels, c.width); n != want {
				t.Errorf("%d channels, rows of %d, in order %v: %d together, want %d", c.channels, c.width, m.InOrder, n, want)
			}
		}
	}
}

// TestWordPart: a core in order has registers for what LLVM loads ahead, and where few words leave some, fewer channels at more positions.
func TestWordPart(t *testing.T) {
	m := targets.Target{VectorBits: 128, Registers: 32, InOrder: true}
	for _, c := range []struct {
		words     int
		planes    bool
		width     int
		part, pos int
	}{
		{1, false, 9, 32, 3}, {1, false, 10, 16, 5}, {1, false, 14, 16, 7}, {1, false, 28, 16, 7},
		{2, false, 12, 32, 3}, {2, false, 28, 16, 4}, {2, false, 56, 32, 3},
		{1, true, 14, 8, 7}, {1, true, 28, 16, 4},
	} {
		s := cost.Sum{Rows: 3, Cols: 3, Words: c.words, Planes: c.planes, Bits: 16}
		if part, pos := cost.WordPart(m, s, []int{8, 16, 32}, 32, c.width, 10); part != c.part || pos != c.pos {
			t.Errorf("%d words, planes %v, rows of %d: %d channels at %d positions, want %d at %d", c.words, c.planes, c.width, part, pos, c.part, c.pos)
		}
	}
}

// TestTapTile: sums that words of neighbouring taps would push out of the registers make tiles smaller where that computes no positions twice, or few.
func TestTapTile(t *testing.T) {
	m := targets.Target{VectorBits: 512, Registers: 32, CountOps: 1}
	for _, c := range []struct{ words, width, pos int }{
		{2, 56, 7}, {2, 28, 7}, {2, 13, 13}, {1, 27, 9}, {1, 10, 10}, {1, 56, 8},
	} {
		s := cost.Sum{Rows: 3, Cols: 3, Words: c.words, Bits: 32}
		if pos := cost.TapTile(m, s, 2, c.width, 13); pos != c.pos {
			t.Errorf("%d words, rows of %d: %d positions, want %d", c.words, c.width, pos, c.pos)
		}
	}
	m.InOrder = true
	if s := (cost.Sum{Rows: 3, Cols: 3, Words: 1, Bits: 32}); cost.InlineRow(m, s) {
		t.Error("a core in order has other tiles")
	}
}

// TestOneByOne: a core in order has registers for counts under way where an instruction takes one word.
func TestOneByOne(t *testing.T) {
	m := targets.Target{VectorBits: 128, Registers: 32, PairLoads: true}
	s := cost.Sum{Rows: 3, Cols: 3, Words: 3, Bits: 16}
	for _, order := range []bool{false, true} {
		m.InOrder = order
		tile := cost.TileBytes(m, s, 13, 0, []int{8, 4, 2})
		if tile.Step != 1 || order != (tile.Vectors*tile.Positions <= 16) {
			t.Errorf("in order %v: %+v", order, tile)
		}
	}
}

// TestKeptSums: sums stay in registers where much is added to them, and wider tiles share more where little is.
func TestKeptSums(t *testing.T) {
	m := targets.Target{VectorBits: 128, Registers: 32}
	for _, c := range []struct {
		adds int
		kept bool
	}{{1, false}, {18, true}} {
		sums := cost.Lookups{Terms: 144, Adds: c.adds, Bits: 16, Stored: 8}
		row := func(most int) cost.Row { return cost.Row{Width: 14, Tile: cost.Tile(14, most)} }
		stored := cost.LookUps(m, sums, row(cost.TablePositions(m, 2)), 2, false)
		kept := cost.LookUps(m, sums, row(cost.KeptPositions(m, 32, 16)), 2, true)
		if (kept < stored) != c.kept {
			t.Errorf("%d additions: %.0f where sums are kept, %.0f where they are stored", c.adds, kept, stored)
		}
	}
}

// TestOwnTile: depthwise sums leave registers for what each position reads, more where there are strides, and a row that fits is one tile.
func TestOwnTile(t *testing.T) {
	for _, c := range []struct {
		inOrder, strided   bool
		width, tile, wants int
	}{
		{false, false, 112, 8, 8}, {false, false, 13, 13, 7}, {false, true, 56, 8, 7}, {true, true, 28, 7, 6}, {true, true, 14, 7, 5}, {true, true, 7, 7, 7}, {true, false, 28, 7, 7}, {true, true, 56, 3, 3},
	} {
		m := targets.Target{VectorBits: 128, Registers: 32, InOrder: c.inOrder}
		if got := cost.OwnTile(m, c.strided, c.width, 2, c.tile); got != c.wants {
			t.Errorf("in order %t, strided %t, %d columns: tiles of %d, want %d", c.inOrder, c.strided, c.width, got, c.wants)
		}
	}
}

// TestNarrowTile: planes of bytes have small tiles where sums are short and of few words, three planes of wider words smaller ones on cores that work in order.
func TestNarrowTile(t *testing.T) {
	for _, c := range []struct {
		short, inOrder                          bool
		words, width, planes, bits, tile, wants int
	}{
		{true, false, 2, 55, 1, 8, 11, 11}, {true, false, 2, 55, 2, 8, 11, 5}, {true, false, 2, 27, 2, 8, 9, 9}, {true, false, 9, 13, 2, 8, 13, 13}, {true, false, 2, 28, 3, 8, 7, 2},
		{false, false, 2, 55, 3, 8, 11, 11}, {true, false, 2, 28, 3, 8, 1, 1},
		{true, true, 2, 55, 3, 32, 11, 5}, {true, true, 2, 28, 3, 32, 7, 7}, {true, true, 2, 55, 2, 32, 11, 11}, {true, false, 2, 55, 3, 32, 11, 11}, {true, true, 9, 55, 3, 32, 11, 11},
	} {
		m := targets.Target{VectorBits: 128, Registers: 32, ShortSums: c.short, InOrder: c.inOrder}
		if got := cost.NarrowTile(m, cost.Sum{Rows: 1, Cols: 1, Words: c.words, Bits: 8}, c.width, c.planes, c.bits, c.tile); got != c.wants {
			t.Errorf("%+v: tiles of %d", c, got)
		}
	}
}

// TestComparedTile: only levels of several planes, compared into masks, have smaller tiles.
func TestComparedTile(t *testing.T) {
	wide, narrow := targets.Target{VectorBits: 512, Registers: 32}, targets.Target{VectorBits: 128, Registers: 32}
	for _, c := range []struct {
		t                    targets.Target
		width, planes, usual int
		want                 int
	}{
		{wide, 111, 2, 8, 7}, {wide, 111, 3, 8, 7}, {wide, 111, 1, 8, 8}, {wide, 111, 2, 5, 5}, {wide, 13, 2, 13, 7}, {narrow, 111, 2, 8, 8},
	} {
		if got := cost.ComparedTile(c.t, c.width, c.planes, c.usual); got != c.want {
			t.Errorf("%d bits, %d positions, %d planes: %d instead of %d", c.t.VectorBits, c.width, c.planes, got, c.want)
		}
	}
}
