package fusedglue

import (
	"bytes"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"

	"pgregory.net/rapid"
)

// nearestPower is log2 of the power of two that is nearest to x on a logarithmic scale.
func nearestPower(x float64) int {
	best := 0
	for e := -60; e <= 60; e++ {
		if math.Abs(math.Log2(x)-float64(e)) < math.Abs(math.Log2(x)-float64(best)) {
			best = e
		}
	}
	return best
}

// shiftNormLevel is Riptide's glue in rational numbers: q(a) = clip(floor((a + r - m) / 2^T), 0, 2^N-1).
func shiftNormLevel(a int64, alpha, mean, variance, eps float64, n int, exact bool) int64 {
	wb := -nearestPower(alpha)
	shift := wb + nearestPower(math.Sqrt(variance+eps))
	levels := float64(int(1)<<n - 1)
	s := 1 + (1-math.Pow(2, -float64(wb)))/levels
	scaled := new(big.Float).SetPrec(200).SetFloat64(min(max(mean, -s), s))
	scaled.Mul(scaled, big.NewFloat(levels)).Mul(scaled, big.NewFloat(math.Pow(2, float64(wb))))
	whole, _ := scaled.Float64()
	m := new(big.Rat).SetInt64(int64(math.RoundToEven(whole)))
	v := new(big.Rat).SetInt64(a)
	v.Sub(v, m)
	half := wb
	if exact {
		half = shift
	}
	if half > 0 {
		v.Add(v, new(big.Rat).SetFloat64(math.Pow(2, float64(half-1))))
	}
	v.Mul(v, new(big.Rat).SetFloat64(math.Pow(2, float64(-shift))))
	floor := new(big.Int).Div(v.Num(), v.Denom()) // Euclidean, and the denominator is positive
	if floor.Sign() < 0 {
		return 0
	}
	if top := big.NewInt(int64(levels)); floor.Cmp(top) > 0 {
		return top.Int64()
	}
	return floor.Int64()
}

func TestShiftNorm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, mode := between(t, 1, 3, "bits"), pick(t, "mode", graph.ShiftRiptide, graph.ShiftExactRound)
		r := random(t, "numbers") // exact ties of log2 do not come up
		alpha, variance, eps := math.Exp2(9.4*r.Float64()-9), math.Exp2(26*r.Float64()-12), pick(t, "eps", 0, 1e-5, 1e-3)
		mean := float64(float32(6*r.Float64() - 3))
		z := paper(n, mode)
		z.Epsilon = eps
		g := z.glue(channel{alpha: alpha, mean: mean, variance: variance, floor: math.Inf(-1)})
		if g.Bad != "" {
			t.Fatal(g.Bad)
		}
		as := []int64{0, -1 << 20, 1 << 20}
		for range 50 {
			as = append(as, int64(r.IntN(4097)-2048))
		}
		for j := range int64(1) << n { // where the level changes
			a := int64(float64(j)*math.Exp2(float64(g.Right-g.Left))) - g.Add>>g.Left
			as = append(as, a-2, a-1, a, a+1, a+2)
		}
		for _, a := range as {
			if got, want := g.level(a, n), shiftNormLevel(a, alpha, mean, variance, eps, n, mode == graph.ShiftExactRound); int64(got) != want {
				t.Fatalf("level(%d) = %d, want %d (%+v)", a, got, want, g)
			}
		}
	})
}

// paper is the normalizer of the paper: unipolar levels of n bits before and after.
func paper(n int, mode graph.ShiftMode) normalizer {
	return normalizer{&graph.ShiftNormAttrs{Bits: n, Enc: ir.Unipolar, Mode: mode}, scalar.LevelType{Enc: ir.Unipolar, Bits: n, Scale: 1 / float64(int(1)<<n-1)}}
}

// none is the bound of sums that no relu passes.
var none = math.Inf(-1)

