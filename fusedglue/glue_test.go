package fusedglue

import (
	"cmp"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ripc/ir"
	"ripc/ir/graph"
)

func between(t *rapid.T, lo, hi int, what string) int { return rapid.IntRange(lo, hi).Draw(t, what) }

func random(t *rapid.T, what string) *rand.Rand {
	return rand.New(rand.NewPCG(rapid.Uint64().Draw(t, what), 0))
}

func pick[T any](t *rapid.T, what string, of ...T) T { return rapid.SampledFrom(of).Draw(t, what) }

func encoding(t *rapid.T) ir.EncodingKind { return pick(t, "encoding", ir.Unipolar, ir.Bipolar) }

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
		n, mode := between(t, 1, 3, "bits"), pick(t, "mode", "riptide", "exact_round")
		r := random(t, "numbers") // exact ties of log2 do not come up
		alpha, variance, eps := math.Exp2(9.4*r.Float64()-9), math.Exp2(26*r.Float64()-12), pick(t, "eps", 0, 1e-5, 1e-3)
		mean := float64(float32(6*r.Float64() - 3))
		g := NewShiftNorm(alpha, mean, variance, eps, n, mode)
		if g.Bad != "" {
			t.Fatal(g.Bad)
		}
		as := []int64{0, -1 << 20, 1 << 20}
		for range 50 {
			as = append(as, int64(r.IntN(4097)-2048))
		}
		for j := range int64(1) << n { // where the level changes
			a := int64(float64(j)*math.Exp2(float64(g.T))) - g.Add
			as = append(as, a-2, a-1, a, a+1, a+2)
		}
		for _, a := range as {
			if got, want := g.Level(a, n), shiftNormLevel(a, alpha, mean, variance, eps, n, mode == "exact_round"); int64(got) != want {
				t.Fatalf("level(%d) = %d, want %d (%+v)", a, got, want, g)
			}
		}
	})
}

