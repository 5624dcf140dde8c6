package fusedglue

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

func between(t *rapid.T, lo, hi int, what string) int { return rapid.IntRange(lo, hi).Draw(t, what) }

func random(t *rapid.T, what string) *rand.Rand {
	return rand.New(rand.NewPCG(rapid.Uint64().Draw(t, what), 0))
}

func pick[T any](t *rapid.T, what string, of ...T) T { return rapid.SampledFrom(of).Draw(t, what) }

func encoding(t *rapid.T) ir.EncodingKind { return pick(t, "encoding", ir.Unipolar, ir.Bipolar) }

// layer is a random bconv2d of out filters.
func layer(t *rapid.T, enc ir.EncodingKind, out int) *graph.FusedConv {
	f := &graph.FusedConv{KH: between(t, 1, 3, "kh"), KW: 1, SH: 1, SW: 1, In: pick(t, "in", 1, 3, 31, 32, 33, 64), Out: out, X: graph.IntegersOf(scalar.LevelType{Enc: enc, Bits: between(t, 1, 3, "bits of x")})}
	f.W = pick(t, "weights", graph.Integers{Min: -1, Max: 1, Step: 2}, graph.Integers{Min: -2, Max: 1, Step: 1})
	r := random(t, "w")
	ints := make([]int16, f.KH*f.In*out)
	for i := range ints {
		ints[i] = int16(f.W.Min + f.W.Step*r.IntN((f.W.Max-f.W.Min)/f.W.Step+1))
	}
	f.Ints = graph.NumbersOf(ints)
	return f
}

// levelAt counts the thresholds that a sum reaches.
func levelAt(f *graph.FusedConv, o int, sum int64) int {
	if f.Epilogue.Falling != nil && f.Epilogue.Falling[o] {
		sum = -sum
	}
	n := 0
	for j, row := range f.Epilogue.Thresholds {
		if sum >= int64(row[o]) {
			n = j + 1
		}
	}
	return n
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
		steps := []scalar.Step{{Kind: scalar.Mul, A: slices.Repeat([]float32{float32(r.Float64())}, out)}}
		for range between(t, 0, 3, "number") {
			steps = append(steps, pick(t, "step", scalar.Step{Kind: scalar.Relu}, scalar.Step{Kind: scalar.Fma, A: vec(0.5), B: vec(1)}, scalar.Step{Kind: scalar.Mul, A: vec(1)},
				scalar.Step{Kind: scalar.Add, A: vec(1)}, scalar.Step{Kind: scalar.Div, A: nonzero(vec(2))}, scalar.Step{Kind: scalar.Clip, Lo: -1.5, Hi: 2}, scalar.Step{Kind: scalar.Sign},
				scalar.Step{Kind: scalar.Round, Mode: scalar.HalfEven}, scalar.Step{Kind: scalar.Round, Mode: scalar.Ceil}))
		}
		f.Epilogue.Steps = steps
		if why := turning(f); why.Reason != graph.NoReason {
			t.Fatal(why)
		}
		thresholdsOf(f, q)
		if f.Epilogue.Steps != nil || f.Epilogue.OutBits != q.bits || f.Epilogue.OutEnc != q.enc || len(f.Epilogue.Thresholds) != 1<<q.bits-1 {
			t.Fatalf("%+v", f.Epilogue)
		}
		for o := range out {
			lo, hi := f.Sums(o)
			for dot := lo; dot <= hi; dot++ {
				v := float32(dot)
				for _, s := range steps {
					switch s.Kind {
					case scalar.Mul:
						v *= s.A[o]
					case scalar.Fma:
						v = float32(math.FMA(float64(v), float64(s.A[o]), float64(s.B[o])))
					case scalar.Relu:
						v = max(v, 0)
					case scalar.Add:
						v += s.A[o]
					case scalar.Div:
						v /= s.A[o]
					case scalar.Clip:
						v = min(max(v, s.Lo), s.Hi)
					case scalar.Sign:
						v = float32(cmp.Compare(v, 0))
					case scalar.Round:
						v = rounded(s.Mode, v)
					}
				}
				if got, want := levelAt(f, o, dot), want(o, v); got != want {
					t.Fatalf("channel %d, sum %d: level %d, want %d", o, dot, got, want)
				}
			}
		}
	})
}
