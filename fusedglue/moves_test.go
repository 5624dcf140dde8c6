package fusedglue

import (
	"testing"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// TestMoves: what only moves elements does not keep the glue behind it from folding, where each channel's operands can follow.
func TestMoves(t *testing.T) {
	bits := func(n *net, x string) string {
		return n.quantize(x, &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 2, Enc: ir.Unipolar, Scale: 0.1}})
	}
	reshape := func(n *net, x string, shape ...int) string {
		return n.add("reshape", &graph.ReshapeAttrs{Shape: shape}, nil, x)
	}
	rows := func(n *net, x string, period int) string {
		w := &graph.Tensor{Shape: []int{1, n.c(x)}}
		for i := range n.c(x) {
			w.Data = graph.NumbersOf(append(w.Data.Floats(), float32(i%period)))
		}
		return n.add("threshold", &graph.ThresholdAttrs{LevelType: scalar.LevelType{Bits: 1, Enc: ir.Bipolar, Scale: 1}}, map[string]*graph.Tensor{"thresholds": w}, x)
	}
	for what, c := range map[string]struct {
		glue  func(n *net, x string) string // behind a convolution of [1, 4, 4, 6]
		want  int                           // nodes, the convolution among them
		folds bool
	}{
		"flatten, one quantizer for all":         {func(n *net, x string) string { return bits(n, n.plain("flatten", x)) }, 2, true},
		"flatten, thresholds that repeat":        {func(n *net, x string) string { return rows(n, n.plain("flatten", x), 6) }, 2, true},
		"flatten, thresholds that do not repeat": {func(n *net, x string) string { return rows(n, n.plain("flatten", x), 5) }, 3, false},
		"flatten, then a norm of each feature":   {func(n *net, x string) string { return bits(n, n.bn(n.plain("flatten", x), 1)) }, 3, false},
		"reshape that keeps the channels":        {func(n *net, x string) string { return bits(n, n.bn(reshape(n, x, 1, 1, 16, 6), 1)) }, 2, true},
		"there and back":                         {func(n *net, x string) string { return bits(n, reshape(n, n.bn(reshape(n, x, 16, 6), 1), 1, 4, 4, 6)) }, 1, true},
		"transpose of the image": {func(n *net, x string) string {
			return bits(n, n.bn(n.add("transpose", &graph.TransposeAttrs{Perm: []int{0, 2, 1, 3}}, nil, x), 1))
		}, 2, true},
		"transpose of the channels": {func(n *net, x string) string {
			return bits(n, n.add("transpose", &graph.TransposeAttrs{Perm: []int{0, 3, 1, 2}}, nil, x))
		}, 2, true},
		"transpose of the channels, then a norm": {func(n *net, x string) string {
			return bits(n, n.bn(n.add("transpose", &graph.TransposeAttrs{Perm: []int{0, 3, 1, 2}}, nil, x), 1))
		}, 3, false},
		"slice of the channels": {func(n *net, x string) string {
			return bits(n, n.bn(n.add("slice", &graph.SliceAttrs{Begin: []int{0, 0, 0, 1}, Size: []int{1, 4, 4, 2}, Stride: []int{1, 1, 1, 2}}, nil, x), 1))
		}, 2, true},
		"pad": {func(n *net, x string) string {
			return bits(n, n.add("pad", &graph.SpatialPadAttrs{Pad: graph.Padding{Top: 1}, Value: 0.2}, nil, x))
		}, 2, true},
		"pad, then a norm, which makes more than one number of the border": {func(n *net, x string) string {
			return bits(n, n.bn(n.add("pad", &graph.SpatialPadAttrs{Pad: graph.Padding{Top: 1}, Value: 0.2}, nil, x), 1))
		}, 3, false},
		"slice, pool, flatten": {func(n *net, x string) string {
			y := n.add("slice", &graph.SliceAttrs{Begin: []int{0, 1, 1, 0}, Size: []int{1, 2, 2, 6}, Stride: []int{1, 1, 1, 1}}, nil, n.plain("relu", x))
			return bits(n, n.plain("flatten", n.pool(y, 2, 1, graph.PadValid)))
		}, 4, true},
	} {
		n, x := chain(t, ir.Unipolar, 2)
		n.Outputs = []string{c.glue(n, n.bconv(x, 3, 6, graph.PadSame, graph.BinaryAttrs{WeightScale: graph.ScaleMean}))}
		g, err := Fuse(t.Context(), n.Graph, nil, nil)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		f := g.Nodes[0].Attrs.(*graph.FusedConv)
		if folds := f.Epilogue.Thresholds != nil; len(g.Nodes) != c.want || folds != c.folds {
			t.Errorf("%s: %s", what, g)
		}
	}
}

// TestStepsBehind: steps of the caller's numbers pass a reshape to the quantizer behind it, which takes them in.
func TestStepsBehind(t *testing.T) {
	n := newNet(func(args ...any) { t.Fatal(args...) }, func() float64 { return 1 })
	x := n.plain("relu", n.bn(n.input(1, 4, 4, 1), 1))
	x = n.add("transpose", &graph.TransposeAttrs{Perm: []int{0, 1, 3, 2}}, nil, x)
	x = n.add("reshape", &graph.ReshapeAttrs{Shape: []int{1, 16}}, nil, x)
	n.Outputs = []string{n.quantize(x, &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 2, Enc: ir.Unipolar, Scale: 0.1}})}
	g, err := Fuse(t.Context(), n.Graph, nil, nil)
	if err != nil || len(g.Nodes) != 3 || g.Nodes[2].Op != "threshold" {
		t.Errorf("%v: %s", err, g)
	}
}
