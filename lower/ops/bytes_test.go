package ops_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
	"ripc/lower/ops"
)

// TestBytes: the caller's bytes to floats and back in one stage, against the level types' own arithmetic: every byte, with bits that
// the type does not have, steps with an operand for each channel, and another order of axes.
func TestBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := []int{between(t, 1, 2, "batch"), between(t, 1, 5, "h"), rapid.SampledFrom([]int{1, 3, 7, 16, 32}).Draw(t, "w"), rapid.SampledFrom([]int{1, 2, 3, 5, 33}).Draw(t, "c")}
		lt := scalar.LevelType{Enc: rapid.SampledFrom([]ir.EncodingKind{ir.Unipolar, ir.Bipolar, ir.BipolarInv}).Draw(t, "enc"),
			Bits: between(t, 1, 8, "bits"), Scale: rapid.SampledFrom([]float64{1, 1.0 / 3, 0.1}).Draw(t, "scale"), Offset: rapid.SampledFrom([]float64{0, -0.3}).Draw(t, "offset")}
		if lt.Enc == ir.Unipolar {
			lt.Zero = between(t, 0, lt.Top(), "zero")
			lt.Signed = lt.Bits == 8 && rapid.Bool().Draw(t, "signed")
		}
		var move *graph.TransposeAttrs
		to, at := s, func(i []int) []int { return i }
		if rapid.Bool().Draw(t, "move") {
			move = &graph.TransposeAttrs{Perm: rapid.Permutation([]int{0, 1, 2, 3}).Draw(t, "perm")}
			to = make([]int, 4)
			for d, p := range move.Perm {
				to[d] = s[p]
			}
			at = func(i []int) []int {
				x := make([]int, 4)
				for d, p := range move.Perm {
					x[p] = i[d]
				}
				return x
			}
		}
		n, r := graph.Elems(s), random(t, "data")
		var steps []scalar.Step
		for range between(t, 0, 2, "steps") {
			a := make([]float32, to[3])
			for c := range a {
				a[c] = 1 + r.Float32()
			}
			steps = append(steps, scalar.Step{Kind: rapid.SampledFrom([]scalar.Kind{scalar.Mul, scalar.Add, scalar.Div}).Draw(t, "kind"), A: a})
		}
		from := func(e int) (elem, channel int) { // element of x, and channel of the result, of element e of the result
			var i [4]int
			for d := 3; d >= 0; d-- {
				i[d], e = e%to[d], e/to[d]
			}
			x := at(i[:])
			return ((x[0]*s[1]+x[1])*s[2]+x[2])*s[3] + x[3], i[3]
		}

		bytes := make([]uint8, n)
		for i := range bytes {
			bytes[i] = uint8(r.IntN(256))
		}
		want := make([]float32, n)
		for e := range want {
			b, c := from(e)
			level := int(bytes[b]) & lt.Top()
			if lt.Signed {
				level = int(int8(bytes[b])) + 128
			}
			want[e] = scalar.EvalSteps(steps, c, lt.Float(level))
		}
		f := ops.FromBytes(lt, move, steps, s)
		args := []any{bytes}
		if lt.Signed {
			signed := make([]int8, n)
			for i, b := range bytes {
				signed[i] = int8(b)
			}
			args[0] = signed
		}
		for _, step := range steps {
			args = append(args, ops.BytesOperand(step.A, move, s))
		}
		wantFloats(t, f, floats(run(t, f, args...)), want)

		x := make([]float32, n)
		for i := range x {
			x[i] = (r.Float32() - 0.5) * 400
		}
		x[0] = rapid.SampledFrom([]float32{0, float32(math.NaN()), float32(math.Inf(1)), -1e30}).Draw(t, "hard")
		q := &graph.QuantizeAttrs{LevelType: lt, Rounding: rapid.SampledFrom([]scalar.Rounding{scalar.HalfEven, scalar.HalfAway, scalar.Floor}).Draw(t, "rounding")}
		levels := make([]byte, n)
		for e := range levels {
			b, _ := from(e)
			level := q.Eval(x[b])
			switch {
			case lt.Enc == ir.BipolarInv:
				level = lt.Top() - level
			case lt.Signed:
				level -= 128
			}
			levels[e] = byte(level)
		}
		f = ops.ToBytes(q, move, s)
		if got := run(t, f, x); !slices.Equal(got, levels) {
			t.Fatalf("got %v, want %v\n%s", got, levels, f)
		}

		if move == nil {
			for e, v := range x {
				level := q.Eval(v)
				if lt.Enc == ir.BipolarInv {
					level = lt.Top() - level
				}
				want[e] = scalar.EvalSteps(steps, e%s[3], lt.Float(level))
			}
			args = []any{x}
			for _, step := range steps {
				args = append(args, step.A)
			}
			f = ops.Requantize(q, steps, s)
			wantFloats(t, f, floats(run(t, f, args...)), want)
		}
	})
}
