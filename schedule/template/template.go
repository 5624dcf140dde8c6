// Package template gives every Func of lower/ops a schedule: a Trace made from a few knobs (tile sizes, lanes, unrolling). The
// default knobs come from the target's registers and caches; a tuner draws others from the same space. A template looks at
// the names and extents of loops (see lower/ops) and never at what a Func is called.
package template

import (
	"fmt"
	"math/rand/v2"

	"ripc/ir"
	"ripc/ir/size"
	"ripc/schedule"
	"ripc/targets"
)

// Knobs are the free choices of a template. The zero value of a field that a Func has no use for is ignored.
type Knobs struct {
	TileW   int  // output positions along w whose accumulators are in registers together
	TileH   int  // output rows that one parallel iteration computes
	Lanes   int  // output channels in a vector loop (of a convolution, float outputs only; packed ones take a word, 32)
	UnrollK bool // unroll the inner reduction loops; the window of a pool
	// FiltersOuter puts the loop over blocks of output channels outside the loop over rows, so that a block's weights stay in cache.
	FiltersOuter bool
	// Pairs counts two words with one popcount by the target's instruction for it, on words that are kept as pairs.
	Pairs bool
	// CarrySave does so with plain operations, on words as they are, for targets that count slowly.
	CarrySave bool
	Bytes     Bytes // sums of popcounts in byte lanes
}

// Default is the schedule of f for a target that nothing has been measured for.
func Default(f *ir.Func, t targets.Target) schedule.Trace { return Build(f, t, DefaultKnobs(f, t)) }

// Random is a schedule with knobs drawn from the same space as a tuner's.
func Random(f *ir.Func, t targets.Target, r *rand.Rand) schedule.Trace {
	k := DefaultKnobs(f, t)
	k.Lanes = []int{4, 8, 16, 32, 64}[r.IntN(5)]
	k.UnrollK = r.IntN(2) == 0
	if s := shapeOf(f); s.conv {
		k.TileW = 1 + r.IntN(min(s.extent["w"], 2*max(1, k.TileW)))
		k.TileH = 1 + r.IntN(s.extent["h"])
		k.FiltersOuter = r.IntN(2) == 0
		k.Pairs = k.Pairs && r.IntN(2) == 0
		if s.has("acc.gc") {
			k.TileW, k.UnrollK = 1, false
		}
		k.CarrySave = r.IntN(3) == 0
	}
	return Build(f, t, k)
}

// Build is the trace of f with knobs k.
func Build(f *ir.Func, t targets.Target, k Knobs) schedule.Trace {
	b := newBuilder(f, t)
	switch {
	case b.s.conv && k.Pairs:
		if p := newBuilder(f, t); p.pairs(k) {
			return p.trace
		}
		fallthrough
	case b.s.conv:
		b.convolution(k)
		if k.Bytes.Vectors > 0 && !b.unrolled { // not for this shape: tiles have another size then
			return Build(f, t, wordKnobs(f, t))
		}
	default:
		b.lanes = powerOfTwo(max(1, k.Lanes))
		b.plain(k)
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
	s.conv, s.packed = s.has("acc.kh"), s.has("l")
	s.pooled, s.padded = s.has("pl.o"), s.has("xp.c") || s.has("xp.l") || s.has("xp.r")
	return s
}

func (s shape) has(loop string) bool { return s.extent[loop] > 0 }

// builder makes a trace and applies it as it goes.
type builder struct {
	s      shape
	f      *ir.Func // as the trace leaves it
	lanes  int      // of the longest vector
	trace  schedule.Trace
	target targets.Target
	// instrs are the target's instructions by name.
	instrs map[string]*ir.Func
	// unrolled says that the reduction has been unrolled already.
	unrolled bool
}

// step appends a step from its text form and reports whether it is legal for the Func as it stands; if not, the trace
// stays as it was. So a template may ask for what most shapes allow, and every shape gets a trace that applies.
func (b *builder) step(format string, args ...any) bool {
	text := fmt.Sprintf(format, args...)
	st, err := schedule.ParseStep(text)
	if err != nil {
		panic("BUG: template wrote " + text + ": " + err.Error())
	}
	g, err := b.apply(st)
	if err != nil {
		return false
	}
	b.f = g
	b.trace = append(b.trace, st)
	return true
}

// loop finds a loop of the Func as it stands, nil if there is none.
func (b *builder) loop(name string) *ir.For { return ir.FindLoop(b.f.Body, name) }

// unroll unrolls a loop if the code stays small.
func (b *builder) unroll(loop string) {
	before, trace := b.f, b.trace
	if b.step("unroll %s", loop) && size.Of(b.f.Body) > size.Preferred && size.Of(b.f.Body) > size.Of(before.Body) {
		b.f, b.trace = before, trace
	}
}

// maxVector is the length of the longest vectors by default.
const maxVector = 64

// vectorize makes a loop of any extent vectors of powers of two: the largest that fit, then the remainder likewise. A
// loop whose lanes would go one by one stays as it is.
func (b *builder) vectorize(loop string) {
	if l := b.loop(loop); l != nil && !scattered(l) {
		b.vectors(loop)
	}
}

// vectors is vectorize, whatever the addresses look like.
func (b *builder) vectors(loop string) {
	l := b.loop(loop)
	if l == nil {
		return
	}
	for e := l.Extent; e > 1; {
		n := min(b.lanes, powerOfTwo(e))
		if n == e {
			b.step("vectorize %s", loop)
			return
		}
		if !b.step("split %s %d tail=cut -> %s.o %s.i", loop, n, loop, loop) {
			return
		}
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

// single makes vectors of loop o, one channel an iteration. Channels that are read from words are cut at the words, so
// that all lanes read the same one.
func (b *builder) single() {
	l := b.loop("o")
	if l == nil {
		return
	}
	if scattered(l) && l.Extent >= laneBits && b.step("split o %d tail=cut -> o.o o.i", laneBits) {
		b.vectorize("o.i")
		b.vectorize("o.t")
		return
	}
	b.vectorize("o")
}

// plain schedules everything without accumulators: rows in parallel, channels in vectors.
func (b *builder) plain(k Knobs) {
	switch {
	case b.s.has("p"): // loops p b h w ...: one plane after the other
	case b.s.has("s"): // softmax: its sums are in order
	default:
		b.rows()
	}
	for _, l := range []string{"c", "c0", "c1", "c2", "z", "l", "r"} {
		b.vectorize(l)
	}
	if !b.s.packed { // q: copies of words
		b.vectorize("q")
	}
	b.single()
	for _, l := range []string{"j", "i"} {
		if k.UnrollK && b.s.has(l) && b.s.extent[l] <= 4 {
			b.unroll(l)
		}
	}
}
