package onnx

import (
	"fmt"
	"math"
	mathbits "math/bits"
	"strings"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/f32"
	"ripc/ir"
)

// quantizer is a per-tensor Quant or Trunc: round(clip(x/scale + zero [, rounded, / shift], lo,
// hi)), which stands for (that - outZero) * outScale.
type quantizer struct {
	scale, zero float32
	lo, hi      float32
	mode        rounding
	shift       float32 // Trunc: the sum is rounded and divided by this; 0 for Quant
}

// integer returns the integer that x becomes, in the file's order of f32 operations.
func (q *quantizer) integer(x float32) float32 {
	y := f32.Add(f32.Div(x, q.scale), q.zero)
	if q.shift != 0 {
		y = f32.Div(f32.RoundEven(y), q.shift)
	}
	y = f32.Max(f32.Min(y, q.hi), q.lo)
	return q.mode.eval(y)
}

// thresholds gives, for every integer above lo, the smallest x that becomes it or more.
func (q *quantizer) thresholds() []float32 {
	return stepsOf(q.integer, q.mode.eval(q.lo), q.mode.eval(q.hi))
}

// stepsOf gives, for every integer above lo and up to hi, the smallest x for which integer, a
// monotone function, is it or more. The level of x is the number of these t with x >= t.
func stepsOf(integer func(x float32) float32, lo, hi float32) []float32 {
	var out []float32
	for v := lo + 1; v <= hi; v++ {
		a, b := f32.Order(float32(math.Inf(-1))), f32.Order(float32(math.Inf(1)))
		if integer(f32.FromOrder(b)) < v {
			out = append(out, float32(math.Inf(1)))
			continue
		}
		for a < b { // the first in a..b that reaches v
			m := a + (b-a)/2
			if integer(f32.FromOrder(m)) >= v {
				b = m
			} else {
				a = m + 1
			}
		}
		out = append(out, normal(f32.FromOrder(b)))
	}
	return out
}

// normal gives the first normal number from t on, since a threshold that is subnormal would count
// as zero.
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
		"ROUND": halfEven, "HALF_EVEN": halfEven, "CEIL": ceil, "FLOOR": floor, "UP": up, "DOWN": down,
		"ROUND_TO_ZERO": down, "HALF_UP": halfUp, "HALF_DOWN": halfDown,
	}[strings.ToUpper(name)]
	return r, ok
}

