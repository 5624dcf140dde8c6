package ops_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/internal/f32"
	"ripc/lower/ops"
)

func TestMaxPoolBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, c, planes, enc := drawGeometry(t), channels(t, "c"), between(t, 1, 3, "planes"), encoding(t)
		x, want := drawLevels(t, g.b*g.h*g.w*c, planes, "x"), make([]int, g.b*g.oh*g.ow*c)
		g.each(func(p, _, pixel int) {
			for ch := range c {
				if pixel >= 0 {
					want[p*c+ch] = max(want[p*c+ch], x[pixel*c+ch])
				}
			}
		})
		a := &graph.PoolAttrs{Kernel: [2]int{g.kh, g.kw}, Strides: [2]int{g.sh, g.sw}, Pad: g.pad}
		f := ops.MaxPoolBits(a, planes, []int{g.b, g.h, g.w, c}, enc, rapid.SampledFrom([]int{0, 4, 16}).Draw(t, "vector"), ops.Slice{})
		wantWords(t, f, words(run(t, f, pack(x, planes, c))), pack(want, planes, c))
	})
}

func TestPoolFloat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, c, op := drawGeometry(t), channels(t, "c"), rapid.SampledFrom([]string{"max_pool", "avg_pool"}).Draw(t, "op")
		x, n := drawFloats(t, g.b*g.h*g.w*c, "x"), g.b*g.oh*g.ow*c
		want, count := make([]float32, n), make([]float32, n)
		if op == "max_pool" {
			for i := range want {
				want[i] = float32(math.Inf(-1))
			}
		}
		g.each(func(p, _, pixel int) {
			for i := p * c; i < (p+1)*c && pixel >= 0; i++ {
				if v := x[pixel*c+i%c]; op == "max_pool" {
					want[i] = max(want[i], v)
				} else {
					want[i], count[i] = f32.Add(want[i], v), count[i]+1
				}
			}
		})
		for i := range want {
			if op == "avg_pool" {
				want[i] = f32.Div(want[i], count[i]) // a window outside the image gives NaN
			}
		}
		a := &graph.PoolAttrs{Kernel: [2]int{g.kh, g.kw}, Strides: [2]int{g.sh, g.sw}, Pad: g.pad}
		slice, out := ops.Slice{}, c
		if rapid.Bool().Draw(t, "slice") {
			slice.Offset = rapid.IntRange(0, 3).Draw(t, "offset")
			slice.Total = slice.Offset + c + rapid.IntRange(0, 3).Draw(t, "behind")
			out = slice.Total
		}
		f := ops.PoolFloat(op, a, []int{g.b, g.h, g.w, c}, slice)
		var got []float32
		for i, v := range floats(run(t, f, x)) {
			if k := i%out - slice.Offset; k >= 0 && k < c {
				got = append(got, v)
			}
		}
		for i := range got {
			if got[i] != got[i] && want[i] != want[i] {
				got[i], want[i] = 0, 0
			}
		}
		wantFloats(t, f, got, want)
	})
}

func TestGlobalAvgPool(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, pixels := drawShape(t)
		x, want := drawFloats(t, pixels*s[3], "x"), make([]float32, s[0]*s[3])
		for i, v := range x {
			o := i/(s[1]*s[2]*s[3])*s[3] + i%s[3]
			want[o] = f32.Add(want[o], v)
		}
		for i := range want {
			want[i] = f32.Div(want[i], float32(s[1]*s[2]))
		}
		f := ops.GlobalAvgPool(s)
		wantFloats(t, f, floats(run(t, f, x)), want)
	})
}
