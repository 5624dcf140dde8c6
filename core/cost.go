package core

import (
	_ "embed"
	"encoding/json"
	"sync"

	"ripc/targets/fpga"
)

// cellsData has the cells of each term of a design, by family, as TestEstimates fits them.
//
//go:embed cells.json
var cellsData []byte

// cells are those of each term.
type cells struct {
	LUTs []float64 `json:"luts"`
	FFs  []float64 `json:"ffs"`
}

var fitted = sync.OnceValue(func() map[string]cells {
	all := map[string]cells{}
	if err := json.Unmarshal(cellsData, &all); err != nil {
		panic("BUG: cells.json: " + err.Error())
	}
	return all
})

// LUTTerms are the parts of a design that its LUTs are a sum of, beside memories of LUTs: the
// control, bits that agree, and accumulators. Products of bytes are multipliers.
func (c Config) LUTTerms() []float64 {
	return []float64{1, float64(c.Rows * c.Lanes), float64(c.Rows * c.AccBits)}
}

// FFTerms are those of its flip-flops: the control and accumulators.
func (c Config) FFTerms() []float64 { return []float64{1, float64(c.Rows * c.AccBits)} }

// memories lists the core's memories: their number, and the width and depth of each.
func (c Config) memories() [][3]int {
	return [][3]int{{1, c.Lanes, 1 << c.Inputs}, {c.Rows, c.Lanes, 1 << c.Weights},
		{c.TableBeats(), c.Lanes / 32 * c.AccBits, 1 << c.Tables}, {2, c.Rows * c.AccBits, 1 << c.Sums}}
}

// MemoryCells counts the blocks of block RAM in a family, and the LUTs of memories that are small
// enough for LUTs.
func (c Config) MemoryCells(f fpga.Family) (blocks, luts int) {
	up := func(n, unit int) int { return (n + unit - 1) / unit }
	for _, m := range c.memories() {
		copies, width, depth := m[0], m[1], m[2]
		if 8*width*depth < f.BlockBits {
			const cell, bits, deep = 4, 3, 64 // LUTs that hold so wide and deep a part
			luts += copies * cell * up(width, bits) * up(depth, deep)
			continue
		}
		least := 0
		for _, s := range f.Shapes {
			if n := up(width, s.Width) * up(depth, s.Depth); least == 0 || n < least {
				least = n
			}
		}
		blocks += copies * least
	}
	return blocks, luts
}

// Estimate is the cells of a design in a family; nil if none were fitted for it.
func Estimate(c Config, f fpga.Family) map[fpga.Resource]int {
	k, ok := fitted()[f.Name]
	if !ok {
		return nil
	}
	sum := func(weights, terms []float64) int {
		n := 0.0
		for i, t := range terms {
			n += weights[i] * t
		}
		return int(n)
	}
	blocks, luts := c.MemoryCells(f)
	all := map[fpga.Resource]int{fpga.LUTs: luts + sum(k.LUTs, c.LUTTerms()), fpga.FFs: sum(k.FFs, c.FFTerms()),
		fpga.RAMKbits: blocks * f.BlockBits >> 10, fpga.DSPs: 0}
	if c.Bytes {
		all[fpga.DSPs] = c.Rows * c.Lanes / 8
	}
	return all
}
