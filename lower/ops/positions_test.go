package ops_test

import (
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/f32"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
)

// TestGather: each pixel of the result, words of levels included, is the one that the lists name.
func TestGather(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, w, c, bits := between(t, 1, 5, "h"), between(t, 1, 5, "w"), channels(t, "c"), between(t, 0, 3, "bits")
		a := &graph.GatherAttrs{Rows: rapid.SliceOfN(rapid.IntRange(0, h-1), 0, 7).Draw(t, "rows"), Columns: rapid.SliceOfN(rapid.IntRange(0, w-1), 1, 7).Draw(t, "columns")}
		rows, oh := a.Rows, len(a.Rows)
		if oh == 0 {
			oh = h
			for i := range h {
				rows = append(rows, i)
			}
		}
		x := layout.Tensor{Value: graph.Value{Shape: []int{1, h, w, c}}}
		if bits > 0 {
			x.LevelType, x.Form = scalar.LevelType{Bits: bits, Enc: ir.Unipolar, Scale: 1}, layout.Planes
		}
		f, tables := ops.Gather(a, x)
		if bits > 0 {
			levels := make([]int, h*w*c)
			for i := range levels {
				levels[i] = i * 7 % (1 << bits)
			}
			var want []int
			for y := range oh {
				for _, q := range a.Columns {
					want = append(want, levels[(rows[y]*w+q)*c:(rows[y]*w+q+1)*c]...)
				}
			}
			wantWords(t, f, words(run(t, f, append([]any{pack(levels, bits, c)}, data(tables)...)...)), pack(want, bits, c))
			return
		}
		v := drawFloats(t, h*w*c, "x")
		var want []float32
		for y := range oh {
			for _, q := range a.Columns {
				want = append(want, v[(rows[y]*w+q)*c:(rows[y]*w+q+1)*c]...)
			}
		}
		wantFloats(t, f, floats(run(t, f, append([]any{v}, data(tables)...)...)), want)
	})
}

// TestInterpolate: rows are mixed first, then columns.
func TestInterpolate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, w, c := between(t, 1, 5, "h"), between(t, 1, 5, "w"), between(t, 1, 40, "c")
		a := &graph.InterpolateAttrs{Rows: rapid.SliceOfN(rapid.Float32Range(0, float32(h-1)), 1, 7).Draw(t, "rows"), Columns: rapid.SliceOfN(rapid.Float32Range(0, float32(w-1)), 1, 7).Draw(t, "columns")}
		f, tables := ops.Interpolate(a, layout.Tensor{Value: graph.Value{Shape: []int{1, h, w, c}}})
		x := drawFloats(t, h*w*c, "x")
		mix := func(a, b, s float32) float32 { return f32.Fma(b, s, f32.Mul(a, f32.Sub(1, s))) }
		var want []float32
		for _, y := range a.Rows {
			for _, q := range a.Columns {
				for k := range c {
					row := func(j int) float32 {
						i := int(y)
						return mix(x[(i*w+j)*c+k], x[(min(i+1, h-1)*w+j)*c+k], y-float32(i))
					}
					j := int(q)
					want = append(want, mix(row(j), row(min(j+1, w-1)), q-float32(j)))
				}
			}
		}
		wantFloats(t, f, floats(run(t, f, append([]any{x}, data(tables)...)...)), want)
	})
}
