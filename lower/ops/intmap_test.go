package ops_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
)

// TestIntMap: each byte becomes the one that the table has for it, by formula and by look-up, as a tensor or as channels of a wider one.
func TestIntMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := []int{1, 2, 3, rapid.SampledFrom([]int{1, 5, 16, 33}).Draw(t, "channels")}
		x := scalar.LevelType{Enc: ir.Unipolar, Bits: 8, Scale: 1, Zero: rapid.IntRange(0, 255).Draw(t, "zero")}
		a := &graph.IntMapAttrs{LevelType: x, Table: make([]int, 256)}
		by := rapid.SampledFrom([]float64{0.3137, 1.7133}).Draw(t, "by")
		linear := rapid.Bool().Draw(t, "linear")
		for l := range a.Table {
			if a.Table[l] = l * l % 251; linear {
				a.Table[l] = max(0, min(int(math.RoundToEven(float64(l-x.Zero)*by))+x.Zero, 255))
			}
		}
		slice := ops.Slice{}
		if rapid.Bool().Draw(t, "slice") {
			slice = ops.Slice{Offset: 2, Total: shape[3] + 3}
		}
		form, sign := layout.Bytes, byte(0)
		if rapid.Bool().Draw(t, "signed") {
			form, sign = layout.SignedBytes, 0x80
		}
		f, consts := ops.IntMap(a, layout.Tensor{Value: graph.Value{LevelType: x, Shape: shape}, Form: form}, form, slice)
		var table []uint8
		if len(consts) > 0 {
			table = consts[0].Data().([]uint8)
		}
		if linear != (table == nil) {
			t.Fatalf("linear: %t, a table of %d", linear, len(table))
		}
		levels := rapid.SliceOfN(rapid.Byte(), graph.Elems(shape), graph.Elems(shape)).Draw(t, "levels")
		in := []any{levels}
		if sign > 0 {
			in[0] = signed(levels, sign)
		}
		switch {
		case table != nil && sign > 0:
			in = append(in, signed(table, 0))
		case table != nil:
			in = append(in, table)
		}
		got := run(t, f, in...)
		wide := max(shape[3], slice.Total)
		for i, l := range levels {
			if g := got[i/shape[3]*wide+slice.Offset+i%shape[3]] ^ sign; int(g) != a.Table[l] {
				t.Fatalf("element %d, level %d, is %d, want %d of %v", i, l, g, a.Table[l], a.Table)
			}
		}
	})
}

// signed are bytes as int8, of which some bits are turned around.
func signed(bytes []byte, turned byte) []int8 {
	out := make([]int8, len(bytes))
	for i, b := range bytes {
		out[i] = int8(b ^ turned)
	}
	return out
}
