// Package core is a processor for few-bit networks that exceed an FPGA's block RAM: its design, its
// instructions, a model that counts its cycles exactly, and its Verilog.
//
// Three units work at the same time, each on a queue of instructions. Load copies words from the
// memory outside to the memories of inputs, weights and tables. Compute works on vectors of
// accumulators. Store writes them back. A program is one list in memory. Fetch hands each
// instruction to its unit, in order.
//
//	gemm     acc[r] += sum over l of x[l] * w[r, l]    R rows, L lanes of one bit plane or L/8 bytes
//	take     acc[r] += levels of a tensor, for joins and pools
//	level    acc[r] = number of thresholds that a sum reaches
//	largest  acc[r] = largest of several sums
//
// An instruction is one of these operations in up to 7 nested loops, 5 for load and store. The
// address of each operand grows by a stride a loop, so one instruction computes a whole tile. The
// innermost loops, in which the result stays at its place, are a reduction. Its sum stays in a
// register.
//
// Tokens order the units. An instruction can wait for a token of each other unit before it begins,
// and give one to each when it ends. Two things are ordered thus: data before its use, and the use
// of a place before it is overwritten. So loads run ahead as far as places are free.
//
// Tensors outside lie as [row][column][plane][word of L channels], one bit a level and plane, or as
// [row][column][channel] bytes. Borders are part of a tensor, and are set before the program runs.
//
// A design is a Config. Designs enumerates them, Estimate counts the cells of one.
package core

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"

	"ripc/targets/fpga"
)

// Config is a design of the core. The sizes of memories are logarithms to base 2.
type Config struct {
	Rows    int  `json:"rows"`     // accumulators in a vector: 8 or more, a power of two
	Lanes   int  `json:"lanes"`    // bits of a word: 32 or more, a power of two, at least Rows
	AccBits int  `json:"acc_bits"` // of an accumulator
	Bytes   bool `json:"bytes"`    // gemm multiplies bytes, too
	Inputs  int  `json:"inputs"`   // words of Lanes bits
	Weights int  `json:"weights"`  // words of Rows times Lanes bits
	Tables  int  `json:"tables"`   // vectors of thresholds
	Sums    int  `json:"sums"`     // vectors of accumulators
}

// queueDepth is the number of instructions that wait for a unit.
const queueDepth = 16

// Default is a design of middle size.
func Default() Config {
	return Config{Rows: 16, Lanes: 64, AccBits: 24, Bytes: true, Inputs: 11, Weights: 10, Tables: 9, Sums: 10}
}

// String is the design's name, such as r16l64a24b-11.10.9.10.
func (c Config) String() string {
	b := ""
	if c.Bytes {
		b = "b"
	}
	return fmt.Sprintf("r%dl%da%d%s-%d.%d.%d.%d", c.Rows, c.Lanes, c.AccBits, b, c.Inputs, c.Weights, c.Tables, c.Sums)
}

// limit is the range of a number of a design.
type limit struct {
	name        string
	value       int
	least, most int
	powers      bool // of two alone
}

// limits are those of c's numbers: instructions can address the memories, and pieces and tables
// fill words.
func (c Config) limits() []limit {
	address := func(parts int) int { return min(12, 17-bits.Len(uint(parts))) }
	return []limit{{"lanes", c.Lanes, 32, 256, true}, {"rows", c.Rows, 8, max(8, min(64, c.Lanes)), true},
		{"bits of an accumulator", c.AccBits, 12, 32, false}, {"inputs", c.Inputs, 5, address(c.slots()), false},
		{"weights", c.Weights, 5, address(c.Rows), false}, {"tables", c.Tables, 5, 12, false},
		{"sums", c.Sums, 5, 12, false}}
}

// Parse reads a design's name, as String writes it.
func Parse(name string) (Config, error) {
	c, design, sizes := Config{}, name, ""
	if i := strings.IndexByte(name, '-'); i > 0 {
		design, sizes = name[:i], name[i+1:]
	}
	design, c.Bytes = strings.CutSuffix(design, "b")
	_, err1 := fmt.Sscanf(design, "r%dl%da%d", &c.Rows, &c.Lanes, &c.AccBits)
	_, err2 := fmt.Sscanf(sizes, "%d.%d.%d.%d", &c.Inputs, &c.Weights, &c.Tables, &c.Sums)
	if err1 != nil || err2 != nil || c.String() != name || c.Rows <= 0 || c.Lanes <= 0 {
		return c, fmt.Errorf("%q is no design of the core: write one as %s", name, Default())
	}
	if err := c.check(); err != nil {
		return c, fmt.Errorf("%q: %w", name, err)
	}
	return c, nil
}

