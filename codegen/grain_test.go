package codegen_test

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"ripc/codegen"
	"ripc/internal/f32"
	"ripc/ir"
)

// TestGrain: the grain of a float is that of its last bit, and no power of two above divides it.
func TestGrain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := math.Float32frombits(rapid.Uint32().Draw(t, "bits"))
		g := codegen.Grain(x)
		if v := float64(x); v == 0 || v-v != 0 {
			return
		}
		n := math.Ldexp(float64(x), 149-g)
		if n != math.Trunc(n) || math.Mod(n, 2) == 0 {
			t.Fatalf("%g has grain %d", x, g)
		}
	})
}

// TestGrainOf: results that are rounded once, and not flushed, have the grain that follows from the operands'. From NormalGrain
// on they are what the interpreter makes of them.
func TestGrainOf(t *testing.T) {
	float := rapid.Custom(func(t *rapid.T) float32 { // near the limits, where products are just normal or just not
		n := float64(rapid.Int32Range(-1<<24, 1<<24).Draw(t, "n"))
		return float32(math.Ldexp(n, rapid.SampledFrom([]int{-149, -127, -126, -102, -64, -63, -62, -40, 0, 60}).Draw(t, "e")))
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := float.Draw(t, "a"), float.Draw(t, "b"), float.Draw(t, "c")
		exact := func(x float32) *big.Float { return new(big.Float).SetPrec(600).SetFloat64(float64(x)) }
		product := new(big.Float).SetPrec(600).Mul(exact(a), exact(b))
		sum, _ := new(big.Float).SetPrec(600).Add(product, exact(c)).Float32()
		ga, gb, gc := codegen.Grain(a), codegen.Grain(b), codegen.Grain(c)
		for _, r := range []struct {
			name       string
			raw, meant float32
			grain      int
		}{
			{"sum", a + b, f32.Add(a, b), codegen.GrainOf(ir.Add, ga, gb)},
			{"difference", a - b, f32.Sub(a, b), codegen.GrainOf(ir.Sub, ga, gb)},
			{"product", a * b, f32.Mul(a, b), codegen.GrainOf(ir.Mul, ga, gb)},
			{"fma", sum, f32.Fma(a, b, c), min(codegen.GrainOf(ir.Mul, ga, gb), gc)},
		} {
			if codegen.Grain(r.raw) < r.grain {
				t.Errorf("%s of %g, %g, %g: %g is no multiple of 2^%d", r.name, a, b, c, r.raw, r.grain-149)
			}
			if operands := min(ga, gb, gc); r.grain >= codegen.NormalGrain && operands >= codegen.NormalGrain && r.raw != r.meant {
				t.Errorf("%s of %g, %g, %g: %g, want %g", r.name, a, b, c, r.raw, r.meant)
			}
		}
	})
}
