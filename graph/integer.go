package graph

import (
	"fmt"
	"math"

	"ripc/graph/scalar"
	"ripc/internal/enum"
	"ripc/internal/human"
	"ripc/ir"
)

// Requantization is the step from an integer layer's sums to its result.
type Requantization uint8

// The requantizations; see IntegerAttrs.
const (
	NoRequantization Requantization = iota
	FloatRequantization
	FixedRequantization
	MeanRequantization
)

var requantizations = enum.Of[Requantization]("requantize", "none", "float", "fixed_point", "mean")

// String is the requantization's name in models.
func (r Requantization) String() string { return requantizations.Name(r) }

// ParseRequantization is the inverse of Requantization.String.
func ParseRequantization(text string) (Requantization, error) { return requantizations.Parse(text) }

// IntegerAttrs belongs to int_conv2d and int_dense. x are the integers of their input, levels less
// the zero point. The weights "w" are integers with a range of at most 255, and the bias integers
// [O]. The sum
//
//	s = bias + sum of w * x
//
// must fit 32 bits. Positions outside the image count as 0. The result is, by Form,
//
//	none         f32(s)
//	float        the level clip(round(f32(s) * m) + z), in f32, half to even:
//	             QLinearConv of onnxruntime
//	fixed_point  the level clip(m * s, rounded as below, + z): a convolution of TFLite
//	mean         the level clip(s / Count rounded to the nearest, halves away from zero, + t):
//	             AVERAGE_POOL_2D of TFLite
//
// with the level z that stands for 0, the level t that the caller sees as 0, and clip to Low..High.
// m is the weight "multiplier", [O] or [1], numbers of f32, or of f64 (fixed_point). The bias is
// the weight "bias", numbers of i32 or f32. FixedPoint says how s is multiplied.
type IntegerAttrs struct {
	Form Requantization
	// LevelType is that of the result, of 8 bits. The zero value stands for f32 (none).
	scalar.LevelType
	// Low and High are the least and the highest level of the result.
	Low, High int
	Count     int // mean
	// Coarse says that multipliers are rounded to 30 bits in the place of 31 (fixed_point), as they
	// are for MEAN of TFLite.
	Coarse bool
}

// IntegerBits is the width of the type that the weights of integer layers have in files.
const IntegerBits = 8

// FixedPoint is a number as TFLite multiplies by it: Multiplier * 2^(Shift-31). Multiplier has 31
// bits, or 30 if it is coarse, or is 0.
type FixedPoint struct {
	Multiplier int32
	Shift      int
}

// FixedPointOf rounds v >= 0 as TFLite's QuantizeMultiplier does: to 31 bits, halves away from
// zero. Numbers below 2^-32 become 0.
func FixedPointOf(v float64) FixedPoint {
	if v == 0 {
		return FixedPoint{}
	}
	fraction, shift := math.Frexp(v)
	q := int64(math.Round(fraction * (1 << 31)))
	if q == 1<<31 {
		q, shift = q/2, shift+1
	}
	if shift < -31 {
		return FixedPoint{}
	}
	return FixedPoint{int32(q), shift}
}

// Coarse is f with one bit less, which is lost.
func (f FixedPoint) Coarse() FixedPoint {
	if f.Multiplier == 0 {
		return FixedPoint{}
	}
	return FixedPoint{f.Multiplier / 2, f.Shift + 1}
}

// Real is the number.
func (f FixedPoint) Real() float64 { return math.Ldexp(float64(f.Multiplier), f.Shift-31) }

// Times is v times f as TFLite's MultiplyByQuantizedMultiplier computes it, with two roundings. For
// a Shift above 0, v is shifted first. The first rounding takes the high half of twice the product
// (SaturatingRoundingDoublingHighMul). For a Shift below 0 the second divides by 2^-Shift, halves
// away from zero (RoundingDivideByPOT).
func (f FixedPoint) Times(v int64) int64 {
	return ShiftedHalfAway((v<<max(0, f.Shift)*int64(f.Multiplier)+1<<30)>>31, -f.Shift)
}

// ShiftedHalfAway is v divided by 2^n, halves away from zero (RoundingDivideByPOT), and v itself
// for an n below 0.
func ShiftedHalfAway(v int64, n int) int64 {
	n = max(0, n)
	half := int64(1) << n >> 1
	if v < 0 && half > 0 {
		half--
	}
	return (v + half) >> n
}

// IntPair describes the result of int_add and int_mul, of two tensors of levels of 8 bits, axes of
// extent 1 being repeated. The result holds levels of another type, from Low to High. Form is
// FloatRequantization or FixedRequantization.
type IntPair struct {
	Form Requantization
	scalar.LevelType
	Low, High int
}