// graph is the graph's mode that rounds numbers from lo on in the same way. The graph has none that
// sends halves of both signs to zero.
func (r rounding) graph(lo float32) (mode scalar.Rounding, ok bool) {
	if r == halfDown {
		return scalar.HalfDown, lo >= 0
	}
	return [...]scalar.Rounding{halfEven: scalar.HalfEven, ceil: scalar.Ceil, floor: scalar.Floor, up: scalar.Away,
		down: scalar.Trunc, halfUp: scalar.HalfAway}[r], true
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

// quantRange is the range of integers of a quantizer of the given width, which is a float in the
// file.
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
func (n *node) readMode(def string) rounding {
	name := n.textAttr("rounding_mode", def)
	mode, ok := roundingOf(name)
	n.failIf(!ok, "use ROUND, CEIL, FLOOR, UP, DOWN, HALF_EVEN, HALF_UP, HALF_DOWN or ROUND_TO_ZERO",
		"rounding_mode %q is unknown", strings.ToUpper(name))
	return mode
}

// readKind reads whether a quantizer's integers are signed, and whether their range is narrow.
func (n *node) readKind() (signed, narrow bool) {
	return n.intAttr("signed", 1) != 0, n.intAttr("narrow", 0) != 0
}

// readQuant reads a Quant node.
func (n *node) readQuant() *quantArgs {
	q := &quantArgs{scale: n.konst(1, "scale"), zero: n.konst(2, "zero point"), bits: n.width(3)}
	q.signed, q.narrow = n.readKind()
	q.mode = n.readMode("ROUND")
	n.checkScales(q.scale)
	for k := range q.zero.len() {
		if z := q.zero.number(k); z != z || math.IsInf(z, 0) {
			panic(n.fail("", "zero point %g", z))
		}
	}
	n.failIf(q.scale.len() == 0 || q.zero.len() == 0, "", "scale or zero point is empty")
	return q
}

// width reads input i, a number of bits, given once or many times alike.
func (n *node) width(i int) float64 {
	a := n.konst(i, "bit width")
	n.failIf(a == nil || a.len() == 0, "", "the bit width is missing")
	bits := a.number(0)
	for k := range a.len() {
		n.failIf(a.number(k) != bits, "", "bit width %q differs between channels, which is not supported", n.Input[i])
	}
	n.failIf(!(bits >= 1 && bits <= 32), "", "bit width %g: want 1 to 32", bits)
	return bits
}

// foldQuant computes Quant on constants, in f32 and in numpy's order of operations.
func foldQuant(n *node, in []*array) []*array {
	q := n.readQuant()
	lo, hi := quantRange(q.signed, q.narrow, q.bits)
	return n.b.fold3(in[0], q.scale, q.zero, func(x, s, z float32) float32 {
		y := float32(x/s) + z
		if q.bipolar() {
			if y >= 0 {
				y = 1
			} else {
				y = -1
			}
		} else {
			if y > hi {
				y = hi
			}
			if y < lo {
				y = lo
			}
			y = q.mode.eval(y)
		}
		return float32(y-z) * s
	})
}

// foldBipolar computes BipolarQuant on constants.
func foldBipolar(n *node, in []*array) []*array {
	return n.b.fold3(in[0], in[1], in[1], func(x, s, _ float32) float32 {
		if x >= 0 {
			return s
		}
		return -s
	})
}

// fold3 applies f to every element of x with its scale and zero point; the result has x's shape.
func (b *builder) fold3(x, s, z *array, f func(x, s, z float32) float32) []*array {
	out := b.mem.newArray(dtFloat, x.shape)
	for _, p := range []*array{s, z} {
		if shape, err := broadcastShape(x.shape, p.shape); err != nil || graph.Elems(shape) != graph.Elems(x.shape) {
			panic(fmt.Errorf("a scale or zero point of shape %v does not fit shape %v", p.shape, x.shape))
		}
	}
	si, zi := strideWalk(s, x.shape), strideWalk(z, x.shape)
	for k := range out.f {
		out.f[k] = f(float32(x.number(k)), float32(s.number(si())), float32(z.number(zi())))
	}
	return []*array{out}
}

// lowerQuant makes quantize or threshold, and dequantize, if the integers fit 8 bits and scale and
// zero point are single numbers. All others become fake_quant.
func lowerQuant(n *node) *tensor {
	q := n.readQuant()
	b, t := n.b, n.in[0]
	for _, p := range []*array{q.scale, q.zero} {
		n.failIf(!broadcastsTo(p.shape, t.shape),
			"", "a scale or zero point of shape %v does not fit an input of shape %v", p.shape, t.shape)
	}
	if q.bipolar() {
		return b.bipolarQuant(t, q)
	}
	lo, hi := quantRange(q.signed, q.narrow, q.bits)
	n.failIf(lo != q.mode.eval(lo) || hi != q.mode.eval(hi), "", "bit width %g: want a whole number", q.bits)
	if q.scale.len() == 1 && q.zero.len() == 1 {
		y := b.levels(t,
			&quantizer{scale: float32(q.scale.number(0)), zero: float32(q.zero.number(0)), lo: lo, hi: hi,
				mode: q.mode})
		if y != nil {
			return y
		}
	}
	return b.fakeQuant(t, q, lo, hi)
}

// levels makes quantize (or threshold) and dequantize; nil if the levels do not fit 8 bits or the
// zero point is none of them.
func (b *builder) levels(t *tensor, q *quantizer) *tensor {
	if !(q.hi-q.lo <= 255) || q.hi <= q.lo || q.zero < q.lo || q.zero > q.hi ||
		q.zero != float32(math.Trunc(float64(q.zero))) {
		return nil
	}
	lo, hi, zero := int(q.lo), int(q.hi), int(q.zero)
	width := bitsFor(hi - lo)
	levels := unipolar(width, q.scale, zero-lo)
	mode, ok := q.mode.graph(q.lo)
	if !ok {
		return b.threshold(t, q.thresholds(), &graph.ThresholdAttrs{LevelType: levels})
	}
	a := &graph.QuantizeAttrs{LevelType: levels, Rounding: mode}
	if lo != 0 || zero != 0 || hi != 1<<width-1 {
		a.Range = &scalar.Range{Min: lo, Max: hi}
	}
	return b.pipe(b.elementwise(t, "quantize", a, nil), "dequantize")
}

// unipolar is the type of levels of a width. Level zero stands for 0.
func unipolar(bits int, scale float32, zero int) scalar.LevelType {
	return scalar.LevelType{Enc: ir.Unipolar, Bits: bits, Scale: float64(scale), Zero: zero}
}

// bipolar is the type of levels that stand for odd multiples of scale on both sides of 0.
func bipolar(bits int, scale float32) scalar.LevelType {
	return scalar.LevelType{Enc: ir.Bipolar, Bits: bits, Scale: float64(scale)}
}

// bitsFor is the width of levels from 0 to top.
func bitsFor(top int) int { return max(1, mathbits.Len(uint(top))) }

// threshold makes a threshold with the same thresholds for all elements, and dequantize.
func (b *builder) threshold(t *tensor, ts []float32, a *graph.ThresholdAttrs) *tensor {
	return b.thresholds(t, &graph.Tensor{Shape: []int{len(ts), 1}, Data: graph.NumbersOf(ts)}, a)
}

func (b *builder) thresholds(t *tensor, w *graph.Tensor, a *graph.ThresholdAttrs) *tensor {
	return b.pipe(b.elementwise(t, "threshold", a, map[string]*graph.Tensor{"thresholds": w}), "dequantize")
}

// bipolarQuant is a signed quantizer of one bit: +1 where x/scale + zero >= 0, else -1; minus zero,
// times scale.
func (b *builder) bipolarQuant(t *tensor, q *quantArgs) *tensor {
	if q.scale.len() == 1 && q.zero.len() == 1 && q.zero.number(0) == 0 {
		return b.threshold(t, []float32{0}, &graph.ThresholdAttrs{LevelType: bipolar(1, float32(q.scale.number(0)))})
	}
	y := b.withConstant("add", b.withConstant("div", t, q.scale), q.zero)
	y = b.threshold(y, []float32{0}, &graph.ThresholdAttrs{LevelType: bipolar(1, 1)})
	y = b.withConstant("mul", b.withConstant("sub", y, q.zero), q.scale)
	return y
}

// fakeQuant keeps a quantizer in f32: as one op where scale and zero point are numbers or differ by
// channel, else as the operations it consists of.
func (b *builder) fakeQuant(t *tensor, q *quantArgs, lo, hi float32) *tensor {
	if mode, ok := q.mode.graph(lo); ok {
		c := b.channelsLast(t, q.scale)
		scale := b.vector(c, q.scale)
		zero := b.vector(c, q.zero)
		if scale != nil && zero != nil {
			w := map[string]*graph.Tensor{"scale": scale, "zero_point": zero}
			if q.zero.len() == 1 && zero.Data.At(0) == 0 {
				delete(w, "zero_point")
			}
			return b.elementwise(c, "fake_quant",
				&graph.FakeQuantAttrs{Min: float64(lo), Max: float64(hi), Rounding: mode}, w)
		}
	}
	y := b.withConstant("add", b.withConstant("div", t, q.scale), q.zero)
	y = b.round(b.clip(y, float64(lo), float64(hi)), q.mode)
	y = b.withConstant("mul", b.withConstant("sub", y, q.zero), q.scale)
	return y
}

// round rounds by a mode of QONNX. halfDown, which no mode of the graph's is, is taken apart:
// both halves of the axis round halves down, to zero.
func (b *builder) round(t *tensor, mode rounding) *tensor {
	if m, ok := mode.graph(float32(math.Inf(-1))); ok {
		return b.elementwise(t, "round", &graph.RoundAttrs{Mode: m}, nil)
	}
	half := func(t *tensor) *tensor {
		return b.elementwise(b.pipe(t, "relu"), "round", &graph.RoundAttrs{Mode: scalar.HalfDown}, nil)
	}
	return b.binary("sub", half(t), half(b.scalar("mul", t, -1)))
}

// lowerBipolar is BipolarQuant: +scale where x >= 0, else -scale.
func lowerBipolar(n *node) *tensor {
	scale := n.konst(1, "scale")
	b, t := n.b, n.in[0]
	n.failIf(!broadcastsTo(scale.shape, t.shape),
		"", "scale of shape %v does not fit an input of shape %v", scale.shape, t.shape)
	a := &graph.ThresholdAttrs{LevelType: bipolar(1, 1)}
	if scale.len() == 1 && scale.number(0) > 0 {
		a.Scale = float64(float32(scale.number(0)))
		return b.threshold(t, []float32{0}, a)
	}
	return b.withConstant("mul", b.threshold(t, []float32{0}, a), scale)
}

// truncArgs are Trunc's parameters. The integers x/scale + zero, rounded to even, are divided by
// shift, a power of two. With five inputs (version 1), the result keeps scale and zero point and is
// not clipped. With six (version 2), it is clipped to a width and has its own scale.
type truncArgs struct {
	scale, zero, shift, outScale, outZero float32
	clipped                               bool
	lo, hi                                float32
	mode                                  rounding
}

func (n *node) readTrunc() *truncArgs {
	t := &truncArgs{}
	var v [6]float64
	names := []string{"", "scale", "zero point", "input bit width", "output scale", "output bit width"}
	count := 5
	if n.input(5) != nil {
		count = 6
	} else {
		names[4] = "output bit width"
	}
	for i := 1; i < count; i++ {
		v[i] = n.scalarOf(i, names[i], 0)
	}
	t.mode = n.readMode("FLOOR")
	signed, narrow := n.readKind()
	t.scale, t.zero = float32(v[1]), float32(v[2])
	t.outScale, t.outZero = t.scale, t.zero
	if count == 5 {
		t.shift = float32(math.Exp2(v[3] - v[4]))
	} else {
		t.outScale, t.clipped = float32(v[4]), true
		t.shift = float32(math.Exp2(math.RoundToEven(float64(float32(math.Log2(float64(t.outScale / t.scale)))))))
		t.outZero = t.zero / t.shift
		t.lo, t.hi = quantRange(signed, narrow, v[5])
	}
	for _, s := range []float32{t.scale, t.outScale, t.shift} {
		n.failIf(!(s > 0) || math.IsInf(float64(s), 0), "", "scale %g: want positive numbers", s)
	}
	n.failIf(t.zero-t.zero != 0 || t.hi-t.lo > 1<<24 || t.hi < t.lo || t.lo-t.lo != 0 || t.hi-t.hi != 0,
		"", "zero point %g, integers from %g to %g", t.zero, t.lo, t.hi)
	return t
}

// lowerTrunc makes thresholds of a clipped Trunc of at most 8 bits, and the operations it consists
// of otherwise.
func lowerTrunc(n *node) *tensor {
	q := n.readTrunc()
	b, t := n.b, n.in[0]
	lo, hi := q.mode.eval(q.lo), q.mode.eval(q.hi)
	if q.clipped && hi-lo <= 255 && hi > lo && q.outZero == float32(math.Trunc(float64(q.outZero))) &&
		q.outZero >= lo && q.outZero <= hi {
		ts := (&quantizer{scale: q.scale, zero: q.zero, lo: q.lo, hi: q.hi, mode: q.mode, shift: q.shift}).thresholds()
		levels := unipolar(bitsFor(len(ts)), q.outScale, int(q.outZero-lo))
		return b.threshold(t, ts, &graph.ThresholdAttrs{LevelType: levels})
	}
	t = b.affine(b.divide(t, q.scale), 1, q.zero)
	t = b.divide(b.elementwise(t, "round", &graph.RoundAttrs{Mode: scalar.HalfEven}, nil), q.shift)
	if q.clipped {
		t = b.clip(t, float64(q.lo), float64(q.hi))
	}
	if t = b.round(t, q.mode); q.outZero != 0 {
		t = b.scalar("sub", t, q.outZero)
	}
	return b.affine(t, q.outScale, 0)
}

// divide returns t / by.
func (b *builder) divide(t *tensor, by float32) *tensor {
	if by == 1 {
		return t
	}
	return b.scalar("div", t, by)
}
