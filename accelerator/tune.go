package accelerator

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"ripc/dataflow"
	"ripc/dataflow/fold"
	"ripc/measure/yosys"
	"ripc/targets/fpga"
)

// Trial is a choice of folds that was synthesized.
type Trial struct {
	Network string                   `json:"network"` // its key
	Part    string                   `json:"part"`
	Tool    string                   `json:"tool"`
	Folds   map[string]dataflow.Fold `json:"folds"`
	Cycles  int                      `json:"cycles"`
	Used    map[fpga.Resource]int    `json:"used"`
	// Estimate is that of before synthesis.
	Estimate fold.Cost `json:"estimate"`
}

// Cost is the measured cells, as estimates have them.
func (t Trial) Cost(f fpga.Family) fold.Cost {
	return fold.Cost{LUTs: float64(t.Used[fpga.LUTs]), FFs: float64(t.Used[fpga.FFs]),
		Blocks: float64(t.Used[fpga.RAMKbits]) * 1024 / float64(f.BlockBits), DSPs: float64(t.Used[fpga.DSPs])}
}

// Key names the network by the weights and thresholds of its engines.
func Key(s *dataflow.Segment) string {
	h := sha256.New()
	for _, st := range s.Stages {
		fmt.Fprintln(h, st.Name, st.Engine.Output(), st.Engine.Work())
		if m, ok := st.Engine.(*dataflow.MVU); ok {
			fmt.Fprintln(h, m.Weights, m.K, m.Border, m.Thresholds)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Tune synthesizes choices of folds until there are n trials of a's network on its part, and
// returns those that no other beats in cycles and cost, the fastest first. known are trials of
// before, which are not done again; record takes each new one. Choices lie around the front of
// estimates. The next one is farthest from all trials, in the logarithm of cycles.
func (a *Accelerator) Tune(ctx context.Context, n int, known []Trial, record func(Trial) error) ([]Trial, error) {
	tool, err := yosys.Version(ctx)
	if err != nil {
		return nil, err
	}
	s := a.Design.Segment
	own, all := Trial{Network: Key(s), Part: a.Target.Part.Name, Tool: "yosys " + tool}, []Trial{}
	for _, t := range known {
		if t.Network == own.Network && t.Part == own.Part && t.Tool == own.Tool {
			all = append(all, t)
		}
	}
	var open []fold.Point
	for _, p := range a.Front() {
		around, err := fold.Neighbours(s, p.Cycles, a.Target)
		if err != nil {
			return nil, err
		}
		for _, q := range append([]fold.Point{p}, around...) {
			same := func(f map[string]dataflow.Fold) bool { return maps.Equal(f, q.Folds) }
			if !slices.ContainsFunc(open, func(o fold.Point) bool { return same(o.Folds) }) &&
				!slices.ContainsFunc(all, func(t Trial) bool { return same(t.Folds) }) {
				open = append(open, q)
			}
		}
	}
	for len(all) < n && len(open) > 0 {
		// The gap of a choice is the ratio of its cycles to those of the nearest trial.
		gap := func(p fold.Point) float64 {
			least := 1e9 - p.Cost.LUTs/1e9
			for _, t := range all {
				x, y := float64(p.Cycles), float64(t.Cycles)
				least = min(least, max(x, y)/min(x, y))
			}
			return least
		}
		next := slices.MaxFunc(open, func(p, q fold.Point) int { return cmp.Compare(gap(p), gap(q)) })
		open = slices.DeleteFunc(open, func(p fold.Point) bool { return maps.Equal(p.Folds, next.Folds) })
		b := *a
		b.Point, b.Design = next, dataflow.Build(s, next.Folds)
		sources, err := b.Verilog()
		if err != nil {
			return nil, err
		}
		r, err := yosys.Synthesize(ctx, sources, b.Top(), a.Target.Family, "")
		if err != nil {
			return nil, err
		}
		t := own
		t.Folds, t.Cycles, t.Used, t.Estimate = next.Folds, next.Cycles, r.Used, next.Cost
		all = append(all, t)
		if err := record(t); err != nil {
			return nil, err
		}
	}
	return best(all, a.Target), nil
}

// best lists the trials that no other beats in both cycles and cost, the fastest first.
func best(all []Trial, t fpga.Target) []Trial {
	price := func(x Trial) float64 { return fold.PriceOfAll(x.Cost(t.Family), t) }
	slices.SortStableFunc(all, func(x, y Trial) int {
		return cmp.Or(cmp.Compare(x.Cycles, y.Cycles), cmp.Compare(price(x), price(y)))
	})
	var front []Trial
	for _, x := range all {
		if len(front) == 0 || price(x) < price(front[len(front)-1]) {
			front = append(front, x)
		}
	}
	return front
}

// legal reports whether t has a legal fold of each layer of s: a file may be damaged.
func (t Trial) legal(s *dataflow.Segment) bool {
	for _, st := range s.MVUs() {
		f, ok := t.Folds[st.Name]
		f.Block = false
		if !ok || !slices.Contains(st.Engine.(*dataflow.MVU).Folds(), f) {
			return false
		}
	}
	return true
}

// recorded finds folds among the trials that the part holds: the cheapest within cycles, or the
// fastest if cycles is 0. ok is false if there are none of this network and part.
func (a *Accelerator) recorded(s *dataflow.Segment, cycles int,
	trials []Trial) (folds map[string]dataflow.Fold, ok bool) {
	var some []Trial
	key := Key(s)
	for _, t := range trials {
		if t.Network == key && t.Part == a.Target.Part.Name && t.legal(s) && (cycles == 0 || t.Cycles <= cycles) &&
			t.Cost(a.Target.Family).Fits(a.Target) {
			some = append(some, t)
		}
	}
	front := best(some, a.Target)
	if len(front) == 0 {
		return nil, false
	}
	if cycles > 0 { // the front's last is its cheapest
		return front[len(front)-1].Folds, true
	}
	return front[0].Folds, true
}
