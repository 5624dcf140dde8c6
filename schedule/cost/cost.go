package cost

import "ripc/targets"

// Sum is what is added up for one output: counts of the words of a window.
type Sum struct {
	Rows, Cols int // of the window
	Words      int // of channels
	Planes     bool
	Bits       int // of a sum
}

// Terms is the number of words that are counted for an output and a plane.
func (s Sum) Terms() int { return s.Rows * s.Cols * s.Words }

// Row is the row of outputs that are computed: Width positions in tiles, the last of which overlaps the one before.
type Row struct{ Width, Tile int }

// positions is how many are computed, some of them twice.
func (r Row) positions() int { return (r.Width + r.Tile - 1) / r.Tile * r.Tile }

// Words is the cost of a row if each word is counted: xor, count and addition, and the thresholds.
func Words(t targets.Target, s Sum, r Row) float64 {
	return float64(r.positions()) * float64((t.CountOps+2)*s.Terms()+3)
}

// Pairs is the cost of a row if two words are counted at once by an instruction, on words that are kept as pairs: two of the
// five operations are bitwise functions of three registers (docs/kernels.md), which take seven where there are none. What is carried is counted at the end, for
// each plane, while the sums are in memory. Functions of three registers take a little longer than other operations: 1024 products in five
// operations have 1.09 times the rate of 512 in three (limits of docs/bench-peers.md), not 1.2 times.
func Pairs(t targets.Target, s Sum, r Row) float64 {
	pair := float64(t.CountOps + 9) // xor, xor, xor, xor; xor, and, and, or
	if t.Ternary {
		pair = float64(t.CountOps) + 4.5
	}
	ops := pair*float64(s.Terms())/2 + float64(t.CountOps+5)
	if s.Planes {
		ops += 3
	}
	return float64(r.positions()) * ops
}

// CarrySave is the cost of a row if two words are counted at once by plain operations (Harley-Seal, see Warren, Hacker's
// Delight, 5-1): the words' differences, sum and carry of three, one count. vectors are the registers of sums that a position
// of the row has; sums and carries that need more registers than there are come from memory and go there.
func CarrySave(t targets.Target, s Sum, r Row, vectors int) float64 {
	pair := t.CountOps + 9 // and, or, and, or; xor, xor
	if t.Ternary {
		pair = t.CountOps + 5
	}
	if 2*vectors*r.Tile+inUse > t.Registers {
		pair += 4
	}
	ops := pair*s.Terms()/2 + t.CountOps + 5
	if s.Planes {
		ops += 3
	}
	return float64(r.positions() * ops)
}

// inUse is the number of registers that a count of words by look-up takes, with its tables and masks.
const inUse = 9

// Dots is the cost of a row of sums of n steps of products of bytes.
func Dots(n int, r Row) float64 { return float64(r.positions() * (n + 1)) }

// Floats is the cost of a row of sums of n products.
func Floats(n int, r Row) float64 { return float64(r.positions() * (n + 1)) }
