package recognize

import (
	"math"

	"ripc/internal/f32"
)

// maxValues bounds the values of a region that count as levels: 8 bits.
const maxValues = 256

// piece is a range of numbers, in the order of f32 (f32.Order), that a region maps to one value.
type piece struct {
	first, last int64
	value       float32
}

// lowest is the smallest number of the piece; all before it belong to earlier pieces. Subnormal
// numbers count as zero.
func (p piece) lowest() float32 { return f32.Flush(f32.FromOrder(p.first)) + 0 }

// highest is the largest number of the piece.
func (p piece) highest() float32 { return f32.Flush(f32.FromOrder(p.last)) + 0 }

// pieces splits the domain of channel o into ranges on which g is constant. It is exact: it
// encloses g's values over ever smaller ranges. It returns nil for too many values, for one that is
// not finite, or if its budget runs out. Where sums overflow and g is NaN, the value is that of a
// neighbour.
func (g *region) pieces(c calculus, o int, within domain) []piece {
	f := finder{g: g, c: c, o: o, budget: 1 << 14, regs: make([]span, 0, len(g.ops)+1)}
	first, last := f32.Order(within.lo), f32.Order(within.hi)
	if !f.split(first, last) || f.undecided {
		return nil
	}
	for _, p := range f.pieces[1:] {
		// g tells -0 from 0, as 1/x does; thresholds cannot
		if p.lowest() == 0 && f32.Flush(f32.FromOrder(p.first-1)) == 0 {
			return nil
		}
	}
	return f.pieces
}

type finder struct {
	g         *region
	c         calculus
	o         int
	budget    int // remaining enclosures
	pieces    []piece
	undecided bool // all values so far are NaN
	regs      []span
}

func (f *finder) split(first, last int64) bool {
	if f.budget--; f.budget < 0 {
		return false
	}
	x := span{lo: f32.Flush(f32.FromOrder(first)), hi: f32.Flush(f32.FromOrder(last))}
	s := f.g.enclose(f.c, f.o, x, f.regs)
	switch {
	case s.none:
		f.add(piece{first, last, 0}, true)
		return true
	case s.known():
		if math.IsInf(float64(s.lo), 0) {
			return false
		}
		f.add(piece{first, last, s.lo + 0}, false)
		return len(f.pieces) <= maxValues
	case first == last:
		return false
	}
	mid := first + (last-first)/2
	return f.split(first, mid) && f.split(mid+1, last)
}

// add appends a piece, or extends the last one if the value is the same.
func (f *finder) add(p piece, nan bool) {
	if n := len(f.pieces); n > 0 {
		l := &f.pieces[n-1]
		switch {
		case nan || !f.undecided && l.value == p.value:
			l.last = p.last
			return
		case f.undecided:
			p.first, f.undecided = l.first, false
			*l = p
			return
		}
	}
	f.pieces, f.undecided = append(f.pieces, p), nan
}
