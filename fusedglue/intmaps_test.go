package fusedglue

import (
	"slices"
	"testing"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// TestIntMaps: a table of another scale moves into the layer before it, with a clip where the levels' ends are none of the result's; a table of no formula stays, and so
// does one of levels that others read.
func TestIntMaps(t *testing.T) {
	table := func(of func(l int) int) []int {
		all := make([]int, 256)
		for l := range all {
			all[l] = max(0, min(of(l), 255))
		}
		return all
	}
	half := func(l int) int { return int(scalar.HalfEven.Eval(float32(l-100)*0.3)) + 90 }
	for name, c := range map[string]struct {
		table  []int
		others bool // read the layer's levels
		steps  string
	}{
		"narrower":      {table(half), false, "mul clip round mul"},
		"wider":         {table(func(l int) int { return (l-100)*3 + 90 }), false, "mul round mul"},
		"leaks":         {table(func(l int) int { return min(half(l), (half(l)+90*3)/4) }), false, ""},
		"parabola":      {table(func(l int) int { return l * l / 256 }), false, ""},
		"others read x": {table(half), true, ""},
	} {
		n, x := chain(t, ir.Unipolar, 8)
		w := map[string]*graph.Tensor{"w": {Shape: []int{1, 1, n.Value(x).Channels(), 3}}, "multiplier": {Shape: []int{1}, Data: graph.NumbersOf([]float32{0.01})}}
		w["w"].Data = graph.NumbersOf(slices.Repeat([]float32{3, -5, 2}, n.Value(x).Channels()))
		levels := scalar.LevelType{Enc: ir.Unipolar, Bits: 8, Scale: 0.1, Zero: 100}
		a := &graph.IntegerAttrs{Form: graph.FloatRequantization, LevelType: levels, High: 255}
		y := n.add("int_conv2d", &graph.Conv2DAttrs{Strides: [2]int{1, 1}, Integer: a}, w, x)
		to := levels
		to.Zero, to.Scale = 90, 0.3
		z := n.add("int_map", &graph.IntMapAttrs{LevelType: to, Table: c.table}, nil, y)
		n.Outputs = []string{z}
		if c.others {
			n.Outputs = append(n.Outputs, n.pool(y, 2, 2, graph.PadValid))
		}
		g, err := Fuse(t.Context(), n.Graph, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(g.Nodes, func(n *graph.Node) bool { return n.Op == "bconv2d" })
		steps := ""
		for _, s := range g.Nodes[i].Attrs.(*graph.FusedConv).Epilogue.Steps {
			steps += " " + s.Kind.String()
		}
		stays := slices.ContainsFunc(g.Nodes, func(n *graph.Node) bool { return n.Op == "int_map" })
		if want := " " + c.steps; c.steps == "" && !stays || c.steps != "" && (stays || steps != want) {
			t.Errorf("%s: steps%s, the table stays: %t, want%s", name, steps, stays, want)
		}
	}
}
