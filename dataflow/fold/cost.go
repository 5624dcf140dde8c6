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

// estimator prices engines on a part, before synthesis. block is the price of a block RAM.
type estimator struct {
	fpga.Target
	block float64
}

// newEstimator prices a block RAM at five quarters of a LUT for each bit of its widest beat.
func newEstimator(t fpga.Target) estimator {
	return estimator{t, float64(t.Family.Shapes[0].Width) * 5 / 4}
}

// leastBlocks calls choose with rising prices of block RAM until the engines take at most three
// fifths of the part's. Windows and FIFOs need block RAM besides. If none does, the last is taken.
func leastBlocks(t fpga.Target, choose func(e estimator) (Point, error)) (p Point, err error) {
	const doublings = 6
	e := newEstimator(t)
	for range doublings {
		if p, err = choose(e); err != nil || 5*p.Cost.Blocks <= 3*float64(t.Part.Blocks(t.Family)) {
			break
		}
		e.block *= 2
	}
	return p, err
}

// price is a cost as one number, in LUTs.
func (e estimator) price(c Cost) float64 { return c.LUTs + c.Blocks*e.block }

// blocks is the number of block RAMs of a memory.
func (e estimator) blocks(depth, width int) int {
	best := math.MaxInt
	for _, s := range e.Family.Shapes {
		best = min(best, (depth+s.Depth-1)/s.Depth*((width+s.Width-1)/s.Width))
	}
	return best
}

// rom is the LUTs of a memory in logic: a tree of LUTs for each bit, and a third more for
// multiplexers.
func (e estimator) rom(depth, width int) float64 {
	return float64(width) * math.Ceil(float64(depth)/float64(int(1)<<e.Family.LUTInputs)) * 4 / 3
}

// inBlocks reports whether a memory is cheaper in block RAM than in logic. Small memories stay in
// logic: those of half a LUT a bit, and those of as many LUTs as a LUT has bits.
func (e estimator) inBlocks(depth, width int) bool {
	bits := 1 << e.Family.LUTInputs
	logic := e.rom(depth, width)
	return depth > bits/2 && logic > float64(bits) && float64(e.blocks(depth, width))*e.block < logic
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
