package machine

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"

	"ripc/ir"
)

// Start is where a search in the space of a strategy begins: what was best for some kernel that was measured.
type Start struct {
	// Parts is how many blocks the rows of the output are cut into, 0 where no knob cuts them.
	Parts  int            `json:"parts,omitempty"`
	Values map[string]int `json:"values"` // of the other knobs
}

// rowsKnob cuts the rows of the output.
const rowsKnob = "tile_h"

// start is what a sketch says of kernels of any size.
func (s Sketch) start() Start {
	out := Start{Values: maps.Clone(s.Values)}
	if n := s.Values[rowsKnob]; n > 0 && s.rows > 0 {
		out.Parts = int(math.Ceil(s.rows / float64(n)))
		delete(out.Values, rowsKnob)
	}
	return out
}

// At is a start's values for a kernel whose knobs have domains.
func (d Definition) At(s Start, domains map[string][]int) map[string]int {
	v := map[string]int{}
	for knob, domain := range domains {
		n, ok := s.Values[knob]
		if knob == rowsKnob && s.Parts > 0 {
			n, ok = int(math.Ceil(d.extents[ir.Row]/float64(s.Parts))), true
		}
		if !ok {
			n = domain[0]
		}
		v[knob] = slices.MinFunc(domain, func(a, b int) int { return cmp.Compare(distance(a, n), distance(b, n)) })
	}
	return v
}

func distance(a, b int) int { return max(a-b, b-a) }

// A start is what is at most so much dearer than the best that was measured of a kernel, and starts of a strategy are those of the most kernels.
const (
	nearBest  = 1.03
	maxStarts = 8
)

// startsOf are the starts of each strategy, of points.
func startsOf(points []Point) map[string][]Start {
	type space struct{ kernel, strategy string }
	best := map[space]float64{}
	for _, p := range points {
		at := space{p.Kernel, p.Strategy}
		if b, ok := best[at]; !ok || p.Cost < b {
			best[at] = p.Cost
		}
	}
	votes, texts := map[string]map[string]float64{}, map[string]Start{}
	for _, p := range points {
		at := space{p.Kernel, p.Strategy}
		if p.Cost > nearBest*best[at] {
			continue
		}
		s := p.start()
		text, err := json.Marshal(s)
		if err != nil {
			continue // of nothing but integers there is a text
		}
		if votes[p.Strategy] == nil {
			votes[p.Strategy] = map[string]float64{}
		}
		votes[p.Strategy][string(text)]++
		texts[string(text)] = s
	}
	starts := map[string][]Start{}
	for strategy, of := range votes {
		order := slices.SortedFunc(maps.Keys(of), func(a, b string) int { return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b)) })
		for _, text := range order[:min(len(order), maxStarts)] {
			starts[strategy] = append(starts[strategy], texts[text])
		}
	}
	return starts
}
