package cost_test

import (
	"testing"

	"ripc/schedule/cost"
	"ripc/targets"
)

// busiest is how many rows of h the thread has that has most of them, where blocks of so many are shared out.
func busiest(threads, h, rows int) int {
	blocks := (h + rows - 1) / rows
	return (blocks + threads - 1) / threads * rows
}

// TestRows: with as many threads as the target has, none has more rows than its share.
func TestRows(t *testing.T) {
	for threads := 1; threads <= cost.MaxThreads; threads++ {
		m := targets.Target{Threads: threads}
		for h := 1; h < 300; h++ {
			rows, share := cost.Rows(m, h, cost.Any), (h+threads-1)/threads
			if n := busiest(threads, h, rows); n != share || rows != share {
				t.Errorf("%d threads, %d rows: blocks of %d, so that one thread has %d rows, not %d", threads, h, rows, n, share)
			}
		}
	}
	if rows := cost.Rows(targets.Target{}, 13, cost.Any); rows != 2 {
		t.Errorf("a target of which nothing is known: blocks of %d rows", rows)
	}
}

// TestRowsThatFit: of blocks smaller than a share, those are taken that leave little more than it to any thread.
func TestRowsThatFit(t *testing.T) {
	divide := func(h int) func(int) bool { return func(rows int) bool { return h%rows == 0 } }
	below := func(most int) func(int) bool { return func(rows int) bool { return rows <= most } }
	for _, c := range []struct {
		what    string
		h, rows int
		fits    func(int) bool
	}{
		{"11 divide as well, but 5 blocks are two rounds of 4 threads", 55, 5, divide(55)},
		{"3 would be 9 blocks", 27, 1, divide(27)},
		{"a share divides", 28, 7, divide(28)},
		{"9 would be 7 blocks", 56, 7, below(9)},
		{"6 blocks of 5 are two rounds, 7 of 4 are, too", 27, 4, below(5)},
		{"nothing fits", 27, 0, below(0)},
	} {
		if rows := cost.Rows(targets.Target{Threads: 4}, c.h, c.fits); rows != c.rows {
			t.Errorf("%s: of %d rows, blocks of %d, not %d", c.what, c.h, rows, c.rows)
		}
	}
}

// TestCopiedRows: shares whose copies do not fit the caches are those of more threads.
func TestCopiedRows(t *testing.T) {
	m := targets.Target{Threads: 4, L1: 32 << 10, L2: 512 << 10}
	for _, c := range []struct{ row, copied, spread int }{
		{100, 28, 28},
		{1 << 10, 28, 14}, // 22 rows would fit as well, but be 6 blocks
		{6 << 10, 14, 2},
		{16 << 10, 14, 0},
	} {
		bytes := func(rows int) int { return (rows + 2) * c.row }
		if copied, spread := cost.CopiedRows(m, 112, bytes), cost.SpreadRows(m, 112, bytes); copied != c.copied || spread != c.spread {
			t.Errorf("%d bytes a row: blocks of %d rows, %d where copies are in the first cache, not %d and %d", c.row, copied, spread, c.copied, c.spread)
		}
	}
}

// TestLeastRows: what is little beside waiting for copies is one block on x86, what is much has rows of its own, and so has what waits for nothing.
func TestLeastRows(t *testing.T) {
	for _, c := range []struct {
		target string
		copies int
		ops    float64
		want   int
	}{
		{"x86-64-v4", 3, 100, 14},
		{"x86-64-v4", 3, 300, 7},
		{"x86-64-v4", 1, 300, 2},
		{"x86-64-v4", 3, 10000, 1},
		{"x86-64-v4", 3, 0, 1},
		{"rpi3", 3, 100, 1},
	} {
		m, err := targets.Lookup(c.target)
		if err != nil {
			t.Fatal(err)
		}
		if got := cost.LeastRows(m, 14, c.copies, c.ops); got != c.want {
			t.Errorf("%s, %d copies, %.0f operations: %d rows, want %d", c.target, c.copies, c.ops, got, c.want)
		}
	}
}
