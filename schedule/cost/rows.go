package cost

import (
	"cmp"
	"math"

	"ripc/targets"
)

// MaxThreads is the number of threads that rows are shared out among where the target does not say how many there are.
const MaxThreads = 8

// MaxTableThreads is the number of threads, at most, whose blocks of rows have tables of their own, which are dear.
const MaxTableThreads = 4

// blockStart is what a block of rows takes before its first row, in rows: what it copies of rows that others copy as well. It has
// not been measured against its neighbours.
const blockStart = 0.25

// Rows is the number of rows, of h, that a thread computes at once, one of those that fit, 0 if none does: the thread with the most
// blocks of rows has the least to do. Where its share of the rows fits, that is one block.
func Rows(t targets.Target, h int, fits func(rows int) bool) int {
	return rowsAmong(threads(t), h, fits)
}

// CopiedRows is Rows of those whose inputs, which are copied in so many bytes, fit a thread's part of the second cache. Shares of MaxThreads
// do, whatever they copy: fewer rows would copy more of them twice.
func CopiedRows(t targets.Target, h int, bytes func(rows int) int) int {
	part, few := t.L2/max(1, t.Threads), rowsAmong(MaxThreads, h, Any)
	return Rows(t, h, func(rows int) bool { return rows <= few || bytes(rows) <= part })
}

// Near is how many bytes a buffer has, at most, that back ends keep on the stack (codegen.MaxOnStack). Compilers know of such memory that nothing else is written to it.
const Near = 4 << 10

// NearRows is CopiedRows of those of which a copy, of so many bytes, is Near, where there are any. It is for a copy that is read again and again between stores: what is not known to
// stay as it is has to be loaded each time. By estimated cycles, 3x3 layers of 96 channels in 4 to 24 groups, which put words together of such a copy, take 8 to 24 % less so with 3 bits on
// rpi3, and up to 15 and 16 % less on rpi4 and rpi5; of 2 bits 7 to 25 % on rpi3 and up to 19 % on the others.
func NearRows(t targets.Target, h int, copied, near func(rows int) int) int {
	few := CopiedRows(t, h, copied)
	return cmp.Or(Rows(t, h, func(rows int) bool { return rows <= few && near(rows) <= Near }), few)
}

// threads is the number of threads that rows are shared out among.
func threads(t targets.Target) int { return cmp.Or(t.Threads, MaxThreads) }

// rowsAmong is Rows for so many threads.
func rowsAmong(threads, h int, fits func(rows int) bool) int {
	over := func(n, by int) int { return (n + by - 1) / by }
	best, least := 0, math.Inf(1)
	for rows := max(1, over(h, threads)); rows > 0; rows-- {
		if c := float64(over(over(h, rows), threads)) * (float64(rows) + blockStart); c < least && fits(rows) {
			best, least = rows, c
		}
	}
	return best
}

// LeastRows is how many of h rows a block has at least that has so many copies made for it: those whose operations, so many a row, leave no more than a fifth of the time to waiting for
// copies, which are made of copies (targets.Target.CopyWait). Fewer threads are no loss then, as they would wait for each other for as long as such a layer takes.
func LeastRows(t targets.Target, h, copies int, ops float64) int {
	wait := t.CopyWait() * max(1, copies)
	if wait == 0 || ops <= 0 {
		return 1
	}
	blocks := max(1, int(float64(h)*ops/float64(4*wait)))
	return (h + blocks - 1) / blocks
}

// SharedOps is how many operations a stage has at least whose rows are shared among threads: behind each stage these wait for one another for longer than fewer of them take, and one block of all rows has no last one that is shorter.
const SharedOps = 4000 // some two microseconds of an A53

// LookedUpOps is how many operations a position takes whose levels are looked up.
const LookedUpOps = 4

// LookedUp is how many positions of a row are written out, each of which takes four instructions where its levels are looked up. By estimated cycles of rpi3 and rpi4 and by time on a
// Zen 4, 28 positions take 7 to 21 % less than four times 7.
const LookedUp = 32

// Any says that any number of rows fits.
func Any(int) bool { return true }

// SpreadRows is Rows of those whose inputs may be kept four times each, in so many bytes: they leave a quarter of the first-level cache
// to a tile's weights. It is 0 if not even two rows do, or one where threads have one.
func SpreadRows(t targets.Target, h int, bytes func(rows int) int) int {
	least := min(2, Rows(t, h, Any))
	return Rows(t, h, func(rows int) bool { return rows >= least && bytes(rows) <= t.L1*3/4 })
}

// TableRows is the number of rows of the output that share the tables that are made for them: Rows of fewer threads. Windows of one row
// share none with those of the next, so that tables need not leave the first cache.
func TableRows(t targets.Target, h, window int) int {
	if window == 1 {
		return 1
	}
	return rowsAmong(TableThreads(t), h, Any)
}

// TableThreads is the number of threads that share rows with tables of their own.
func TableThreads(t targets.Target) int { return min(MaxTableThreads, threads(t)) }

// PackFilters reports whether weights of so many bytes, of floats, are laid out by the blocks of filters in which they are read: where the first cache does not keep all blocks, and on cores that work in order, which
// wait for the addresses of steps that lie apart (SqueezeNet's stem, of 7 KB of weights, takes 9 % fewer estimated cycles on rpi3, and as many as before on rpi4 and rpi5).
func PackFilters(t targets.Target, bytes int) bool { return t.InOrder || bytes > t.L1 }

// InPlace reports whether floats that are read so often each, by rows of so many positions, are read where they are, with no copy that has a border. On cores that work in order those at the border of each tile
// cost more than copies where windows overlap much. By estimated cycles of rpi3, 3x3 layers without strides take 24 and 42 % more in rows of 56 and 112, 6 % more to 23 % less in rows of 15 and fewer,
// and QuickNet's of stride 2 take 1 % more to 37 % less; on rpi4 14 to 52 % less, and by time on a Zen 4 29 to 70 %.
func InPlace(t targets.Target, reads float64, width int) bool {
	const few = 3
	return !t.InOrder || reads < few || width <= 2*MaxPositions
}