// TestShiftNormScale is worked out by hand. The paper prints S with 2^(N-1) in place of 2^N-1: for N = 2 that gives 1.4375.
func TestShiftNormScale(t *testing.T) {
	// wb = 3, T = 3 + 1, S = 1 + (1 - 1/8)/3 = 31/24, m = round(31/24 * 3 * 8) = 31.
	if got, want := paper(2, graph.ShiftRiptide).glue(channel{0.125, 5, 4, 0, none}), (shiftNorm{Add: 4 - 31, Right: 4}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got, want := paper(2, graph.ShiftExactRound).glue(channel{0.125, -5, 4, 0, none}), (shiftNorm{Add: 8 + 31, Right: 4}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestShiftNormBad(t *testing.T) {
	for _, c := range []struct {
		alpha, variance float64
		want            string
	}{
		{0, 1, "the weight scale is not a positive number"},
		{math.NaN(), 1, "the weight scale is not a positive number"},
		{2, 1, "the weight scale rounds to more than 1, and ShiftNorm shifts to the right"},
		{0.5, -1, "variance plus epsilon is not a positive number, or the weight scale is below 2^-30"},
		{0.5, math.Inf(1), "variance plus epsilon is not a positive number, or the weight scale is below 2^-30"},
		{0x1p-31, 1, "variance plus epsilon is not a positive number, or the weight scale is below 2^-30"},
		{0x1p-20, 0x1p40, "the shift leaves the accumulator's 32 bits"},
		{0.5, 0x1p-60, "the shift leaves the accumulator's 32 bits"},
	} {
		for _, mode := range []graph.ShiftMode{graph.ShiftRiptide, graph.ShiftExactRound} {
			if got := paper(2, mode).glue(channel{c.alpha, 0, c.variance, 0, none}).Bad; got != c.want {
				t.Errorf("alpha %g, var %g, %s: %q, want %q", c.alpha, c.variance, mode, got, c.want)
			}
		}
	}
	if g := paper(1, graph.ShiftRiptide).glue(channel{1, 0.5, 1, 0, none}); g != (shiftNorm{}) { // no rounding term
		t.Errorf("%+v", g)
	}
}

// TestShiftNormOfDequantized: levels whose real values are added up before shift_norm are added as levels, and nothing is float.
func TestShiftNormOfDequantized(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		op, seed := pick(t, "op", "add", "sub"), rapid.Uint64().Draw(t, "numbers")
		build := func(dequantized bool) *net {
			r := rand.New(rand.NewPCG(seed, 0))
			n := newNet(func(args ...any) { t.Fatal(args...) }, r.NormFloat64)
			x := n.levels(2, ir.Bipolar, 1, 4, 4, 5)
			y := n.pool(x, 3, 1, graph.PadSame)
			if dequantized {
				x, y = n.plain("dequantize", x), n.plain("dequantize", y)
			}
			n.Outputs = []string{n.shiftNorm(n.add(op, &graph.BinaryOpAttrs{}, nil, x, y), graph.ShiftExactRound, 2)}
			return n
		}
		data := make([]byte, 4*4*5)
		for i := range data {
			data[i] = byte(i * 7 % 4)
		}
		want, _ := interpret(t, build(false), nil, [][]byte{data})
		got, g := interpret(t, build(true), nil, [][]byte{data})
		if !bytes.Equal(got[0], want[0]) {
			t.Fatalf("got %v, want %v\n%s", got[0], want[0], g)
		}
		for _, n := range g.Nodes {
			if !g.Value(n.Output).Encoded() {
				t.Fatalf("%s is float\n%s", n.Name, g)
			}
		}
	})
}

// TestShiftNormOfLayers: the sums of two layers are added up as integers before shift_norm, as those of one layer that reads what both
// read.
func TestShiftNormOfLayers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		minus, shared, seed := rapid.Bool().Draw(t, "sub"), rapid.Bool().Draw(t, "shared"), rapid.Uint64().Draw(t, "numbers")
		mode := pick(t, "mode", graph.ShiftRiptide, graph.ShiftExactRound)
		bin := graph.BinaryAttrs{WeightScale: graph.ScaleTensor}
		const outs = 3
		build := func(two bool) *net {
			r := rand.New(rand.NewPCG(seed, 0))
			n := newNet(func(args ...any) { t.Fatal(args...) }, r.NormFloat64)
			x := n.levels(2, ir.Unipolar, 1, 4, 4, 5)
			y := n.pool(x, 3, 1, graph.PadSame)
			v, w := n.tensor(0, 1, 3, 3, 5, outs), n.tensor(0, 1, 3, 3, 5, outs)
			scales := [][]float32{{0.25, 0.5, 0.125}, {0.3, 0.4, 0.13}} // of one AP2 each
			layer := func(x string, w *graph.Tensor, scale []float32) string {
				a := &graph.Conv2DAttrs{Strides: [2]int{1, 1}, Pad: graph.Padding{Mode: graph.PadSame}, Binary: &bin}
				return n.add("bitserial_conv2d", a, map[string]*graph.Tensor{"w": w, "scale": {Shape: []int{outs}, Data: graph.NumbersOf(scale)}}, x)
			}
			var sums string
			if two {
				op := "add"
				if minus {
					op = "sub"
				}
				a, b := layer(x, v, scales[0]), layer(y, w, scales[1])
				sums = n.add(op, &graph.BinaryOpAttrs{}, nil, a, b)
				if shared {
					n.Outputs = append(n.Outputs, a)
				}
			} else {
				both := &graph.Tensor{Shape: []int{3, 3, 10, outs}}
				for tap := range 9 {
					both.Data = graph.NumbersOf(append(both.Data.Floats(), v.Data.Floats()[tap*5*outs:(tap+1)*5*outs]...))
					for _, z := range w.Data.Floats()[tap*5*outs : (tap+1)*5*outs] {
						if minus {
							z = -z
						}
						both.Data = graph.NumbersOf(append(both.Data.Floats(), z))
					}
				}
				sums = layer(n.add("concat", &graph.ConcatAttrs{}, nil, x, y), both, scales[0])
			}
			n.Outputs = append(n.Outputs, n.shiftNorm(sums, mode, 2))
			return n
		}
		data := make([]byte, 4*4*5)
		for i := range data {
			data[i] = byte(i * 7 % 4)
		}
		want, _ := interpret(t, build(false), nil, [][]byte{data})
		got, g := interpret(t, build(true), nil, [][]byte{data})
		if !bytes.Equal(got[len(got)-1], want[0]) {
			t.Fatalf("got %v, want %v\n%s", got[len(got)-1], want[0], g)
		}
	})
}
