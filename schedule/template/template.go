// Package template gives every Func of ir/ops a schedule: a Trace made from a few knobs (tile sizes, lanes, unrolling). The
// default knobs come from the target's registers and caches; a tuner draws others from the same space. A template looks at
// the names and extents of loops (see ir/ops) and never at what a Func is called.
package template

import (
	"fmt"
	"math/rand/v2"

	"ripc/ir"
	"ripc/schedule"
	"ripc/targets"
)

// Knobs are the free choices of a template. The zero value of a field that a Func has no use for is ignored.
type Knobs struct {
	TileW   int  // output positions along w whose accumulators are in registers together
	TileH   int  // output rows that one parallel iteration computes
	Lanes   int  // output channels in a vector loop (float outputs; packed ones take a word, 32)
	UnrollK bool // unroll the inner reduction loops
	// FiltersOuter puts the loop over blocks of output channels outside the loop over rows, so that a block's weights stay in cache.
	FiltersOuter bool
}

// Default is the schedule of f for a target that nothing has been measured for.
func Default(f *ir.Func, t targets.Target) schedule.Trace { return Build(f, t, DefaultKnobs(f, t)) }

// Random is a schedule with knobs drawn from the same space as a tuner's.
func Random(f *ir.Func, t targets.Target, r *rand.Rand) schedule.Trace {
	k := DefaultKnobs(f, t)
	if s := shapeOf(f); s.conv {
		k.TileW = 1 + r.IntN(min(s.extent["w"], 2*max(1, k.TileW)))
		k.TileH = 1 + r.IntN(s.extent["h"])
		k.Lanes = []int{4, 8, 16, 32, 64}[r.IntN(5)]
		k.UnrollK = r.IntN(2) == 0
		k.FiltersOuter = r.IntN(2) == 0
		if s.has("acc.gc") {
			k.TileW, k.UnrollK = 1, false
		}
	}
	return Build(f, t, k)
}

// Build is the trace of f with knobs k.
func Build(f *ir.Func, t targets.Target, k Knobs) schedule.Trace {
	s := shapeOf(f)
	b := &builder{s: s}
	switch {
	case s.conv:
		b.convolution(k)
	default:
		b.plain(t)
	}
	return b.trace
}

// shape is what a template needs to know of a Func.
type shape struct {
	extent map[string]int // of every loop
	conv   bool           // has accumulators: a convolution or dense layer
	packed bool           // writes words of bits: loops q and l
	pooled bool
	padded bool
	planes int // bit planes of the input; 0 if it is none
	names  []string // loops in program order
}

func shapeOf(f *ir.Func) shape {
	s := shape{extent: map[string]int{}}
	ir.Walk(f.Body, func(st ir.Stmt) bool {
		if l, ok := st.(*ir.For); ok {
			s.extent[l.Var] = l.Extent
			s.names = append(s.names, l.Var)
		}
		return true
	})
	if len(f.Params) > 0 && len(f.Params[0].Shape) == 5 {
		s.planes = f.Params[0].Shape[0]
	}
	s.conv, s.packed = s.has("acc.kh"), s.has("l")
	s.pooled, s.padded = s.has("pl.o"), s.has("xp.c")
	return s
}

func (s shape) has(loop string) bool { return s.extent[loop] > 0 }

type builder struct {
	s     shape
	trace schedule.Trace
}

// step appends a step from its text form.
func (b *builder) step(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	st, err := schedule.ParseStep(text)
	if err != nil {
		panic("BUG: template wrote " + text + ": " + err.Error())
	}
	b.trace = append(b.trace, st)
}

// maxVector is the longest vector a loop becomes.
const maxVector = 64

// vectorize makes a loop of any extent vectors of powers of two: the largest that fit, then the remainder likewise.
func (b *builder) vectorize(loop string) {
	e := b.s.extent[loop]
	for e > 1 {
		n := min(maxVector, powerOfTwo(e))
		if n == e {
			b.step("vectorize %s", loop)
			return
		}
		b.step("split %s %d tail=cut -> %s.o %s.i", loop, n, loop, loop)
		b.step("vectorize %s.i", loop)
		loop, e = loop+".t", e%n
	}
}

// rows shares the rows (or, for single-row tensors, the batch) out among threads.
func (b *builder) rows() {
	if b.s.has("h") && b.s.extent["h"] > 1 && b.s.has("b") {
		b.step("reorder h b")
		b.step("parallel h")
	}
}

// plain schedules everything without accumulators: rows in parallel, channels in vectors.
func (b *builder) plain(t targets.Target) {
	switch {
	case b.s.has("p"): // loops p b h w ...: one plane after the other
	case b.s.has("s"): // softmax: its sums are in order
	default:
		b.rows()
	}
	for _, l := range []string{"c", "c0", "c1", "c2", "z"} {
		if b.s.has(l) {
			b.vectorize(l)
		}
	}
	for _, l := range []string{"i", "j"} {
		if b.s.has(l) && b.s.extent[l] <= 4 && b.s.planes <= 4 {
			b.step("unroll %s", l)
		}
	}
	if b.s.packed {
		b.step("vectorize l")
	}
}