// IntAddAttrs belongs to int_add: the sum of a and b, the integers of two elements; with Sub the
// difference. With FloatRequantization the integers are those that the caller sees. The level is
//
//	clip(round(fma(a, A, fma(b, B, C))) + t), half to even,
//
// in f32, as onnxruntime's code for vectors of floats computes QLinearAdd. t is the level that the
// caller sees as 0. With FixedRequantization the integers are levels less the zero point. The level
// is
//
//	clip(C * (A * (a << 20) + B * (b << 20)) + z),
//
// as ADD of TFLite computes it. z is the level that stands for 0, and each product is that of
// FixedPointOf the number. Clip is to Low..High.
type IntAddAttrs struct {
	IntPair
	A, B, C float64
	Sub     bool // FixedRequantization: the second product is taken from the first
}

// IntMulAttrs belongs to int_mul: the product of a and b, levels of two elements less their zero
// points. With FloatRequantization the level is
//
//	clip(round(f32(a * b) * By + (z - t)) + t), half to even
//
// in f32, product and sum each rounded, as onnxruntime computes QLinearMul. z is the level that
// stands for 0, t the one that the caller sees as 0. With FixedRequantization the level is
//
//	clip(By * (a * b) + z)
//
// as MUL of TFLite computes it. The product is that of FixedPointOf(By). Clip is to Low..High.
type IntMulAttrs struct {
	IntPair
	By float64
}

// CallerZero is the level that the caller sees as 0.
func CallerZero(t scalar.LevelType) int {
	if t.Signed {
		return 1 << (t.Bits - 1)
	}
	return 0
}

// IntegerOf returns the integer attributes of n, or nil if n is no integer layer.
func IntegerOf(n *Node) *IntegerAttrs {
	switch a := n.Attrs.(type) {
	case *Conv2DAttrs:
		return a.Integer
	case *DenseAttrs:
		return a.Integer
	}
	return nil
}

// Bias is the bias [O] of integer layer n; nil if it has none.
func (a *IntegerAttrs) Bias(n *Node) []int64 {
	t := n.Weights["bias"]
	if t == nil {
		return nil
	}
	out := make([]int64, t.Data.Len())
	for o := range out {
		out[o] = int64(t.Data.Exact(o))
	}
	return out
}

// Multiplier is the number that sums of output o of integer layer n are multiplied by.
func (a *IntegerAttrs) Multiplier(n *Node, o int) float64 {
	t := n.Weights["multiplier"]
	return t.Data.Exact(o % t.Data.Len())
}

// FixedPoint is Multiplier as a fixed-point number, coarse or not.
func (a *IntegerAttrs) FixedPoint(n *Node, o int) FixedPoint {
	f := FixedPointOf(a.Multiplier(n, o))
	if a.Coarse {
		return f.Coarse()
	}
	return f
}

// MaxIntegerSum bounds the sums of integer layers with their bias.
const MaxIntegerSum = math.MaxInt32

// inferInteger infers integer layer n over x. Its result has the given shape, the last axis being
// the outputs.
func (g *Graph) inferInteger(n *Node, x *Value, a *IntegerAttrs, shape []int, layout string) *Value {
	out := shape[len(shape)-1]
	g.needEncoded(n, x)
	g.failIf(x.Offset != 0, n, "", "input %q has levels with the offset %g, want a zero point", x.Name, x.Offset)
	lo, hi := IntegersOf(x.LevelType).Min, IntegersOf(x.LevelType).Max
	w := n.Weights["w"]
	least, most := make([]int64, out), make([]int64, out)
	low, high := float32(0), float32(0)
	for i, v := range w.Data.All() {
		if v != float32(math.Trunc(float64(v))) || v < -255 || v > 255 {
			panic(g.Errorf(n, "", "weight \"w\": element %d is %v, want integers from -255 to 255", i, v))
		}
		low, high = min(low, v), max(high, v)
		p, q := int64(v)*int64(lo), int64(v)*int64(hi)
		least[i%out], most[i%out] = least[i%out]+min(p, q), most[i%out]+max(p, q)
	}
	g.failIf(high-low > 255, n, "", "weight \"w\" has integers from %v to %v, want 8 bits", low, high)
	if t := n.Weights["bias"]; t != nil {
		g.needWeight(n, "bias", []int{out})
		for o := range out {
			if v := t.Data.Exact(o); v != math.Trunc(v) || !(math.Abs(v) <= MaxIntegerSum+1) {
				panic(g.Errorf(n, "", "weight \"bias\": element %d is %v, want integers of 32 bits", o, v))
			}
		}
	}
	for o, v := range a.Bias(n) {
		least[o], most[o] = least[o]+v, most[o]+v
	}
	for o := range out {
		if most[o] > MaxIntegerSum || least[o] < -MaxIntegerSum {
			panic(g.Errorf(n, "", "sums of output %d are from %d to %d, want 32 bits", o, least[o], most[o]))
		}
	}
	y := &Value{Shape: shape, Layout: layout}
	if a.Form == NoRequantization {
		g.failIf(*a != (IntegerAttrs{}), n, "give requantize, or leave the type of the levels out",
			"levels of type %s without requantization", a.LevelType)
		return y
	}
	g.checkResult(n, a.LevelType, a.Low, a.High)
	y.LevelType = a.LevelType
	switch a.Form {
	case FloatRequantization, FixedRequantization:
		g.needVector(n, "multiplier", out)
		for o := range out {
			m := a.Multiplier(n, o)
			if !(m >= 0 && m < 1<<20) || m > 0 && m < 0x1p-100 && a.Form == FloatRequantization {
				panic(g.Errorf(n, "", "multiplier %v of output %d: want 0, or a number from 2^-100 to 2^20", m, o))
			}
			if a.Form == FloatRequantization && m != float64(float32(m)) {
				panic(g.Errorf(n, "fixed_point takes f64", "multiplier %v of output %d: want a number of f32", m,
					o))
			}
			if f := a.FixedPoint(n, o); a.Form == FixedRequantization && f.Shift > 0 &&
				max(most[o], -least[o]) > math.MaxInt32>>f.Shift {
				panic(g.Errorf(n, "", "multiplier %v of output %d: sums up to %d times it pass 32 bits",
					m, o, max(most[o], -least[o])))
			}
		}
	case MeanRequantization:
		g.failIf(a.Count < 1 || a.Count > MaxElems, n, "", "count %d: want a number from 1", a.Count)
	default:
		panic(g.Errorf(n, "use none, float, fixed_point or mean", "requantize %s", a.Form))
	}
	g.failIf(a.Coarse && a.Form != FixedRequantization, n, "", "coarse multipliers are for fixed_point")
	return y
}

