// Package fold chooses the sizes of engines: the least estimated cost at which no engine takes more
// than a number of cycles for a picture.
//
// Engines depend on each other by the width converters between them alone. So the best choice is a
// shortest path through the layers, with a node for each legal fold.
package fold

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"ripc/dataflow"
	"ripc/targets/fpga"
)

// BudgetError says that no folds are fast enough.
type BudgetError struct {
	Cycles, Least int
	Layer         string // that takes Least
}

func (e *BudgetError) Error() string {
	return fmt.Sprintf("no folding takes at most %d cycles a picture; the least is %d, of layer %s", e.Cycles, e.Least,
		e.Layer)
}

// BadInput reports that the input is at fault.
func (*BudgetError) BadInput() bool { return true }

// Point is a choice of folds for all layers.
type Point struct {
	Folds  map[string]dataflow.Fold // by layer
	Cycles int                      // of the slowest engine
	Cost   Cost
	Costs  map[string]Cost // by layer
}

// Text lists the folds in the layers' order, as --fold takes them.
func (p Point) Text(s *dataflow.Segment) string {
	var all []string
	for _, st := range s.MVUs() {
		all = append(all, fmt.Sprintf("%s=%s", st.Name, p.Folds[st.Name]))
	}
	return strings.Join(all, ",")
}

// node is the end of the cheapest path to a fold of a layer.
type node struct {
	fold   dataflow.Fold
	cost   float64
	before *node
}

// FindWithin returns the cheapest Point with at most the given cycles. It fails with *BudgetError.
func FindWithin(s *dataflow.Segment, cycles int, t fpga.Target) (Point, error) {
	return priceBlocks(s, t, func(e estimator) (Point, error) { return shortestPath(s, cycles, e) })
}

// shortestPath is FindWithin for an estimator.
func shortestPath(s *dataflow.Segment, cycles int, e estimator) (Point, error) {
	var last []*node
	for _, st := range s.MVUs() {
		m := st.Engine.(*dataflow.MVU)
		var now []*node
		for _, f := range m.Folds() {
			if m.Cycles(f) > cycles {
				continue
			}
			f = e.place(m, f)
			n := &node{fold: f, cost: e.price(e.mvu(m, f))}
			best := math.Inf(1)
			for _, b := range last {
				if c := b.cost + e.converter(b.fold.PE, m.Lanes(f), m.XBits); c < best {
					best, n.before = c, b
				}
			}
			if n.before != nil {
				n.cost = n.cost + best
			}
			now = append(now, n)
		}
		if len(now) == 0 {
			least, layer := Least(s)
			return Point{}, &BudgetError{cycles, least, layer}
		}
		last = now
	}
	best := slices.MinFunc(last, func(a, b *node) int { return cmp.Compare(a.cost, b.cost) })
	p := Point{Folds: map[string]dataflow.Fold{}}
	for _, st := range slices.Backward(s.MVUs()) {
		p.Folds[st.Name] = best.fold
		best = best.before
	}
	return e.point(s, p.Folds), nil
}

// Given is the Point of given folds. It sets their Block.
func Given(s *dataflow.Segment, folds map[string]dataflow.Fold, t fpga.Target) Point {
	p, _ := priceBlocks(s, t, func(e estimator) (Point, error) { return e.point(s, folds), nil })
	return p
}

// place is f with its weights in block RAM or in logic.
func (e estimator) place(m *dataflow.MVU, f dataflow.Fold) dataflow.Fold {
	f.Block = e.inBlocks(m.Steps(f)*m.Blocks(f), f.PE*f.SIMD*m.WBits)
	return f
}

// point is the Point of folds.
func (e estimator) point(s *dataflow.Segment, folds map[string]dataflow.Fold) Point {
	p := Point{Folds: map[string]dataflow.Fold{}, Costs: map[string]Cost{}}
	for _, st := range s.MVUs() {
		m := st.Engine.(*dataflow.MVU)
		f := e.place(m, folds[st.Name])
		p.Folds[st.Name] = f
		p.Cycles = max(p.Cycles, m.Cycles(f))
		p.Costs[st.Name] = e.mvu(m, f)
		p.Cost = p.Cost.plus(p.Costs[st.Name])
	}
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
	budgets := map[int]bool{}
	for _, st := range s.MVUs() {
		m := st.Engine.(*dataflow.MVU)
		for _, f := range m.Folds() {
			if c := m.Cycles(f); c >= least {
				budgets[c] = true
			}
		}
	}
	best := math.Inf(1)
	var front []Point
	for _, b := range sorted(budgets) {
		p, err := FindWithin(s, b, t)
		if c := priceOfAll(p.Cost, t); err == nil && c < best {
			best = c
			front = append(front, p)
		}
	}
	return front
}

func sorted(set map[int]bool) []int {
	var all []int
	for k := range set {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}

// Fit is the fastest Point of the front that the part holds by estimate. It fails with *PartError.
func Fit(s *dataflow.Segment, t fpga.Target) (Point, error) {
	front := Front(s, t)
	for _, p := range front {
		if p.Cost.LUTs <= float64(t.Part.LUTs) && p.Cost.Blocks <= float64(t.Part.Blocks(t.Family)) {
			return p, nil
		}
	}
	last := front[len(front)-1].Cost
	return Point{}, &PartError{Board: t.Board.Name, Part: t.Part, Needs: last, Blocks: t.Part.Blocks(t.Family)}
}

// PartError says that a part is too small for the cheapest folds.
type PartError struct {
	Board  string
	Part   fpga.Part
	Needs  Cost
	Blocks int // of the part
}

func (e *PartError) Error() string {
	return fmt.Sprintf("%s is too small: the slowest folding needs about %.0f LUTs and %.0f block RAMs, "+
		"%s has %d and %d", e.Board, e.Needs.LUTs, e.Needs.Blocks, e.Part.Name, e.Part.LUTs, e.Blocks)
}

// BadInput reports that the input is at fault.
func (*PartError) BadInput() bool { return true }

// Reuse is the Point where each layer takes PE and SIMD for a reuse factor: the largest legal one
// that is not above factor or, where there is none, the least. The reuse factor of a layer is the
// number of cycles for one position. Of several folds the cheapest is taken.
func Reuse(s *dataflow.Segment, factor int, t fpga.Target) Point {
	p, _ := priceBlocks(s, t, func(e estimator) (Point, error) {
		folds := map[string]dataflow.Fold{}
		for _, st := range s.MVUs() {
			m := st.Engine.(*dataflow.MVU)
			folds[st.Name] = slices.MinFunc(m.Folds(), func(f, g dataflow.Fold) int {
				a, b := m.Reuse(f), m.Reuse(g)
				if a == b {
					return cmp.Compare(e.price(e.mvu(m, e.place(m, f))), e.price(e.mvu(m, e.place(m, g))))
				}
				if max(a, b) <= factor {
					return cmp.Compare(b, a)
				}
				return cmp.Compare(a, b)
			})
		}
		return e.point(s, folds), nil
	})
	return p
}
