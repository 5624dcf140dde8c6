package f32

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

var (
	inf  = float32(math.Inf(1))
	nan  = float32(math.NaN())
	tiny = math.Float32frombits(1)        // the least subnormal
	sub  = math.Float32frombits(0x7FFFFF) // the greatest subnormal
	norm = math.Float32frombits(0x800000) // the least normal, 2^-126
	negz = float32(math.Copysign(0, -1))
)

// same compares bits; any NaN is like any other.
func same(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}

// roundBig rounds an exact x, not zero, to f32 as narrow does.
func roundBig(x *big.Float) float32 {
	r := new(big.Float).SetPrec(24).SetMode(big.ToNearestEven).Set(x)
	f, _ := r.Float32()
	if f == 0 || r.MantExp(nil) <= -126 { // r < 2^-126
		return float32(math.Copysign(0, float64(x.Sign())))
	}
	return f
}

func exactFma(a, b, c float32) float32 {
	p, d := float64(Flush(a))*float64(Flush(b)), float64(Flush(c))
	if s := p + d; s == 0 || math.IsInf(s, 0) || s != s {
		return float32(s) // exact in float64
	}
	x := new(big.Float).SetPrec(700).SetFloat64(p)
	return roundBig(x.Add(x, new(big.Float).SetFloat64(d)))
}

// TestFma compares with exact arithmetic: random bits, related exponents, sums half way and just beside.
func TestFma(t *testing.T) {
	n := 400_000
	if testing.Short() {
		n = 20_000
	}
	r := rand.New(rand.NewPCG(1, 2))
	corrected := 0
	check := func(a, b, c float32) {
		t.Helper()
		if got, want := Fma(a, b, c), exactFma(a, b, c); !same(got, want) {
			t.Fatalf("fma(%x, %x, %x) = %x, want %x", a, b, c, got, want)
		}
		if !same(Fma(a, b, c), Flush(float32(float64(a)*float64(b)+float64(c)))) {
			corrected++
		}
	}
	bits := func(exp int) float32 { // a random value of about 2^exp
		return float32(math.Ldexp(float64(1<<23+r.IntN(1<<23)), exp-23)) * float32(1-2*r.IntN(2))
	}
	sparse := func(exp int) float32 { // few bits, so that sums meet half way
		return float32(math.Ldexp(float64(1+r.IntN(4))+math.Ldexp(float64(r.IntN(3)-1), -r.IntN(24)), exp)) * float32(1-2*r.IntN(2))
	}
	for range n {
		check(math.Float32frombits(r.Uint32()), math.Float32frombits(r.Uint32()), math.Float32frombits(r.Uint32()))
		e := r.IntN(100) - 50
		check(bits(e), bits(-e), bits(r.IntN(60)-30))
		check(sparse(e), sparse(-e), sparse(r.IntN(80)-40))
		check(bits(-63), bits(-63-r.IntN(26)), bits(-126+r.IntN(3))) // around the least normal
		check(sparse(-75), sparse(-75), sparse(-126))
		// A product just above a power of two takes 2^-126 to just below narrow's edge.
		m := 1<<23 + r.IntN(1<<23)
		check(float32(math.Ldexp(float64(m), -99)), -float32(math.Ldexp(float64(1<<47/m+1), -99)), norm)
	}
	if corrected == 0 {
		t.Error("no case needed the correction, so it is not tested")
	}
	special := []float32{0, negz, 1, -1, inf, -inf, nan, tiny, -tiny, sub, norm, -norm, math.MaxFloat32, -math.MaxFloat32, 1 + 0x1p-23, 0x1p-24, 0x1p-75, -0x1p-75, 0x1p64, 0x1.000002p64}
	for _, a := range special {
		for _, b := range special {
			for _, c := range special {
				check(a, b, c)
			}
		}
	}
	// 1 + 2^-24 is half way; the 2^-60 decides, and float64 does not see it.
	check(0x1p-24, 1+0x1p-23, 1)
	if got := Fma(0x1p-30, 0x1p-30, 1); got != 1 {
		t.Errorf("got %x", got)
	}
}

