package cost

import (
	"math"

	"ripc/targets"
)

// CarryTree is the cost of a row if the words of whole windows, kept as pairs, are counted through a tree of carry-save adders: three operations add two words, each adder
// of three takes two and leaves one vector less, and what is left, one vector for each power of two, is looked up nibble by nibble. Weights are loaded once for all positions of a
// tile. Of convs B, C and D tiles of 2, 3 and 4 positions took 1.15, 1.05 and 1 times as long for each position on a Zen 5.
func CarryTree(s Sum, r Row) float64 {
	const count, widen, load = 7, 5, 2.5
	n := float64(s.Terms())
	left := math.Ceil(math.Log2(n))
	ops := 1.5*n + 2*(n/2-left) + count*left + widen
	return float64(r.positions()) * (ops + load*n/float64(r.Tile))
}

// TreeTile is how many positions of a row of so many, which are enough for an instruction, are best counted together.
func TreeTile(s Sum, width int) int {
	best := targets.LeastWindowPositions
	for n := best + 1; n <= min(width, targets.WindowPositions); n++ {
		if CarryTree(s, Row{width, n}) <= CarryTree(s, Row{width, best}) {
			best = n
		}
	}
	return best
}
