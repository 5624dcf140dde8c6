package layout

import (
	"ripc/graph"
	"ripc/targets"
)

// RowBlocks is how the positions of an output are cut into blocks of rows. A look-up finds the
// counts of all positions of a block, side by side.
type RowBlocks struct {
	Rows, Blocks int // rows of a block, and the number of blocks
	// positions of a row of a block: all that its windows read, without the padding behind it,
	// which is that before the next row
	Width     int
	Lanes     int // positions of a vector
	Positions int // of a block: whole vectors, which end behind the last row
	Read      int // positions of the input that a block and its windows read
}

// rowBlocks cuts the rows of f, a layer over x of shape [B, H, W, C], into blocks for t and tables
// of groups of `bits` channels. Among the blocks with tables that fit the first cache, it takes
// those that read and compute the fewest positions.
func rowBlocks(f *graph.FusedConv, x *graph.Value, t targets.Target, bits int) RowBlocks {
	h, w := f.OutSize(x.Shape[1], x.Shape[2])
	dh, dw := f.Dilation()
	rowSpan, colSpan := (f.KH-1)*dh, (f.KW-1)*dw // of a window, from its first pixel to its last
	lanes := max(1, t.VectorBits/8)
	block := func(rows int) RowBlocks {
		b := RowBlocks{Rows: rows, Blocks: ceilDiv(h, rows), Lanes: lanes, Width: w +
			colSpan - min(f.Pad.Left, f.Pad.Right)}
		b.Positions = ceilDiv((rows-1)*b.Width+w, lanes) * lanes
		b.Read = b.Positions + rowSpan*b.Width + colSpan
		return b
	}
	work := func(b RowBlocks) int { return b.Blocks * (b.Positions + b.Read) }
	best := block(1)
	for rows := 2; rows <= h; rows++ {
		b := block(rows)
		if b.Read<<bits > t.L1 {
			break
		}
		if work(b) < work(best) {
			best = b
		}
	}
	return best
}
