package fold

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"

	"ripc/dataflow"
	"ripc/targets/fpga"
)

// Cost is a number of cells, by estimate before synthesis.
type Cost struct {
	LUTs   float64 `json:"luts"`
	FFs    float64 `json:"ffs"`
	Blocks float64 `json:"blocks"` // block RAMs of the family
	DSPs   float64 `json:"dsps"`
}

func (c Cost) plus(d Cost) Cost {
	return Cost{c.LUTs + d.LUTs, c.FFs + d.FFs, c.Blocks + d.Blocks, c.DSPs + d.DSPs}
}

// Fits reports whether a part holds the cells.
func (c Cost) Fits(t fpga.Target) bool {
	return c.LUTs <= float64(t.Part.LUTs) && c.FFs <= float64(t.Part.FFs) && c.DSPs <= float64(t.Part.DSPs) &&
		c.Blocks <= float64(t.Part.Blocks(t.Family))
}

// Model prices the units of designs on a family of FPGAs. "lab fpga fit" makes it of synthesized
// units.
type Model struct {
	Family string `json:"family"`
	Tool   string `json:"tool"` // that synthesized
	Date   string `json:"date"`
	Units  int    `json:"units"` // it was fitted to
	// BlockFrom is the least number of small memories in logic, for one block, from which on a
	// memory that is written takes block RAM. TableFrom is that of a table's bits. ProductFrom is
	// the least number of bits of both factors for which products take multipliers.
	BlockFrom   float64 `json:"block_from"`
	TableFrom   float64 `json:"table_from"`
	ProductFrom float64 `json:"product_from"`
	// LUTs and FFs are the cells for 1 of a term, by module and term.
	LUTs map[string]map[string]float64 `json:"luts"`
	FFs  map[string]map[string]float64 `json:"ffs"`
}

//go:embed data
var data embed.FS

// Dir is the folder of the models' files below the module's root.
const Dir = "dataflow/fold/data"

// ModelOf is the model of a family, or of the one that it is like.
func ModelOf(f fpga.Family) *Model {
	m, family := &Model{}, cmp.Or(f.Like, f.Name)
	text, err := data.ReadFile("data/" + family + ".json")
	if err == nil {
		err = json.Unmarshal(text, m)
	}
	if err != nil {
		panic(fmt.Sprintf("BUG: the model of family %s: %v", family, err))
	}
	return m
}

// estimator prices units on a part. block is the price of one more block RAM, in LUTs.
type estimator struct {
	fpga.Target
	model *Model
	block float64
}

// memory is a memory of a unit.
type memory struct{ depth, width int }

// written is the memory that a unit writes.
func written(u *dataflow.Unit) memory {
	switch u.Module {
	case "fifo":
		return memory{u.Int("D"), u.Int("W")}
	case "window":
		return memory{u.Int("ROWS") * u.Int("IX") * u.Int("F"), u.Int("W")}
	case "pool":
		return memory{u.Int("IX") / u.Int("KX") * u.Int("F"), u.Int("L") * u.Int("B")}
	case "mvu":
		if u.Int("NF") > 1 {
			return memory{u.Int("SF"), u.Int("SIMD") * u.Int("XB")}
		}
	}
	return memory{}
}

// tableOf is the memory of a unit with a table, one of those that a lookup has for each element.
func tableOf(u *dataflow.Unit) memory {
	switch u.Module {
	case "lookup":
		return memory{1 << u.Int("A"), u.Int("O")}
	case "flip":
		return memory{u.Int("F"), u.Int("W")}
	}
	return memory{}
}

// Written and Tabled are the sizes of a unit's memory that decide whether it takes block RAM: for
// one block, the small memories in logic of one that is written, and the bits of a table.
func Written(u *dataflow.Unit, f fpga.Family) float64 {
	m := written(u)
	return ratio(tiles(f.LogicRAM, m.depth, m.width), m, f)
}

