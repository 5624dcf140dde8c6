package compile

import (
	"cmp"
	"context"
	"math"
	"slices"

	"ripc/internal/memory"
	"ripc/ir"
	"ripc/ir/size"
	"ripc/schedule/machine"
	"ripc/schedule/strategy"
	"ripc/targets"
)

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
			if _, made := space.made[i]; !made {
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

// draw guesses points of the spaces of k by strategies: all of a small space, few of others.
func (s *finder) draw(k *kernel, strategies []strategy.Strategy) {
	k.defined = s.model.Define(k.f)
	for _, st := range strategies {
		d := &drawing{numbered: numbered{Strategy: st, knobs: st.Knobs(k.layer), size: 1}, seen: map[int]bool{},
			made: map[int]found{}}
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

// make builds points, those that can be built, and predicts their costs. A point is built once.
func (s *finder) make(kernels []kernel, points []sketch) []found {
	var all []found
	for _, p := range points {
		one, known := p.space.made[p.number]
		if !known {
			if c, err := p.strategy.Build(kernels[p.kernel].layer, p.values); err == nil {
				if one.Choice = c; !one.predict(s.model, s.target) {
					one = found{}
				}
				memory.Trim()
			}
			p.space.made[p.number] = one
		}
		if one.Func != nil {
			one.kernel, one.at = p.kernel, p
			all = append(all, one)
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
