package onnx

import (
	"math"
	"strings"

	"ripc/internal/f32"
)

// quantizer is a per-tensor Quant or Trunc: round(clip(x/scale + zero [, rounded, / shift], lo, hi)), which stands for
// (that - outZero) * outScale.
type quantizer struct {
	scale, zero float32
	lo, hi      float32
	mode        string  // of QONNX
	shift       float32 // Trunc: the sum is rounded and divided by this; 0 for Quant
}

// integer is the integer that x becomes, in the file's order of f32 operations.
func (q *quantizer) integer(x float32) float32 {
	y := f32.Add(f32.Div(x, q.scale), q.zero)
	if q.shift != 0 {
		y = f32.Div(f32.RoundEven(y), q.shift)
	}
	y = f32.Max(f32.Min(y, q.hi), q.lo)
	return roundMode(q.mode, y)
}

// thresholds gives, for every integer above lo, the smallest x that becomes it or more. integer is monotone, so the level of
// x is the number of thresholds t with x >= t.
func (q *quantizer) thresholds() []float32 {
	lo, hi := roundMode(q.mode, q.lo), roundMode(q.mode, q.hi)
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

// roundModes gives each of QONNX's rounding modes with the graph's, "" if the graph has none.
func roundModes() map[string]string {
	return map[string]string{
		"ROUND": "half_even", "HALF_EVEN": "half_even", "CEIL": "ceil", "FLOOR": "floor", "UP": "away", "DOWN": "trunc",
		"ROUND_TO_ZERO": "trunc", "HALF_UP": "half_away", "HALF_DOWN": "",
	}
}

// roundMode rounds v by a mode of QONNX: HALF_UP and HALF_DOWN send halves away from zero and to zero.
func roundMode(mode string, v float32) float32 {
	x := float64(v)
	switch mode {
	case "CEIL":
		x = math.Ceil(x)
	case "FLOOR":
		x = math.Floor(x)
	case "UP":
		x = math.Copysign(math.Ceil(math.Abs(x)), x)
	case "DOWN", "ROUND_TO_ZERO":
		x = math.Trunc(x)
	case "HALF_UP":
		x = math.Copysign(math.Floor(float64(float32(math.Abs(x)+0.5))), x)
	case "HALF_DOWN":
		x = math.Copysign(math.Ceil(float64(float32(math.Abs(x)-0.5))), x)
	default:
		x = math.RoundToEven(x)
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
	mode           string
}

func (q *quantArgs) bipolar() bool { return q.bits == 1 && q.signed }

// readMode reads a rounding mode.
func (n *node) readMode(def string) (string, error) {
	mode, err := n.textAttr("rounding_mode", def)
	if err != nil {
		return "", err
	}
	mode = strings.ToUpper(mode)
	if _, ok := roundModes()[mode]; !ok {
		return "", n.fail("use ROUND, CEIL, FLOOR, UP, DOWN, HALF_EVEN, HALF_UP, HALF_DOWN or ROUND_TO_ZERO", "rounding_mode %q is unknown", mode)
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
