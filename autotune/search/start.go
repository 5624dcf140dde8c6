package search

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"ripc/autotune/space"
	"ripc/schedule/strategy"
)

// firstPoints lists points to begin with: of each strategy the one with the first values of its knobs, then some that are drawn, strategy by strategy in turn.
func firstPoints(s *space.Space, r *rand.Rand) []space.Point {
	const kept = 8
	l := strategy.LayerOf(s.Task.Func, s.Task.Target)
	all := strategy.For(l)
	var out []space.Point
	for _, st := range all {
		v := strategy.Values{}
		for _, k := range st.Knobs(l) {
			v[k.Name] = k.Domain[0]
		}
		out = append(out, space.Point{Strategy: st.Name, Values: v})
	}
	for range kept {
		for _, st := range all {
			out = append(out, space.Point{Strategy: st.Name, Values: st.Random(l, r)})
		}
	}
	return out
}

// startOf are the points that a search begins with.
func startOf(s *space.Space, o Options, r *rand.Rand) []space.Point {
	if len(o.Start) > 0 {
		return slices.Clone(o.Start)
	}
	return firstPoints(s, r)
}

// begin takes candidates to start with: half of those that it begins with, half that are drawn.
func (f *Fresh) begin(ctx context.Context, n int, start *[]space.Point, r *rand.Rand) ([]space.Candidate, error) {
	var out []space.Candidate
	for len(*start) > 0 && len(out) < (n+1)/2 {
		some := (*start)[:min((n+1)/2-len(out), len(*start))]
		more, err := f.takeAll(ctx, some)
		if err != nil {
			return nil, err
		}
		*start, out = (*start)[len(some):], append(out, more...)
	}
	rest, err := f.draw(ctx, n-len(out), r)
	return append(out, rest...), err
}

// takeAll takes those of points that Take would, in order; they are built side by side.
func (f *Fresh) takeAll(ctx context.Context, points []space.Point) ([]space.Candidate, error) {
	var fresh []space.Point
	for _, p := range points {
		if key := f.Space.Key(p); !f.points[key] {
			f.note(p, key)
			fresh = append(fresh, p)
		}
	}
	built, errs := make([]space.Candidate, len(fresh)), make([]error, len(fresh))
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < len(fresh) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
			built[i], errs[i] = f.Space.Build(fresh[i])
		}
	}
	var helpers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(fresh)) - 1 {
		helpers.Add(1)
		if !f.beside(func() { defer helpers.Done(); work() }) {
			helpers.Done()
			break
		}
	}
	work()
	helpers.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var out []space.Candidate
	for i, c := range built {
		if errs[i] == nil && !f.traces[c.Key()] {
			f.traces[c.Key()] = true
			out = append(out, c)
		}
	}
	return out, nil
}

// drawsEach is how often, on average, a candidate is drawn for: in spaces where most points are none, or the same, that ends at some time.
const drawsEach = 50

// drawn takes candidates at random.
func (f *Fresh) drawn(ctx context.Context, n int, r *rand.Rand) ([]space.Candidate, error) {
	var out []space.Candidate
	for draws := drawsEach * n; len(out) < n && draws > 0 && !f.All(); {
		points := make([]space.Point, min(n-len(out), draws))
		for i := range points {
			points[i] = f.Space.Random(r)
		}
		more, err := f.takeAll(ctx, points)
		if err != nil {
			return nil, err
		}
		draws, out = draws-len(points), append(out, more...)
	}
	return out, nil
}

// draw takes candidates at random, and the last ones of a space one by one.
func (f *Fresh) draw(ctx context.Context, n int, r *rand.Rand) ([]space.Candidate, error) {
	out, err := f.drawn(ctx, n, r)
	if err != nil {
		return nil, err
	}
	const small = 1 << 13 // points, which can be gone through
	if size := f.Space.Size(); len(out) < n && size <= small && !f.All() {
		from := r.IntN(size)
		for i := 0; i < size && len(out) < n; i++ {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if c, ok := f.Take(f.Space.At((from + i) % size)); ok {
				out = append(out, c)
			}
		}
	}
	return out, nil
}
