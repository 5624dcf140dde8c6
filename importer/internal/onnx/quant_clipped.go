package onnx

import (
	"math"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
)

// QuantizeLinear, Clip and DequantizeLinear in a row (QCDQ) describe a quantizer of fewer than 8
// bits in files without operators of QONNX. The Clip becomes a quantizer with fewer levels, on the
// input of QuantizeLinear.

// clipped are integers of tensor of, kept from lo to hi.
type clipped struct {
	of     *tensor
	lo, hi float64
}

// clipIntegers returns t, integers of 8 bits, between lo and hi, which may be infinite.
func (n *node) clipIntegers(t *tensor, lo, hi float64) *tensor {
	b, q := n.b, t.integers
	least, greatest := limits(q.dt)
	lo = min(lo, hi)
	n.failIf(hi < least || lo > greatest, "", "its bounds %g and %g are none of %s", lo, hi, q.dt)
	lo, hi = max(math.Trunc(lo), least), min(math.Trunc(hi), greatest)
	from := t
	if c := t.clipped; c != nil { // one Clip of both
		from, lo, hi = c.of, min(max(c.lo, lo), hi), min(max(c.hi, lo), hi)
	}
	if lo == least && hi == greatest {
		return t.clone()
	}
	y := b.quantizeBetween(b.beforeQuantizer(from), q, int(lo), int(hi))
	if y == nil { // zero is none of the levels
		real := func(i float64) float64 { return float64(float32(i-float64(q.zero)) * q.scale) }
		y = b.clip(from, real(lo), real(hi))
	}
	y.integers, y.clipped = q, &clipped{from, lo, hi}
	return y
}

// quantizeBetween returns round(t/scale) + zero, kept from lo to hi, dequantized; nil if the levels
// do not include zero or are one alone.
func (b *builder) quantizeBetween(t *tensor, q *quantParams, lo, hi int) *tensor {
	if lo >= hi || q.zero < lo || q.zero > hi {
		return nil
	}
	levels := unipolar(bitsFor(hi-lo), q.scale, q.zero-lo)
	a := &graph.QuantizeAttrs{LevelType: levels, Rounding: scalar.HalfEven}
	switch {
	case q.zero == 0:
		if lo != 0 || hi != levels.Top() {
			a.Range = &scalar.Range{Min: lo, Max: hi}
		}
	case hi-lo != levels.Top():
		// A range adds zero before it rounds, which moves halves.
		round := func(x float32) float32 {
			v := math.RoundToEven(float64(x/q.scale)) + float64(q.zero)
			return float32(min(max(v, float64(lo)), float64(hi)))
		}
		return b.threshold(t, stepsOf(round, float32(lo), float32(hi)), &graph.ThresholdAttrs{LevelType: levels})
	}
	return b.pipe(b.elementwise(t, "quantize", a, nil), "dequantize")
}

// beforeQuantizer is the input of the quantizer that made the integers t. It is t if no quantizer
// made them.
func (b *builder) beforeQuantizer(t *tensor) *tensor {
	v, values := t.value, b.g.Graph().Values
	for _, op := range []string{"dequantize", "quantize"} {
		p := b.g.Producer(v.Name)
		for p != nil && p.Op == "reshape" {
			p = b.g.Producer(p.Inputs[0])
		}
		if p == nil || p.Op != op || op == "quantize" && values[p.Output].LevelType != t.integers.levelType() {
			return t.derive(t.value)
		}
		v = values[p.Inputs[0]]
	}
	return t.derive(b.emitReshape(v, t.value.Shape))
}

// clippedNext reports whether a Clip alone reads the integers that n makes: it quantizes anew.
func (n *node) clippedNext() bool {
	out := n.Output[0]
	p := n.b.readers[out]
	return p != nil && n.b.counts[out] == 1 && !n.b.wanted[out] && isStandard(p.GetDomain()) &&
		slices.Contains([]string{"Clip", "Max", "Min", "Relu"}, p.GetOpType())
}

// integerInput is the first input that holds 8-bit integers, nil if none does.
func (n *node) integerInput() *tensor {
	for _, t := range n.in {
		if t != nil && t.integers != nil && t.integers.dt.eightBits() {
			return t
		}
	}
	return nil
}

// extremeOfIntegers is Max or Min of t, integers, and constants of one element.
func (n *node) extremeOfIntegers(t *tensor, greater bool) *tensor {
	like := t
	for i, c := range n.in {
		if c == like {
			continue
		}
		n.failIf(c.konst == nil || c.konst.len() != 1 || c.konst.dt != t.integers.dt || len(c.shape) > len(t.shape),
			"put DequantizeLinear before it",
			"input %q is no constant number; arithmetic on integers is not supported", n.Input[i])
		if greater {
			t = n.clipIntegers(t, c.konst.number(0), math.Inf(1))
		} else {
			t = n.clipIntegers(t, math.Inf(-1), c.konst.number(0))
		}
	}
	return t
}
