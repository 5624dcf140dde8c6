package compile

import (
	"cmp"
	"context"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"ripc/ir"
	"ripc/schedule/machine"
	"ripc/schedule/strategy"
	"ripc/targets"
)

// found is a schedule and its predicted cost.
type found struct {
	strategy.Choice
	cost   float64 // on one core
	time   float64 // of the cost, with all of the target's cores: what is compared
	kernel int     // which it is of, of those that are compared
}

// predict fills in what the schedule costs.
func (k *found) predict(m *machine.Model) {
	p := m.Scheduled(k.Func, k.Values)
	k.cost = m.Predict(p)
	k.time = k.cost * m.Turns(p)
}

// finder finds the schedules of least predicted cost. It looks at equal Funcs once.
type finder struct {
	model  *machine.Model // nil of a target without one: schedules are the strategies' defaults
	target targets.Target
	mu     sync.Mutex
	known  map[string]found // by the Func's text
}

func newFinder(t targets.Target) (*finder, error) {
	m, _, err := machine.Of(t)
	return &finder{model: m, target: t, known: map[string]found{}}, err
}

// What a search looks at.
const (
	drawn    = 32 // points of a strategy whose cost is guessed at first, where its space has more
	hopeless = 2  // by how much the logarithm of a guess is above the least where no more is guessed
	rounds   = 2  // in which the neighbours of the best are guessed as well
	near     = 3  // of which that is done in a round
	built    = 8  // points whose Funcs are made
	each     = 1  // of each kernel that is compared, at least
	giveUp   = 10 // for each that is to be made, how many are tried
)

// kernel is a Func whose schedule is looked for.
type kernel struct {
	f      *ir.Func
	layer  *strategy.Layer
	before []float32 // its features
	spaces []*drawing
}

// sketch is a point that no Func is made of yet.
type sketch struct {
	strategy strategy.Strategy
	number   int // in its strategy's space
	values   strategy.Values
	guess    float64
	kernel   int
}

// of is the schedule of f.
func (s *finder) of(ctx context.Context, f *ir.Func) (found, error) {
	all, err := s.best(ctx, []*ir.Func{f})
	if err != nil {
		return found{}, err
	}
	k := all[0]
	if k.Func.Name != f.Name { // which was found for an equal one
		g := *k.Func
		g.Name = f.Name
		k.Func = &g
	}
	return k, nil
}

// best finds the schedules of Funcs that are to be compared with each other: those that promise more are looked at more. One that
// promises nothing beside the others has a cost of +Inf and no schedule.
func (s *finder) best(ctx context.Context, funcs []*ir.Func) ([]found, error) {
	out := make([]found, len(funcs))
	if s.model == nil || !s.model.Sifts() {
		for i, f := range funcs {
			var err error
			if out[i], err = s.usual(f); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	var kernels []kernel
	var points []sketch
	texts, least := make([]string, len(funcs)), math.Inf(1)
	for i, f := range funcs {
		texts[i] = nameless(f)
		if k, ok := s.knows(texts[i]); ok {
			out[i] = k
			kernels = append(kernels, kernel{f: f})
			continue
		}
		out[i].cost, out[i].time = math.Inf(1), math.Inf(1)
		k := kernel{f: f, layer: strategy.LayerOf(f, s.target)}
		s.draw(&k)
		kernels = append(kernels, k)
		least = min(least, k.promise())
	}
	for i := range kernels {
		if kernels[i].promise() < least+hopeless {
			s.refine(&kernels[i])
			points = append(points, kernels[i].points(i)...)
		}
	}
	// The best of each kernel are built first, then the best of all.
	slices.SortStableFunc(points, func(a, b sketch) int { return cmp.Compare(a.guess, b.guess) })
	var all []found
	made, tried := make([]int, len(funcs)), make([]int, len(funcs))
	var rest []sketch
	for _, p := range points {
		if made[p.kernel] == each || tried[p.kernel] == each*giveUp {
			rest = append(rest, p)
			continue
		}
		tried[p.kernel]++
		if some := s.make(kernels, []sketch{p}); len(some) > 0 {
			made[p.kernel]++
			all = append(all, some...)
		}
	}
	for i := range kernels { // what the rules of strategies take
		if kernels[i].promise() >= least+hopeless {
			continue
		}
		if c, err := strategy.Default(funcs[i], s.target); err == nil {
			one := found{Choice: c, kernel: i}
			one.predict(s.model)
			all = append(all, one)
		}
	}
	for left, tries := built-len(all), built*giveUp; left > 0 && len(rest) > 0 && tries > 0; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := min(len(rest), left)
		some := s.make(kernels, rest[:n])
		all = append(all, some...)
		rest, left, tries = rest[n:], left-len(some), tries-n
	}
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(a.time, b.time) })
	for _, c := range all {
		if out[c.kernel].Func == nil && !tooLarge(c.Func, s.target) {
			out[c.kernel] = c
		}
	}
	for i, k := range out {
		if k.Func == nil && len(funcs) == 1 {
			var err error
			if out[i], err = s.usual(funcs[i]); err != nil {
				return nil, err
			}
		}
		if out[i].Func != nil {
			s.keep(texts[i], out[i])
		}
	}
	return out, nil
}

// usual is the default schedule of f, with its predicted cost.
func (s *finder) usual(f *ir.Func) (found, error) {
	var text string
	if s.model != nil { // else each Func is asked about once
		text = nameless(f)
		if k, ok := s.knows(text); ok {
			return k, nil
		}
	}
	c, err := small(f, s.target)
	if err != nil {
		return found{}, &InternalError{"default schedule of " + f.Name, err}
	}
	k := found{Choice: c}
	if s.model != nil {
		k.predict(s.model)
		s.keep(text, k)
	}
	return k, nil
}

