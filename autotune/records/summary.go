package records

import (
	"maps"
	"math"
	"slices"
)

// Summary is the state of a task on one kind of machine.
type Summary struct {
	Workload Workload
	Target   string
	Class    Class
	Trials   int // records, those of failures included
	Failed   int // records of failures
	// Best and Default are the cheapest candidate and the default schedule; nil if there is none.
	Best, Default *Record
}

// Gain is how many times cheaper the best is than the default; 0 if one of them is not known.
func (s *Summary) Gain() float64 {
	if s.Best == nil || s.Default == nil {
		return 0
	}
	return s.Default.Result.Cost / s.Best.Result.Cost
}

// Summaries returns a Summary for each class of each task, in the order of the file and of Classes.
// Failures count for the classes of their machine. A task with nothing else has a class without a
// unit for each machine.
func (s *Set) Summaries() []Summary {
	var out []Summary
	for _, own := range s.byTask() {
		t := own.Records[0].Task()
		classes := own.Classes(t)
		for i := range own.Records {
			r := &own.Records[i]
			if r.Result.Failure != nil && !slices.ContainsFunc(classes, r.Class().SameMachine) {
				classes = append(classes, r.Class())
			}
		}
		for _, c := range classes {
			one := Summary{Workload: own.Records[0].Workload, Target: t.Target, Class: c}
			for _, r := range own.Records {
				failed := r.Result.Failure != nil && c.SameMachine(r.Class())
				if failed {
					one.Failed++
				}
				if failed || r.Result.Failure == nil && r.Class() == c {
					one.Trials++
				}
			}
			if ranked := own.Ranked(t, c); len(ranked) > 0 {
				one.Best = &ranked[0]
			}
			if def, ok := own.Default(t, c); ok {
				one.Default = &def
			}
			out = append(out, one)
		}
	}
	return out
}

// byTask splits s into sets of one task each, in the order of the file, so that nothing looks
// through all records again and again.
func (s *Set) byTask() []*Set {
	var order []*Set
	sets := map[Task]*Set{}
	for i := range s.Records {
		t := s.Records[i].Task()
		if sets[t] == nil {
			sets[t] = &Set{}
			order = append(order, sets[t])
		}
		sets[t].Records = append(sets[t].Records, s.Records[i])
	}
	return order
}

// Curve is how the best cost of a task fell while one tuner searched.
type Curve struct {
	Tuner string
	Seed  uint64
	// Points are where the best changed, by trial; the last one is that of the last trial, whether
	// it changed there or not.
	Points []Point
}

// Point of a Curve.
type Point struct {
	Trial int
	Cost  float64 // the least up to there
}

// Curves returns the curves of a task in class c, one for each tuner and seed, in the order of the
// file. Trials that failed count as trials.
func (s *Set) Curves(t Task, c Class) []Curve {
	type run struct {
		tuner string
		seed  uint64
	}
	var order []run
	tried := map[run]map[int][]Record{} // by trial; none of one that failed
	for _, r := range s.OfTask(t) {
		if r.Result.Failure == nil && r.Class() != c || !c.SameMachine(r.Class()) {
			continue
		}
		k, n := run{r.Origin.Tuner, r.Origin.Seed}, r.Origin.Trial
		if tried[k] == nil {
			tried[k] = map[int][]Record{}
			order = append(order, k)
		}
		of := tried[k][n]
		if r.Result.Failure == nil {
			of = append(of, r)
		}
		tried[k][n] = of
	}
	var out []Curve
	for _, k := range order {
		one := Curve{Tuner: k.tuner, Seed: k.seed}
		best := math.Inf(1)
		trials := slices.Sorted(maps.Keys(tried[k]))
		for i, n := range trials {
			before := best
			if of := tried[k][n]; len(of) > 0 {
				best = min(best, Typical(of).Result.Cost)
			}
			if best < before || i == len(trials)-1 && !math.IsInf(best, 1) {
				one.Points = append(one.Points, Point{n, best})
			}
		}
		if len(one.Points) > 0 {
			out = append(out, one)
		}
	}
	return out
}
