package layout

import (
	"ripc/graph"
)

// cut is how the integer weights of a layer become planes of bits.
type cut struct {
	coefs []int32
	// a weight is the sum of the factors of its 1 bits; otherwise of +1 times those of 1 bits, -1
	// times those of 0 bits
	ones bool
	bit  func(plane, weight int) bool
}

// cutOf takes the cut with the fewest planes. Weights of falling channels are stored negated.
func cutOf(f *graph.FusedConv) cut {
	c := differences(f.W)
	if len(c.coefs) > 1 {
		if t := complement(storedRange(f)); len(t.coefs) < len(c.coefs) {
			return t
		}
	}
	return c
}

// differences cuts weights, doubled where they are not odd integers, into planes of +-1: 2*(p - m)
// = sign(p) + sign(not m), 2*(level - zero) = sum 2^j*sign(bit j) + 2^bits-1 - 2*zero. A 1 stands
// for +1.
func differences(w graph.Integers) cut {
	if w == (graph.Integers{Min: -1, Max: 1, Step: 1}) {
		return cut{coefs: []int32{1, 1}, bit: func(plane, weight int) bool {
			return weight > 0 || plane == 1 && weight == 0
		}}
	}
	var c cut
	for j := range w.Bits() {
		c.coefs = append(c.coefs, 1<<j)
	}
	if rest := w.Max + w.Min; rest != 0 {
		c.coefs = append(c.coefs, int32(max(rest, -rest)))
	}
	c.bit = func(plane, weight int) bool {
		if plane == w.Bits() {
			return w.Max+w.Min > 0
		}
		return (weight-w.Min)/w.Step>>plane&1 == 1
	}
	return c
}

// complement cuts weights from lo to hi into the bits of two's complement. The top plane has a
// negative factor; weights that are not negative have no such plane.
func complement(lo, hi int) cut {
	c := cut{ones: true, bit: func(plane, weight int) bool { return weight>>plane&1 == 1 }}
	n := 1
	for hi >= 1<<n || lo < -1<<n {
		n++
	}
	for j := range n {
		c.coefs = append(c.coefs, 1<<j)
	}
	if lo < 0 {
		c.coefs = append(c.coefs, -1<<n)
	}
	return c
}

// storedRange returns the range of f's weights as stored.
func storedRange(f *graph.FusedConv) (lo, hi int) {
	lo, hi = f.W.Min, f.W.Max
	falling := f.Epilogue.Falling
	if falling == nil || lo <= -hi && -lo <= hi { // as they are, or as wide when negated
		return lo, hi
	}
	for i, w := range f.Ints.All() {
		if falling[i%f.Out] {
			lo, hi = min(lo, -int(w)), max(hi, -int(w))
		}
	}
	return lo, hi
}
