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
		var glue []shiftNorm
		for o := range 4 {
			g := newShiftNorm(math.Exp2(-8*r.Float64()), 4*r.Float64()-2, math.Exp2(20*r.Float64()-10), 0, bits, pick(t, "mode", graph.ShiftRiptide, graph.ShiftExactRound))
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
				if got, want := levelAt(f, o, p), g.level(int64(f.DotBase[o])-int64(f.DotMul)*p, bits); got != want {
					t.Fatalf("channel %d, popcount %d: level %d, want %d (%+v)", o, p, got, want, g)
				}
			}
		}
	})
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
		before := *f
		if why := turning(f); why.Reason != graph.NoReason {
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
