package machine

import (
	"context"
	"math"
	"slices"

	"ripc/internal/lists"
	"ripc/ir"
	"ripc/schedule/costmodel"
	"ripc/schedule/features"
	"ripc/targets"
)

// Point is a schedule of a kernel that was measured, with all that is known of it.
type Point struct {
	Group  string // the layer that it is of: costs of a group are compared
	Kernel string // the ir.Func.Key of one of its kernels
	Sketch
	Counts []float64
	After  []float32 // features of the scheduled Func
	Cost   float64
}

// Scheduled is the Point of a scheduled Func, with the features of Predict and Turns.
func (m *Model) Scheduled(f *ir.Func, values map[string]int) (p Point) {
	p.Counts, p.After = m.describe.Describe(f, values)
	return p
}

// Knows reports whether the machine that was measured has the instructions of p. A target that is
// like it may have others, which the model cannot predict.
func (m *Model) Knows(p Point) bool {
	return !slices.ContainsFunc(m.unknown, func(i int) bool { return p.Counts[i] > 0 })
}

// Describe is the Point of a Func before and after a schedule, without a cost.
func Describe(t targets.Target, d *features.Describer, before, after *ir.Func, strategy string,
	values map[string]int) Point {
	p := Point{Sketch: define(d, t, before).Sketch(strategy, values)}
	p.Counts, p.After = d.Describe(after, values)
	return p
}

// learned are trees, with the names of their features.
type learned struct {
	prices, sieve *costmodel.Model
}

// questions are the names of the features by which trees correct prices: the share of each term,
// and all features of the Func.
func questions(d *features.Describer) []string {
	return append(lists.Map(d.CountNames(), func(n string) string { return "term." + n }), features.Names()...)
}

// answers are the features of a point by the names of questions, and the sum of its terms.
func (m *Model) answers(p Point) (x []float32, sum float64) {
	total := 0.0
	for i, n := range p.Counts {
		sum += n * m.prices[i]
		total += n
	}
	sum, total = max(sum, tiny), max(total, tiny)
	for i, n := range p.Counts {
		if m.prices[i] > 0 {
			x = append(x, float32(n*m.prices[i]/sum))
		} else { // it has no price: how common it is
			x = append(x, float32(math.Log2(rare+n/total)))
		}
	}
	return append(x, p.After...), sum
}

// Costs below tiny are not told apart, nor are shares below rare.
const tiny, rare = 1e-9, 1e-6

// Linear is the sum of a point's terms.
func (m *Model) Linear(p Point) float64 {
	_, sum := m.answers(p)
	return sum
}

// Terms are the terms of a point's linear cost, by name.
func (m *Model) Terms(p Point) map[string]float64 {
	terms := map[string]float64{}
	for i, name := range m.describe.CountNames() {
		if cost := p.Counts[i] * m.prices[i]; cost > 0 {
			terms[name] = cost
		}
	}
	return terms
}

// Turns weighs a point's cost on one core by half of the cost of idle cores: the cost times Turns
// is the geometric mean of the times on one core and on all of the target's cores.
func (m *Model) Turns(p Point) float64 { return m.turns(m.blocksOf(p), m.fullOf(p)) }

func (m *Model) turns(blocks, full float64) float64 { return math.Sqrt(m.idle(blocks, full)) }

// Idle is the time of a point on all of the target's cores, beside that of cores that all have as
// much to do. Blocks of a parallel loop are done in turns. The last turn may leave cores idle, and
// the last block may be smaller.
func (m *Model) Idle(p Point) float64 { return m.idle(m.blocksOf(p), m.fullOf(p)) }

func (m *Model) idle(blocks, full float64) float64 {
	cores := float64(max(1, m.target.Cores))
	return max(1, math.Ceil(blocks/cores)*cores/(blocks*full))
}

// blocksOf is how many blocks cores share, and fullOf the part of them that is there.
func (m *Model) blocksOf(p Point) float64 {
	return max(1, math.Round(math.Exp2(float64(p.After[m.blocks]))-1))
}

func (m *Model) fullOf(p Point) float64 { return float64(p.After[m.full]) }

// Predict is the predicted cost of a point, on one core.
func (m *Model) Predict(p Point) float64 {
	x, sum := m.answers(p)
	prices := m.trees().prices
	if prices == nil {
		return sum
	}
	return sum * math.Exp(prices.Predict([][]float32{x})[0])
}

// Learn makes a model of points. w tells their origin.
func Learn(ctx context.Context, l *costmodel.Library, t targets.Target, w Weights, points []Point) (*Model, error) {
	best := map[string]float64{}
	for _, p := range points {
		if b, ok := best[p.Group]; !ok || p.Cost < b {
			best[p.Group] = p.Cost
		}
		if !slices.Contains(w.Strategies, p.Strategy) {
			w.Strategies = append(w.Strategies, p.Strategy)
		}
	}
	slices.Sort(w.Strategies)
	samples := lists.Map(points, func(p Point) Sample {
		return Sample{Counts: p.Counts, Cost: p.Cost, Weight: math.Sqrt(best[p.Group] / p.Cost)}
	})
	w.Terms = map[string]float64{}
	d := features.For(t)
	for i, price := range Fit(samples) {
		if price > 0 {
			w.Terms[d.CountNames()[i]] = price
		}
	}
	m, err := New(t, w)
	if err != nil {
		return nil, err
	}
	m.begin(m.startsOf(points))
	var left []costmodel.Sample
	for _, p := range points {
		x, sum := m.answers(p)
		left = append(left, costmodel.Sample{Features: x, Label: float32(math.Log(p.Cost / sum))})
	}
	o := forest(questions(d))
	o.Rounds, o.Rate = 60, 0.2 // of each member: their number does more than the rounds of one
	prices, err := trainMembers(ctx, l, points, left, o)
	m.setTrees(learned{prices: prices})
	return m, err
}

// members is how many models there are, each without one of as many parts of the groups. A search
// finds the points that a single model takes for better than they are, but their mean agrees with
// all models.
const members = 10

func trainMembers(ctx context.Context, l *costmodel.Library, points []Point, samples []costmodel.Sample,
	o costmodel.Options) (*costmodel.Model, error) {
	part := map[string]int{}
	for _, p := range points {
		if _, ok := part[p.Group]; !ok {
			part[p.Group] = len(part) % members
		}
	}
	var models []*costmodel.Model
	for k := range members {
		var some []costmodel.Sample
		for i, p := range points {
			if part[p.Group] != k || len(part) == 1 {
				some = append(some, samples[i])
			}
		}
		m, err := l.Train(ctx, some, o)
		if err != nil {
			return nil, err
		}
		models = append(models, m)
	}
	return costmodel.Mean(models...)
}

// forest are the options of a model that predicts.
func forest(names []string) costmodel.Options {
	return costmodel.Options{Names: names, Rounds: 120, Depth: 8, Rate: 0.12, Subsample: 0.8, Columns: 0.5, Least: 3,
		Bins: 64}
}
