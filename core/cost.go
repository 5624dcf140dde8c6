package core

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"sync"

	"ripc/targets/fpga"
)

// Model is the cost of a family's designs: the cells of each term, by resource, fitted to some of
// the designs that Yosys counted. `lab fpga cores` writes it.
type Model struct {
	Tool    string                      `json:"tool"`
	Date    string                      `json:"date"`
	Source  string                      `json:"source"` // SourceKey of the text that Yosys read
	Cells   map[fpga.Resource][]float64 `json:"cells"`
	Designs []Counted                   `json:"designs"`
}

// Counted is a design with its cells after synthesis.
type Counted struct {
	Design string                `json:"design"`
	Fitted bool                  `json:"fitted"` // the model has seen it
	Used   map[fpga.Resource]int `json:"used"`
}

// cells has the models, by family.
//
//go:embed cells.json
var cells []byte

// Models are the models by family.
var Models = sync.OnceValue(func() map[string]Model {
	all := map[string]Model{}
	if err := json.Unmarshal(cells, &all); err != nil {
		panic("BUG: cells.json: " + err.Error())
	}
	return all
})

// Terms are the parts of a design that its LUTs and flip-flops are sums of, beside memories: the
// control, bits that agree, accumulators, and sums of products of bytes.
func (c Config) Terms() []float64 {
	products := 0
	if c.Bytes {
		products = c.Rows * c.Lanes
	}
	return []float64{1, float64(c.Rows * c.Lanes), float64(c.Rows * c.AccBits), float64(products)}
}

// memories lists the core's memories: their number, and the width and depth of each.
func (c Config) memories() [][3]int {
	return [][3]int{{1, c.Lanes, 1 << c.Inputs}, {c.Rows, c.Lanes, 1 << c.Weights},
		{c.TableBeats(), c.Lanes / 32 * c.AccBits, 1 << c.Tables}, {2, c.Rows * c.AccBits, 1 << c.Sums}}
}

// MemoryCells counts the blocks of block RAM in a family, and the cells of memories that are small
// enough for LUTs: those that hold bits, choose among parts, and keep the answer.
func (c Config) MemoryCells(f fpga.Family) map[fpga.Resource]int {
	up := func(n, unit int) int { return (n + unit - 1) / unit }
	all := map[fpga.Resource]int{}
	for _, m := range c.memories() {
		copies, width, depth := m[0], m[1], m[2]
		if 8*width*depth < f.BlockBits {
			const cell = 4 // LUTs that hold the deepest part
			deepest := f.LogicRAM[len(f.LogicRAM)-1]
			parts := up(depth, deepest.Depth)
			all[fpga.LUTs] += copies * (cell*up(width, deepest.Width)*parts + width*(parts-1))
			all[fpga.FFs] += copies * width
			continue
		}
		least := 0
		for _, s := range f.Shapes {
			if n := up(width, s.Width) * up(depth, s.Depth); least == 0 || n < least {
				least = n
			}
		}
		all[fpga.RAMKbits] += copies * least * f.BlockBits >> 10
	}
	return all
}

// Estimate is the cells of a design in a family; nil if no model was fitted for it.
func Estimate(c Config, f fpga.Family) map[fpga.Resource]int {
	m, ok := Models()[cmp.Or(f.Like, f.Name)]
	if !ok {
		return nil
	}
	all := c.MemoryCells(f)
	for r, cells := range m.Cells {
		sum := 0.0
		for i, t := range c.Terms() {
			sum += cells[i] * t
		}
		all[r] += int(sum)
	}
	if all[fpga.DSPs] = 0; c.Bytes {
		all[fpga.DSPs] = c.Rows * c.Lanes / 8
	}
	return all
}
