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

// rsqrt is 1 / sqrt(x).
func rsqrt(b *builder) *graph.Value { return b.Reversed("div", 1, b.Plain(b.float(0), "sqrt")) }

// gelu is GELU, by erf or by tanh.
func gelu(b *builder) *graph.Value {
	t := b.builtin(optGelu)
	c := math.Sqrt(2 / math.Pi)
	table := curve(func(v float64) float64 { return v / 2 * math.Erfc(-v*math.Sqrt(0.5)) })
	if t.Bool(0) {
		table = curve(func(v float64) float64 { return v / 2 * (1 + math.Tanh(c*(v+0.044715*v*v*v))) })
	}
	return tableOr(0, table, func(b *builder) *graph.Value { return b.Gelu(b.float(0), t.Bool(0)) })(b)
}
