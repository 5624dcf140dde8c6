package ops_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/f32"
	"ripc/ir"
	"ripc/lower/ops"
)

func TestEltwise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawRank(t, "shape")
		last := s[len(s)-1]
		x, a, b := drawFloats(t, elems(s), "x"), drawFloats(t, last, "a"), drawFloats(t, last, "b")
		copy(x, edges())
		want := make([]float32, len(x))
		st := scalar.Step{Kind: rapid.SampledFrom([]scalar.Kind{scalar.Mul, scalar.Div, scalar.Add, scalar.Fma, scalar.Relu, scalar.Clip, scalar.Sign, scalar.PRelu}).Draw(t, "kind"), Lo: -0.5, Hi: 0.75}
		in := []any{x, a}
		for i, v := range x {
			c := i % last
			switch v = f32.Flush(v); st.Kind {
			case scalar.Mul:
				want[i] = f32.Mul(v, a[c])
			case scalar.Div:
				want[i] = f32.Div(v, a[c])
			case scalar.Add:
				want[i] = f32.Add(v, a[c])
			case scalar.Fma:
				want[i], in = f32.Fma(v, a[c], b[c]), []any{x, a, b}
			case scalar.Relu:
				want[i], in = f32.Max(v, 0), []any{x}
			case scalar.Clip:
				want[i], in = f32.Min(f32.Max(v, -0.5), 0.75), []any{x}
			case scalar.Sign:
				in = []any{x}
				if v > 0 {
					want[i] = 1
				} else if v < 0 {
					want[i] = -1
				}
			case scalar.PRelu:
				want[i] = f32.Fma(f32.Min(v, 0), a[c], f32.Max(v, 0))
			}
		}
		f := ops.Eltwise([]scalar.Step{st}, ir.F32, s, ops.Slice{})
		got := floats(run(t, f, in...))
		for i := range got {
			if got[i] != got[i] && want[i] != want[i] {
				got[i], want[i] = 0, 0
			}
		}
		wantFloats(t, f, got, want)
	})
}

// TestLongChains: steps that use their operand several times stay small, however many there are, alone and behind a
// convolution, which a quantizer may follow.
func TestLongChains(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom([]int{3, 40}).Draw(t, "c")
		kind := rapid.SampledFrom([]scalar.Step{{Kind: scalar.PRelu}, {Kind: scalar.Add}, {Kind: scalar.Mul}, {Kind: scalar.Round, Mode: scalar.HalfAway}, {Kind: scalar.Round, Mode: scalar.Trunc}})
		steps := rapid.SliceOfN(kind, 1, 40).Draw(t, "steps")
		x := drawFloats(t, c, "x")
		in, want := []any{x}, slices.Clone(x)
		for k := range steps {
			if steps[k].Kind != scalar.Round {
				steps[k].A = drawFloats(t, c, "a")
				in = append(in, steps[k].A)
			}
			for i, v := range want {
				switch a := steps[k].A; steps[k].Kind {
				case scalar.PRelu:
					want[i] = f32.Fma(f32.Min(v, 0), a[i], f32.Max(v, 0))
				case scalar.Add:
					want[i] = f32.Add(v, a[i])
				case scalar.Mul:
					want[i] = f32.Mul(v, a[i])
				case scalar.Round:
					want[i] = steps[k].Mode.Eval(v)
				}
			}
		}
		f := ops.Eltwise(steps, ir.F32, []int{1, c}, ops.Slice{})
		if n := len(f.String()); n > 4000+400*len(steps) {
			t.Fatalf("%d bytes of text for %d steps", n, len(steps))
		}
		wantFloats(t, f, floats(run(t, f, in...)), want)

		// A convolution that multiplies by 1, so that its sums are x.
		a := &graph.FusedConv{KH: 1, KW: 1, SH: 1, SW: 1, In: 1, Out: c, Epilogue: graph.Epilogue{Steps: steps}}
		a.WFloat = x
		f, consts := ops.Conv(realConv(a, 1, 1, 1), ops.Slice{})
		wantFloats(t, f, floats(run(t, f, append([]any{[]float32{1}}, data(consts)...)...)), want)
		a.Epilogue.OutBits, a.Epilogue.OutEnc, a.Epilogue.Levels = 1, ir.Unipolar, []float32{0.5}
		levels := make([]int, c)
		for i, v := range want {
			if v >= 0.5 {
				levels[i] = 1
			}
		}
		f, consts = ops.Conv(realConv(a, 1, 1, 1), ops.Slice{})
		if n := len(f.String()); n > 9000+600*len(steps) {
			t.Fatalf("%d bytes of text for %d steps", n, len(steps))
		}
		wantWords(t, f, words(run(t, f, append([]any{[]float32{1}}, data(consts)...)...)), pack(levels, 1, c))
	})
}
