package scalar

import "ripc/ir"

// Quantizer turns an f32 number into a level. Where the model gives no scale (Unit), m = 2^Bits-1
// and
//
//	unipolar level = round(m*clip(x, 0, 1))
//	bipolar level  = round(m*(clip(x, -1, 1)+1)/2)
//
// With a scale:
//
//	unipolar level = round(clip(x/Scale, -Zero, m-Zero)) + Zero
//	bipolar level  = round((clip(x/Scale, -m, m) + m)/2)
//
// Scale counts as f32. Where there is an Offset, x - Offset stands in the place of x. The level of
// a bipolar_inv type is that of bipolar here; m less it is stored.
type Quantizer struct {
	LevelType
	Unit     bool
	Rounding Rounding // of the quotient
	// Range, if not nil, is that of the integers that the levels count from its Min, and replaces
	// the unipolar formula (Scale given, not Unit): level = round(clip(x/Scale + zp, Min, Max)) -
	// Min, zp = Zero + Min, Max - Min < 2^Bits. So QONNX's narrow signed 4 bits with zero point 2
	// are Min -7, Max 7, Zero 9.
	Range *Range
}

// Range is the range of a quantizer's integers.
type Range struct{ Min, Max int }

// Eval is the level of x. NaN gives the lowest.
func (q *Quantizer) Eval(x float32) int {
	v, offset := quotient(numbers{}, q, x)
	return offset + int(q.Rounding.Eval(v))
}

// Expr is the level, an i32, of the f32 expression v.
func (q *Quantizer) Expr(v ir.Expr) ir.Expr {
	v, offset := quotient(exprs{}, q, v)
	return ir.Bin(ir.Add, q.Rounding.integer(v), ir.Const(ir.I32, int64(offset)))
}

// quotient is the formula of q: its level is the rounded quotient, which the levels' range bounds,
// and the offset.
func quotient[T any](m arithmetic[T], q *Quantizer, x T) (v T, offset int) {
	top := float32(q.Top())
	scaled := func() T {
		from := x
		if q.Offset != 0 {
			from = m.add(x, m.constant(-float32(q.Offset)))
		}
		return m.div(from, m.constant(float32(q.Scale)))
	}
	switch {
	case q.Unit && q.Enc == ir.Unipolar:
		return m.mul(m.clip(x, 0, 1), m.constant(top)), q.Zero
	case q.Unit:
		return m.mul(m.mul(m.add(m.clip(x, -1, 1), m.constant(1)), m.constant(top)), m.constant(0.5)), q.Zero
	case q.Range != nil:
		v := scaled()
		if zp := q.ZeroPoint(); zp != 0 {
			v = m.add(v, m.constant(float32(zp)))
		}
		return m.clip(v, float32(q.Range.Min), float32(q.Range.Max)), -q.Range.Min
	case q.Enc == ir.Unipolar:
		return m.clip(scaled(), -float32(q.Zero), top-float32(q.Zero)), q.Zero
	}
	return m.mul(m.add(m.clip(scaled(), -top, top), m.constant(top)), m.constant(0.5)), q.Zero
}

// ZeroPoint is the integer that stands for 0 in a quantizer's range; 0 without one.
func (q *Quantizer) ZeroPoint() int {
	if q.Range == nil {
		return 0
	}
	return q.Zero + q.Range.Min
}

// Integers gives the smallest and the largest integer that q makes.
func (q *Quantizer) Integers() (lo, hi int) {
	if q.Range != nil {
		return q.Range.Min, q.Range.Max
	}
	return q.LevelType.Range()
}
