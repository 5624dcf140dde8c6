package fusedglue

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/f32"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/targets"
)

// TestDecompose: weights of few bits are found whatever their scales, with the fewest bits, and what becomes of the float
// weights with the attributes found are the integers found, to the bit.
func TestDecompose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := pick(t, "kind", "1-bit", "ternary", "odd2", "odd3", "narrow2", "full2", "full3", "full4", "unsigned4", "sparse4", "two")
		outs, per, r := between(t, 1, 5, "outs"), between(t, 8, 40, "per"), random(t, "numbers")
		conv := rapid.Bool().Draw(t, "conv")
		values := map[string][]int{
			"1-bit": {-1, 1}, "ternary": {-1, 0, 1}, "odd2": {-3, -1, 1, 3}, "odd3": {-7, -5, -3, -1, 1, 3, 5, 7}, "narrow2": {-1, 0, 1}, "full2": {-2, -1, 0, 1},
			"full3": {-4, -3, -2, -1, 0, 1, 2, 3}, "full4": {-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7}, "unsigned4": {0, 3, 5, 15}, "sparse4": {-8, -7, 7}, "two": {-9, 11},
		}[kind]
		data := make([]float32, outs*per)
		for o := range outs {
			scale := float32(math.Exp(6*r.Float64() - 5))
			for i := o; i < len(data); i += outs {
				data[i] = f32.Mul(scale, float32(values[r.IntN(len(values))]))
			}
			if kind != "1-bit" && !strings.HasPrefix(kind, "odd") && r.IntN(4) == 0 { // a filter that is switched off
				for i := o; i < len(data); i += outs {
					data[i] = float32(math.Copysign(0, r.Float64()-0.5))
				}
			}
		}
		w := &graph.Tensor{Shape: []int{per, outs}, Data: graph.NumbersOf(data)}
		few, why := graph.Decompose(w)
		if few == nil {
			t.Fatalf("%s weights %v: %+v", kind, data, why)
		}
		for i, v := range data {
			got, near := f32.Mul(few.Scale[i%outs], float32(few.Ints[i])), float32(0)
			if few.Offset != nil {
				got, near = f32.Add(got, few.Offset[i%outs]), 0x1p-21*(few.Scale[i%outs]+f32.Abs(few.Offset[i%outs]))
			}
			if f32.Abs(got-v) > near {
				t.Fatalf("weight %d: %g * %d is not %g", i, few.Scale[i%outs], few.Ints[i], v)
			}
		}
		most := map[string]int64{"1-bit": 1, "ternary": 2, "odd2": 3, "odd3": 7, "narrow2": 2, "full2": 4, "full3": 8, "full4": 16, "unsigned4": 30, "sparse4": 16, "two": 1}
		n := &graph.Node{Weights: map[string]*graph.Tensor{"w": w, "scale": {Shape: []int{outs}, Data: graph.NumbersOf(few.Scale)}, "offset": {Shape: []int{outs}, Data: graph.NumbersOf(few.Offset)}}}
		f := &graph.FusedConv{Out: outs}
		bindIntegers(n, f, &few.Attrs, conv)
		x := graph.Value{LevelType: scalar.LevelType{Enc: ir.Unipolar, Bits: 1}, Shape: []int{1, 1, 1, per}}
		f.KH, f.KW, f.SH, f.SW, f.In, f.X = 1, 1, 1, 1, per, graph.IntegersOf(x.LevelType)
		var span int64
		coefs := layout.NewConv(f, x, targets.Target{}, layout.Popcount).Accumulation.(*layout.Counts).Coefs
		for _, c := range coefs {
			span += int64(max(c, -c))
		}
		if span > max(2, most[kind]) || f.SumBound() < int64(per)*span {
			t.Fatalf("%s weights become %+v: planes add up to %d, sums are bounded by %d", kind, few.Attrs, span, f.SumBound())
		}
		for i, q := range few.Ints {
			if f.Ints.At(i) != float32(q) || float32(f.Alpha[i%outs]) != few.Scale[i%outs] {
				t.Fatalf("%s weight %d: %g * %g, want %d * %g", kind, i, f.Ints.At(i), f.Alpha[i%outs], q, few.Scale[i%outs])
			}
		}
	})
}