func Tabled(u *dataflow.Unit, f fpga.Family) float64 {
	m := tableOf(u)
	return ratio(m.depth*m.width, m, f)
}

// ratio is size for one of the block RAMs that m takes.
func ratio(size int, m memory, f fpga.Family) float64 {
	return float64(size) / float64(max(1, tiles(f.Shapes, m.depth, m.width)))
}

// Terms are the counts that a unit's cells are in proportion to: of every unit the bits of its
// streams, of its memory in logic and of the counters that its parameters bound; of an MVU the
// parts of its sums as well.
func (m *Model) Terms(u *dataflow.Unit, f fpga.Family) map[string]float64 {
	t := map[string]float64{"unit": 1}
	for _, s := range u.In {
		t["in"] += float64(s.Width())
	}
	for _, s := range u.Out {
		t["out"] += float64(s.Width())
	}
	if x := written(u); Written(u, f) < m.BlockFrom {
		t["memory"] = float64(tiles(f.LogicRAM, x.depth, x.width))
		t["muxed"] = float64((x.depth - 1) / f.LogicRAM[len(f.LogicRAM)-1].Depth * x.width)
	}
	if x := tableOf(u); Tabled(u, f) < m.TableFrom {
		t["table"] = float64(max(1, u.Int("L"))) * rom(f, x.depth, x.width)
	}
	if u.Module != "mvu" {
		switch in, out := u.Int("IW"), u.Int("OW"); {
		case in > out:
			t["split"], t["shifted"] = float64(in), float64(in-2*out)
		case out > in:
			t["joined"] = float64(out)
		}
		for _, name := range strings.Fields("D F FG FA FB IX IY OX OY KX KY ROWS K N") {
			t["counters"] += float64(bits.Len(uint(max(1, u.Int(name)) - 1)))
		}
		return t
	}
	get := func(name string) float64 { return float64(u.Int(name)) }
	pe, simd, xb, wb, ob, acc := get("PE"), get("SIMD"), get("XB"), get("WB"), get("OB"), get("AW")
	words, blocks, starts := u.Int("SF")*u.Int("NB"), u.Int("NB"), u.Int("NB")*u.Int("CR")*u.Int("CC")
	for _, n := range []int{u.Int("SF"), u.Int("NF"), blocks, words, starts} {
		t["counters"] += float64(bits.Len(uint(n - 1)))
	}
	t["rows"], t["sums"], t["accumulators"] = pe, pe*get("CW"), pe*acc
	switch {
	case wb == 1:
		t["bits"] = pe * simd * xb
	case m.multiplies(u):
		t["multiplied"] = pe * simd
	default:
		t["products"], t["added"] = pe*simd*xb*wb, pe*simd*(xb+wb)
	}
	if starts > 1 {
		t["starts"] = pe * acc
	}
	if u.Int("CR")*u.Int("CC") > 1 {
		t["classes"] = 1
	}
	if u.Int("NF") > 1 {
		t["replay"] = simd * xb
	}
	if words > 1 {
		t["weights"] = pe * simd * wb
	}
	if u.Int("WBLK") == 1 {
		t["late"] = simd*xb + pe*simd*wb
	} else {
		t["rom"] = rom(f, words, int(pe*simd*wb))
	}
	if ob > 0 {
		offsets := pe * acc * (math.Exp2(ob) - 2)
		t["thresholds"] = rom(f, starts, int(pe*acc)) + rom(f, blocks, int(offsets))
		t["compared"], t["chosen"] = pe*acc*(ob-1), pe*acc*max(0, math.Exp2(ob)-4)
	}
	return t
}

// multiplies reports whether the products of an MVU take multipliers.
func (m *Model) multiplies(u *dataflow.Unit) bool {
	return u.Module == "mvu" && u.Int("WB") > 1 && float64(u.Int("XB")+u.Int("WB")) >= m.ProductFrom
}

