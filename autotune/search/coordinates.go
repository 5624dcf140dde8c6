package search

import (
	"math"
	"math/rand/v2"
	"slices"

	"ripc/autotune/space"
	"ripc/schedule/strategy"
)

// coordinates are the points of a space, without steps behind them, as numbers: which walks over many thousands of them are made in.
type coordinates struct {
	space *space.Space
	kinds []coordinate
	names []string // of the features of a place
}

// coordinate is a strategy.
type coordinate struct {
	knobs   []strategy.Knob
	columns []int // of the knobs among the features
	free    []int // knobs with a choice
	first   int   // number of its first point
}

// place is a point.
type place struct {
	kind int
	at   []uint16 // of each knob, which of its values
}

func newCoordinates(s *space.Space) *coordinates {
	c := &coordinates{space: s}
	first := 0
	columns := map[string]int{}
	for _, name := range s.Strategies() {
		c.names = append(c.names, "strategy."+name)
	}
	for _, name := range s.Strategies() {
		k := coordinate{knobs: s.Knobs(name), first: first}
		n := 1
		for i, knob := range k.knobs {
			n *= len(knob.Domain)
			if len(knob.Domain) > 1 {
				k.free = append(k.free, i)
			}
			if _, ok := columns[knob.Name]; !ok {
				columns[knob.Name] = len(c.names)
				c.names = append(c.names, "knob."+knob.Name)
			}
			k.columns = append(k.columns, columns[knob.Name])
		}
		first += n
		c.kinds = append(c.kinds, k)
	}
	return c
}

// of is the place of a point; false if it is of another space.
func (c *coordinates) of(p space.Point) (place, bool) {
	i := c.space.Index(p)
	if i < 0 {
		return place{}, false
	}
	return c.place(i), true
}

// number is what space.At takes.
func (c *coordinates) number(p place) int {
	n := 0
	for i, knob := range c.kinds[p.kind].knobs {
		n = n*len(knob.Domain) + int(p.at[i])
	}
	return c.kinds[p.kind].first + n
}

// place is number's inverse.
func (c *coordinates) place(n int) place {
	k := len(c.kinds) - 1
	for c.kinds[k].first > n {
		k--
	}
	p := place{kind: k, at: make([]uint16, len(c.kinds[k].knobs))}
	n -= c.kinds[k].first
	for i := len(p.at) - 1; i >= 0; i-- {
		d := len(c.kinds[k].knobs[i].Domain)
		p.at[i] = uint16(n % d)
		n /= d
	}
	return p
}

// random draws a place: any strategy, any values.
func (c *coordinates) random(r *rand.Rand) place {
	p := place{kind: r.IntN(len(c.kinds))}
	for _, knob := range c.kinds[p.kind].knobs {
		p.at = append(p.at, uint16(r.IntN(len(knob.Domain))))
	}
	return p
}

// neighbour is p with another value of one knob, or, now and then, any place.
func (c *coordinates) neighbour(p place, r *rand.Rand) place {
	const jump = 0.02
	k := &c.kinds[p.kind]
	if len(k.free) == 0 || r.Float64() < jump {
		return c.random(r)
	}
	q := place{p.kind, slices.Clone(p.at)}
	i := k.free[r.IntN(len(k.free))]
	d := len(k.knobs[i].Domain)
	if r.IntN(2) == 0 {
		if to := int(q.at[i]) + 1 - 2*r.IntN(2); to >= 0 && to < d {
			q.at[i] = uint16(to)
			return q
		}
	}
	to := r.IntN(d - 1)
	if to >= int(q.at[i]) {
		to++
	}
	q.at[i] = uint16(to)
	return q
}

// features are those of a place: its strategy, and its knobs' values.
func (c *coordinates) features(p place) []float32 {
	x := make([]float32, len(c.names))
	for i := range x {
		if x[i] = 0; i >= len(c.kinds) {
			x[i] = float32(math.NaN())
		}
	}
	x[p.kind] = 1
	k := &c.kinds[p.kind]
	for i, column := range k.columns {
		x[column] = float32(k.knobs[i].Domain[p.at[i]])
	}
	return x
}

// alike is the share of knobs that two places have in common; 0 of different strategies.
func alike(p, q place) float64 {
	if p.kind != q.kind {
		return 0
	}
	n := 0
	for i := range p.at {
		if p.at[i] == q.at[i] {
			n++
		}
	}
	return float64(n) / float64(max(1, len(p.at)))
}
