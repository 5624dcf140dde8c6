package compile

import (
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"ripc/ir"
	"ripc/schedule/machine"
	"ripc/schedule/strategy"
)

// kernel is a Func that a schedule is looked for.
type kernel struct {
	f       *ir.Func
	layer   *strategy.Layer
	defined machine.Definition
	spaces  []*drawing
}

// sketch is a point that no Func is made of yet.
type sketch struct {
	strategy strategy.Strategy
	space    *drawing
	number   int // in space
	values   strategy.Values
	guess    float64 // 0 before it is guessed
	start    int     // where a search begins: 1 is of the kernel most alike; 0 elsewhere
	kernel   int
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

// numbered is a strategy with its knobs. The points of its space have numbers.
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

// number is that of a point.
func (n numbered) number(v strategy.Values) int {
	i, step := 0, 1
	for _, k := range n.knobs {
		i += slices.Index(k.Domain, v[k.Name]) * step
		step *= len(k.Domain)
	}
	return i
}

// neighbours yields the numbers of the points that differ from number i in one knob.
func (n numbered) neighbours(i int) iter.Seq[int] {
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

// drawing is a sample of the space of a strategy.
type drawing struct {
	numbered
	seen map[int]bool
	made map[int]found // by number; without a Func where none can be built
	own  []sketch      // the best guesses first
}

// point is the point number i.
func (d *drawing) point(i int) sketch {
	return sketch{strategy: d.Strategy, space: d, number: i, values: d.at(i)}
}

// add adds the point number i.
func (d *drawing) add(i int) {
	if !d.seen[i] {
		d.seen[i] = true
		d.own = append(d.own, d.point(i))
	}
}

// random draws n points, or as many as are left.
func (d *drawing) random(n int) {
	r := rand.New(rand.NewPCG(uint64(d.size), uint64(len(d.own))))
	for range min(n, d.size-len(d.own)) {
		d.add(r.IntN(d.size))
	}
}