// check fails if one of c's numbers is outside its limits. It names the legal ones beside it.
func (c Config) check() error {
	for _, l := range c.limits() {
		below, above := min(l.value, l.most), max(l.value, l.least)
		if l.powers {
			below, above = 1<<(bits.Len(uint(below))-1), 1<<bits.Len(uint(above-1))
		}
		if l.value > l.most {
			above = below
		} else if l.value < l.least {
			below = above
		}
		switch {
		case below != above:
			return fmt.Errorf("%s can be %d or %d, not %d", l.name, below, above, l.value)
		case below != l.value:
			return fmt.Errorf("%s can be %d, not %d", l.name, below, l.value)
		}
	}
	return nil
}

// Exceeds says which cells of a part c exceeds by estimate, and which design fits; "" if c fits. It
// fails if no design fits.
func (c Config) Exceeds(t fpga.Target) (string, error) {
	d := Design{c, Estimate(c, t.Family)}
	switch {
	case d.Cost == nil:
		return fmt.Sprintf("the cells of core %s are not known for family %s", c, t.Family.Name), nil
	case d.fits(t):
		return "", nil
	}
	var over []string
	for _, r := range slices.Sorted(maps.Keys(d.Cost)) {
		if n := t.Part.Has(r); d.Cost[r] > n {
			over = append(over, fmt.Sprintf("%d %s of %d", d.Cost[r], r, n))
		}
	}
	why := fmt.Sprintf("core %s takes %s of %s by estimate; ", c, strings.Join(over, " and "), t.Part.Name)
	all := Designs(t)
	if len(all) == 0 {
		return "", errors.New(why + "no design fits")
	}
	near := c.nearest(all)
	if near == "" {
		near = all[0].Config.String()
	}
	return why + "the nearest design that fits is " + near, nil
}

// nearest is the name of the design that differs least from c, "" if there is none.
func (c Config) nearest(all []Design) (name string) {
	least, own := math.MaxInt, c.limits()
	for _, d := range all {
		n := 0
		for i, l := range d.limits() {
			n += max(l.value, own[i].value)*64/min(l.value, own[i].value) - 64
		}
		if n < least && d.Bytes == c.Bytes {
			least, name = n, d.String()
		}
	}
	return name
}

// slots is the number of pieces of Rows bits in a word.
func (c Config) slots() int { return c.Lanes / c.Rows }

// TableBeats is the number of words outside that hold a vector of a table, 32 bits a number.
func (c Config) TableBeats() int { return c.Rows * 32 / c.Lanes }

// Capacity is the size of a memory of the core: words of inputs and weights, vectors of tables and
// accumulators.
func (c Config) Capacity(m Memory) int {
	return 1 << [...]int{Inputs: c.Inputs, Weights: c.Weights, Tables: c.Tables, Sums: c.Sums}[m]
}

// Unit is the number of addresses in a place of a memory: pieces of words, rows of weights, words
// outside of vectors of tables.
func (c Config) Unit(m Memory) int {
	return [...]int{Outside: c.slots(), Inputs: c.slots(), Weights: c.Rows, Tables: c.TableBeats(), Sums: 1}[m]
}

// Memory is one of the core's memories, or the one outside.
type Memory int

// The memories.
const (
	Outside Memory = iota
	Inputs
	Weights
	Tables
	Sums
)

// Writer is the unit that writes m. The unit behind it reads m.
func (m Memory) Writer() Unit {
	switch m {
	case Outside:
		return Storing
	case Sums:
		return Computing
	}
	return Loading
}

// String is the memory's name.
func (m Memory) String() string {
	return [...]string{"outside", "inputs", "weights", "tables", "sums"}[m]
}

// Designs lists the designs that fit a part by estimate, the one with the fewest LUTs first.
func Designs(t fpga.Target) []Design {
	var all []Design
	for _, rows := range []int{8, 16, 32, 64} {
		for _, lanes := range []int{32, 64, 128, 256} {
			for _, acc := range []int{16, 24, 32} {
				for _, bytes := range []bool{false, true} {
					for _, size := range []int{8, 9, 10, 11} {
						for _, weights := range []int{size - 1, size, size + 1} {
							c := Config{rows, lanes, acc, bytes, size + 1, weights, size - 1, size}
							if d := (Design{c, Estimate(c, t.Family)}); c.check() == nil && d.fits(t) {
								all = append(all, d)
							}
						}
					}
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Design) int { return a.Cost[fpga.LUTs] - b.Cost[fpga.LUTs] })
	return all
}

// Design is a Config with its estimated cells.
type Design struct {
	Config
	Cost map[fpga.Resource]int
}

// fits reports whether the part has the cells, which were estimated.
func (d Design) fits(t fpga.Target) bool {
	for r, n := range d.Cost {
		if n > t.Part.Has(r) {
			return false
		}
	}
	return d.Cost != nil
}
