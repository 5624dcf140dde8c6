package onnx

import (
	"math"
	"strings"

	"ripc/graph/scalar"
	"ripc/internal/f32"
)

// quantizer is a per-tensor Quant or Trunc: round(clip(x/scale + zero [, rounded, / shift], lo, hi)), which stands for
// (that - outZero) * outScale.
type quantizer struct {
	scale, zero float32
	lo, hi      float32
	mode        rounding
	shift       float32 // Trunc: the sum is rounded and divided by this; 0 for Quant
}

// integer is the integer that x becomes, in the file's order of f32 operations.
func (q *quantizer) integer(x float32) float32 {
	y := f32.Add(f32.Div(x, q.scale), q.zero)
	if q.shift != 0 {
		y = f32.Div(f32.RoundEven(y), q.shift)
	}
	y = f32.Max(f32.Min(y, q.hi), q.lo)
	return q.mode.eval(y)
}

// thresholds gives, for every integer above lo, the smallest x that becomes it or more. integer is monotone, so the level of
// x is the number of thresholds t with x >= t.
func (q *quantizer) thresholds() []float32 {
	lo, hi := q.mode.eval(q.lo), q.mode.eval(q.hi)
	var out []float32
	for v := lo + 1; v <= hi; v++ {
		a, b := f32.Order(float32(math.Inf(-1))), f32.Order(float32(math.Inf(1)))
		if q.integer(f32.FromOrder(b)) < v {
			out = append(out, float32(math.Inf(1)))
			continue
		}
		for a < b { // the first in a..b that reaches v
			m := a + (b-a)/2
			if q.integer(f32.FromOrder(m)) >= v {
				b = m
			} else {
				a = m + 1
			}
		}
		out = append(out, normal(f32.FromOrder(b)))
	}
	return out
}

// normal gives the first normal number from t on, since a threshold that is subnormal would count as zero.
func normal(t float32) float32 {
	const smallest = 0x1p-126
	switch {
	case f32.Flush(t) != 0:
		return t
	case t > 0:
		return smallest
	}
	return 0
}

// rounding is a rounding mode of QONNX.
type rounding uint8

// QONNX's modes, under the first of their names.
const (
	halfEven rounding = iota // ROUND, HALF_EVEN
	ceil
	floor
	up       // away from zero
	down     // DOWN, ROUND_TO_ZERO
	halfUp   // halves away from zero
	halfDown // halves to zero
)

// roundingOf reads a mode's name.
func roundingOf(name string) (r rounding, ok bool) {
	r, ok = map[string]rounding{
		"ROUND": halfEven, "HALF_EVEN": halfEven, "CEIL": ceil, "FLOOR": floor, "UP": up, "DOWN": down, "ROUND_TO_ZERO": down,
		"HALF_UP": halfUp, "HALF_DOWN": halfDown,
	}[strings.ToUpper(name)]
	return r, ok
}

// graph is the graph's mode that rounds numbers from lo on in the same way. The graph has none that sends halves of both signs to zero.
func (r rounding) graph(lo float32) (mode scalar.Rounding, ok bool) {
	if r == halfDown {
		return scalar.HalfDown, lo >= 0
	}
	return [...]scalar.Rounding{halfEven: scalar.HalfEven, ceil: scalar.Ceil, floor: scalar.Floor, up: scalar.Away, down: scalar.Trunc, halfUp: scalar.HalfAway}[r], true
}

// eval rounds v as QONNX does, in f32.
func (r rounding) eval(v float32) float32 {
	x := float64(v)
	switch r {
	case halfEven:
		x = math.RoundToEven(x)
	case ceil:
		x = math.Ceil(x)
	case floor:
		x = math.Floor(x)
	case up:
		x = math.Copysign(math.Ceil(math.Abs(x)), x)
	case down:
		x = math.Trunc(x)
	case halfUp:
		x = math.Copysign(math.Floor(float64(float32(math.Abs(x)+0.5))), x)
	case halfDown:
		x = math.Copysign(math.Ceil(float64(float32(math.Abs(x)-0.5))), x)
	}
	return float32(x)
}

// quantRange is the range of integers of a quantizer of the given width, which is a float in the file.
func quantRange(signed, narrow bool, bits float64) (lo, hi float32) {
	pow := func(e float64) float64 { return math.Exp2(e) }
	less := 0.0
	if narrow {
		less = 1
	}
	if signed {
		return float32(-pow(bits-1) + less), float32(pow(bits-1) - 1)
	}
	return 0, float32(pow(bits) - 1 - less)
}

// quantArgs are Quant's parameters.
type quantArgs struct {
	scale, zero    *array
	bits           float64
	signed, narrow bool
	mode           rounding
}

func (q *quantArgs) bipolar() bool { return q.bits == 1 && q.signed }

// readMode reads a rounding mode.
func (n *node) readMode(def string) (rounding, error) {
	name, err := n.textAttr("rounding_mode", def)
	if err != nil {
		return 0, err
	}
	mode, ok := roundingOf(name)
	if !ok {
		return 0, n.fail("use ROUND, CEIL, FLOOR, UP, DOWN, HALF_EVEN, HALF_UP, HALF_DOWN or ROUND_TO_ZERO", "rounding_mode %q is unknown", strings.ToUpper(name))
	}
	return mode, nil
}

// readKind reads whether a quantizer's integers are signed, and whether their range is narrow.
func (n *node) readKind() (signed, narrow bool, err error) {
	s, err := n.intAttr("signed", 1)
	if err != nil {
		return false, false, err
	}
	w, err := n.intAttr("narrow", 0)
	return s != 0, w != 0, err
}

// readQuant reads a Quant node.
func (n *node) readQuant() (*quantArgs, error) {
	q := &quantArgs{}
	var err error
	if q.scale, err = n.konst(1, "scale"); err != nil {
		return nil, err
	}
	if q.zero, err = n.konst(2, "zero point"); err != nil {
		return nil, err
	}
	if q.bits, err = n.width(3); err != nil {
		return nil, err
	}
	if q.signed, q.narrow, err = n.readKind(); err != nil {
		return nil, err
	}
	if q.mode, err = n.readMode("ROUND"); err != nil {
		return nil, err
	}
	for k := range q.scale.len() {
		if s := float32(q.scale.at(k)); !(s > 0) || math.IsInf(float64(s), 0) {
			return nil, n.fail("", "scale %g: want positive numbers", s)
		}
	}
	for k := range q.zero.len() {
		if z := q.zero.at(k); z != z || math.IsInf(z, 0) {
			return nil, n.fail("", "zero point %g", z)
		}
	}
	if q.scale.len() == 0 || q.zero.len() == 0 {
		return nil, n.fail("", "scale or zero point is empty")
	}
	return q, nil
}

// width reads input i, a number of bits, given once or many times alike.
func (n *node) width(i int) (float64, error) {
	a, err := n.konst(i, "bit width")
	if err != nil {
		return 0, err
	}
	if a == nil || a.len() == 0 {
		return 0, n.fail("", "the bit width is missing")
	}
	bits := a.at(0)
	for k := range a.len() {
		if a.at(k) != bits {
			return 0, n.fail("", "bit width %q differs between channels, which is not supported", n.Input[i])
		}
	}
	if !(bits >= 1 && bits <= 32) {
		return 0, n.fail("", "bit width %g: want 1 to 32", bits)
	}
	return bits, nil
}
