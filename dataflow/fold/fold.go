// Package fold chooses the sizes of engines: the least estimated cost at which no engine takes more
// than a number of cycles for a picture.
//
// Engines depend on each other by the width converters between them alone. So the best choice is a
// shortest path through the layers, with a node for each legal fold.
package fold

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"ripc/dataflow"
	"ripc/targets/fpga"
)

// BudgetError says that no folds are fast enough.
type BudgetError struct {
	Cycles, Least int
	Layer         string  // that takes Least
	FPS, ClockMHz float64 // that Cycles are of; 0 where cycles were asked for
}

func (e *BudgetError) Error() string {
	if e.FPS > 0 {
		return fmt.Sprintf("no folding makes %g pictures a second at %g MHz; the most are %.0f, with %d cycles of "+
			"layer %s", e.FPS, e.ClockMHz, math.Floor(e.ClockMHz*1e6/float64(e.Least)), e.Least, e.Layer)
	}
	return fmt.Sprintf("no folding takes at most %d cycles a picture; the least is %d, of layer %s", e.Cycles, e.Least,
		e.Layer)
}

// BadInput reports that the input is at fault.
func (*BudgetError) BadInput() bool { return true }

// Point is a choice of folds for all layers.
type Point struct {
	Folds  map[string]dataflow.Fold // by layer
	Cycles int                      // of the slowest unit
	Cost   Cost
	Costs  map[string]Cost // by layer; of "" the FIFOs and converters between them
}

// Text lists the folds in the layers' order, as --fold takes them.
func (p Point) Text(s *dataflow.Segment) string {
	var all []string
	for _, st := range s.MVUs() {
		all = append(all, fmt.Sprintf("%s=%s", st.Name, p.Folds[st.Name]))
	}
	return strings.Join(all, ",")
}

// choice is a fold of a layer with its cost, apart from converters.
type choice struct {
	dataflow.Fold
	cost                 Cost
	lanes, cycles, reuse int
}

// finder finds folds of a segment for a part.
type finder struct {
	*dataflow.Segment
	estimator
	layers     [][]choice // of MVUs
	converters map[[3]int]Cost
}

func newFinder(s *dataflow.Segment, t fpga.Target) *finder {
	f := &finder{s, estimator{t, ModelOf(t.Family), 0}, nil, map[[3]int]Cost{}}
	for _, st := range s.MVUs() {
		m := st.Engine.(*dataflow.MVU)
		var all []choice
		for _, x := range m.Folds() {
			for _, x.Block = range []bool{false, true} {
				all = append(all, choice{x, f.priceUnits(s.UnitsOf(st, x)), m.Lanes(x), m.Cycles(x), m.Reuse(x)})
			}
		}
		f.layers = append(f.layers, all)
	}
	return f
}

// converter is the cost of the units between beats of a and b elements.
func (f *finder) converter(a, b, elementBits int) Cost {
	key := [3]int{a, b, elementBits}
	c, ok := f.converters[key]
	if !ok && a != b {
		c = f.priceUnits(dataflow.Converters(a, b, elementBits))
		f.converters[key] = c
	}
	return c
}

// node is the end of the cheapest path to a fold of a layer.
type node struct {
	choice
	cost   float64
	before *node
}

// FindWithin returns the cheapest Point with at most the given cycles. It fails with *BudgetError.
func FindWithin(s *dataflow.Segment, cycles int, t fpga.Target) (Point, error) {
	return newFinder(s, t).findWithin(cycles)
}

func (f *finder) findWithin(cycles int) (Point, error) {
	return f.priceBlocks(func(e estimator) (Point, error) { return f.shortestPath(cycles, e) })
}

// shortestPath is the Point of the cheapest choices, by the prices of e.
func (f *finder) shortestPath(cycles int, e estimator) (Point, error) {
	var last map[int]*node // the cheapest, by PE
	stages := f.MVUs()
	for i, layer := range f.layers {
		now := map[int]*node{}
		for _, c := range layer {
			if c.cycles > cycles {
				continue
			}
			n := &node{choice: c}
			best := math.Inf(1)
			for _, pe := range slices.Sorted(maps.Keys(last)) {
				joint := e.price(f.converter(pe, c.lanes, stages[i].Engine.(*dataflow.MVU).XBits))
				if v := last[pe].cost + joint; v < best {
					best, n.before = v, last[pe]
				}
			}
			if n.cost = e.price(c.cost); n.before != nil {
				n.cost += best
			}
			if now[c.PE] == nil || n.cost < now[c.PE].cost {
				now[c.PE] = n
			}
		}
		if len(now) == 0 {
			least, layer := Least(f.Segment)
			return Point{}, &BudgetError{Cycles: cycles, Least: least, Layer: layer}
		}
		last = now
	}
	var best *node
	for _, pe := range slices.Sorted(maps.Keys(last)) {
		if best == nil || last[pe].cost < best.cost {
			best = last[pe]
		}
	}
	folds := map[string]dataflow.Fold{}
	for _, st := range slices.Backward(stages) {
		folds[st.Name] = best.Fold
		best = best.before
	}
	return f.point(folds), nil
}

// Given is the Point of given folds. It sets their Block.
func Given(s *dataflow.Segment, folds map[string]dataflow.Fold, t fpga.Target) Point {
	f := newFinder(s, t)
	return f.cheapest(func(i int, c choice) bool {
		g := folds[f.MVUs()[i].Name]
		return c.PE == g.PE && c.SIMD == g.SIMD
	})
}

// Exact is the Point of given folds, with their Block.
func Exact(s *dataflow.Segment, folds map[string]dataflow.Fold, t fpga.Target) Point {
	return newFinder(s, t).point(folds)
}

