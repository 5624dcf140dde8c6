package ops_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/f32"
	"ripc/lower/ops"
)

func TestFloatConv(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGeometry(t)
		in, out := rapid.SampledFrom([]int{1, 3, 33}).Draw(t, "in"), rapid.SampledFrom([]int{1, 3, 31, 32, 33}).Draw(t, "out")
		a := &graph.FusedConv{KH: g.kh, KW: g.kw, SH: g.sh, SW: g.sw, Pad: g.pad, In: in, Out: out}
		x, acc := drawFloats(t, g.b*g.h*g.w*in, "x"), make([]float32, g.b*g.oh*g.ow*out)
		a.WFloat = drawFloats(t, g.kh*g.kw*in*out, "w")
		if values := rapid.SampledFrom([][]float32{nil, nil, {-1, 1}, {-0.7, 0.2}, {-1, 0, 1}, {-3, -1, 1, 3}, {-4, -1, 0, 3}, {-8, -5, 2, 7}}).Draw(t, "values"); values != nil {
			scales := drawFloats(t, out, "scales")
			for i := range a.WFloat {
				a.WFloat[i] = f32.Mul(scales[i%out], values[rapid.IntRange(0, len(values)-1).Draw(t, "weight")])
			}
			a.Few = graph.DecomposeExactly(&graph.Tensor{Shape: []int{g.kh, g.kw, in, out}, Data: graph.NumbersOf(a.WFloat)})
		}
		if rapid.Bool().Draw(t, "bias") {
			a.Bias = drawFloats(t, out, "b")
			for i := range acc {
				acc[i] = a.Bias[i%out]
			}
		}
		g.each(func(p, k, pixel int) {
			for ch := range in {
				v := float32(0)
				if pixel >= 0 {
					v = x[pixel*in+ch]
				}
				for o := range out {
					acc[p*out+o] = f32.Fma(v, a.WFloat[(k*in+ch)*out+o], acc[p*out+o])
				}
			}
		})
		bits := between(t, 0, 3, "bits")
		if a.Epilogue.OutBits = bits; bits == 0 {
			f, consts := ops.Conv(realConv(a, g.b, g.h, g.w), ops.Slice{})
			wantFloats(t, f, floats(run(t, f, append([]any{x}, data(consts)...)...)), acc)
			return
		}
		a.Epilogue.OutEnc = encoding(t)
		a.Epilogue.Steps = []scalar.Step{{Kind: scalar.Fma, A: drawFloats(t, out, "s"), B: drawFloats(t, out, "t")}}
		e, perChannel := &a.Epilogue, rapid.Bool().Draw(t, "per channel")
		level := func(j, o int) float32 { return e.Levels[j] }
		for j := range 1<<bits - 1 {
			if !perChannel {
				e.Levels = append(e.Levels, float32(j)*0.75-1)
				continue
			}
			e.LevelRows = append(e.LevelRows, nil)
			for o := range out {
				v := float32(j)*0.75 - float32(o%5)/2
				if o%4 == 3 && j > 0 {
					v = float32(math.NaN()) // never
				}
				e.LevelRows[j] = append(e.LevelRows[j], v)
			}
			level = func(j, o int) float32 { return e.LevelRows[j][o] }
		}
		levels := make([]int, len(acc))
		for i, v := range acc {
			for levels[i] < 1<<bits-1 && f32.Fma(v, e.Steps[0].A[i%out], e.Steps[0].B[i%out]) >= level(levels[i], i%out) {
				levels[i]++
			}
		}
		f, consts := ops.Conv(realConv(a, g.b, g.h, g.w), ops.Slice{})
		wantWords(t, f, words(run(t, f, append([]any{x}, data(consts)...)...)), pack(levels, bits, out))
	})
}
