package scalar

import (
	"slices"

	"ripc/ir"
)

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

// RealSteps are the real values of q's levels as float steps, a quantizer and a dequantizer in one,
// for a tensor with the given channels.
func (q *Quantizer) RealSteps(channels int) []Step {
	m := chains{channels: channels}
	v, _ := quotient(m, q, chain{})
	steps := append(v.steps, Step{Kind: Round, Mode: q.Rounding})
	after := func(kind Kind, by float64) {
		steps = append(steps, m.step(kind, float32(by)))
	}
	if q.Enc != ir.Unipolar { // 2*level - m
		after(Mul, 2)
		after(Add, -float64(q.Top()))
	}
	if zp := q.ZeroPoint(); zp != 0 {
		after(Add, -float64(zp))
	}
	after(Mul, q.Scale)
	if q.Offset != 0 {
		after(Add, q.Offset)
	}
	return steps
}

// chain is a number, or float steps on an unknown number.
type chain struct {
	steps []Step
	value float32
}

// chains is the arithmetic of chains, for tensors with the given channels. Right operands are
// numbers. It has the operations of quantizers alone.
type chains struct {
	arithmetic[chain]
	channels int
}

func (m chains) step(kind Kind, by float32) Step {
	return Step{Kind: kind, A: slices.Repeat([]float32{by}, m.channels)}
}

func (m chains) constant(v float32) chain { return chain{value: v} }
func (m chains) add(a, b chain) chain     { return chain{steps: append(a.steps, m.step(Add, b.value))} }
func (m chains) mul(a, b chain) chain     { return chain{steps: append(a.steps, m.step(Mul, b.value))} }
func (m chains) div(a, b chain) chain     { return chain{steps: append(a.steps, m.step(Div, b.value))} }

func (m chains) clip(v chain, lo, hi float32) chain {
	return chain{steps: append(v.steps, Step{Kind: Clip, Lo: lo, Hi: hi})}
}
