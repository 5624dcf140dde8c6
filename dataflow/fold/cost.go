package fold

import (
	"math"

	"ripc/dataflow"
	"ripc/targets/fpga"
)

// Cost is an estimate of the cells of engines.
type Cost struct {
	LUTs   float64 `json:"luts"`
	Blocks float64 `json:"blocks"` // block RAMs of the family
}

func (c Cost) plus(d Cost) Cost { return Cost{c.LUTs + d.LUTs, c.Blocks + d.Blocks} }

// estimator prices engines on a part, before synthesis. block is the price of one more block RAM.
type estimator struct {
	fpga.Target
	block float64
}

// lutsPerBlock is the rate at which the part has LUTs and block RAMs.
func lutsPerBlock(t fpga.Target) float64 {
	return float64(t.Part.LUTs) / float64(t.Part.Blocks(t.Family))
}

// priceBlocks calls choose with rising prices of block RAM until the price is that of the result.
// The first block of a part is free, since it would lie idle. The last one costs lutsPerBlock. In
// between the price is in proportion to the blocks in use. Blocks that windows can take are not for
// weights. Where even higher prices leave too many blocks in use, the last result is taken.
func priceBlocks(s *dataflow.Segment, t fpga.Target, choose func(e estimator) (Point, error)) (p Point, err error) {
	const least, most = 1. / 64, 16.
	for share := least; share <= most; share *= 2 {
		e := estimator{t, share * lutsPerBlock(t)}
		if p, err = choose(e); err != nil {
			break
		}
		room := float64(t.Part.Blocks(t.Family) - e.windows(s, p.Folds))
		if p.Cost.Blocks <= min(share, 1)*room {
			break
		}
	}
	return p, err
}

// windows is the largest number of block RAMs that the windows of engines take.
func (e estimator) windows(s *dataflow.Segment, folds map[string]dataflow.Fold) (n int) {
	for _, st := range s.MVUs() {
		if m := st.Engine.(*dataflow.MVU); m.Windowed() {
			n += e.blocks(m.WindowMemory(folds[st.Name]))
		}
	}
	return n
}

// price is a cost as one number, in LUTs, where block RAM has the estimator's price.
func (e estimator) price(c Cost) float64 { return c.LUTs + c.Blocks*e.block }

// priceOfAll is the cost of a whole design as one number, in LUTs. Each block RAM has the price
// that priceBlocks gives it, from 0 for the first one.
func priceOfAll(c Cost, t fpga.Target) float64 {
	return c.LUTs + lutsPerBlock(t)*c.Blocks*c.Blocks/float64(2*t.Part.Blocks(t.Family))
}

// blocks is the number of block RAMs of a memory.
func (e estimator) blocks(depth, width int) int {
	best := math.MaxInt
	for _, s := range e.Family.Shapes {
		best = min(best, (depth+s.Depth-1)/s.Depth*((width+s.Width-1)/s.Width))
	}
	return best
}

// rom is the LUTs of a memory in logic: for each bit a tree with the bits in its leaves, and
// multiplexers of as many inputs as a LUT has room for beside their addresses. Bits of equal
// contents share a tree: a memory of d words has at most 2^d different ones.
func (e estimator) rom(depth, width int) float64 {
	leaves, ways := math.Ceil(float64(depth)/float64(int(1)<<e.Family.LUTInputs)), 2.
	for 2*ways+math.Log2(2*ways) <= float64(e.Family.LUTInputs) {
		ways *= 2
	}
	return min(float64(width), math.Exp2(float64(depth))) * leaves * ways / (ways - 1)
}

// inBlocks reports whether a memory is cheaper in block RAM than in logic.
func (e estimator) inBlocks(depth, width int) bool {
	return float64(e.blocks(depth, width))*e.block < e.rom(depth, width)
}

// mvu is the cost of an engine: its sums of products, accumulators, thresholds, memories, replay
// buffer and counters. A tree of counters takes a LUT and a third for each counted bit, with the
// product of 1 bit in its first layer.
func (e estimator) mvu(m *dataflow.MVU, f dataflow.Fold) Cost {
	const countedBit, compared, counters, window = 4.0 / 3, 2, 45, 90
	acc, n := float64(m.AccBits(f)), float64(f.SIMD)
	row := n*float64(m.XBits)*countedBit + acc
	if m.WBits > 1 {
		row = n*float64(m.XBits*m.WBits) + acc
	}
	var c Cost
	if m.YBits > 0 {
		row += acc*float64(m.YBits-1)*compared + e.rom(m.Blocks(f), int(acc)*(1<<m.YBits-2)) +
			e.rom(m.Blocks(f)*len(m.Border), int(acc))
	}
	c.LUTs = row*float64(f.PE) + counters
	depth, width := m.Steps(f)*m.Blocks(f), f.PE*f.SIMD*m.WBits
	if f.Block {
		c.Blocks = float64(e.blocks(depth, width))
	} else {
		c.LUTs += e.rom(depth, width)
	}
	if m.Replays(f) > 1 {
		c.LUTs += math.Ceil(float64(m.Steps(f))/32) * n * float64(m.XBits)
	}
	if m.Windowed() {
		c.LUTs += window
	}
	return c
}

// converter is the price of a width converter between beats of a and b elements: the registers of
// its widest beat.
func (e estimator) converter(a, b, elementBits int) float64 {
	if a == b {
		return 0
	}
	widest := a / gcd(a, b) * b
	if dataflow.Ratio(a, b) {
		return float64(widest*elementBits) / 2
	}
	return float64(widest * elementBits)
}

func gcd(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}
