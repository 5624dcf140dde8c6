package lower_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
	"ripc/ir/interp"
)

// TestAddLevels: sums and differences of two tensors of levels, of 1 to 6 axes of which some are repeated, have the real values
// that those of the operands add up to. A number times levels changes their scale.
func TestAddLevels(t *testing.T) {
	added := 0
	rapid.Check(t, func(t *rapid.T) {
		minus, op := rapid.Bool().Draw(t, "minus"), "add"
		if minus {
			op = "sub"
		}
		var vs [2]graph.Value
		full := make([]int, between(t, 1, 6, "rank"))
		for d := range full {
			full[d] = between(t, 1, 3, "extent")
		}
		full[len(full)-1] = channels(t)
		for k := range vs {
			v := graph.Value{Name: []string{"x", "y"}[k], Shape: append([]int{}, full...)}
			for d := range full {
				if rapid.IntRange(0, 5).Draw(t, "repeated") == 0 {
					v.Shape[d] = 1
				}
			}
			v.Enc = rapid.SampledFrom([]ir.EncodingKind{ir.Unipolar, ir.Bipolar, ir.BipolarInv}).Draw(t, "encoding")
			v.Bits, v.Scale = between(t, 1, 4, "bits"), math.Ldexp(0.3, between(t, -1, 1, "scale"))
			if v.Enc == ir.Unipolar {
				v.Zero = between(t, 0, v.Top(), "zero")
			}
			vs[k] = v
		}
		x, y := vs[0].LevelType, vs[1].LevelType
		s, fault := scalar.SumOf(x.Times(2), y.Times(0.5), minus)
		if fault != scalar.SumExact {
			return
		}
		added++
		n := newNet(t, vs[0])
		n.b.Input(&vs[1])
		n.add("twice", "mul", &graph.BinaryOpAttrs{}, map[string]*graph.Tensor{"b": {Shape: []int{1}, Data: graph.NumbersOf([]float32{2})}}, "x")
		n.add("half", "div", &graph.BinaryOpAttrs{}, map[string]*graph.Tensor{"b": {Shape: []int{1}, Data: graph.NumbersOf([]float32{2})}}, "y")
		n.add("sum", op, &graph.BinaryOpAttrs{}, nil, "twice", "half")
		p := n.program("sum", "half")
		data := [][]byte{drawLevels(t, vs[0].Elems(), x.Bits), drawLevels(t, vs[1].Elems(), y.Bits)}
		out, err := interp.RunProgram(t.Context(), p, data, interp.Options{Checks: interp.All()})
		if err != nil {
			t.Fatalf("%v\n%s", err, p)
		}
		if string(out[1]) != string(data[1]) {
			t.Fatalf("half of %v is %v\n%s", data[1], out[1], p)
		}
		shape := n.Value("sum").Shape
		at := func(v graph.Value, i int) int { // where v has what element i of the sum reads
			j, unit := 0, 1
			for d := len(shape) - 1; d >= 0; d-- {
				if v.Shape[d] > 1 {
					j += i % shape[d] * unit
				}
				i, unit = i/shape[d], unit*v.Shape[d]
			}
			return j
		}
		for i, got := range out[0] {
			a, b := 2*x.Real(int(data[0][at(vs[0], i)])), 0.5*y.Real(int(data[1][at(vs[1], i)]))
			if minus {
				b = -b
			}
			if math.Abs(s.Type.Real(int(got))-a-b) > 1e-9 {
				t.Fatalf("element %d: %g and %g give level %d of %+v\n%s", i, a, b, got, s.Type, p)
			}
		}
	})
	if added == 0 {
		t.Error("nothing was added")
	}
}