func (s *finder) knows(text string) (found, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.known[text]
	return k, ok
}

func (s *finder) keep(text string, k found) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[text] = k
}

// numbered is a strategy with its knobs, whose points have numbers.
type numbered struct {
	strategy.Strategy
	knobs []strategy.Knob
	size  int
}

// at is the point number i.
func (n numbered) at(i int) strategy.Values {
	v := strategy.Values{}
	for _, k := range n.knobs {
		v[k.Name] = k.Domain[i%len(k.Domain)]
		i /= len(k.Domain)
	}
	return v
}

// besides yields the numbers of the points that differ from number i in one knob.
func (n numbered) besides(i int) iter.Seq[int] {
	return func(yield func(int) bool) {
		step := 1
		for _, k := range n.knobs {
			digit := i / step % len(k.Domain)
			for d := range k.Domain {
				if d != digit && !yield(i+(d-digit)*step) {
					return
				}
			}
			step *= len(k.Domain)
		}
	}
}

// drawing is what is drawn of the space of a strategy.
type drawing struct {
	numbered
	seen map[int]bool
	own  []sketch // the best guesses first
}

// draw guesses points of the spaces of k: all of a small space, few of others.
func (s *finder) draw(k *kernel) {
	k.before = s.model.Before(k.f)
	for _, st := range strategy.For(k.layer) {
		d := &drawing{numbered: numbered{Strategy: st, knobs: st.Knobs(k.layer), size: 1}, seen: map[int]bool{}}
		for _, knob := range d.knobs {
			d.size *= len(knob.Domain)
		}
		if d.size <= drawn {
			for i := range d.size {
				d.add(i)
			}
		}
		d.random(drawn)
		s.guess(k, d, 0)
		k.spaces = append(k.spaces, d)
	}
}

// add adds the point number i.
func (d *drawing) add(i int) {
	if !d.seen[i] {
		d.seen[i] = true
		d.own = append(d.own, sketch{strategy: d.Strategy, number: i, values: d.at(i)})
	}
}

// random adds n points, if there are so many.
func (d *drawing) random(n int) {
	r := rand.New(rand.NewPCG(uint64(d.size), uint64(len(d.own))))
	for range min(n, d.size-len(d.own)) {
		d.add(r.IntN(d.size))
	}
}

// guess guesses the costs of the points behind the first ones, and sorts all.
func (s *finder) guess(k *kernel, d *drawing, first int) {
	points := make([]machine.Point, len(d.own)-first)
	for i, p := range d.own[first:] {
		points[i] = s.model.Sketch(k.before, d.Name, p.values)
	}
	for i, g := range s.model.Sift(points) {
		d.own[first+i].guess = g
	}
	slices.SortStableFunc(d.own, func(a, b sketch) int { return cmp.Compare(a.guess, b.guess) })
}

// refine guesses more points of the strategies that may be the best: at random, and neighbours of the best.
func (s *finder) refine(k *kernel) {
	least := k.promise()
	for _, d := range k.spaces {
		if len(d.own) == d.size || d.own[0].guess > least+hopeless {
			continue
		}
		from := len(d.own)
		d.random(drawn)
		s.guess(k, d, from)
		for range rounds {
			from := len(d.own)
			for _, p := range slices.Clone(d.own[:min(near, len(d.own))]) {
				for i := range d.besides(p.number) {
					d.add(i)
				}
			}
			s.guess(k, d, from)
		}
	}
}

// points are all that were guessed of k, which is kernel number i.
func (k *kernel) points(i int) []sketch {
	var all []sketch
	for _, d := range k.spaces {
		for _, p := range d.own {
			p.kernel = i
			all = append(all, p)
		}
	}
	return all
}

// promise is the least guess of k.
func (k *kernel) promise() float64 {
	least := math.Inf(1)
	for _, d := range k.spaces {
		if len(d.own) > 0 {
			least = min(least, d.own[0].guess)
		}
	}
	return least
}

// make builds points, those that can be built, and predicts what they cost.
func (s *finder) make(kernels []kernel, points []sketch) []found {
	var all []found
	for _, p := range points {
		k := kernels[p.kernel]
		if c, err := p.strategy.Build(k.layer, p.values); err == nil {
			one := found{Choice: c, kernel: p.kernel}
			one.predict(s.model)
			all = append(all, one)
		}
	}
	return all
}

// nameless is the text of f without its name: equal kernels have the same.
func nameless(f *ir.Func) string {
	g := *f
	g.Name = ""
	return g.String()
}

// Promise is a schedule and what the target's machine.Model expects of it, with all cores.
type Promise struct {
	strategy.Choice
	Time float64
}

// Promising are schedules of f of which the target's machine.Model expects most, n at most, the best first; none where there is no such
// model.
func Promising(f *ir.Func, t targets.Target, n int) ([]Promise, error) {
	s, err := newFinder(t)
	if err != nil || s.model == nil || !s.model.Sifts() {
		return nil, err
	}
	k := kernel{f: f, layer: strategy.LayerOf(f, t)}
	s.draw(&k)
	s.refine(&k)
	points := k.points(0)
	slices.SortStableFunc(points, func(a, b sketch) int { return cmp.Compare(a.guess, b.guess) })
	made := s.make([]kernel{k}, points[:min(n, len(points))])
	slices.SortStableFunc(made, func(a, b found) int { return cmp.Compare(a.time, b.time) })
	var all []Promise
	for _, m := range made {
		all = append(all, Promise{m.Choice, m.time})
	}
	return all, nil
}
