package scalar_test

import (
	"flag"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"ripc/graph/scalar"
	"ripc/internal/f32"
)

var every = flag.Bool("every", false, "TestRising looks at every f32, not at one of 1009 runs of them")

// risingKinds are the steps whose formulas are approximations, and called rising or bending all the same. (Elu with another factor
// is a rounded product of that with 1.)
func risingKinds() []scalar.Step {
	return []scalar.Step{{Kind: scalar.Sigmoid}, {Kind: scalar.Tanh}, {Kind: scalar.Elu, A: []float32{1}}}
}

// TestRising: thresholds may stand for approximations, since they never fall from an f32 to the next, nor from run to run. With
// -every it is a proof.
func TestRising(t *testing.T) {
	const run = 1 << 12
	for _, s := range risingKinds() {
		if !s.Monotone() {
			t.Errorf("%s does not rise", s.Kind)
		}
		lo, hi := f32.Order(float32(math.Inf(-1))), f32.Order(float32(math.Inf(1)))
		runs := (hi - lo + run - 1) / run
		firsts, lasts := make([]float32, runs), make([]float32, runs)
		var next atomic.Int64
		var all sync.WaitGroup
		for range runtime.GOMAXPROCS(0) {
			all.Go(func() {
				for k := next.Add(1) - 1; k < runs; k = next.Add(1) - 1 {
					from, to := lo+k*run, min(lo+(k+1)*run, hi)
					last := s.Eval(0, f32.FromOrder(from))
					firsts[k] = last
					if lasts[k] = s.Eval(0, f32.FromOrder(to)); !*every && k%1009 != 0 {
						continue
					}
					for i := from + 1; i <= to; i++ {
						v := s.Eval(0, f32.FromOrder(i))
						if !(v >= last) {
							t.Errorf("%s of %g is %g, and of the number before it %g", s.Kind, f32.FromOrder(i), v, last)
							return
						}
						last = v
					}
				}
			})
		}
		all.Wait()
		for k := range firsts {
			if !(lasts[k] >= firsts[k]) {
				t.Errorf("%s falls in run %d of f32 numbers", s.Kind, k)
			}
		}
	}
}

// ulps is how many f32 numbers near want lie between it and got.
func ulps(got float32, want float64) float64 {
	_, e := math.Frexp(want)
	return math.Abs(float64(got)-want) / math.Ldexp(1, max(e, -125)-24)
}

// TestExpErrors: how far approximations are from the true values, in units of their last place, over a dense sample.
func TestExpErrors(t *testing.T) {
	sigmoid := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	for _, c := range []struct {
		step     scalar.Step
		want     func(x float64) float64
		from, to float64
		most     float64
	}{
		{scalar.Step{Kind: scalar.Sigmoid}, sigmoid, -87, 40, 2.5},
		{scalar.Step{Kind: scalar.Tanh}, math.Tanh, -20, 20, 3},
		{scalar.Step{Kind: scalar.Exp}, math.Exp, -87, 88.7, 1.5},
		{scalar.Step{Kind: scalar.Silu}, func(x float64) float64 { return x * sigmoid(x) }, -80, 80, 3},
		{scalar.Step{Kind: scalar.Elu, A: []float32{1}}, func(x float64) float64 {
			if x > 0 {
				return x
			}
			return math.Expm1(x)
		}, -100, 5, 2},
	} {
		worst, at := 0.0, float32(0)
		look := func(x float32) {
			if float64(x) < c.from {
				return
			}
			if e := ulps(c.step.Eval(0, x), c.want(float64(x))); e > worst {
				worst, at = e, x
			}
		}
		for i := range 1 << 20 {
			look(float32(c.from + (c.to-c.from)*float64(i)/(1<<20)))
		}
		for o := f32.Order(0x1p-30); o < f32.Order(float32(c.to)); o += 1021 {
			look(f32.FromOrder(o))
			look(-f32.FromOrder(o))
		}
		if t.Logf("%s: %.2f ulp at %g", c.step.Kind, worst, at); worst > c.most {
			t.Errorf("%s of %g is %g, %.2f ulp from %g; want at most %g", c.step.Kind, at, c.step.Eval(0, at), worst, c.want(float64(at)), c.most)
		}
	}
}