// TestOps32 compares single operations with exact arithmetic and with tables.
func TestOps32(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	n := 200_000
	if testing.Short() {
		n = 10_000
	}
	for range n {
		a, b := math.Float32frombits(r.Uint32()), math.Float32frombits(r.Uint32())
		if a != a || b != b || math.IsInf(float64(a), 0) || math.IsInf(float64(b), 0) || Flush(a) == 0 || Flush(b) == 0 {
			continue
		}
		x, y := new(big.Float).SetPrec(700).SetFloat64(float64(a)), new(big.Float).SetPrec(700).SetFloat64(float64(b))
		exact := func() *big.Float { return new(big.Float).SetPrec(700) }
		for name, v := range map[string][2]float32{
			"*": {Mul(a, b), roundBig(exact().Mul(x, y))},
			"/": {Div(a, b), roundBig(exact().Quo(x, y))},
			"+": {Add(a, b), roundBig(exact().Add(x, y))},
			"-": {Sub(a, b), roundBig(exact().Sub(x, y))},
		} {
			if a != b && a != -b && !same(v[0], v[1]) {
				t.Fatalf("%x %s %x = %x, want %x", a, name, b, v[0], v[1])
			}
		}
		if a > 0 {
			if got, want := Sqrt(a), roundBig(exact().Sqrt(x)); !same(got, want) {
				t.Fatalf("sqrt(%x) = %x, want %x", a, got, want)
			}
		}
	}
	for _, c := range []struct {
		name      string
		got, want float32
	}{
		{"subnormal operand", Add(tiny, 0), 0},
		{"subnormal operands", Add(sub, sub), 0},
		{"negative zero", Add(-tiny, negz), negz},
		{"subnormal difference", Sub(norm*1.5, norm), 0},
		{"subnormal product", Mul(-norm, 0.5), negz},
		{"rounds up to normal", Mul(math.Float32frombits(0x3F7FFFFF), norm), 0},
		{"subnormal quotient", Div(norm, -2), negz},
		{"1/-0", Div(1, negz), -inf},
		{"0/0", Div(0, 0), nan},
		{"1/subnormal", Div(1, tiny), inf},
		{"overflow", Mul(math.MaxFloat32, 2), inf},
		{"min nan", Min(nan, 1), 1},
		{"min of nan", Min(1, nan), nan},
		{"min 0 -0", Min(0, negz), negz},
		{"min -0 0", Min(negz, 0), 0},
		{"max 0 -0", Max(0, negz), negz},
		{"max -0 0", Max(negz, 0), 0},
		{"max nan", Max(nan, 1), 1},
		{"max of nan", Max(1, nan), nan},
		{"max", Max(2, 1), 2},
		{"min", Min(2, 1), 1},
		{"min flushes", Min(-tiny, 1), negz},
		{"neg keeps subnormals", Neg(tiny), -tiny},
		{"neg 0", Neg(0), negz},
		{"abs", Abs(-sub), sub},
		{"sqrt -0", Sqrt(negz), negz},
		{"sqrt -1", Sqrt(-1), nan},
		{"sqrt subnormal", Sqrt(sub), 0},
		{"floor", Floor(-0.5), -1},
		{"floor -subnormal", Floor(-sub), negz},
		{"round 0.5", RoundEven(0.5), 0},
		{"round 1.5", RoundEven(1.5), 2},
		{"round -2.5", RoundEven(-2.5), -2},
		{"round -0.3", RoundEven(-0.3), negz},
		{"round inf", RoundEven(-inf), -inf},
	} {
		if !same(c.got, c.want) {
			t.Errorf("%s: got %x, want %x", c.name, c.got, c.want)
		}
	}
}

func TestTruncate(t *testing.T) {
	for _, c := range []struct {
		x      float32
		bits   int
		signed bool
		want   int64
	}{
		{1.9, 8, true, 1}, {-1.9, 8, true, -1}, {127.9, 8, true, 127}, {128, 8, true, 127}, {-128.9, 8, true, -128},
		{-129, 8, true, -128}, {nan, 8, true, 0}, {inf, 8, true, 127}, {-inf, 8, true, -128}, {255.5, 8, false, 255},
		{256, 8, false, 255}, {-0.9, 8, false, 0}, {-5, 8, false, 0}, {nan, 8, false, 0}, {inf, 16, false, 65535},
		{inf, 16, true, 32767}, {0x1p31, 32, true, math.MaxInt32}, {-0x1p31, 32, true, math.MinInt32},
		{0x1.fffffep30, 32, true, 2147483520}, {0x1p31, 32, false, 1 << 31}, {0x1p32, 32, false, math.MaxUint32},
		{0x1p63, 64, true, math.MaxInt64}, {-0x1p63, 64, true, math.MinInt64}, {-inf, 64, true, math.MinInt64},
		{0x1.fffffep62, 64, true, 0x7FFFFF8000000000}, {0x1p63, 64, false, math.MinInt64}, {0x1p64, 64, false, -1},
		{0x1.fffffep63, 64, false, -0x10000000000}, {nan, 64, false, 0}, {sub, 32, true, 0},
	} {
		if got := Truncate(c.x, c.bits, c.signed); got != c.want {
			t.Errorf("Truncate(%v, %d, signed %v) = %d, want %d", c.x, c.bits, c.signed, got, c.want)
		}
	}
}