// cheapest is the Point of the cheapest choice of each layer among those that accept takes.
func (f *finder) cheapest(accept func(layer int, c choice) bool) Point {
	p, _ := f.priceBlocks(func(e estimator) (Point, error) {
		folds := map[string]dataflow.Fold{}
		for i, st := range f.MVUs() {
			some := slices.DeleteFunc(slices.Clone(f.layers[i]), func(c choice) bool { return !accept(i, c) })
			folds[st.Name] = slices.MinFunc(some, func(a, b choice) int {
				return cmp.Compare(e.price(a.cost), e.price(b.cost))
			}).Fold
		}
		return f.point(folds), nil
	})
	return p
}

// point is the Point of folds.
func (f *finder) point(folds map[string]dataflow.Fold) Point {
	p := Point{Folds: folds, Costs: map[string]Cost{}}
	d := dataflow.Outline(f.Segment, folds)
	for _, u := range d.Units {
		c := f.priceUnits([]*dataflow.Unit{u})
		p.Costs[u.Layer] = p.Costs[u.Layer].plus(c)
		p.Cost = p.Cost.plus(c)
	}
	p.Cycles = d.Cycles
	return p
}

// Least is the number of cycles of the fastest folds, and the layer that takes them.
func Least(s *dataflow.Segment) (cycles int, layer string) {
	for _, st := range s.MVUs() {
		m := st.Engine.(*dataflow.MVU)
		least := math.MaxInt
		for _, f := range m.Folds() {
			least = min(least, m.Cycles(f))
		}
		if least > cycles {
			cycles, layer = least, st.Name
		}
	}
	return cycles, layer
}

// Front lists the Points that no other beats in both cycles and cost, the fastest first.
func Front(s *dataflow.Segment, t fpga.Target) []Point {
	least, _ := Least(s)
	f, budgets := newFinder(s, t), map[int]bool{}
	for _, layer := range f.layers {
		for _, c := range layer {
			if c.cycles >= least {
				budgets[c.cycles] = true
			}
		}
	}
	best := math.Inf(1)
	var front []Point
	for _, b := range slices.Sorted(maps.Keys(budgets)) {
		p, err := f.findWithin(b)
		if c := PriceOfAll(p.Cost, t); err == nil && c < best {
			best = c
			front = append(front, p)
		}
	}
	return front
}

// Neighbours lists the cheapest Points with at most the given cycles at several prices of block
// RAM. It fails with *BudgetError.
func Neighbours(s *dataflow.Segment, cycles int, t fpga.Target) ([]Point, error) {
	f, all := newFinder(s, t), []Point{}
	for share := 1. / 64; share <= 16; share *= 4 {
		e := f.estimator
		e.block = share * lutsPerBlock(t)
		p, err := f.shortestPath(cycles, e)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(all, func(q Point) bool { return maps.Equal(p.Folds, q.Folds) }) {
			all = append(all, p)
		}
	}
	return all, nil
}

// Fit is the fastest Point of the front that the part holds by estimate. It fails with *PartError.
func Fit(s *dataflow.Segment, t fpga.Target) (Point, error) {
	front := Front(s, t)
	for _, p := range front {
		if p.Cost.Fits(t) {
			return p, nil
		}
	}
	last := front[len(front)-1].Cost
	return Point{}, &PartError{Target: t, Needs: last}
}

// Check fails with *PartError if t does not hold p by estimate.
func Check(s *dataflow.Segment, p Point, t fpga.Target) error {
	if p.Cost.Fits(t) {
		return nil
	}
	best, err := Fit(s, t)
	if err == nil {
		err = &PartError{t, p.Cost, best.Cycles, best.Text(s)}
	}
	return err
}

// PartError says that a part is too small for folds, or for the cheapest ones.
type PartError struct {
	fpga.Target
	Needs   Cost
	Fastest int    // the cycles of the fastest folds that fit; 0 if none do
	Folds   string // these folds
}

func (e *PartError) Error() string {
	which, instead := "the slowest folding needs", ""
	if e.Fastest > 0 {
		which = "the folding needs"
		instead = fmt.Sprintf("; the fastest that fits takes %d cycles: %s", e.Fastest, e.Folds)
	}
	return fmt.Sprintf("%s is too small: %s about %.0f LUTs, %.0f FFs, %.0f block RAMs and %.0f multipliers, "+
		"%s has %d, %d, %d and %d%s", e.Board.Name, which, e.Needs.LUTs, e.Needs.FFs, e.Needs.Blocks, e.Needs.DSPs,
		e.Part.Name, e.Part.LUTs, e.Part.FFs, e.Part.Blocks(e.Family), e.Part.DSPs, instead)
}

// BadInput reports that the input is at fault.
func (*PartError) BadInput() bool { return true }

// Reuse is the Point where each layer takes PE and SIMD for a reuse factor: the largest legal one
// that is not above factor or, where there is none, the least. The reuse factor of a layer is the
// number of cycles for one position. Of several folds the cheapest is taken.
func Reuse(s *dataflow.Segment, factor int, t fpga.Target) Point {
	f, wanted := newFinder(s, t), []int{}
	for _, layer := range f.layers {
		wanted = append(wanted, slices.MinFunc(layer, func(a, b choice) int {
			if max(a.reuse, b.reuse) <= factor {
				return cmp.Compare(b.reuse, a.reuse)
			}
			return cmp.Compare(a.reuse, b.reuse)
		}).reuse)
	}
	return f.cheapest(func(i int, c choice) bool { return c.reuse == wanted[i] })
}
