package search

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"ripc/schedule/costmodel"
)

// annealing looks for places of high scores.
type annealing struct {
	where  *coordinates
	model  *costmodel.Model
	r      *rand.Rand
	skip   func(number int) bool // places that are not wanted
	scores map[int]float64       // by number
	top    ranking
}

// ranking are the places of the highest scores. Of those that the model cannot tell apart, since a knob with many values means nothing to
// it, there are few: they would fill it.
type ranking struct {
	most, same int
	best       []scored // the highest first
}

type scored struct {
	number int
	score  float64
}

// offer reports whether s is among the best.
func (t *ranking) offer(s scored) bool {
	if len(t.best) == t.most && s.score <= t.best[t.most-1].score {
		return false
	}
	i, _ := slices.BinarySearchFunc(t.best, s, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.number, b.number))
	})
	from, _ := slices.BinarySearchFunc(t.best, s.score, func(a scored, score float64) int { return cmp.Compare(score, a.score) })
	n := 0
	for n < t.same && from+n < len(t.best) && t.best[from+n].score == s.score {
		n++
	}
	if t.same > 0 && n == t.same {
		return false
	}
	t.best = slices.Insert(t.best, i, s)
	t.best = t.best[:min(len(t.best), t.most)]
	return true
}

// ask gives the scores of places, and notes those that are new; better says that one of them is among the best.
func (a *annealing) ask(places []place) (scores []float64, better bool) {
	numbers := make([]int, len(places))
	var rows [][]float32
	var unknown []int
	for i, p := range places {
		numbers[i] = a.where.number(p)
		if _, ok := a.scores[numbers[i]]; !ok {
			a.scores[numbers[i]] = math.NaN() // asked for
			rows, unknown = append(rows, a.where.features(p)), append(unknown, numbers[i])
		}
	}
	for i, s := range a.model.Predict(rows) {
		a.scores[unknown[i]] = s
		if !a.skip(unknown[i]) && a.top.offer(scored{unknown[i], s}) {
			better = true
		}
	}
	for _, n := range numbers {
		scores = append(scores, a.scores[n])
	}
	return scores, better
}

// all asks about all places.
func (a *annealing) all(size int) {
	places := make([]place, size)
	for i := range places {
		places[i] = a.where.place(i)
	}
	a.ask(places)
}

// run walks from some places.
func (a *annealing) run(ctx context.Context, at []place) error {
	scores, _ := a.ask(at)
	heat := spread(scores)
	idle := 0
	for step := range walk {
		if err := ctx.Err(); err != nil {
			return err
		}
		next := make([]place, len(at))
		for i, p := range at {
			next[i] = a.where.neighbour(p, a.r)
		}
		found, better := a.ask(next)
		if idle++; better {
			idle = 0
		}
		if idle > patience {
			break
		}
		temperature := heat * (1 - float64(step)/walk)
		for i := range at {
			if gain := found[i] - scores[i]; gain >= 0 || a.r.Float64() < math.Exp(gain/max(temperature, 1e-9)) {
				at[i], scores[i] = next[i], found[i]
			}
		}
	}
	return nil
}

// places are the best that were met.
func (a *annealing) places() []place {
	var out []place
	for _, s := range a.top.best {
		out = append(out, a.where.place(s.number))
	}
	return out
}
