package onnx

import (
	"math"
	mathbits "math/bits"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// lowerQuant makes quantize or threshold and dequantize of a quantizer whose integers fit 8 bits and that treats all
// elements alike; others become fake_quant.
func lowerQuant(n *node) ([]*tensor, error) {
	q, err := n.readQuant()
	if err != nil {
		return nil, err
	}
	b, t := n.b, n.in[0]
	for _, p := range []*array{q.scale, q.zero} {
		if shape, err := broadcastShape(t.shape, p.shape); err != nil || !slices.Equal(shape, t.shape) {
			return nil, n.fail("", "a scale or zero point of shape %v does not fit an input of shape %v", p.shape, t.shape)
		}
	}
	if q.bipolar() {
		return one(b.bipolarQuant(t, q))
	}
	lo, hi := quantRange(q.signed, q.narrow, q.bits)
	if lo != q.mode.eval(lo) || hi != q.mode.eval(hi) {
		return nil, n.fail("", "bit width %g: want a whole number", q.bits)
	}
	if q.scale.len() == 1 && q.zero.len() == 1 {
		y, err := b.levels(t, &quantizer{scale: float32(q.scale.at(0)), zero: float32(q.zero.at(0)), lo: lo, hi: hi, mode: q.mode})
		if y != nil || err != nil {
			return one(y, err)
		}
	}
	return one(b.fakeQuant(t, q, lo, hi))
}

// levels makes quantize (or threshold) and dequantize; nil if the levels do not fit 8 bits or the zero point is none of them.
func (b *builder) levels(t *tensor, q *quantizer) (*tensor, error) {
	if !(q.hi-q.lo <= 255) || q.hi <= q.lo || q.zero < q.lo || q.zero > q.hi || q.zero != float32(math.Trunc(float64(q.zero))) {
		return nil, nil
	}
	lo, hi, zero := int(q.lo), int(q.hi), int(q.zero)
	width := bitsFor(hi - lo)
	levels := scalar.LevelType{Enc: ir.Unipolar, Bits: width, Scale: float64(q.scale), Zero: zero - lo}
	mode, ok := q.mode.graph(q.lo)
	if !ok {
		return b.threshold(t, q.thresholds(), &graph.ThresholdAttrs{LevelType: levels})
	}
	a := &graph.QuantizeAttrs{LevelType: levels, Rounding: mode}
	if lo != 0 || zero != 0 || hi != 1<<width-1 {
		a.Range = &scalar.Range{Min: lo, Max: hi}
	}
	y, err := b.elementwise(t, "quantize", a, nil)
	if err != nil {
		return nil, err
	}
	return b.elementwise(y, "dequantize", &graph.NoAttrs{}, nil)
}

// bitsFor is the width of levels from 0 to top.
func bitsFor(top int) int { return max(1, mathbits.Len(uint(top))) }

// threshold makes a threshold with the same thresholds for all elements, and dequantize.
func (b *builder) threshold(t *tensor, ts []float32, a *graph.ThresholdAttrs) (*tensor, error) {
	return b.thresholds(t, &graph.Tensor{Shape: []int{len(ts), 1}, Data: ts}, a)
}

func (b *builder) thresholds(t *tensor, w *graph.Tensor, a *graph.ThresholdAttrs) (*tensor, error) {
	y, err := b.elementwise(t, "threshold", a, map[string]*graph.Tensor{"thresholds": w})
	if err != nil {
		return nil, err
	}
	return b.elementwise(y, "dequantize", &graph.NoAttrs{}, nil)
}

// bipolarQuant is a signed quantizer of one bit: +1 where x/scale + zero >= 0, else -1; minus zero, times scale.
func (b *builder) bipolarQuant(t *tensor, q *quantArgs) (*tensor, error) {
	if q.scale.len() == 1 && q.zero.len() == 1 && q.zero.at(0) == 0 {
		return b.threshold(t, []float32{0}, &graph.ThresholdAttrs{LevelType: scalar.LevelType{Bits: 1, Enc: ir.Bipolar, Scale: float64(float32(q.scale.at(0)))}})
	}
	y, err := b.withConstant("div", t, q.scale, false)
	if err == nil {
		y, err = b.withConstant("add", y, q.zero, false)
	}
	if err == nil {
		y, err = b.threshold(y, []float32{0}, &graph.ThresholdAttrs{LevelType: scalar.LevelType{Bits: 1, Enc: ir.Bipolar, Scale: 1}})
	}
	if err == nil {
		y, err = b.withConstant("sub", y, q.zero, false)
	}
	if err == nil {
		y, err = b.withConstant("mul", y, q.scale, false)
	}
	return y, err
}

// fakeQuant keeps a quantizer in f32: as one op where scale and zero point are numbers or differ by channel, else as the
// operations it consists of.
func (b *builder) fakeQuant(t *tensor, q *quantArgs, lo, hi float32) (*tensor, error) {
	if mode, ok := q.mode.graph(lo); ok {
		c, err := b.channelsLast(t, q.scale)
		if err != nil {
			return nil, err
		}
		scale, err := b.vector(c, q.scale)
		if err != nil {
			return nil, err
		}
		zero, err := b.vector(c, q.zero)
		if err != nil {
			return nil, err
		}
		if scale != nil && zero != nil {
			w := map[string]*graph.Tensor{"scale": scale, "zero_point": zero}
			if q.zero.len() == 1 && zero.Data[0] == 0 {
				delete(w, "zero_point")
			}
			return b.elementwise(c, "fake_quant", &graph.FakeQuantAttrs{Min: float64(lo), Max: float64(hi), Rounding: mode}, w)
		}
	}
	y, err := b.withConstant("div", t, q.scale, false)
	if err == nil {
		y, err = b.withConstant("add", y, q.zero, false)
	}
	if err == nil {
		y, err = b.clip(y, float64(lo), float64(hi))
	}
	if err == nil {
		y, err = b.rounded(y, q.mode)
	}
	if err == nil {
		y, err = b.withConstant("sub", y, q.zero, false)
	}
	if err == nil {
		y, err = b.withConstant("mul", y, q.scale, false)
	}
	return y, err
}

// rounded rounds by a mode of QONNX. halfDown, which no mode of the graph's is, is taken apart: both halves of the axis
// round halves down, to zero.
func (b *builder) rounded(t *tensor, mode rounding) (*tensor, error) {
	if m, ok := mode.graph(float32(math.Inf(-1))); ok {
		return b.elementwise(t, "round", &graph.RoundAttrs{Mode: m}, nil)
	}
	half := func(t *tensor) (*tensor, error) {
		p, err := b.elementwise(t, "relu", &graph.NoAttrs{}, nil)
		if err != nil {
			return nil, err
		}
		return b.elementwise(p, "round", &graph.RoundAttrs{Mode: scalar.HalfDown}, nil)
	}
	above, err := half(t)
	if err != nil {
		return nil, err
	}
	below, err := b.scalar("mul", t, -1)
	if err == nil {
		below, err = half(below)
	}
	if err != nil {
		return nil, err
	}
	return b.binary("sub", above, below)
}

// lowerBipolar is BipolarQuant: +scale where x >= 0, else -scale.
func lowerBipolar(n *node) ([]*tensor, error) {
	scale, err := n.konst(1, "scale")
	if err != nil {
		return nil, err
	}
	b, t := n.b, n.in[0]
	if shape, err := broadcastShape(t.shape, scale.shape); err != nil || !slices.Equal(shape, t.shape) {
		return nil, n.fail("", "scale of shape %v does not fit an input of shape %v", scale.shape, t.shape)
	}
	a := &graph.ThresholdAttrs{LevelType: scalar.LevelType{Bits: 1, Enc: ir.Bipolar, Scale: 1}}
	if scale.len() == 1 && scale.at(0) > 0 {
		a.Scale = float64(float32(scale.at(0)))
		return one(b.threshold(t, []float32{0}, a))
	}
	y, err := b.threshold(t, []float32{0}, a)
	if err != nil {
		return nil, err
	}
	return one(b.withConstant("mul", y, scale, false))
}
