package machine

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"ripc/internal/lists"
	"ripc/ir"
)

// start is the best schedule, of those of a strategy, that was measured of a kernel. Searches for
// kernels like it begin there.
type start struct {
	Kernel   string  // its ir.Func.Key
	Cost     float64 // on one core
	Blocks   float64 // that cores share
	Full     float64 // the part of them that is there
	Strategy string
	Extents  []float64 // of axes, in the order of axes
	Knobs    []string  // sorted
	Values   []int     // of Knobs
	sizes    []float64 // of Extents
}

// value returns the value of a knob. ok is false where the start has no such knob.
func (s start) value(knob string) (n int, ok bool) {
	i, ok := slices.BinarySearch(s.Knobs, knob)
	if !ok {
		return 0, false
	}
	return s.Values[i], true
}

// values returns the values of all knobs.
func (s start) values() map[string]int {
	v := make(map[string]int, len(s.Knobs))
	for i, knob := range s.Knobs {
		v[knob] = s.Values[i]
	}
	return v
}

// check fails if s cannot be used.
func (s start) check() error {
	switch {
	case len(s.Extents) != len(axes()):
		return fmt.Errorf("a start has %d extents, not %d: fit the model anew", len(s.Extents), len(axes()))
	case s.Cost <= 0 || s.Blocks < 1 || s.Full <= 0:
		return fmt.Errorf("a start costs %v, and cores share %v blocks of it, which are full to a share of %v: fit "+
			"the model anew",
			s.Cost, s.Blocks, s.Full)
	case len(s.Values) != len(s.Knobs) || !slices.IsSorted(s.Knobs):
		return fmt.Errorf("a start has the values %v of the knobs %q: fit the model anew", s.Values, s.Knobs)
	}
	return nil
}

// Record is a schedule that was measured.
type Record struct {
	Strategy string
	Values   map[string]int
	Cost     float64 // on one core
	Time     float64 // Cost times Model.Turns
}

// Records are the best schedules of a kernel that were measured, one of each strategy, the best
// first.
func (m *Model) Records(key string) []Record { return m.records[key] }

// nearest is how many starts a search in the space of a strategy has.
const nearest = 4

// Starts are points of the space of a strategy for d: the best ones of the kernels most like it.
// domains are those of the strategy's knobs.
func (m *Model) Starts(d Definition, strategy string, domains map[string][]int) []map[string]int {
	type alike struct {
		number int // in the order of starts
		far    float64
	}
	sizes := lists.Map(axes(), func(a ir.Axis) float64 { return size(d.extents[a]) })
	starts := m.starts[strategy]
	var found []alike // the nearest so far, in order
	for k := range starts {
		far := 0.0
		for i, s := range starts[k].sizes {
			far += math.Abs(s - sizes[i])
		}
		at, _ := slices.BinarySearchFunc(found, far, func(a alike, far float64) int {
			if a.far <= far {
				return -1
			}
			return 1
		})
		if at < nearest {
			found = slices.Insert(found, at, alike{k, far})
			found = found[:min(len(found), nearest)]
		}
	}
	return lists.Map(found, func(a alike) map[string]int { return d.transfer(starts[a.number], domains) })
}

// size is an extent as it is compared: by its logarithm.
func size(extent float64) float64 { return math.Log2(1 + extent) }

// rowsKnob cuts the rows of the output into blocks: as many in a kernel as in one like it.
const rowsKnob = "tile_h"

// transfer are the values of a start for another kernel.
func (d Definition) transfer(s start, domains map[string][]int) map[string]int {
	v := map[string]int{}
	for knob, domain := range domains {
		n, ok := s.value(knob)
		switch rows := s.Extents[slices.Index(axes(), ir.Row)]; {
		case !ok:
			n = domain[0]
		case knob == rowsKnob && n > 0 && rows > 0:
			blocks := math.Ceil(rows / float64(n))
			n = int(math.Ceil(d.extents[ir.Row] / blocks))
		}
		v[knob] = slices.MinFunc(domain, func(a, b int) int { return cmp.Compare(max(a-n, n-a), max(b-n, n-b)) })
	}
	return v
}

// startsOf are the starts of points: the best of each kernel and strategy, by Cost times Turns.
func (m *Model) startsOf(points []Point) []start {
	type space struct{ kernel, strategy string }
	best := map[space]int{}
	var order []space
	time := func(i int) float64 { return points[i].Cost * m.Turns(points[i]) }
	for i, p := range points {
		at := space{p.Kernel, p.Strategy}
		b, ok := best[at]
		if !ok {
			order = append(order, at)
		}
		if !ok || time(i) < time(b) {
			best[at] = i
		}
	}
	var all []start
	for _, at := range order {
		p := points[best[at]]
		s := start{Kernel: p.Kernel, Cost: p.Cost, Blocks: m.blocksOf(p), Full: m.fullOf(p), Strategy: p.Strategy,
			Extents: p.extents, Knobs: slices.Sorted(maps.Keys(p.Values))}
		s.Values = lists.Map(s.Knobs, func(knob string) int { return p.Values[knob] })
		all = append(all, s)
	}
	return all
}
