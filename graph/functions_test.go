package graph_test

import (
	"testing"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// TestElementFunction follows a tensor by value through ops on single elements of one, two and three tensors, constants and
// levels among them.
func TestElementFunction(t *testing.T) {
	one := func(v ...float32) *graph.Tensor { return &graph.Tensor{Shape: []int{len(v)}, Data: graph.NumbersOf(v)} }
	g := &graph.Graph{Values: map[string]*graph.Value{}}
	b := graph.NewBuilder(g)
	b.Input(&graph.Value{Name: "x", Shape: []int{1, 2}, Layout: "NC"})
	add := func(op string, attrs any, weights map[string]*graph.Tensor, inputs ...string) string {
		t.Helper()
		n := &graph.Node{Name: b.NodeName(op), Op: op, Attrs: attrs, Weights: weights, Inputs: inputs}
		n.Output = n.Name
		if _, err := b.Append(n); err != nil {
			t.Fatal(err)
		}
		return n.Output
	}
	type weights = map[string]*graph.Tensor
	none := &graph.NoAttrs{}
	two := scalar.LevelType{Enc: ir.Unipolar, Bits: 2, Scale: 0.5}
	sign := add("sign", none, nil, "x")
	is := add("greater", &graph.BinaryOpAttrs{Reverse: true}, weights{"b": one(1, 2)}, "x") // b > x
	real := add("dequantize", none, nil, is)
	not := add("logical_not", none, nil, is)
	left := add("where", &graph.WhereAttrs{}, weights{"a": one(7, 8)}, is, "x")
	right := add("where", &graph.WhereAttrs{}, weights{"b": one(7)}, is, "x")
	both := add("where", &graph.WhereAttrs{}, weights{"a": one(3), "b": one(4, 5)}, not)
	inverse := add("div", &graph.BinaryOpAttrs{Reverse: true}, weights{"b": one(1)}, "x")
	sum := add("add", &graph.BinaryOpAttrs{}, nil, left, sign)
	quant := add("quantize", &graph.QuantizeAttrs{LevelType: two}, nil, "x")
	inv := add("threshold", &graph.ThresholdAttrs{LevelType: scalar.LevelType{Enc: ir.BipolarInv, Bits: 1, Scale: 2, Offset: 0.25}}, weights{"thresholds": {Shape: []int{1, 2}, Data: graph.NumbersOf([]float32{0, 5})}}, "x")
	pool := add("flatten", none, nil, "x")

	run := func(o int, x float32, want map[string]float32) {
		vals := map[string]float32{"x": x}
		for _, n := range g.Nodes {
			f := graph.ElementFunction(g, n)
			if (f == nil) != (n.Output == pool) {
				t.Fatalf("%s has a function %v", n.Op, f != nil)
			}
			if f == nil {
				continue
			}
			var args []float32
			for _, in := range n.Inputs {
				args = append(args, vals[in])
			}
			vals[n.Output] = f(o, args)
			if w, ok := want[n.Output]; !ok || w != vals[n.Output] {
				t.Errorf("%s of %g in channel %d is %g, want %g", n.Name, x, o, vals[n.Output], w)
			}
		}
	}
	run(1, 1.5, map[string]float32{sign: 1, is: 1, real: 1, not: 0, left: 8, right: 1.5, both: 5, inverse: 1 / float32(1.5), sum: 9, quant: 1.5, inv: -1.75})
	run(0, 1.5, map[string]float32{sign: 1, is: 0, real: 0, not: 1, left: 1.5, right: 7, both: 3, inverse: 1 / float32(1.5), sum: 2.5, quant: 1.5, inv: 2.25})
	run(0, -0.5, map[string]float32{sign: -1, is: 1, real: 1, not: 0, left: 7, right: -0.5, both: 4, inverse: -2, sum: 6, quant: 0, inv: -1.75})
}
