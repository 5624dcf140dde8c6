package ops_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/f32"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
)

func TestQuantize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, pixels := drawShape(t)
		a := &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: between(t, 1, 8, "bits"), Enc: encoding(t)}, Rounding: rapid.SampledFrom(scalar.Roundings()).Draw(t, "rounding")}
		m := float64(int(1)<<a.Bits - 1)
		lo, hi, zp, offset := 0.0, m, float32(0), 0
		if a.Unit = rapid.Bool().Draw(t, "unit"); a.Unit {
			a.Scale = 1 / m
		} else {
			a.Scale = rapid.SampledFrom([]float64{1, 0.125, 1 / m}).Draw(t, "scale")
		}
		if !a.Unit && a.Enc == ir.Unipolar {
			a.Zero = between(t, 0, int(m), "zero")
			lo, hi, offset = -float64(a.Zero), m-float64(a.Zero), a.Zero
			if rapid.Bool().Draw(t, "range") {
				a.Range = &scalar.Range{Min: between(t, -300, 300, "min")}
				a.Range.Max = a.Range.Min + between(t, 0, int(m), "extent")
				lo, hi, zp, offset = float64(a.Range.Min), float64(a.Range.Max), float32(a.Zero+a.Range.Min), -a.Range.Min
			}
		}
		x := append(drawFloats(t, pixels*s[3], "x"), edges()...)
		s = []int{len(x) / s[3], 1, 1, s[3]}
		x = x[:s[0]*s[3]]
		r := random(t, "ties")
		for i := range x {
			if r.IntN(2) == 0 { // a tie, or an integer
				x[i] = float32(float64(r.IntN(4*int(m)+9)-2*int(m)-4) / 2 * a.Scale)
			}
		}
		levels := make([]int, len(x))
		for i, v := range x {
			v = f32.Flush(v)
			if a.Unit && v != v {
				v = -1
			}
			u := float64(f32.Div(v, float32(a.Scale)))
			switch {
			case a.Unit && a.Enc == ir.Unipolar:
				u = float64(f32.Mul(min(max(v, 0), 1), float32(m)))
			case a.Unit:
				u = float64(f32.Mul(min(max(v, -1), 1)+1, float32(m))) / 2
			case a.Enc == ir.Unipolar:
				if u = float64(f32.Add(float32(u), zp)); u != u {
					u = lo
				}
				u = min(max(u, lo), hi)
			default:
				if u != u {
					u = -m
				}
				u = float64(float32(min(max(u, -m), m))+float32(m)) / 2
			}
			levels[i] = offset + int(a.Rounding.Eval(float32(u)))
		}
		f := ops.Quantize(a, nil, ir.F32, s, layout.Planes, ops.Slice{})
		wantWords(t, f, words(run(t, f, x)), pack(levels, a.Bits, s[3]))
	})
}

func TestThreshold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, bits := drawRank(t, "shape"), between(t, 1, 8, "bits")
		a := &graph.ThresholdAttrs{LevelType: scalar.LevelType{Bits: bits, Enc: rapid.SampledFrom([]ir.EncodingKind{ir.Unipolar, ir.Bipolar, ir.BipolarInv}).Draw(t, "encoding")}, NotLess: rapid.Bool().Draw(t, "not less")}
		count, row := between(t, 1, 1<<bits-1, "count"), s[len(s)-1]
		if rapid.Bool().Draw(t, "all") {
			count = 1<<bits - 1
		}
		if rapid.Bool().Draw(t, "shared") {
			row = 1
		}
		rows, r := make([]float32, count*row), random(t, "thresholds")
		for o := range row {
			var col []float32
			for range count {
				col = append(col, append(edges()[:20], float32(r.NormFloat64()), float32(math.Inf(1)), float32(math.Inf(-1)))[r.IntN(23)])
			}
			slices.Sort(col)
			for j, v := range col {
				rows[j*row+o] = v
			}
		}
		x := drawFloats(t, elems(s), "x")
		for i := range x {
			if r.IntN(2) == 0 {
				x[i] = append(edges(), rows...)[r.IntN(len(edges())+len(rows))]
			}
		}
		levels := make([]int, len(x))
		for i, v := range x {
			for j := range count {
				v, t := f32.Flush(v), f32.Flush(rows[j*row+i%s[len(s)-1]%row])
				if v >= t || a.NotLess && v != v {
					levels[i]++
				}
			}
			if a.Enc == ir.BipolarInv {
				levels[i] = 1<<bits - 1 - levels[i]
			}
		}
		f := ops.Threshold(a, count, row, nil, ir.F32, s, layout.Planes, ops.Slice{})
		wantWords(t, f, words(run(t, f, x, rows)), pack(levels, bits, s[len(s)-1]))
	})
}
