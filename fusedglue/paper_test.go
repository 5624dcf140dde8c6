package fusedglue

import (
	"encoding/binary"
	"math"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/ir"
)

// What follows is written from the paper (Fromm et al., Riptide, MLSys 2020, section 4.2), and knows nothing of the compiler.

// fpq is Algorithm 4: a tensor's value quantized to b bits with scale s. (The granularity is that of all b bits, 2^b - 1 steps.)
func fpq(x, s float64, b int) float64 {
	g := s / (math.Pow(2, float64(b)) - 1)
	return math.RoundToEven(math.Min(math.Max(x, -s), s) / g)
}

// paperLevel is equation 7 with the clip of Algorithm 3, for a sum a of levels of n bits and scale 1/(2^n-1) times weights of +-1, whose
// scale is alpha: the next layer's levels have as many bits.
func paperLevel(a int, alpha, mean, variance, epsilon float64, n int) int {
	wb := -int(math.RoundToEven(math.Log2(alpha)))                        // equation 5
	sb := int(math.RoundToEven(math.Log2(math.Sqrt(variance + epsilon)))) // equation 6
	s := 1 + 1/(math.Pow(2, float64(n))-1)*(1-1/math.Pow(2, float64(wb)))
	cb := 0.0
	if wb > 0 {
		cb = math.Pow(2, float64(wb-1))
	}
	cb -= fpq(mean, s, n+wb)
	q := math.Floor((float64(a) + cb) / math.Pow(2, float64(wb+sb))) // equation 7: >> is a floor
	return int(math.Min(math.Max(q, 0), math.Pow(2, float64(n))-1))
}

// TestPaper: layers as the paper has them, compiled, give what its formulas do.
func TestPaper(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bits, r := between(t, 1, 8, "bits"), random(t, "weights")
		n := newNet(func(args ...any) { t.Fatal(args...) }, r.NormFloat64)
		in, out := pick(t, "in", 16, 33, 64), pick(t, "out", 3, 32, 40)
		x := n.levels(bits, ir.Unipolar, 1, 3, 2, in)
		y := n.bconv(x, 1, out, graph.PadValid, graph.BinaryAttrs{WeightScale: pick(t, "scale", graph.ScaleMean, graph.ScaleAP2)})
		n.Outputs = []string{n.shiftNorm(y, graph.ShiftRiptide, bits)}
		w, norm := n.Nodes[0].Weights["w"].Data.Floats(), n.Nodes[1].Weights
		data := make([]byte, 3*2*in)
		for i := range data {
			data[i] = byte(r.IntN(1 << bits))
		}
		got, _ := interpret(t, n, nil, [][]byte{data})
		for i, level := range got[0] {
			o, sum, alpha := i%out, 0, 0.0
			for c := range in {
				sign := 1
				if w[c*out+o] < 0 {
					sign = -1
				}
				sum += sign * int(data[i/out*in+c])
				alpha += math.Abs(float64(w[c*out+o])) / float64(in)
			}
			want := paperLevel(sum, alpha, float64(norm["mean"].Data.At(o)), float64(norm["var"].Data.At(o)), 1e-5, bits)
			if int(level) != want {
				t.Fatalf("sum %d of channel %d (weight scale %g, mean %g, variance %g): level %d, want %d", sum, o, alpha, norm["mean"].Data.At(o), norm["var"].Data.At(o), level, want)
			}
		}
	})
}

// realLevel is where between the levels 0 to top the float form of a layer is, before it is rounded: normalization and a quantizer.
func realLevel(x, mean, deviation, top float64, enc ir.EncodingKind) float64 {
	v := (x - mean) / deviation
	if enc == ir.Unipolar {
		return math.Min(math.Max(v, 0), 1) * top
	}
	return (math.Min(math.Max(v, -1), 1) + 1) / 2 * top
}