// checkResult checks the type of levels that an integer op makes.
func (g *Graph) checkResult(n *Node, t scalar.LevelType, low, high int) {
	switch {
	case t.Bits != 8 || t.Enc != ir.Unipolar || t.Offset != 0:
		panic(g.Errorf(n, "use encoding affine and bits 8", "result of type %s", t))
	case t.Zero < 0 || t.Zero > t.Top():
		panic(g.Errorf(n, "the zero point is one of the levels", "zero point %d", t.Zero-CallerZero(t)))
	case !(t.Scale >= MinScale && t.Scale <= MaxScale):
		panic(g.Errorf(n, "", "scale %g: want %g to %g", t.Scale, MinScale, MaxScale))
	case low < 0 || high > t.Top() || low > high:
		panic(g.Errorf(n, "", "levels from %d to %d: want %d to %d, or some of them",
			low-CallerZero(t), high-CallerZero(t), -CallerZero(t), t.Top()-CallerZero(t)))
	}
}

func inferIntConv(g *Graph, n *Node, x *Value, a *Conv2DAttrs) *Value {
	y := inferConv(g, n, x, a)
	return g.inferInteger(n, x, a.Integer, y.Shape, y.Layout)
}

func inferIntDense(g *Graph, n *Node, x *Value, a *DenseAttrs) *Value {
	y := inferDense(g, n, x, a)
	return g.inferInteger(n, x, a.Integer, y.Shape, y.Layout)
}

// inferPair is the result of n, an op of two tensors of levels of 8 bits.
func (g *Graph) inferPair(n *Node, in []*Value, a *IntPair) *Value {
	g.failIf(len(in) != 2, n, "", "has %s, want 2", human.Count(len(in), "input"))
	for _, x := range in {
		g.needLevels(n, x)
	}
	shape := g.broadcastShape(n, in)
	g.checkResult(n, a.LevelType, a.Low, a.High)
	g.failIf(a.Form != FloatRequantization && a.Form != FixedRequantization, n, "use float or fixed_point",
		"requantize %s", a.Form)
	return &Value{Shape: shape, Layout: in[0].Layout, LevelType: a.LevelType}
}

func inferIntAdd(g *Graph, n *Node, in []*Value, a *IntAddAttrs) *Value {
	y := g.inferPair(n, in, &a.IntPair)
	for _, v := range []float64{a.A, a.B, a.C} {
		switch {
		case a.Form == FloatRequantization && float64(float32(v)) == v && math.Abs(v) < 1<<20:
		case a.Form == FixedRequantization && v >= 0 && v < 1:
		default:
			const help = "f32 numbers up to 2^20 with requantize float, numbers from 0 to 1 with fixed_point"
			panic(g.Errorf(n, help, "factors %v, %v and %v", a.A, a.B, a.C))
		}
	}
	return y
}

// maxPairFactor bounds the factor of int_mul. Products of two levels have 16 bits and a sign. Of
// the remaining 15 bits the zero point takes one.
const maxPairFactor = 1 << 14

func inferIntMul(g *Graph, n *Node, in []*Value, a *IntMulAttrs) *Value {
	y := g.inferPair(n, in, &a.IntPair)
	g.failIf(!(a.By >= 0 && a.By < maxPairFactor) || a.Form == FloatRequantization && float64(float32(a.By)) != a.By, n,
		fmt.Sprintf("a number from 0 to %d, one of f32 with requantize float", maxPairFactor), "factor %v", a.By)
	return y
}
