package compile

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync"

	"ripc/caches"
	"ripc/ir"
	"ripc/ir/size"
	"ripc/schedule/machine"
	"ripc/schedule/strategy"
	"ripc/targets"
)

// found is a schedule and its cost.
type found struct {
	strategy.Choice
	cost     float64          // on one core
	time     float64          // cost times Model.Turns and room; schedules are compared by it
	measured float64          // cost of its code, in the unit of the measurement; 0 if it was not built
	kernel   int              // which it is of, of those that are compared
	at       sketch           // the point of the space that it was made of
	counts   []float64        // of features; none of a kernel that was measured
	records  []machine.Record // of the kernel, where its cost was measured: there is no schedule before it is asked for
	fits     bool             // code can be made of it; tested only for schedules that are taken
	next     []found          // schedules of the same kernel that were made as well, the best first
}

// isMeasured reports whether the cost is of a measurement.
func (k *found) isMeasured() bool { return len(k.records) > 0 || k.measured > 0 }

// origin returns why a schedule was taken, with the machine of the measurement if it is another one
// than the target.
func (s *finder) origin(k *found) string {
	switch {
	case s.model == nil:
		return strategy.Simplest
	case len(k.records) > 0 && s.model.Target != machine.FileName(s.target):
		return strategy.Measured + " on " + s.model.Target
	case k.isMeasured():
		return strategy.Measured
	}
	return strategy.Predicted
}

// predict fills in the predicted cost of the schedule. known is whether the model knows its
// instructions.
func (k *found) predict(m *machine.Model, t targets.Target) (known bool) {
	p := m.Scheduled(k.Func, k.Values)
	k.cost, k.counts = m.Predict(p), p.Counts
	k.time = k.cost * m.Turns(p) * room(k.Func, t)
	return m.Knows(p)
}

// room is a factor of f's cost for the memory of its allocs. It is 1 on targets that have no limit
// of RAM.
func room(f *ir.Func, t targets.Target) float64 {
	if t.RAM == 0 {
		return 1
	}
	bytes := 0
	for a := range ir.StmtsOf[*ir.Alloc](f.Body) {
		bytes += a.Buf.Bytes()
	}
	return 1 + float64(bytes)/float64(t.RAM)
}

// finder finds the schedules of least predicted cost. It looks at equal Funcs once.
type finder struct {
	model   *machine.Model // nil of a target without one: schedules are the plainest
	target  targets.Target
	mu      sync.Mutex
	known   map[string]found // by Func.Key
	checker *checker         // nil: predictions are believed
	program []byte           // the build ID, in the keys of kept
	kept    *caches.Cache    // of verdicts
}

func newFinder(t targets.Target, o Options) (*finder, error) {
	m, _, err := machine.Of(t)
	if err != nil {
		return nil, err
	}
	if o.Effort > 0 && (m == nil || !m.Sifts()) {
		return nil, &EffortError{t.Name, errors.New("no model says which of them are promising; ripc tune looks for " +
			"schedules")}
	}
	s := &finder{model: m, target: t, known: map[string]found{}}
	if s.checker, err = newChecker(t, o); err != nil || s.model == nil || s.checker != nil {
		return s, err
	}
	if s.program = program(); s.program != nil {
		s.kept, err = caches.OfUser("schedules")
	}
	return s, err
}

// byTime orders schedules by time, the shortest first.
func byTime(a, b found) int { return cmp.Compare(a.time, b.time) }

// scheduleOf is the schedule of f.
func (s *finder) scheduleOf(ctx context.Context, f *ir.Func) (found, error) {
	all, err := s.best(ctx, []*ir.Func{f})
	if err != nil {
		return found{}, err
	}
	k := all[0]
	if k.Strategy != "" {
		k, err = s.complete(f, k)
	} else {
		k, err = s.build(ctx, f, k.records)
	}
	if err != nil {
		return found{}, err
	}
	if !k.fits {
		if tooLarge(k.Func, s.target) {
			if k, err = s.smaller(f, k); err != nil {
				return found{}, err
			}
		}
		k.fits, k.next = true, nil
		s.keep(f.Key(), k)
	}
	if k.Func.Name != f.Name { // which was found for an equal one
		g := *k.Func
		g.Name = f.Name
		k.Func = &g
	}
	return k, nil
}

// best finds the schedules of Funcs that are to be compared with each other. Measurements go before
// predictions (bestUnmeasured). A Func that promises nothing beside the others has a time of +Inf
// and no schedule.
func (s *finder) best(ctx context.Context, funcs []*ir.Func) ([]found, error) {
	out := make([]found, len(funcs))
	keys, measured := make([]string, len(funcs)), false
	for i, f := range funcs {
		out[i].cost, out[i].time = math.Inf(1), math.Inf(1)
		if s.model == nil {
			continue // each Func is asked about once
		}
		keys[i] = f.Key()
		if k, known := s.knows(keys[i]); known {
			out[i] = k
		} else if records := s.records(f, keys[i]); len(records) > 0 {
			var err error
			if out[i], err = s.bestRecorded(ctx, f, keys[i], records); err != nil {
				return nil, err
			}
			s.keep(keys[i], out[i])
		}
		measured = measured || len(out[i].records) > 0
	}
	if measured {
		return out, s.bestUnmeasured(ctx, funcs, out)
	}
	if s.model == nil {
		for i, f := range funcs {
			if out[i].Strategy == "" {
				var err error
				if out[i], err = s.plainest(f); err != nil {
					return nil, err
				}
			}
		}
		return out, nil
	}
	if !slices.ContainsFunc(out, func(k found) bool { return k.Strategy == "" }) {
		return out, nil
	}
	known := slices.Clone(out)
	if question := s.question(keys, known); !s.recall(question, out) {
		if err := s.searchSchedules(ctx, funcs, out); err != nil {
			return nil, err
		}
		s.remember(question, known, out)
	}
	for i, k := range out {
		if k.Strategy != "" {
			s.keep(keys[i], k)
		}
	}
	return out, nil
}

