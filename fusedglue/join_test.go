package fusedglue

import (
	"testing"

	"ripc/graph"
	"ripc/graph/explain"
	"ripc/graph/scalar"
	"ripc/ir"
)

// TestJoins: the sum behind a residual block, and the quantizer behind that, fold into a convolution, whatever the other side is.
func TestJoins(t *testing.T) {
	bin := graph.BinaryAttrs{WeightScale: graph.ScaleMean}
	bits := func(n *net, x string) string {
		return n.quantize(x, &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 2, Enc: ir.Unipolar, Scale: 0.1}})
	}
	sum := func(n *net, x, y string) string { return n.add("add", &graph.BinaryOpAttrs{}, nil, x, y) }
	for what, c := range map[string]struct {
		build func(n *net, x string) []string // of levels [1, 4, 4, 3]
		want  string
	}{
		"levels": {func(n *net, x string) []string {
			return []string{bits(n, n.plain("relu", sum(n, n.bn(n.bconv(x, 3, 3, graph.PadSame, bin), 1), n.plain("dequantize", x))))}
		}, "bconv2d -> mul fma add(tensor) relu levels(2 bits)\n"},
		"levels that are read as floats, too": {func(n *net, x string) []string {
			d := n.plain("dequantize", x)
			return []string{bits(n, sum(n, d, n.bconv(x, 3, 3, graph.PadSame, bin))), n.plain("global_avg_pool", d)}
		}, "dequantize\nbconv2d -> mul add(tensor) levels(2 bits)\nglobal_avg_pool\n"},
		"another convolution": {func(n *net, x string) []string {
			return []string{bits(n, sum(n, n.bconv(x, 3, 5, graph.PadSame, bin), n.bn(n.bconv(x, 1, 5, graph.PadSame, bin), 1)))}
		}, "bconv2d -> mul\nbconv2d -> mul fma add(tensor) levels(2 bits)\n"},
		"a sum that two read": {func(n *net, x string) []string {
			y := sum(n, n.bconv(x, 3, 5, graph.PadSame, bin), n.bconv(x, 1, 5, graph.PadSame, bin))
			return []string{bits(n, y), n.plain("relu", y)}
		}, "bconv2d -> mul\nbconv2d -> mul add(tensor)\nthreshold\neltwise\n"},
		"two sums in a row, a gate for each channel": {func(n *net, x string) []string {
			y := n.bconv(x, 1, 5, graph.PadSame, bin)
			z := sum(n, n.bconv(x, 3, 5, graph.PadSame, bin), y)
			gate := n.add("reshape", &graph.ReshapeAttrs{Shape: []int{1, 1, 1, 5}}, nil, n.plain("global_avg_pool", y))
			return []string{bits(n, n.add("mul", &graph.BinaryOpAttrs{}, nil, gate, n.plain("relu", z)))}
		}, "bconv2d -> mul\nglobal_avg_pool\nreshape\nbconv2d -> mul add(tensor) relu mul(tensor) levels(2 bits)\n"},
		"a sum, reshaped": {func(n *net, x string) []string {
			return []string{bits(n, n.plain("flatten", sum(n, n.bconv(x, 3, 3, graph.PadSame, bin), n.plain("dequantize", x))))}
		}, "bconv2d -> mul add(tensor) levels(2 bits)\nflatten\n"},
		"a smaller tensor than the sum": {func(n *net, x string) []string {
			y := n.add("slice", &graph.SliceAttrs{Begin: []int{0, 0, 0, 0}, Size: []int{1, 1, 4, 3}, Stride: []int{1, 1, 1, 1}}, nil, x)
			return []string{sum(n, n.bconv(y, 1, 3, graph.PadSame, bin), n.plain("dequantize", x))}
		}, "slice\nbconv2d -> mul\ndequantize\nadd\n"},
		"levels of 8 bits": {func(n *net, x string) []string {
			y := n.pool(n.plain("relu", n.bconv(x, 3, 5, graph.PadSame, bin)), 2, 2, graph.PadValid)
			return []string{n.quantize(y, &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 8, Enc: ir.Unipolar, Scale: 0.1}})}
		}, "bconv2d -> mul relu quantize(8 bits) max_pool=2x2\n"},
	} {
		n, x := chain(t, ir.Unipolar, 2)
		n.Outputs = c.build(n, x)
		g, err := Fuse(t.Context(), n.Graph, nil, nil)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		got := ""
		for _, m := range g.Nodes {
			got += m.Op
			if f, ok := m.Attrs.(*graph.FusedConv); ok {
				if got += f.Epilogue.String(); f.Pool != nil {
					got += " max_pool=2x2"
				}
			}
			got += "\n"
		}
		if got != c.want {
			t.Errorf("%s: got\n%swant\n%s%s", what, got, c.want, g)
		}
		if err := explain.Strict(g, Strict(g)); err != nil && what != "a sum that two read" {
			t.Errorf("%s: %v", what, err)
		}
	}
}
