package search

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"ripc/autotune/space"
)

// evolve makes candidates of the best so far: crosses of two, and neighbours.
type evolve struct {
	*Fresh
	r     *rand.Rand
	start []space.Point
	told  []Outcome // that did not fail, the best first
}

// streamOfEvolve sets the numbers of this search apart.
const streamOfEvolve = 0x65766f6c

func openEvolve(s *space.Space, o Options) (Search, error) {
	r := rand.New(rand.NewPCG(o.Seed, streamOfEvolve))
	return &evolve{Fresh: NewFresh(s, o), r: r, start: startOf(s, o, r)}, nil
}

const (
	population = 24  // of the best, whose points have offspring
	anywhere   = 0.1 // share of candidates that are drawn at random
	crossed    = 0.4 // share of the others that have two parents
	extended   = 0.1 // share of candidates, at most, with more steps behind them
	triesEach  = 50  // points that are tried for a candidate
)

func (e *evolve) Propose(ctx context.Context, n int) ([]space.Candidate, error) {
	if len(e.told) < 2 {
		return e.begin(ctx, n, &e.start, e.r)
	}
	var out []space.Candidate
	for more := int(math.Ceil(extended * float64(n))); more > 0 && !e.All(); more-- {
		if p, ok := e.Space.Extend(e.parent(), e.r); ok {
			if c, ok := e.Take(p); ok {
				out = append(out, c)
			}
		}
	}
	for tries := triesEach * n; len(out) < n && tries > 0 && !e.All(); tries-- {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if c, ok := e.Take(e.offspring()); ok {
			out = append(out, c)
		}
	}
	rest, err := e.draw(ctx, n-len(out), e.r)
	return append(out, rest...), err
}

// offspring is a point near the best ones, mostly.
func (e *evolve) offspring() space.Point {
	if len(e.start) > 0 && e.r.Float64() < anywhere {
		p := e.start[0]
		e.start = e.start[1:]
		return p
	}
	if e.r.Float64() < anywhere {
		return e.Space.Random(e.r)
	}
	p := e.parent()
	if e.r.Float64() < crossed {
		p = e.Space.Cross(p, e.parent(), e.r)
	}
	for p = e.Space.Neighbour(p, e.r); e.r.IntN(3) == 0; {
		p = e.Space.Neighbour(p, e.r)
	}
	return p
}

// parent is the better of two of the best.
func (e *evolve) parent() space.Point {
	n := min(population, len(e.told))
	return e.told[min(e.r.IntN(n), e.r.IntN(n))].Candidate.Point
}

func (e *evolve) Tell(told []Outcome) {
	e.Fresh.Tell(told)
	for _, o := range told {
		if !o.Failed {
			e.told = append(e.told, o)
		}
	}
	slices.SortStableFunc(e.told, func(a, b Outcome) int { return cmp.Compare(a.Cost, b.Cost) })
}