// TestExpEnds: what approximations make of infinities, zeros, NaN and numbers so small that nothing is left of them.
func TestExpEnds(t *testing.T) {
	inf, nan, negz := float32(math.Inf(1)), float32(math.NaN()), float32(math.Copysign(0, -1))
	one := []float32{1}
	for _, c := range []struct {
		step    scalar.Step
		x, want float32
	}{
		{scalar.Step{Kind: scalar.Sigmoid}, -inf, 0}, {scalar.Step{Kind: scalar.Sigmoid}, inf, 1}, {scalar.Step{Kind: scalar.Sigmoid}, nan, nan}, {scalar.Step{Kind: scalar.Sigmoid}, negz, 0.5},
		{scalar.Step{Kind: scalar.Sigmoid}, 20, 1}, {scalar.Step{Kind: scalar.Sigmoid}, -1e30, 0},
		{scalar.Step{Kind: scalar.Tanh}, -inf, -1}, {scalar.Step{Kind: scalar.Tanh}, inf, 1}, {scalar.Step{Kind: scalar.Tanh}, nan, nan}, {scalar.Step{Kind: scalar.Tanh}, negz, negz},
		{scalar.Step{Kind: scalar.Tanh}, 0x1p-100, 0x1p-100}, {scalar.Step{Kind: scalar.Tanh}, -0x1p-100, -0x1p-100}, {scalar.Step{Kind: scalar.Tanh}, 10, 1},
		{scalar.Step{Kind: scalar.Elu, A: one}, -inf, -1}, {scalar.Step{Kind: scalar.Elu, A: one}, inf, inf}, {scalar.Step{Kind: scalar.Elu, A: one}, nan, nan}, {scalar.Step{Kind: scalar.Elu, A: one}, 3, 3},
		{scalar.Step{Kind: scalar.Exp}, -inf, 0}, {scalar.Step{Kind: scalar.Exp}, inf, inf}, {scalar.Step{Kind: scalar.Exp}, nan, nan}, {scalar.Step{Kind: scalar.Exp}, 0, 1}, {scalar.Step{Kind: scalar.Exp}, 88.8, inf},
		{scalar.Step{Kind: scalar.Log}, 0, -inf}, {scalar.Step{Kind: scalar.Log}, inf, inf}, {scalar.Step{Kind: scalar.Log}, nan, nan}, {scalar.Step{Kind: scalar.Log}, -1, nan}, {scalar.Step{Kind: scalar.Log}, -inf, nan}, {scalar.Step{Kind: scalar.Log}, 1, 0},
		{scalar.Step{Kind: scalar.Erf}, inf, 1}, {scalar.Step{Kind: scalar.Erf}, -inf, -1}, {scalar.Step{Kind: scalar.Erf}, nan, nan}, {scalar.Step{Kind: scalar.Sqrt}, 9, 3}, {scalar.Step{Kind: scalar.Sqrt}, -1, nan},
		{scalar.Step{Kind: scalar.HardSwish}, -3, 0}, {scalar.Step{Kind: scalar.HardSwish}, 4, 4}, {scalar.Step{Kind: scalar.HardSwish}, 0, 0}, {scalar.Step{Kind: scalar.Silu}, 100, 100}, {scalar.Step{Kind: scalar.Silu}, nan, nan},
	} {
		if got := c.step.Eval(0, c.x); !same(got, c.want) && !(got == 0 && c.want == 0 && c.step.Kind != scalar.Tanh) {
			t.Errorf("%s of %g is %g, want %g", c.step.Kind, c.x, got, c.want)
		}
	}
}

// TestErf: the error function is near the true one everywhere, in absolute terms.
func TestErf(t *testing.T) {
	for i := range 1 << 20 {
		x := float32(i-1<<19) / (1 << 17)
		if got := (scalar.Step{Kind: scalar.Erf}).Eval(0, x); math.Abs(float64(got)-math.Erf(float64(x))) > 5e-7 {
			t.Fatalf("erf of %g is %g, want %g", x, got, math.Erf(float64(x)))
		}
	}
}
