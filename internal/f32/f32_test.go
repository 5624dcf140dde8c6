package f32_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"ripc/internal/f32"
)

// exactFma rounds x*y+z once with math/big.
func exactFma(x, y, z float32) float32 {
	b := func(v float32) *big.Float { return new(big.Float).SetPrec(600).SetFloat64(float64(v)) }
	r, _ := new(big.Float).SetPrec(600).Add(new(big.Float).SetPrec(600).Mul(b(x), b(y)), b(z)).Float32()
	return r
}

func TestFmaRoundsOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	gen := func() float32 {
		// Few mantissa bits and near exponents make ties and cancellation common.
		m := float32(rng.IntN(1<<uint(1+rng.IntN(24)))) + 1
		v := float32(math.Ldexp(float64(m), rng.IntN(60)-40))
		if rng.IntN(2) == 0 {
			v = -v
		}
		return v
	}
	for range 2_000_000 {
		x, y, z := gen(), gen(), gen()
		got, want := f32.Fma(x, y, z), exactFma(x, y, z)
		if got != want {
			t.Fatalf("Fma(%g, %g, %g) = %g, want %g", x, y, z, got, want)
		}
	}
	// A double rounding through float64 would get this one wrong: the sum lies just above a float32 tie.
	x, y, z := float32(1+0x1p-23), float32(1+0x1p-23), float32(0x1p30)
	if got, want := f32.Fma(x, y, z), exactFma(x, y, z); got != want {
		t.Errorf("Fma tie: got %g, want %g", got, want)
	}
}

func TestFlush(t *testing.T) {
	if got := f32.Flush(-1e-40); got != 0 || !math.Signbit(float64(got)) {
		t.Errorf("Flush(-1e-40) = %g, want -0", got)
	}
	if got := f32.Mul(1e-30, 1e-12); got != 0 {
		t.Errorf("Mul gives %g, want 0", got)
	}
}

func TestOrder(t *testing.T) {
	vs := []float32{float32(math.Inf(-1)), -2, -1e-38, 0, 1e-38, 1, float32(math.Inf(1))}
	for i, v := range vs {
		if f32.FromOrder(f32.Order(v)) != v {
			t.Errorf("FromOrder(Order(%g)) differs", v)
		}
		if i > 0 && f32.Order(vs[i-1]) >= f32.Order(v) {
			t.Errorf("order of %g and %g", vs[i-1], v)
		}
	}
}
