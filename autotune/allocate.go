package autotune

import (
	"math"
	"slices"
)

// How tasks are chosen, as Ansor does (Zheng et al., OSDI 2020, section 6): the expected gain of a
// task is a weighted mean. The weight alpha is for the gain of its last round. The rest is for the
// smaller of two guesses: its cost falls to nothing as fast as trials grow, or it becomes as fast
// as beta times the fastest task of its kind. The share explore of the rounds goes to a task that
// is drawn.
const (
	alpha   = 0.2
	beta    = 2
	explore = 0.05
)

// isUsual says that the network has a's kernel without a tuner.
func (t *tuner) isUsual(a *study) bool {
	return slices.ContainsFunc(a.places, func(at place) bool { return t.usual[at] == a })
}

// maxEstimate is how many times the estimated cost of the chosen algorithm another one may have to
// be tried at the beginning.
const maxEstimate = 1.5

// isPromising says that an algorithm that a layer does not have without a tuner may be as good by
// estimate, or that there is none.
func (t *tuner) isPromising(a *study) bool {
	costs := a.task.Stage.Layer.Algorithm.Costs
	own, ok := costs[a.task.Algorithm]
	if !ok {
		return true
	}
	for _, c := range costs {
		if float64(own) > maxEstimate*float64(c) {
			return false
		}
	}
	return true
}

// next returns the task with the largest expected gain for the network; nil if all are done, or
// will be should their trials under way bring nothing: trials under way count as though they had
// brought nothing.
func (t *tuner) next() *study {
	var open []*study
	for _, a := range t.studies {
		if !a.exhausted && a.since+a.begun-a.trials < t.Patience && a.trials > 0 {
			open = append(open, a)
		}
	}
	if len(open) == 0 {
		return nil
	}
	if i := int(t.random.Float64() / explore * float64(len(open))); i < len(open) {
		return open[i]
	}
	best, most := open[0], math.Inf(-1)
	for _, a := range open {
		if g := t.gain(a); g > most {
			best, most = a, g
		}
	}
	return best
}

// gain returns the expected gain of the network from a trial of a: for each stage with the choice
// a, how far it falls below the stage's best cost.
func (t *tuner) gain(a *study) float64 {
	each := t.expected(a)
	gain := 0.0
	for _, at := range a.places {
		gain += each - max(0, a.best-t.least(at))
	}
	return gain
}

// expected returns the expected gain of a itself from a trial.
func (t *tuner) expected(a *study) float64 {
	if a.best == 0 { // nothing works yet
		return 0
	}
	recent := max(0, a.before-a.best) / float64(t.Round)
	optimistic := a.best / float64(a.begun)
	if fastest := t.fastest(a); fastest > 0 {
		optimistic = min(optimistic, max(0, a.best-float64(a.task.Workload.MACs)/(beta*fastest)))
	}
	return alpha*recent + (1-alpha)*optimistic
}

// fastest is the most multiply-adds for a unit of cost that a task like a has.
func (t *tuner) fastest(a *study) float64 {
	most := 0.0
	for _, b := range t.studies {
		if b.best > 0 && b.task.Workload.Op == a.task.Workload.Op && b.task.Algorithm == a.task.Algorithm {
			most = max(most, float64(b.task.Workload.MACs)/b.best)
		}
	}
	return most
}
