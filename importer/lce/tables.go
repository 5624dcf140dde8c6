package lce

import (
	"math"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
)

// Operators of one tensor of 8-bit integers are tables. TFLite computes the integers of the result
// from the input's with multipliers of 31 bits.

// integerTable is the operator at work as a table. of(x, y) is the function from integers of levels
// x to integers of levels y, both less their zero points. act is an activation, and only its limits
// count. The result is nil if the tensors are no 8-bit integers.
func (b *builder) integerTable(act int, of func(x, y scalar.LevelType) func(v int64) int64) *graph.Value {
	if !eightBits(b.input(0)) || !eightBits(&b.file.tensors[b.op.outputs[0]]) || b.isConstant(0) {
		return nil
	}
	x := b.integers(0)
	a := &graph.IntMapAttrs{}
	low, high := 0, 0
	a.LevelType, low, high = b.result(act)
	f := of(x.LevelType, a.LevelType)
	for l := range x.Top() + 1 {
		v := f(int64(l-x.Zero)) + int64(a.Zero)
		a.Table = append(a.Table, int(max(int64(low), min(v, int64(high)))))
	}
	return b.add("int_map", a, nil, x)
}

// tableOr is an operator that is a table of 8-bit integers. For other tensors, convert makes its
// nodes.
func tableOr(act int, of func(x, y scalar.LevelType) func(v int64) int64,
	convert func(*builder) *graph.Value) func(*builder) *graph.Value {
	return func(b *builder) *graph.Value {
		if y := b.integerTable(act, of); y != nil {
			return y
		}
		return convert(b)
	}
}

// requantize returns QUANTIZE.
func requantize(x, y scalar.LevelType) func(v int64) int64 {
	return graph.FixedPointOf(x.Scale / y.Scale).Times
}

// rectify is a RELU. Its scales are divided in f32.
func rectify(x, y scalar.LevelType) func(v int64) int64 {
	return graph.FixedPointOf(float64(float32(x.Scale) / float32(y.Scale))).Times
}

// leak is LEAKY_RELU, of integers below 0 with another multiplier.
func leak(alpha float32) func(x, y scalar.LevelType) func(v int64) int64 {
	return func(x, y scalar.LevelType) func(v int64) int64 {
		below := graph.FixedPointOf(math.Abs(float64(float32(float32(x.Scale)*alpha) / float32(y.Scale))))
		if alpha < 0 {
			below.Multiplier = -below.Multiplier
		}
		above := rectify(x, y)
		return func(v int64) int64 {
			if v >= 0 {
				return above(v)
			}
			return below.Times(v)
		}
	}
}

// hardSwish is HARD_SWISH. TFLite computes it in 16 bits: v, made 128 times larger, times a
// multiplier to the result, times (v/3 + 1)/2 between 0 and 1.
func hardSwish(x, y scalar.LevelType) func(v int64) int64 {
	fine := float32(1.0/128) * float32(x.Scale)
	to := graph.FixedPointOf(float64(fine / float32(y.Scale)))
	third := graph.FixedPointOf(float64(fine / float32(3.0/32768)))
	return func(v int64) int64 {
		v *= 128
		share := v
		if third.Shift > 0 {
			share = saturate(share << (third.Shift - 1))
		}
		if share = halfProduct(share, third); third.Shift > 0 {
			share = saturate(share << 1)
		}
		share = graph.ShiftedHalfAway(share, -third.Shift)
		share = (share + 1<<15) >> 1
		return graph.ShiftedHalfAway(share*halfProduct(v, to)/(1<<15), -to.Shift)
	}
}

// saturate returns v in 16 bits, or the nearest number that they hold.
func saturate(v int64) int64 { return max(math.MinInt16, min(v, math.MaxInt16)) }

// halfProduct is the high half of twice the product of 16 bits with those of f's multiplier,
// rounded.
func halfProduct(v int64, f graph.FixedPoint) int64 {
	m := min((int64(f.Multiplier)+1<<15)>>16, math.MaxInt16)
	return saturate((v*m + 1<<14) >> 15)
}

// constantIntegers are the levels of input k, a constant, with rank axes: an exact quantize of its
// real numbers.
func (b *builder) constantIntegers(k, rank int) *graph.Value {
	t := b.input(k)
	v := &graph.Value{}
	levelsOf(t, v)
	data := b.numbers(k, "constant operand")
	shape := slices.Concat(slices.Repeat([]int{1}, rank-len(t.shape)), t.shape)
	return b.add("quantize", &graph.QuantizeAttrs{LevelType: v.LevelType, Rounding: scalar.HalfEven}, nil,
		b.Constant(shape, data))
}

// curve is a function of one number f as a table of integers, as TFLite makes them in f32.
func curve(f func(v float64) float64) func(x, y scalar.LevelType) func(v int64) int64 {
	return func(x, y scalar.LevelType) func(v int64) int64 {
		inverse := 1 / float32(y.Scale)
		return func(v int64) int64 {
			r := math.Round(float64(float32(f(float64(float32(x.Scale)*float32(v)))) * inverse))
			if r != r {
				return math.MinInt32
			}
			return int64(max(math.MinInt32, min(r, math.MaxInt32)))
		}
	}
}

// inverseRoot is RSQRT of integers: nothing is below 0, and 0 gives the largest.
func inverseRoot(x, y scalar.LevelType) func(v int64) int64 {
	by := 1 / (math.Sqrt(x.Scale) * y.Scale)
	return func(v int64) int64 {
		if v <= 0 {
			return math.MaxInt32
		}
		return int64(min(math.Round(by/math.Sqrt(float64(v))), math.MaxInt32))
	}
}

// rsqrt is 1 / sqrt(x).
func rsqrt(b *builder) *graph.Value { return b.Reversed("div", 1, b.Plain(b.floatInput(0), "sqrt")) }

// gelu is GELU, by erf or by tanh.
func gelu(b *builder) *graph.Value {
	t := b.builtin(optGelu)
	c := math.Sqrt(2 / math.Pi)
	table := curve(func(v float64) float64 { return v / 2 * math.Erfc(-v*math.Sqrt(0.5)) })
	if t.Bool(0) {
		table = curve(func(v float64) float64 { return v / 2 * (1 + math.Tanh(c*(v+0.044715*v*v*v))) })
	}
	return tableOr(0, table, func(b *builder) *graph.Value { return b.Gelu(b.floatInput(0), t.Bool(0)) })(b)
}
