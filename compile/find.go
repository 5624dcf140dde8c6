package compile

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync"

	"ripc/caches"
	"ripc/internal/memory"
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

// origin returns why a schedule was taken.
func (s *finder) origin(k *found) string {
	switch {
	case s.model == nil:
		return strategy.Simplest
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
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		if a, ok := s.(*ir.Alloc); ok {
			bytes += a.Buf.Bytes()
		}
		return true
	})
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

// Limits of a search: larger ones find better schedules and take longer.
const (
	drawn    = 6   // points of a strategy that are guessed at first
	more     = 16  // and then, of a strategy that promises something
	hopeless = 2.5 // by how many errors of the sieve a guess is above the least where no more is guessed
	rounds   = 1   // in which the neighbours of the best are guessed as well
	near     = 2   // best points with neighbours that are guessed in a round
	built    = 8   // points that Funcs are made of
	each     = 1   // of each kernel that is compared, at least
	giveUp   = 10  // for each that is to be made, how many are tried
	climbs   = 12  // how often neighbours of the best Func are made at most
	stride   = 8   // at a time
	patience = 2   // how often in a row none of them may be better
	others   = 3   // schedules that are kept beside the best, which may become too much code
)

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
			if out[i], err = s.bestRecorded(ctx, f, records); err != nil {
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
func (s *finder) bestRecorded(ctx context.Context, f *ir.Func, records []machine.Record) (found, error) {
	best := found{records: records, cost: records[0].Cost, time: records[0].Time}
	if s.checker != nil {
		return best, nil
	}
	k := kernel{f: f, layer: strategy.LayerOf(f, s.target)}
	s.draw(&k, slices.DeleteFunc(strategy.For(k.layer), func(st strategy.Strategy) bool {
		return slices.ContainsFunc(records, func(r machine.Record) bool { return r.Strategy == st.Name })
	}))
	if k.promise()-s.model.Sieve >= math.Log(best.time) {
		return best, nil
	}
	made, err := s.search(ctx, []kernel{k}, built)
	if len(made) > 0 {
		if m := slices.MinFunc(made, byTime); m.time*(1+s.model.Error.P90) < best.time {
			best = m
		}
	}
	return best, err
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

// searchSchedules fills in the schedules of Funcs that have none yet: those that promise more are
// looked at more.
func (s *finder) searchSchedules(ctx context.Context, funcs []*ir.Func, out []found) error {
	var kernels []kernel
	for i, f := range funcs {
		k := kernel{f: f}
		if out[i].Strategy == "" {
			k.layer = strategy.LayerOf(f, s.target)
			s.draw(&k, strategy.For(k.layer))
		}
		kernels = append(kernels, k)
	}
	n := built
	if s.checker != nil {
		n = max(n, 2*s.checker.perLayer)
	}
	all, err := s.search(ctx, kernels, n)
	if err != nil {
		return err
	}
	slices.SortStableFunc(all, byTime)
	if s.checker != nil {
		if all, err = s.checker.check(ctx, kernels, all); err != nil {
			return err
		}
	}
	alike, least := 1.0, map[int]float64{} // times within this factor count as one; the least ones by kernel
	if s.target.Fetched && s.checker == nil {
		alike += s.model.Error.Median
	}
	code := func(k *found) int { return size.Written(k.Func.Body, s.target.VectorBits) }
	for _, c := range all {
		switch best := &out[c.kernel]; {
		case best.Strategy == "":
			*best, least[c.kernel] = c, c.time
		case alike > 1 && c.time <= alike*least[c.kernel] && code(&c) < code(best):
			c.next = best.next
			*best = c
		case len(best.next) < others:
			best.next = append(best.next, c)
		}
	}
	for i := range out {
		if out[i].Strategy != "" {
			continue
		}
		k := s.unpromising(kernels, i)
		out[i].cost = k.cost
		if s.checker == nil && k.Strategy != "" && (len(all) == 0 || k.time < all[0].time) { // its guess was wrong
			own, err := s.search(ctx, kernels[i:i+1], built)
			if err != nil {
				return err
			}
			out[i] = slices.MinFunc(append(own, k), byTime)
			out[i].kernel = i
		}
	}
	if len(funcs) == 1 && out[0].Strategy == "" {
		out[0], err = s.plainest(funcs[0])
	}
	return err
}

// unpromising makes the best guess that can be built of a kernel that is not compared.
func (s *finder) unpromising(kernels []kernel, i int) found {
	points := kernels[i].points(i)
	slices.SortStableFunc(points, func(a, b sketch) int { return cmp.Compare(a.guess, b.guess) })
	for _, p := range points[:min(len(points), giveUp)] {
		if some := s.make(kernels, []sketch{p}); len(some) > 0 {
			return some[0]
		}
	}
	return found{cost: math.Inf(1), time: math.Inf(1)}
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

// search makes schedules of kernels with drawn spaces: at least n of those that promise most, if
// there are enough, and a few others with guesses below the best cost so far.
func (s *finder) search(ctx context.Context, kernels []kernel, n int) ([]found, error) {
	bound := math.Inf(1)
	for i := range kernels {
		bound = min(bound, kernels[i].promise()+hopeless*s.model.Sieve)
	}
	var all []found
	for searched := make([]bool, len(kernels)); ; {
		var points []sketch
		for i := range kernels {
			if k := &kernels[i]; !searched[i] && k.promise() <= bound {
				searched[i] = true
				s.refine(k)
				points = append(points, k.points(i)...)
			}
		}
		if len(points) == 0 {
			return s.climb(kernels, all), nil
		}
		made, err := s.makeBest(ctx, kernels, points, n-len(all))
		if err != nil {
			return nil, err
		}
		bound = math.Inf(1)
		if all = append(all, made...); len(all) > 0 {
			bound = math.Log(slices.MinFunc(all, byTime).time) + s.model.Sieve
		}
	}
}

// makeBest makes schedules of points: of each strategy all that were best for the kernels most
// alike, then of each kernel the best guess, then the best guesses of all until there are n.
func (s *finder) makeBest(ctx context.Context, kernels []kernel, points []sketch, n int) (all []found, err error) {
	type group struct {
		kernel   int
		strategy string
	}
	build := func(first bool, most int, each func(sketch) group) {
		made, tried := map[group]int{}, map[group]int{}
		var rest []sketch
		for _, p := range points {
			of := each(p)
			if first && p.start == 0 || made[of] == most || tried[of] == most*giveUp {
				rest = append(rest, p)
				continue
			}
			tried[of]++
			if some := s.make(kernels, []sketch{p}); len(some) > 0 {
				made[of]++
				all = append(all, some...)
			}
		}
		points = rest
	}
	slices.SortStableFunc(points, func(a, b sketch) int { return cmp.Compare(a.start, b.start) })
	build(true, len(points), func(p sketch) group { return group{p.kernel, p.strategy.Name} })
	slices.SortStableFunc(points, func(a, b sketch) int { return cmp.Compare(a.guess, b.guess) })
	build(false, each, func(p sketch) group { return group{kernel: p.kernel} })
	rest := points
	for left, tries := n-len(all), n*giveUp; left > 0 && len(rest) > 0 && tries > 0; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		most := min(len(rest), left)
		some := s.make(kernels, rest[:most])
		all = append(all, some...)
		rest, left, tries = rest[most:], left-len(some), tries-most
	}
	return all, nil
}

// climb makes neighbours of the best schedule, then of the runner-up if the model's error may hide
// that it is the better one. The runner-up is by another strategy or of another kernel.
func (s *finder) climb(kernels []kernel, all []found) []found {
	if len(all) == 0 {
		return nil
	}
	best := slices.MinFunc(all, byTime)
	all = s.climbFrom(kernels, best, all)
	others := slices.DeleteFunc(slices.Clone(all), func(k found) bool { return k.at.space == best.at.space })
	if len(others) == 0 {
		return all
	}
	second := slices.MinFunc(others, byTime)
	if second.time < slices.MinFunc(all, byTime).time*(1+s.model.Error.P90) {
		all = s.climbFrom(kernels, second, all)
	}
	return all
}

// climbFrom makes neighbours of the best schedule in the space of one, those with the best guesses
// first, until none is better.
func (s *finder) climbFrom(kernels []kernel, one found, all []found) []found {
	space := one.at.space
	failed := 0
	for range climbs {
		var beside []sketch
		for i := range space.neighbours(one.at.number) {
			if !space.made[i] {
				p := space.point(i)
				p.kernel = one.kernel
				beside = append(beside, p)
			}
		}
		s.guess(&kernels[one.kernel], beside)
		made := s.make(kernels, beside[:min(len(beside), stride)])
		all = append(all, made...)
		failed++
		for _, m := range made {
			if m.time < one.time {
				one, failed = m, 0
			}
		}
		if failed == patience {
			break
		}
	}
	return all
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

// draw guesses points of the spaces of k by strategies: all of a small space, few of others.
func (s *finder) draw(k *kernel, strategies []strategy.Strategy) {
	k.defined = s.model.Define(k.f)
	for _, st := range strategies {
		d := &drawing{numbered: numbered{Strategy: st, knobs: st.Knobs(k.layer), size: 1}, seen: map[int]bool{},
			made: map[int]bool{}}
		for _, knob := range d.knobs {
			d.size *= len(knob.Domain)
		}
		if d.size <= drawn {
			for i := range d.size {
				d.add(i)
			}
		}
		domains := map[string][]int{}
		for _, knob := range d.knobs {
			domains[knob.Name] = knob.Domain
		}
		for rank, start := range s.model.Starts(k.defined, st.Name, domains) {
			if at := d.number(start); !d.seen[at] {
				d.add(at)
				d.own[len(d.own)-1].start = 1 + rank
			}
		}
		d.random(drawn)
		s.guess(k, d.own)
		k.spaces = append(k.spaces, d)
	}
}

// guess guesses the costs of points of k, those that were not guessed, and sorts them.
func (s *finder) guess(k *kernel, points []sketch) {
	var at []int
	var some []machine.Sketch
	for i, p := range points {
		if p.guess == 0 {
			at, some = append(at, i), append(some, k.defined.Sketch(p.strategy.Name, p.values))
		}
	}
	if len(some) > 0 {
		for i, g := range s.model.Sift(some) {
			points[at[i]].guess = g
		}
	}
	slices.SortStableFunc(points, func(a, b sketch) int { return cmp.Compare(a.guess, b.guess) })
}

// refine guesses more points of the strategies that may be the best: at random, and neighbours of
// the best.
func (s *finder) refine(k *kernel) {
	least := k.promise()
	for _, d := range k.spaces {
		if len(d.own) == d.size || d.own[0].guess > least+hopeless*s.model.Sieve {
			continue
		}
		d.random(more)
		s.guess(k, d.own)
		for range rounds {
			for _, p := range slices.Clone(d.own[:min(near, len(d.own))]) {
				for i := range d.neighbours(p.number) {
					d.add(i)
				}
			}
			s.guess(k, d.own)
		}
	}
}

// make builds points, those that can be built, and predicts their costs.
func (s *finder) make(kernels []kernel, points []sketch) []found {
	var all []found
	for _, p := range points {
		k := kernels[p.kernel]
		p.space.made[p.number] = true
		if c, err := p.strategy.Build(k.layer, p.values); err == nil {
			one := found{Choice: c, kernel: p.kernel, at: p}
			if one.predict(s.model, s.target) {
				all = append(all, one)
			}
			memory.Trim()
		}
	}
	return all
}

// Promise is a schedule and its prediction by the target's machine.Model: its cost times
// Model.Turns.
type Promise struct {
	strategy.Choice
	Time float64
}

// Promising returns the best schedules of f by the target's machine.Model, the best first, of a
// search that begins at n points; none if the target has no model.
func Promising(ctx context.Context, f *ir.Func, t targets.Target, n int) ([]Promise, error) {
	s, err := newFinder(t, Options{})
	if err != nil || s.model == nil {
		return nil, err
	}
	k := kernel{f: f, layer: strategy.LayerOf(f, t)}
	s.draw(&k, strategy.For(k.layer))
	made, err := s.search(ctx, []kernel{k}, n)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(made, byTime)
	var all []Promise
	for _, m := range made {
		all = append(all, Promise{m.Choice, m.time})
	}
	return all, nil
}
