package arith

import (
	"math/big"
	"slices"

	"ripc/ir"
)

// line is the set of functions x -> a*x + c with lo <= c <= hi.
type line struct{ a, lo, hi *big.Int }

// lines is a union of lines with different a: the possible values of an element that held x.
type lines []line

// Unions of more lines, or with larger numbers, are given up.
const (
	maxLines = 16
	maxBits  = 512
)

func constLine(lo, hi *big.Int) lines { return lines{{new(big.Int), lo, hi}} }
func addLine(lo, hi *big.Int) lines   { return lines{{big.NewInt(1), lo, hi}} }
func identityLine() lines             { return addLine(new(big.Int), new(big.Int)) }

func (ls lines) union(ms lines) lines {
	out := append(lines{}, ls...)
next:
	for _, m := range ms {
		for i, l := range out {
			if l.a.Cmp(m.a) == 0 {
				out[i] = line{l.a, least(l.lo, m.lo), greatest(l.hi, m.hi)}
				continue next
			}
		}
		out = append(out, m)
	}
	return out
}

// compose is ls applied to the results of ms.
func (ls lines) compose(ms lines) lines {
	var out lines
	for _, l := range ls {
		for _, m := range ms {
			lo, hi := new(big.Int).Mul(l.a, m.lo), new(big.Int).Mul(l.a, m.hi)
			if l.a.Sign() < 0 {
				lo, hi = hi, lo
			}
			out = out.union(lines{{new(big.Int).Mul(l.a, m.a), lo.Add(lo, l.lo), hi.Add(hi, l.hi)}})
		}
	}
	return out
}

func (ls lines) lost() bool {
	for _, l := range ls {
		if l.a.BitLen() > maxBits || l.lo.BitLen() > maxBits || l.hi.BitLen() > maxBits {
			return true
		}
	}
	return len(ls) > maxLines
}

func least(a, b *big.Int) *big.Int {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

func greatest(a, b *big.Int) *big.Int {
	if a.Cmp(b) > 0 {
		return a
	}
	return b
}

// effect is the effect of a statement on the elements of one buffer. An element in at changes from
// x to one of end(x), and meanwhile holds only x and values in peak(x). Other elements keep their
// value. nil is no effect.
type effect struct {
	end, peak lines
	at        region
	lost      bool // too complex to follow
}

func lostEffect(b ir.Buffer) *effect { return &effect{at: wholeBuffer(b), lost: true} }

func (e *effect) check(b ir.Buffer) *effect {
	if e.lost || e.end.lost() || e.peak.lost() {
		return lostEffect(b)
	}
	return e
}

// restrict returns e on the elements of g. If g's base reads memory, it may name other elements at
// other moments: then e may happen to any element, or not at all.
func (e *effect) restrict(g region, b ir.Buffer) *effect {
	out := *e
	out.at = g
	if slices.ContainsFunc(g.base.Terms, func(t Term) bool { return ir.ReadsMemory(t.Atom) }) {
		out = *out.maybe()
		out.at = wholeBuffer(b)
	}
	return &out
}

// maybe is e or nothing.
func (e *effect) maybe() *effect {
	return &effect{e.end.union(identityLine()), e.peak, e.at, e.lost}
}

// chain is the effect of e followed by f.
func (e *effect) chain(f *effect, b ir.Buffer) *effect {
	switch {
	case e == nil:
		return f
	case f == nil:
		return e
	}
	end, peak := f.end.compose(e.end), e.peak.union(f.peak.compose(e.end))
	out := &effect{at: e.at, lost: e.lost || f.lost}
	switch {
	case e.at.equal(f.at):
		out.end, out.peak = end, peak
	case e.at.isAll(b): // e surely happens, f perhaps
		out.end, out.peak = e.end.union(end), peak
	case f.at.isAll(b):
		out.at = f.at
		out.end, out.peak = f.end.union(end), peak.union(f.peak)
	case e.at.apart(f.at):
		exact := false
		if out.at, exact = e.at.join(f.at); !exact {
			out.at = e.at.union(f.at, b)
		}
		if out.end, out.peak = e.end.union(f.end), e.peak.union(f.peak); !exact {
			out.end = out.end.union(identityLine())
		}
	default:
		out.at = e.at.union(f.at, b)
		out.end, out.peak = identityLine().union(e.end).union(f.end).union(end), peak.union(f.peak)
	}
	return out.check(b)
}

// merge is the effect of e or f.
func (e *effect) merge(f *effect, b ir.Buffer) *effect {
	switch {
	case e == nil && f == nil:
		return nil
	case e == nil:
		return f.maybe()
	case f == nil:
		return e.maybe()
	}
	out := &effect{e.end.union(f.end), e.peak.union(f.peak), e.at, e.lost || f.lost}
	if !e.at.equal(f.at) {
		out.at, out.end = e.at.union(f.at, b), out.end.union(identityLine())
	}
	return out.check(b)
}

// times is the effect of n >= 1 repetitions of e.
func (e *effect) times(n int, b ir.Buffer) *effect {
	var out *effect
	for p := e; n > 0 && !p.lost; n >>= 1 {
		if n&1 == 1 {
			out = out.chain(p, b)
		}
		if n > 1 {
			p = p.chain(p, b)
		}
		if p.lost {
			return p
		}
	}
	if out == nil {
		return e
	}
	return out
}

// loop is the effect of running e, the body, for v = 0..n-1.
func (e *effect) loop(v string, n int, b ir.Buffer) *effect {
	if e == nil || n < 1 {
		return nil
	}
	at, again := e.at.loop(v, int64(n), b)
	out := &effect{e.end, e.peak, at, e.lost}
	switch again {
	case eachOnce:
		return out
	case sameAgain:
		return out.times(n, b)
	}
	return out.maybe().times(n, b)
}
