package ops_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/f32"
	"ripc/ir"
	"ripc/lower/layout"
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
		s := []int{g.b, g.h, g.w, c}
		f := ops.AvgPool(a, s, slice)
		if op == "max_pool" {
			f = ops.MaxPool(a, layout.Tensor{Value: graph.Value{Shape: s}}, 0, slice)
		}
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

// TestIntPool: means of windows of bytes are what f32 makes of the real values, halves of one scale among them, in each form.
func TestIntPool(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom([]int{1, 5, 33}).Draw(t, "channels")
		level := func(name string) scalar.LevelType {
			return scalar.LevelType{Enc: ir.Unipolar, Bits: 8, Scale: rapid.SampledFrom([]float64{0.02, 0.013}).Draw(t, "scale of "+name), Zero: rapid.IntRange(0, 255).Draw(t, "zero of "+name)}
		}
		x := layout.Tensor{Value: graph.Value{LevelType: level("x"), Shape: []int{1, 5, 4, c}}, Form: layout.Bytes}
		a := &graph.IntPoolAttrs{PoolAttrs: graph.PoolAttrs{Kernel: [2]int{2, 2}, Strides: [2]int{2, 1}, Pad: graph.Padding{Top: 1}}, LevelType: level("y")}
		slice := ops.Slice{}
		if rapid.Bool().Draw(t, "slice") {
			slice = ops.Slice{Offset: 1, Total: c + 2}
		}
		levels := rapid.SliceOfN(rapid.Byte(), 20*c, 20*c).Draw(t, "levels")
		got, wide := run(t, ops.IntPool(a, x, layout.Bytes, slice), levels), max(c, slice.Total)
		for i := range 3 * 3 * c {
			h, w, o := i/c/3, i/c%3, i%c
			sum, count := float32(0), float32(0)
			for d := range 4 {
				if y := 2*h + d/2 - 1; y >= 0 {
					sum += f32.Mul(float32(int(levels[(y*4+w+d%2)*c+o])-x.Zero), float32(x.Scale))
					count++
				}
			}
			want := max(0, min(int(f32.RoundEven(f32.Add(f32.Div(f32.Div(sum, count), float32(a.Scale)), float32(a.Zero)))), 255))
			if g := got[i/c*wide+slice.Offset+o]; int(g) != want {
				t.Fatalf("channel %d at %d, %d is %d, want %d", o, h, w, g, want)
			}
		}
	})
}