// TestShiftNormScale is worked out by hand. The paper prints S with 2^(N-1) in place of 2^N-1: for N = 2 that gives 1.4375.
func TestShiftNormScale(t *testing.T) {
	// wb = 3, T = 3 + 1, S = 1 + (1 - 1/8)/3 = 31/24, m = round(31/24 * 3 * 8) = 31.
	if got, want := NewShiftNorm(0.125, 5, 4, 0, 2, "riptide"), (ShiftNorm{Add: 4 - 31, T: 4}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got, want := NewShiftNorm(0.125, -5, 4, 0, 2, "exact_round"), (ShiftNorm{Add: 8 + 31, T: 4}); got != want {
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
		{2, 1, "the weight scale rounds to more than 1 (wb < 0)"},
		{0.5, -1, "variance plus epsilon is not a positive number, or the weight scale is below 2^-30"},
		{0.5, math.Inf(1), "variance plus epsilon is not a positive number, or the weight scale is below 2^-30"},
		{0x1p-31, 1, "variance plus epsilon is not a positive number, or the weight scale is below 2^-30"},
		{0x1p-20, 0x1p40, "the shift leaves the accumulator's 32 bits"},
		{0.5, 0x1p-60, "the shift leaves the accumulator's 32 bits"},
	} {
		for _, mode := range []string{"riptide", "exact_round"} {
			if got := NewShiftNorm(c.alpha, 0, c.variance, 0, 2, mode).Bad; got != c.want {
				t.Errorf("alpha %g, var %g, %s: %q, want %q", c.alpha, c.variance, mode, got, c.want)
			}
		}
	}
	if g := NewShiftNorm(1, 0.5, 1, 0, 1, "riptide"); g != (ShiftNorm{Add: 0, T: 0}) { // no rounding term
		t.Errorf("%+v", g)
	}
}

// layer is a random bconv2d of out filters with its dot products' range.
func layer(t *rapid.T, enc ir.EncodingKind, out int) *graph.FusedConv {
	f := &graph.FusedConv{KH: between(t, 1, 3, "kh"), KW: 1, SH: 1, SW: 1, In: pick(t, "in", 1, 3, 31, 32, 33, 64), Out: out, Planes: between(t, 1, 3, "planes")}
	w, r := &intWeights{}, random(t, "w")
	w.plane(f.KH*f.In*out, func(int) bool { return r.IntN(2) == 0 })
	f.WBits = w.pack(f, false)
	setDot(f, enc)
	return f
}

func maxPopcount(f *graph.FusedConv) int64 {
	return (int64(1)<<f.Planes - 1) * int64(f.KH*f.KW*f.In)
}

// levelAt counts the thresholds that popcount p reaches.
func levelAt(f *graph.FusedConv, o int, p int64) int {
	n := 0
	for j, row := range f.Epilogue.Thresholds {
		if p <= int64(row[o]) {
			n = j + 1
		}
	}
	return n
}

func TestShiftToThresholds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := layer(t, ir.Unipolar, 4)
		bits, r := between(t, 1, 2, "bits"), random(t, "glue")
		s := &graph.ShiftAdd{Left: make([]int32, 4)}
		var glue []ShiftNorm
		for o := range 4 {
			g := NewShiftNorm(math.Exp2(-8*r.Float64()), 4*r.Float64()-2, math.Exp2(20*r.Float64()-10), 0, bits, pick(t, "mode", "riptide", "exact_round"))
			glue = append(glue, g)
			s.Add, s.Right = append(s.Add, int32(g.Add)), append(s.Right, int32(max(0, g.T)))
			s.Left[o] = int32(max(0, -g.T))
		}
		f.Epilogue = graph.Epilogue{OutBits: bits, Shift: s}
		if err := shiftToThresholds(&rewriter{&graph.Graph{Nodes: []*graph.Node{{Attrs: f}}}}); err != nil {
			t.Fatal(err)
		}
		if f.Epilogue.Shift != nil || f.Epilogue.OutBits != bits {
			t.Fatalf("%+v", f.Epilogue)
		}
		for o, g := range glue {
			for p := range maxPopcount(f) + 1 {
				if got, want := levelAt(f, o, p), g.Level(int64(f.DotBase[o])-int64(f.DotMul)*p, bits); got != want {
					t.Fatalf("channel %d, popcount %d: level %d, want %d (%+v)", o, p, got, want, g)
				}
			}
		}
	})
}

// quantized is a quantizer by its formula, on a float32 and rounded after each operation.
func quantized(a *graph.QuantizeAttrs, x float32) int {
	m := float32(int(1)<<a.Bits - 1)
	u := x / float32(a.Scale)
	switch {
	case a.Unit && a.Enc == ir.Unipolar:
		u = min(max(x, 0), 1) * m
	case a.Unit:
		u = float32((min(max(x, -1), 1)+1)*m) / 2
	case a.Enc == ir.Unipolar:
		u = min(max(u, 0), m)
	default:
		u = (min(max(u, -m), m) + m) / 2
	}
	return int(rounded(a.Rounding, u))
}

// rounded is x to an integer.
func rounded(mode string, x float32) float32 {
	v := float64(x)
	switch mode {
	case "half_up":
		v = math.Floor(v + 0.5)
	case "half_down":
		v = math.Ceil(v - 0.5)
	case "half_away":
		v = math.Round(v)
	case "floor":
		v = math.Floor(v)
	case "ceil":
		v = math.Ceil(v)
	case "trunc":
		v = math.Trunc(v)
	case "away":
		v = math.Copysign(math.Ceil(math.Abs(v)), v)
	default:
		v = math.RoundToEven(v)
	}
	return float32(v)
}