// Price is the cost of a unit. Blocks are those of its memories.
func (m *Model) Price(u *dataflow.Unit, f fpga.Family) Cost {
	var c Cost
	terms := m.Terms(u, f)
	for _, term := range slices.Sorted(maps.Keys(terms)) { // the same sum in every run
		c.LUTs += terms[term] * m.LUTs[u.Module][term]
		c.FFs += terms[term] * m.FFs[u.Module][term]
	}
	if x := written(u); x.depth > 0 && Written(u, f) >= m.BlockFrom {
		c.Blocks += float64(tiles(f.Shapes, x.depth, x.width))
	}
	if x := tableOf(u); x.depth > 0 && Tabled(u, f) >= m.TableFrom {
		c.Blocks += float64(u.Int("L") * tiles(f.Shapes, x.depth, x.width))
	}
	if u.Int("WBLK") == 1 {
		c.Blocks += float64(tiles(f.Shapes, u.Int("SF")*u.Int("NB"), u.Int("PE")*u.Int("SIMD")*u.Int("WB")))
	}
	if m.multiplies(u) {
		c.DSPs = float64(u.Int("PE") * u.Int("SIMD"))
	}
	return c
}

// tiles is the least number of memories of one of the shapes that a memory takes.
func tiles(shapes []fpga.RAMShape, depth, width int) int {
	best := math.MaxInt
	for _, s := range shapes {
		best = min(best, (depth+s.Depth-1)/s.Depth*((width+s.Width-1)/s.Width))
	}
	return best
}

// rom is the LUTs of a memory in logic: for each bit a tree with the bits in its leaves, and
// multiplexers of as many inputs as a LUT has room for beside their addresses. Bits of equal
// contents share a tree: a memory of d words has at most 2^d different ones.
func rom(f fpga.Family, depth, width int) float64 {
	if depth < 2 {
		return 0
	}
	leaves, ways := math.Ceil(float64(depth)/float64(int(1)<<f.LUTInputs)), 2.
	for 2*ways+math.Log2(2*ways) <= float64(f.LUTInputs) {
		ways *= 2
	}
	return min(float64(width), math.Exp2(float64(depth))) * (leaves + (leaves-1)/(ways-1))
}

// priceUnits is the sum over units.
func (e estimator) priceUnits(units []*dataflow.Unit) (c Cost) {
	for _, u := range units {
		c = c.plus(e.model.Price(u, e.Family))
	}
	return c
}

// price is a cost as one number, in LUTs. Multipliers have the rate at which the part has them.
func (e estimator) price(c Cost) float64 {
	return c.LUTs + c.Blocks*e.block + c.DSPs*float64(e.Part.LUTs)/float64(max(1, e.Part.DSPs))
}

// lutsPerBlock is the rate at which the part has LUTs and block RAMs.
func lutsPerBlock(t fpga.Target) float64 {
	return float64(t.Part.LUTs) / float64(t.Part.Blocks(t.Family))
}

// priceBlocks calls choose with rising prices of block RAM until the price is that of the result.
// The first block of a part is free, since it would lie idle. The last one costs lutsPerBlock. In
// between the price is in proportion to the blocks in use. Where even higher prices leave too many
// blocks in use, the last result is taken.
func (e estimator) priceBlocks(choose func(e estimator) (Point, error)) (p Point, err error) {
	const least, most = 1. / 64, 16.
	for share := least; share <= most; share *= 2 {
		e.block = share * lutsPerBlock(e.Target)
		if p, err = choose(e); err != nil || p.Cost.Blocks <= min(share, 1)*float64(e.Part.Blocks(e.Family)) {
			break
		}
	}
	return p, err
}

// PriceOfAll is the cost of a whole design as one number, in LUTs. Each block RAM has the price
// that priceBlocks gives it, from 0 for the first one.
func PriceOfAll(c Cost, t fpga.Target) float64 {
	return c.LUTs + lutsPerBlock(t)*c.Blocks*c.Blocks/float64(2*t.Part.Blocks(t.Family))
}