// TestShiftNormNearFloats: whatever levels a layer reads and makes, behind whatever weights, constants and relu, its levels are
// within one of the float form's, computed with the powers of two that stand for the weight scale and the deviation. Both modes round, so
// that only what is rounded to integers before, the mean and the constant, and the place of the rounding may differ.
func TestShiftNormNearFloats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := random(t, "weights")
		n := newNet(func(args ...any) { t.Fatal(args...) }, r.NormFloat64)
		in, out := pick(t, "in", 16, 33), pick(t, "out", 3, 32)
		x := n.levels(between(t, 1, 8, "bits in"), pick(t, "in", ir.Unipolar, ir.Bipolar, ir.BipolarInv), 1, 2, 2, in)
		v := n.Value(x)
		v.Scale = pick(t, "scale", v.Scale, 1, 0.3)
		b := graph.BinaryAttrs{WeightScale: graph.ScaleAP2, Bits: between(t, 1, 4, "weight bits")}
		if b.Bits == 1 {
			b.Enc = pick(t, "weights", graph.BipolarWeights, graph.TernaryWeights)
		}
		sums := n.bconv(x, 1, out, graph.PadValid, b)
		y, bias := sums, make([]float32, out)
		if rapid.Bool().Draw(t, "bias") {
			c := n.tensor(0, v.Scale, out)
			bias, y = c.Data.Floats(), n.add("add", &graph.BinaryOpAttrs{}, map[string]*graph.Tensor{"b": c}, y)
		}
		relu := rapid.Bool().Draw(t, "relu")
		if relu {
			y = n.plain("relu", y)
		}
		y = n.shiftNorm(y, graph.ShiftExactRound, between(t, 1, 8, "bits out"))
		node := n.Nodes[len(n.Nodes)-1]
		a := node.Attrs.(*graph.ShiftNormAttrs)
		a.Enc = pick(t, "out", ir.Unipolar, ir.Bipolar, ir.BipolarInv)
		n.Value(y).LevelType = a.Levels()
		for o := range out { // within the range that the mean may have
			node.Weights["mean"].Data.Floats()[o] *= float32(v.Scale) / 4
		}
		n.Outputs = []string{y, sums}
		data := make([]byte, 2*2*in)
		for i := range data {
			data[i] = byte(r.IntN(1 << v.Bits))
		}
		got, g := interpret(t, n, nil, [][]byte{data})
		top, alpha := float64(n.Value(y).Top()), g.Nodes[0].Attrs.(*graph.FusedConv).Alpha
		for i, level := range got[0] {
			o := i % out
			unit := v.Scale * alpha[o]
			s := math.Round(float64(math.Float32frombits(binary.LittleEndian.Uint32(got[1][4*i:]))) / unit)
			sd := math.Sqrt(float64(node.Weights["var"].Data.At(o)) + a.Epsilon)
			// The shift stands for the quotient of two steps: choose the deviation of which it is exact.
			shift := math.RoundToEven(math.Log2(sd * (1 / top) / v.Scale))
			sd = math.Pow(2, shift) * v.Scale * top
			x := s*unit + float64(bias[o])
			if relu {
				x = math.Max(x, 0)
			}
			want := realLevel(x, float64(node.Weights["mean"].Data.At(o)), sd, top, a.Enc)
			l := float64(level)
			if a.Enc == ir.BipolarInv {
				l = top - l
			}
			// An integer rounded for each of mean and bias, in steps of the result, and the rounding itself.
			slack := 0.5 + 1e-6 + unit/(sd/top)
			if t0 := math.Log2(unit / (sd / top)); a.Enc == ir.Unipolar && t0 >= 0 {
				slack += 0.5 // no rounding term for shifts to the left
			}
			if math.Abs(l-want) > slack {
				t.Fatalf("sum %g, real %g, in channel %d: level %g, the float form has %g (slack %g)\n%s", s, x, o, l, want, slack, g)
			}
		}
	})
}