// drawQuantizer is a quantize or threshold node for out channels, and what it computes.
func drawQuantizer(t *rapid.T, r *rand.Rand, out int) (*graph.Node, func(o int, x float32) int) {
	switch between(t, 0, 2, "quantizer") {
	case 0: // a range of integers
		a := &graph.QuantizeAttrs{Bits: between(t, 1, 3, "bits"), Enc: ir.Unipolar, Scale: pick(t, "scale", 1, 0.25, 1.0/3, 3), Rounding: pick(t, "rounding", graph.Roundings()...)}
		a.Range = &graph.QuantRange{Min: between(t, -5, 3, "min")}
		a.Range.Max = a.Range.Min + between(t, 0, 1<<a.Bits-1, "span")
		a.Zero = between(t, 0, 1<<a.Bits-1, "zero")
		zp := float32(a.Zero + a.Range.Min)
		return &graph.Node{Attrs: a}, func(_ int, x float32) int {
			v := x/float32(a.Scale) + zp
			return int(rounded(a.Rounding, min(max(v, float32(a.Range.Min)), float32(a.Range.Max)))) - a.Range.Min
		}
	case 1:
		a := &graph.ThresholdAttrs{Bits: between(t, 1, 3, "bits"), Enc: pick(t, "enc", ir.Unipolar, ir.Bipolar, ir.BipolarInv), Scale: 1, NotLess: rapid.Bool().Draw(t, "not less")}
		rows, cols := between(t, 1, 1<<a.Bits-1, "thresholds"), pick(t, "columns", 1, out)
		w := &graph.Tensor{Shape: []int{rows, cols}, Data: make([]float32, rows*cols)}
		for c := range cols {
			row := make([]float32, rows)
			for i := range row {
				row[i] = float32(pick(t, "threshold", math.Inf(-1), math.Inf(1), 0, r.NormFloat64(), math.Round(2*r.NormFloat64())))
			}
			slices.Sort(row)
			for i, v := range row {
				w.Data[i*cols+c] = v
			}
		}
		return &graph.Node{Attrs: a, Weights: map[string]*graph.Tensor{"thresholds": w}}, func(o int, x float32) int {
			n := 0
			for i := range rows {
				if x >= w.Data[i*cols+o%cols] {
					n++
				}
			}
			return n
		}
	}
	a := drawQuantize(t, 3)
	return &graph.Node{Attrs: a}, func(_ int, x float32) int { return quantized(a, x) }
}

func nonzero(v []float32) []float32 {
	for i := range v {
		if v[i] == 0 {
			v[i] = 1
		}
	}
	return v
}

func drawQuantize(t *rapid.T, bits int) *graph.QuantizeAttrs {
	return &graph.QuantizeAttrs{Unit: rapid.Bool().Draw(t, "unit"), Bits: between(t, 1, bits, "bits"), Enc: encoding(t), Scale: pick(t, "scale", 1, 0.25, 1.0/3, 1.0/7, 3),
		Rounding: pick(t, "rounding", "half_even", "half_up", "floor")}
}

func TestThresholdsOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		enc, r := encoding(t), random(t, "steps")
		const out = 6
		node, want := drawQuantizer(t, r, out)
		q, _ := quantizerOf(node)
		f := layer(t, enc, out)
		vec := func(scale float64) []float32 {
			v := make([]float32, out)
			for o := range v {
				if v[o] = float32(scale * r.NormFloat64()); o == 3 {
					v[o] = 0 // gamma = 0: a constant
				}
			}
			return v
		}
		steps := []graph.FloatStep{{Kind: "mul", A: slices.Repeat([]float32{float32(r.Float64())}, out)}}
		for range between(t, 0, 3, "number") {
			steps = append(steps, pick(t, "step", graph.FloatStep{Kind: "relu"}, graph.FloatStep{Kind: "fma", A: vec(0.5), B: vec(1)}, graph.FloatStep{Kind: "mul", A: vec(1)},
				graph.FloatStep{Kind: "add", A: vec(1)}, graph.FloatStep{Kind: "div", A: nonzero(vec(2))}, graph.FloatStep{Kind: "clip", Lo: -1.5, Hi: 2}, graph.FloatStep{Kind: "sign"},
				graph.FloatStep{Kind: "round", Mode: "half_even"}, graph.FloatStep{Kind: "round", Mode: "ceil"}))
		}
		f.Epilogue.Steps = steps
		before := *f
		if why := turning(f); why != "" {
			t.Fatal(why)
		}
		thresholdsOf(f, enc, q)
		if f.Epilogue.Steps != nil || f.Epilogue.OutBits != q.bits || f.Epilogue.OutEnc != q.enc || len(f.Epilogue.Thresholds) != 1<<q.bits-1 {
			t.Fatalf("%+v", f.Epilogue)
		}
		for o := range out {
			flips, words := 0, 0
			for i := o; i < len(f.WBits); i += out {
				words++
				if f.WBits[i] != before.WBits[i] {
					flips++
				}
			}
			if flips != 0 && flips != words {
				t.Fatalf("channel %d: %d of %d words are negated", o, flips, words)
			}
			for p := range maxPopcount(f) + 1 {
				dot := int64(before.DotBase[o]) - int64(before.DotMul)*p
				v := float32(dot)
				for _, s := range steps {
					switch s.Kind {
					case "mul":
						v *= s.A[o]
					case "fma":
						v = float32(math.FMA(float64(v), float64(s.A[o]), float64(s.B[o])))
					case "relu":
						v = max(v, 0)
					case "add":
						v += s.A[o]
					case "div":
						v /= s.A[o]
					case "clip":
						v = min(max(v, s.Lo), s.Hi)
					case "sign":
						v = float32(cmp.Compare(v, 0))
					case "round":
						v = rounded(s.Mode, v)
					}
				}
				q := p
				if flips > 0 {
					if q = int64(f.DotBase[o]) + dot; q%int64(f.DotMul) != 0 {
						t.Fatalf("channel %d: dot product %d has no popcount", o, -dot)
					}
					q /= int64(f.DotMul)
				}
				if got, want := levelAt(f, o, q), want(o, v); got != want {
					t.Fatalf("channel %d, dot product %d: level %d, want %d", o, dot, got, want)
				}
			}
		}
	})
}

func TestFloatLevels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawQuantize(t, 8)
		q, _ := quantizerOf(&graph.Node{Attrs: a})
		for i, v := range floatLevels(q, 0) {
			below := math.Nextafter32(v, float32(math.Inf(-1)))
			if quantized(a, v) != i+1 || quantized(a, below) != i {
				t.Fatalf("%+v: level(%g) = %d and level(%g) = %d, want %d and one less", a, v, quantized(a, v), below, quantized(a, below), i+1)
			}
		}
	})
}

func TestPassTable(t *testing.T) {
	var names []string
	for _, p := range Passes() {
		if slices.Contains(names, p.Name) || p.Doc == "" {
			t.Errorf("pass %q is listed twice or has no description", p.Name)
		}
		names = append(names, p.Name)
	}
	for _, o := range order() {
		a, b := slices.Index(names, o[0]), slices.Index(names, o[1])
		if a < 0 || b < 0 || a >= b || o[2] == "" {
			t.Errorf("%v: positions %d and %d", o, a, b)
		}
	}
}

// TestUnitQuantizer: without a scale of its own a quantizer is SEMANTICS' round((2^N-1) clip(x, 0, 1)); dividing by the
// rounded 1/(2^N-1) would tip these ties.
func TestUnitQuantizer(t *testing.T) {
	for _, c := range []struct {
		bits  int
		x     float32
		level int
	}{{3, 0.5, 4}, {4, 0.5, 8}, {4, 0.9, 14}, {6, 0.5, 32}, {8, 0.5, 128}, {8, 0.1, 26}, {1, 0.5, 0}, {2, 0.5, 2}} {
		a := &graph.QuantizeAttrs{Unit: true, Bits: c.bits, Enc: ir.Unipolar, Scale: 1 / float64(int(1)<<c.bits-1), Rounding: "half_even"}
		if got := QuantizeLevel(a, c.x); got != c.level {
			t.Errorf("%d bits: level of %g is %d, want %d", c.bits, c.x, got, c.level)
		}
	}
}
