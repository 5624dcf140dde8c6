package scalar_test

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph/scalar"
	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/interp"
)

// same compares to the bit; a NaN is like any other.
func same(a, b float32) bool {
	return a != a && b != b || math.Float32bits(a) == math.Float32bits(b)
}

// TestRounding: what each rounding makes of halves, their neighbours, and numbers that are none.
func TestRounding(t *testing.T) {
	negz, inf, nan := float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.NaN())
	nearly := math.Nextafter32(0.5, 0)
	for _, c := range []struct {
		x    float32
		want [8]float32
	}{
		{0, [8]float32{}},
		{negz, [8]float32{negz, negz, negz, negz, negz, negz, negz, negz}},
		{0.25, [8]float32{0, 0, 0, 0, 0, 1, 0, 1}},
		{nearly, [8]float32{0, 0, 0, 0, 0, 1, 0, 1}},
		{-nearly, [8]float32{negz, negz, negz, negz, -1, negz, negz, -1}},
		{0.5, [8]float32{0, 1, 0, 1, 0, 1, 0, 1}},
		{-0.5, [8]float32{negz, negz, -1, -1, -1, negz, negz, -1}},
		{1.5, [8]float32{2, 2, 1, 2, 1, 2, 1, 2}},
		{-1.5, [8]float32{-2, -1, -2, -2, -2, -1, -1, -2}},
		{2.5, [8]float32{2, 3, 2, 3, 2, 3, 2, 3}},
		{-2.75, [8]float32{-3, -3, -3, -3, -3, -2, -2, -3}},
		{0x1p22 + 0.5, [8]float32{0x1p22, 0x1p22 + 1, 0x1p22, 0x1p22 + 1, 0x1p22, 0x1p22 + 1, 0x1p22, 0x1p22 + 1}},
		{0x1p23 + 1, [8]float32{0x1p23 + 1, 0x1p23 + 1, 0x1p23 + 1, 0x1p23 + 1, 0x1p23 + 1, 0x1p23 + 1, 0x1p23 + 1, 0x1p23 + 1}},
		{-inf, [8]float32{-inf, -inf, -inf, -inf, -inf, -inf, -inf, -inf}},
		{nan, [8]float32{nan, nan, nan, nan, nan, nan, nan, nan}},
		{-0x1p-130, [8]float32{negz, negz, negz, negz, negz, negz, negz, negz}},
	} {
		for i, mode := range scalar.Roundings() {
			if got := mode.Eval(c.x); !same(got, c.want[i]) {
				t.Errorf("%s of %v is %v, want %v", mode, c.x, got, c.want[i])
			}
		}
	}
}

// TestEnums: every name is read back as what it names, and nothing else is read.
func TestEnums(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range scalar.Roundings() {
		got, err := scalar.ParseRounding(r.String())
		if err != nil || got != r || seen[r.String()] || !r.Known() {
			t.Errorf("%s is read as %s (%v)", r, got, err)
		}
		seen[r.String()] = true
	}
	for _, text := range []string{"", "Half_even", "half_evn", "8"} {
		if r, err := scalar.ParseRounding(text); err == nil {
			t.Errorf("%q is read as %s", text, r)
		}
	}
	for _, k := range scalar.Kinds() {
		if seen[k.String()] && k != scalar.Round {
			t.Errorf("the name %s is used twice", k)
		}
		seen[k.String()] = true
	}
	if scalar.Rounding(8).Known() {
		t.Error("there are more roundings than names")
	}
}

// edges are numbers at which roundings, comparisons and flushing change, and what is no number.
func edges() []float32 {
	var out []float32
	for _, v := range []float64{0, 0x1p-149, 0x1p-127, 0x1p-126, 0x1p-30, 0.25, 0.49999997, 0.5, 0.50000006, 0.99999994, 1, 1.5, 2.5, 3.5, 127.5, 254.5, 255.5,
		0x1p22 - 0.5, 0x1p22 + 0.5, 0x1p23 - 0.5, 0x1p23, 0x1p23 + 1, 0x1p24 - 1, 0x1p24, 0x1p31, math.MaxFloat32, math.Inf(1)} {
		out = append(out, float32(v), -float32(v))
	}
	return append(out, float32(math.NaN()))
}

// drawNumbers are the edges, halves, multiples of half a scale, and numbers of random bits.
func drawNumbers(t *rapid.T, scale float64) []float32 {
	out := edges()
	for _, v := range rapid.SliceOfN(rapid.Uint32(), 40, 40).Draw(t, "bits") {
		half := float64(int32(v)>>8) / 2
		out = append(out, math.Float32frombits(v), float32(half), float32(half*scale), float32(math.Remainder(half, 600)*scale))
	}
	return out
}

