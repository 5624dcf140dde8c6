package lce

import (
	"math"

	"ripc/graph"
	"ripc/graph/scalar"
)

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

// pipe puts ops without attributes, each on the result of the one before, behind x.
func (b *builder) pipe(x string, ops ...string) string {
	for _, op := range ops {
		x = b.add(op, &graph.NoAttrs{}, nil, x)
	}
	return x
}

// withNumber is op of x and a number.
func (b *builder) withNumber(op, x string, v float64, reverse bool) string {
	return b.add(op, &graph.BinaryOpAttrs{Reverse: reverse}, map[string]*graph.Tensor{"b": {Shape: []int{1}, Data: graph.NumbersOf([]float32{float32(v)})}}, x)
}

// rsqrt is 1 / sqrt(x).
func rsqrt(b *builder) string {
	x := b.float(0)
	x = b.pipe(x, "sqrt")
	return b.withNumber("div", x, 1, true)
}

// gelu is x/2 * (1 + erf(x/sqrt(2))), or the approximation of it by tanh of sqrt(2/pi) * (x + 0.044715 x^3).
func gelu(b *builder) string {
	t := b.builtin(optGelu)
	coefficient := math.Sqrt(2 / math.Pi)
	if !t.Bool(0) {
		return tableOr(0, curve(func(v float64) float64 { return v / 2 * math.Erfc(-v*math.Sqrt(0.5)) }), func(b *builder) string {
			x := b.float(0)
			y := b.withNumber("mul", x, math.Sqrt(0.5), false)

			y = b.pipe(y, "erf")
			return b.halfOf(x, y)
		})(b)
	}
	return tableOr(0, curve(func(v float64) float64 { return v / 2 * (1 + math.Tanh(coefficient*(v+0.044715*v*v*v))) }), func(b *builder) string {
		x := b.float(0)
		y := b.add("mul", &graph.BinaryOpAttrs{}, nil, x, x)

		y = b.withNumber("mul", y, 0.044715*coefficient, false)

		y = b.withNumber("add", y, coefficient, false)

		y = b.add("mul", &graph.BinaryOpAttrs{}, nil, y, x)

		y = b.pipe(y, "tanh")
		return b.halfOf(x, y)
	})(b)
}

// halfOf is x/2 * (1 + y).
func (b *builder) halfOf(x, y string) string {

	y = b.withNumber("mul", y, 0.5, false)

	y = b.withNumber("add", y, 0.5, false)
	return b.add("mul", &graph.BinaryOpAttrs{}, nil, x, y)
}
