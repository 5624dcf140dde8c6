package refnet

import (
	"testing"

	"pgregory.net/rapid"

	"ripc/graph/scalar"
	"ripc/internal/f32"
)

// TestExp: the reference's formulas are those of the steps, to the bit.
func TestExp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, x := range rapid.SliceOfN(rapid.Float32Range(-100, 100), 100, 100).Draw(t, "x") {
			for _, c := range []struct {
				kind scalar.Kind
				got  float32
			}{{scalar.Sigmoid, sigmoidOf(x)}, {scalar.Tanh, tanhOf(x)}, {scalar.Elu, eluOf(x, 0.7)}} {
				s := scalar.Step{Kind: c.kind, A: []float32{0.7}}
				if want := s.Eval(0, x); c.got != want && f32.Flush(x) != 0 {
					t.Fatalf("%s of %g is %g, its reference %g", c.kind, x, want, c.got)
				}
			}
		}
	})
}