// evaluate computes an expression of f32 x (and the rest of the operands, one element each) with the interpreter, as type typ.
func evaluate(t *rapid.T, typ ir.Type, x []float32, operands []float32, expr func(x ir.Expr, operand func() ir.Expr) ir.Expr) []uint32 {
	n := 0
	i := ir.V("i")
	params := []ir.Param{{Buffer: ir.Buffer{Name: "x", Type: ir.F32, Shape: []int{len(x)}}}, {Buffer: ir.Buffer{Name: "v", Type: ir.F32, Shape: []int{max(1, len(operands))}}}}
	y := ir.Buffer{Name: "y", Type: typ, Shape: []int{len(x)}}
	e := expr(ir.At(params[0].Buffer, i), func() ir.Expr {
		n++
		return ir.At(params[1].Buffer, ir.Int(n-1))
	})
	f := &ir.Func{Name: "f", Params: append(params, ir.Param{Buffer: y, Out: true}),
		Body: ir.Nest([]ir.Loop{{Var: "i", Extent: len(x)}}, &ir.Store{Buf: "y", Idx: []ir.Expr{i}, Op: ir.Assign, Val: e})}
	for _, check := range []func(*ir.Func) error{ir.Verify, arith.VerifyBounds, arith.VerifyWidths} {
		if err := check(f); err != nil {
			t.Fatalf("%v\n%s", err, f)
		}
	}
	if n != len(operands) {
		t.Fatalf("%d operands are read, want %d", n, len(operands))
	}
	p, err := interp.CompileChecked(f)
	if err != nil {
		t.Fatal(err)
	}
	bytes := func(v []float32) []byte {
		b, _ := binary.Append(nil, binary.LittleEndian, v)
		return b
	}
	out := make([]byte, 4*len(x))
	if err := p.Run(context.Background(), [][]byte{bytes(x), bytes(append(slices.Clone(operands), 0)[:max(1, len(operands))]), out}); err != nil {
		t.Fatalf("%v\n%s", err, f)
	}
	words := make([]uint32, len(x))
	for k := range words {
		words[k] = binary.LittleEndian.Uint32(out[4*k:])
	}
	return words
}

// TestStepExpr: a step's expression is its value, to the bit, for every kind, every rounding, and numbers of all sorts.
func TestStepExpr(t *testing.T) {
	for _, kind := range scalar.Kinds() {
		for _, mode := range scalar.Roundings() {
			if kind != scalar.Round && mode != scalar.HalfEven {
				continue
			}
			rapid.Check(t, func(t *rapid.T) {
				pick := func(label string) float32 { return rapid.SampledFrom(drawNumbers(t, 1)).Draw(t, label) }
				s := scalar.Step{Kind: kind, Mode: mode, A: []float32{pick("a")}, B: []float32{pick("b")}, Lo: pick("lo"), Hi: pick("hi")}
				var operands []float32
				for _, v := range s.Vectors() {
					operands = append(operands, v[0])
				}
				x := drawNumbers(t, 1)
				for i, got := range evaluate(t, ir.F32, x, operands, s.Expr) {
					if want := s.Eval(0, x[i]); !same(math.Float32frombits(got), want) {
						t.Fatalf("%s (%+v) of %g is %g, its expression %g", kind, s, x[i], want, math.Float32frombits(got))
					}
				}
			})
		}
	}
}

// TestCourse: what the table of kinds says of rising and falling holds for rounded values, on neighbours and across signs.
func TestCourse(t *testing.T) {
	for _, kind := range scalar.Kinds() {
		rapid.Check(t, func(t *rapid.T) {
			operand := rapid.Custom(func(t *rapid.T) float32 {
				return rapid.SampledFrom([]float32{-1, 1}).Draw(t, "sign") * rapid.Float32Range(0x1p-60, 0x1p60).Draw(t, "size")
			})
			s := scalar.Step{Kind: kind, Mode: rapid.SampledFrom(scalar.Roundings()).Draw(t, "rounding"),
				A: []float32{operand.Draw(t, "a")}, B: []float32{operand.Draw(t, "b")}, Lo: operand.Draw(t, "lo"), Hi: operand.Draw(t, "hi")}
			increasing, sign := scalar.Increasing([]scalar.Step{s}), float32(1)
			if s.Turns() && s.A[0] < 0 {
				sign = -1
			}
			if increasing && (!s.Monotone() || sign < 0) {
				t.Fatalf("%s (%+v) is called increasing, but not monotone", kind, s)
			}
			if !s.Monotone() {
				return
			}
			var x []float32
			for _, v := range slices.Concat(drawNumbers(t, 1), rapid.SliceOfN(rapid.Float32Range(-8, 8), 40, 40).Draw(t, "small")) {
				for range 4 {
					if x = append(x, v); v-v != 0 {
						x = x[:len(x)-1]
					}
					v = math.Nextafter32(v, float32(math.Inf(1)))
				}
			}
			slices.Sort(x)
			for i := 1; i < len(x); i++ {
				if a, b := s.Eval(0, x[i-1]), s.Eval(0, x[i]); sign*a > sign*b {
					t.Fatalf("%s (%+v) is called monotone (its course in step.go), but makes %g of %g and %g of %g", kind, s, a, x[i-1], b, x[i])
				}
			}
		})
	}
}

