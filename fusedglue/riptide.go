package fusedglue

import (
	"math"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// log2AP2 is log2 of AP2(x) = 2^round(log2|x|), the nearest power of two (Riptide, equation 4).
func log2AP2(x float64) int { return int(math.RoundToEven(math.Log2(math.Abs(x)))) }

// normalizer is a shift_norm for integers of one kind: the sums of a bitserial op on levels of type
// in, or levels of type in themselves. See graph.ShiftNormAttrs for the formula.
type normalizer struct {
	*graph.ShiftNormAttrs
	in scalar.LevelType
}

// channel has the numbers of one channel. alpha is the real value of the weight 1 (1 behind
// levels). mean and variance are those of the real tensor. bias is a constant that is added first,
// and floor a lower bound after that, from relu (-Inf: none).
type channel struct{ alpha, mean, variance, bias, floor float64 }

// shiftNorm is Riptide's glue for one channel in integers: level = clip(((a << Left) + Add) >>
// Right, Low, top).
type shiftNorm struct {
	Left, Right int
	Add         int64
	Low         int
	Bad         string // not empty: why the numbers cannot be used
}

// glue computes the glue of channel c.
func (z normalizer) glue(c channel) shiftNorm {
	if !(c.alpha > 0) || math.IsInf(c.alpha, 0) {
		return shiftNorm{Bad: "the weight scale is not a positive number"}
	}
	wb := -log2AP2(c.alpha)
	if wb < 0 {
		return shiftNorm{Bad: "the weight scale rounds to more than 1, and ShiftNorm shifts to the right"}
	}
	sd := math.Sqrt(c.variance + z.Epsilon)
	if !(sd > 0) || math.IsInf(sd, 0) || wb > 30 {
		return shiftNorm{Bad: "variance plus epsilon is not a positive number, or the weight scale is below 2^-30"}
	}
	levels, top := inverse(z.in.Scale), float64(graph.IntegersOf(z.in).Largest())
	integer := func(real float64) float64 { return math.RoundToEven(real * levels * math.Exp2(float64(wb))) }
	s := top/levels + (1-math.Exp2(float64(-wb)))/levels
	before, low := integer(c.bias), math.Inf(-1)
	if !math.IsInf(c.floor, -1) {
		low = integer(c.floor)
	}
	if !(math.Abs(before) < 1<<31) || low >= 1<<31 {
		return shiftNorm{Bad: "the constant added to the sum does not fit the accumulator's 32 bits"}
	}
	t := wb + log2AP2(sd*(levels/inverse(z.Levels().Scale)))
	if t > 30 || t < -20 {
		return shiftNorm{Bad: "the shift leaves the accumulator's 32 bits"}
	}
	g := shiftNorm{Left: max(0, -t), Right: max(0, t), Add: int64(before - integer(math.Max(-s, math.Min(s, c.mean))))}
	if z.Enc == ir.Unipolar {
		half := wb
		if z.Mode == graph.ShiftExactRound {
			half = t
		}
		if half > 0 {
			g.Add += 1 << (half - 1)
		}
		g.Add <<= g.Left
	} else { // half of a + 2^bits - 1 steps, rounded half up
		g.Add = g.Add<<g.Left + 1<<(z.Bits+g.Right)
		g.Right++
	}
	if !math.IsInf(low, -1) {
		g.Low = g.level(int64(low-before), z.Bits)
	}
	return g
}

// inverse returns 1/x, rounded to an integer if x is the reciprocal of one up to rounding.
func inverse(x float64) float64 {
	v := 1 / x
	if i := math.Round(v); i > 0 && 1/i == x {
		return i
	}
	return v
}

// level returns the quantized activation of integer a.
func (g shiftNorm) level(a int64, bits int) int {
	return int(max(int64(g.Low), min((a<<g.Left+g.Add)>>g.Right, int64(1)<<bits-1)))
}

// shiftAdd computes the glue of all channels of n, for integers from lo(o) to hi(o) in channel o.
// alpha is the scale of the weights, nil behind levels.
func (z normalizer) shiftAdd(g *graph.Graph, n *graph.Node, alpha []float64,
	sums func(o int) (lo, hi int64)) (*graph.ShiftAdd, error) {
	mean, variance := n.Weights["mean"].Data.Floats(), n.Weights["var"].Data.Floats()
	s := &graph.ShiftAdd{Add: make([]int32, len(mean)), Right: make([]int32, len(mean))}
	at := func(key string, o int, otherwise float64) float64 {
		if w := n.Weights[key]; w != nil {
			return float64(w.Data.At(o))
		}
		return otherwise
	}
	for o := range mean {
		c := channel{alpha: 1, mean: float64(mean[o]), variance: float64(variance[o]), bias: at(keyBias, o, 0),
			floor: at(keyFloor, o, math.Inf(-1))}
		if alpha != nil {
			c.alpha = alpha[o]
		} else { // a level is in.Scale times an integer, plus the offset
			c.mean, c.floor = c.mean-z.in.Offset, c.floor-z.in.Offset
		}
		glue := z.glue(c)
		lo, hi := sums(o)
		if k := max(abs(lo), abs(hi)); glue.Bad == "" && k<<glue.Left+abs(glue.Add) >= 1<<31 {
			glue.Bad = "the sum leaves the accumulator's 32 bits"
		}
		if glue.Bad != "" {
			return nil, g.Errorf(n, "take batch_norm in the place of shift_norm, or scale the channel: its weights, "+
				"mean and deviation alike", "channel %d: %s (weight scale %g, mean %g, variance %g)", o, glue.Bad,
				c.alpha, mean[o], variance[o])
		}
		s.Add[o], s.Right[o] = int32(glue.Add), int32(glue.Right)
		entry(&s.Left, len(mean), o, glue.Left)
		entry(&s.Low, len(mean), o, glue.Low)
	}
	return s, nil
}

// entry sets an entry of a list that is nil while all are 0.
func entry(list *[]int32, n, o, v int) {
	if v == 0 {
		return
	}
	if *list == nil {
		*list = make([]int32, n)
	}
	(*list)[o] = int32(v)
}

func abs(v int64) int64 { return max(v, -v) }