// bestRecorded returns the best measurement of f. Some strategies are newer than measurements: a
// schedule of one that has none is taken if its prediction is below the best measurement by more
// than the model's error. Where schedules are measured, no prediction is taken.
func (s *finder) bestRecorded(ctx context.Context, f *ir.Func, key string, records []machine.Record) (found, error) {
	best := found{records: records, cost: records[0].Cost, time: records[0].Time}
	if s.checker != nil {
		return best, nil
	}
	l := strategy.LayerOf(f, s.target)
	newer := slices.DeleteFunc(strategy.For(l), func(st strategy.Strategy) bool {
		return slices.ContainsFunc(records, func(r machine.Record) bool { return r.Strategy == st.Name })
	})
	if len(newer) == 0 {
		return best, nil
	}
	known, out := make([]found, 1), []found{best}
	question := s.question([]string{key}, known)
	if s.recall(question, out) {
		return out[0], nil
	}
	k := kernel{f: f, layer: l}
	if s.draw(&k, newer); k.promise()-s.model.Sieve < math.Log(best.time) {
		made, err := s.search(ctx, []kernel{k}, built)
		if err != nil {
			return best, err
		}
		if slices.SortStableFunc(made, byTime); len(made) > 0 && made[0].time*(1+s.model.Error.P90) < best.time {
			out[0] = made[0]
		}
	}
	s.remember(question, known, out)
	return out[0], nil
}

// bestUnmeasured finds the schedules of those Funcs that were not measured, while others of the
// group were. A prediction counts only if it is below the best measurement by more than the model's
// error.
func (s *finder) bestUnmeasured(ctx context.Context, funcs []*ir.Func, out []found) error {
	least := math.Inf(1)
	var rest []*ir.Func
	var at []int
	for i, k := range out {
		if len(k.records) > 0 {
			least = min(least, k.time)
		} else {
			rest, at = append(rest, funcs[i]), append(at, i)
		}
	}
	if len(rest) == 0 {
		return nil
	}
	others, err := s.best(ctx, rest)
	for i, k := range others {
		if k.time*(1+s.model.Error.P90) >= least {
			k = found{cost: k.cost, time: math.Inf(1)}
		}
		out[at[i]] = k
	}
	return err
}

// records are the schedules of f that were measured, the best first, without those of strategies
// that are other ones now.
func (s *finder) records(f *ir.Func, key string) []machine.Record {
	all := s.model.Records(key)
	if len(all) == 0 {
		return nil
	}
	l := strategy.LayerOf(f, s.target)
	return slices.DeleteFunc(slices.Clone(all), func(r machine.Record) bool {
		st, ok := findStrategy(l, r.Strategy)
		return !ok || !has(st.Knobs(l), r.Values)
	})
}

// findStrategy returns the strategy of a name. ok is false where it does not apply to the layer.
func findStrategy(l *strategy.Layer, name string) (st strategy.Strategy, ok bool) {
	all := strategy.For(l)
	i := slices.IndexFunc(all, func(st strategy.Strategy) bool { return st.Name == name })
	if i < 0 {
		return st, false
	}
	return all[i], true
}

// has reports whether knobs can have values. A knob that is newer than these has the first value of
// its domain.
func has(knobs []strategy.Knob, values map[string]int) bool {
	for name, v := range values {
		if !slices.ContainsFunc(knobs, func(k strategy.Knob) bool {
			return k.Name == name && slices.Contains(k.Domain, v)
		}) {
			return false
		}
	}
	return true
}

// build makes the best schedule of f that was measured, or the next where a strategy is another one
// now.
func (s *finder) build(ctx context.Context, f *ir.Func, records []machine.Record) (found, error) {
	l := strategy.LayerOf(f, s.target)
	for _, r := range records {
		if c, err := buildPoint(l, r.Strategy, r.Values); err == nil {
			return found{Choice: c, cost: r.Cost, time: r.Time, records: records}, nil
		}
	}
	out := make([]found, 1)
	err := s.searchSchedules(ctx, []*ir.Func{f}, out)
	return out[0], err
}

// smaller returns the best schedule in k.next that is not too large for code, or else the plainest.
func (s *finder) smaller(f *ir.Func, k found) (found, error) {
	for _, other := range k.next {
		other, err := s.complete(f, other)
		if err != nil || !tooLarge(other.Func, s.target) {
			return other, err
		}
	}
	return s.plainest(f)
}

// plainest returns the plainest schedule of f, with its predicted cost. Schedules estimate how much
// code there is, and the back end counts: it has less where that is too much.
func (s *finder) plainest(f *ir.Func) (found, error) {
	var takes func(*ir.Func) bool
	if s.target.IsDevice() { // another strategy may take less of it
		takes = func(g *ir.Func) bool { return !tooLarge(g, s.target) }
	}
	c, err := strategy.Plainest(f, s.target, 0, takes)
	for most := size.Preferred; err == nil && most > 0 && takes == nil && tooLarge(c.Func, s.target); most /= 2 {
		c, err = strategy.Plainest(f, s.target, most, nil)
	}
	if err != nil {
		return found{}, &InternalError{"plainest schedule of " + f.Name, err}
	}
	k := found{Choice: c, fits: true}
	if s.model != nil {
		k.predict(s.model, s.target)
	}
	return k, nil
}

func (s *finder) knows(key string) (found, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.known[key]
	return k, ok
}

func (s *finder) keep(key string, k found) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[key] = k
}