// drawQuantizer is a quantizer as graph.Infer passes it.
func drawQuantizer(t *rapid.T) *scalar.Quantizer {
	q := &scalar.Quantizer{Rounding: rapid.SampledFrom(scalar.Roundings()).Draw(t, "rounding")}
	q.Enc, q.Bits = rapid.SampledFrom([]ir.EncodingKind{ir.Unipolar, ir.Bipolar, ir.BipolarInv}).Draw(t, "encoding"), rapid.IntRange(1, 8).Draw(t, "bits")
	if q.Unit = rapid.Bool().Draw(t, "unit"); q.Unit {
		q.Scale = 1 / float64(q.Top())
		return q
	}
	q.Offset = rapid.SampledFrom([]float64{0, 0, 0.3, -2.5, 1e6}).Draw(t, "offset")
	if q.Scale = rapid.SampledFrom([]float64{1, 0.125, 1.0 / 3, 3, 1e-18, 1e18}).Draw(t, "scale"); q.Enc == ir.Unipolar {
		q.Zero = rapid.IntRange(0, q.Top()).Draw(t, "zero")
		if rapid.Bool().Draw(t, "range") {
			low := rapid.IntRange(-300, 300).Draw(t, "min")
			q.Range = &scalar.Range{Min: low, Max: low + rapid.IntRange(0, q.Top()).Draw(t, "span")}
		}
	}
	return q
}

// TestQuantizerExpr: a quantizer's expression is its value, a level that the type has.
func TestQuantizerExpr(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q, x := drawQuantizer(t), []float32(nil)
		x = drawNumbers(t, q.Scale)
		for i, got := range evaluate(t, ir.I32, x, nil, func(x ir.Expr, _ func() ir.Expr) ir.Expr { return q.Expr(x) }) {
			if want := q.Eval(x[i]); int(int32(got)) != want || want < 0 || want > q.Top() {
				t.Fatalf("the level of %g is %d, its expression %d: %+v of scale %g, %s, unit %v", x[i], want, int32(got), *q, q.Scale, q.Rounding, q.Unit)
			}
		}
	})
}

// TestLevelType: a level is that of its real value, and types print in one way.
func TestLevelType(t *testing.T) {
	for _, c := range []struct {
		t    scalar.LevelType
		want string
		real float64 // of level 1
	}{
		{scalar.LevelType{}, "f32", 0},
		{scalar.LevelType{Enc: ir.Unipolar, Bits: 2, Scale: 0.5}, "unipolar2", 0.5},
		{scalar.LevelType{Enc: ir.Unipolar, Bits: 8, Scale: 0.5, Zero: 128, Signed: true}, "affine8(zero=128)", -63.5},
		{scalar.LevelType{Enc: ir.Bipolar, Bits: 2, Scale: 0.5}, "bipolar2", -0.5},
		{scalar.LevelType{Enc: ir.BipolarInv, Bits: 2, Scale: 0.5}, "bipolar_inv2", 0.5},
		{scalar.LevelType{Enc: ir.Bipolar, Bits: 1, Scale: 0.5, Offset: -0.25}, "bipolar1", 0.25},
		{scalar.LevelType{Enc: ir.Unipolar, Bits: 2, Scale: 0.5, Offset: 3, Zero: 1}, "affine2(zero=1)", 3},
	} {
		if c.t.String() != c.want || c.t.Real(1) != c.real {
			t.Errorf("%+v prints as %s, and its level 1 stands for %g; want %s and %g", c.t, c.t, c.t.Real(1), c.want, c.real)
		}
		if lo, hi := c.t.Range(); c.t.Encoded() {
			for l := range c.t.Top() + 1 {
				if f := c.t.Float(l); float64(f) != c.t.Real(l) {
					t.Errorf("%s: the real value of level %d is %g, in f32 %g", c.t, l, c.t.Real(l), f)
				}
				if got, ok := c.t.Level(c.t.Real(l)); got != l || !ok || c.t.Integer(l) < lo || c.t.Integer(l) > hi {
					t.Errorf("%s: level %d comes back as %d", c.t, l, got)
				}
			}
			if _, ok := c.t.Level(c.t.Real(1) + c.t.Scale/3); ok {
				t.Errorf("%s has a level between its levels", c.t)
			}
		}
	}
}
