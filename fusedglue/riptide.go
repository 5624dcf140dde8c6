package fusedglue

import (
	"math"

	"ripc/graph"
	"ripc/ir"
)

// log2AP2 is log2 of AP2(x) = 2^round(log2|x|), the nearest power of two (Riptide, equation 4).
func log2AP2(x float64) int { return int(math.RoundToEven(math.Log2(math.Abs(x)))) }

// shiftNorm is Riptide's glue for one channel in integers: level = clip((a + Add) >> T, 0, 2^N-1), T < 0 shifting left.
// alpha is the weight scale, mean and variance those of the real-valued layer, n the activation bits.
type shiftNorm struct {
	Add int64
	T   int
	Bad string // not empty: why the numbers cannot be used
}

// newShiftNorm computes wb = -log2 AP2(alpha), sb = log2 AP2(sqrt(var+eps)), T = wb + sb, and
// m = FPQ(mean) = round_half_even(clip(mean, -S, S) * (2^n-1) * 2^wb) with S = 1 + (1 - 2^-wb)/(2^n-1), in float64.
// Add = (1 << (wb-1)) - m, or (1 << (T-1)) - m in mode exact_round.
func newShiftNorm(alpha, mean, variance, eps float64, n int, mode graph.ShiftMode) shiftNorm {
	if !(alpha > 0) || math.IsInf(alpha, 0) {
		return shiftNorm{Bad: "the weight scale is not a positive number"}
	}
	wb := -log2AP2(alpha)
	if wb < 0 {
		return shiftNorm{Bad: "the weight scale rounds to more than 1 (wb < 0)"}
	}
	sd := math.Sqrt(variance + eps)
	if !(sd > 0) || math.IsInf(sd, 0) || wb > 30 {
		return shiftNorm{Bad: "variance plus epsilon is not a positive number, or the weight scale is below 2^-30"}
	}
	levels := float64(int(1)<<n - 1)
	s := 1 + (1-math.Exp2(float64(-wb)))/levels
	m := int64(math.RoundToEven(math.Max(-s, math.Min(s, mean)) * levels * math.Exp2(float64(wb))))
	g := shiftNorm{T: wb + log2AP2(sd), Add: -m}
	half := wb
	if mode == graph.ShiftExactRound {
		half = g.T
	}
	if half > 0 && half < 32 {
		g.Add += 1 << (half - 1)
	}
	if g.T > 30 || g.T < -20 {
		g.Bad = "the shift leaves the accumulator's 32 bits"
	}
	return g
}

// level is the quantized activation of dot product a.
func (g shiftNorm) level(a int64, bits int) int {
	v := a + g.Add
	if g.T >= 0 {
		v >>= g.T
	} else {
		v <<= -g.T
	}
	return int(max(0, min(v, int64(1)<<bits-1)))
}

// foldShiftNorm makes n, a shift_norm behind the bitserial layer p, the add-then-shift of its fused convolution f.
func foldShiftNorm(g *graph.Graph, p, n *graph.Node, f *graph.FusedConv, a *graph.ShiftNormAttrs) error {
	x := g.Value(p.Inputs[0])
	if x.Enc != ir.Unipolar || x.Zero != 0 || x.Offset != 0 || x.Bits != a.Bits {
		return g.Errorf(n, "use one number of unipolar bits before and after, as Riptide does, or batch_norm and quantize",
			"shift_norm gives %d unipolar bits, but the layer before it reads %d bits, %s", a.Bits, x.Bits, x.Enc)
	}
	if f.W != (graph.Integers{Min: -1, Max: 1, Step: 2}) {
		return g.Errorf(n, "use batch_norm and quantize", "shift_norm needs +-1 weights in the layer before it")
	}
	mean, variance := n.Weights["mean"].Data, n.Weights["var"].Data
	s := &graph.ShiftAdd{Add: make([]int32, f.Out), Right: make([]int32, f.Out)}
	k := int64(f.Products()) << x.Bits
	for o := range f.Out {
		glue := newShiftNorm(f.Alpha[o], float64(mean[o]), float64(variance[o]), a.Epsilon, a.Bits, a.Mode)
		if glue.Bad == "" && abs(glue.Add)+k >= 1<<31>>max(0, -glue.T) {
			glue.Bad = "the sum leaves the accumulator's 32 bits"
		}
		if glue.Bad != "" {
			return g.Errorf(n, "", "channel %d: %s (weight scale %g, mean %g, variance %g)", o, glue.Bad, f.Alpha[o], mean[o], variance[o])
		}
		s.Add[o], s.Right[o] = int32(glue.Add), int32(max(0, glue.T))
		if glue.T < 0 {
			if s.Left == nil {
				s.Left = make([]int32, f.Out)
			}
			s.Left[o] = int32(-glue.T)
		}
	}
	f.Epilogue = graph.Epilogue{OutBits: a.Bits, OutEnc: ir.Unipolar, Shift: s}
	return nil
}

// shiftToThresholds replaces add-then-shift by equal thresholds where 2^bits-1 compares cost less.
func shiftToThresholds(r *rewriter) error {
	for _, n := range r.g.Nodes {
		f, ok := n.Attrs.(*graph.FusedConv)
		if !ok || f.Epilogue.Shift == nil || f.Epilogue.OutBits > 2 {
			continue
		}
		s, bits := f.Epilogue.Shift, f.Epilogue.OutBits
		search(f, bits, ir.Unipolar, nil, 1, func(o int) func(a int64) int {
			g := shiftNorm{Add: int64(s.Add[o]), T: int(s.Right[o])}
			if s.Left != nil {
				g.T -= int(s.Left[o])
			}
			return func(a int64) int { return g.level(a, bits) }
		})
	}
	return nil
}

func abs(v int64) int64 { return max(v, -v) }
