package fusedglue

import (
	"fmt"
	"testing"

	"ripc/graph"
	"ripc/ir"
)

// TestTransposed: how many convolutions, of which kernels, a transposed one becomes, and what follows them; a quantizer behind
// them folds. What they compute is compared by TestReference in e2e.
func TestTransposed(t *testing.T) {
	for _, c := range []struct {
		kernel, stride, cut, more, groups int
		want                              string
	}{
		{2, 2, 0, 0, 1, "1x1x12 depth_to_space"},
		{3, 1, 1, 0, 1, "3x3x3"},
		{4, 2, 1, 0, 1, "2x2x3 2x2x3 2x2x3 2x2x3 concat depth_to_space"},
		{3, 2, 1, 1, 1, "1x1x3 1x2x3 2x1x3 2x2x3 concat depth_to_space"},
		{3, 2, 0, 0, 1, "2x2x3 2x1x3 1x2x3 1x1x3 concat depth_to_space slice"},
		{8, 4, 2, 0, 1, "2x2x48 depth_to_space slice"},
		{16, 8, 4, 0, 3, "2x2x192 depth_to_space slice"},
		{7, 5, 0, 0, 1, "2x2x75 depth_to_space slice"}, // with taps of 0
		{1, 2, 0, 0, 1, "1x1x12 depth_to_space slice"},
	} {
		for _, bits := range []bool{false, true} {
			n, x := chain(t, ir.Unipolar, 2)
			a := &graph.ConvTranspose2DAttrs{Strides: [2]int{c.stride, c.stride}, OutputPad: [2]int{c.more, c.more}, Groups: c.groups,
				Pad: graph.Padding{Mode: graph.PadExplicit, Top: c.cut, Bottom: c.cut, Left: c.cut, Right: c.cut}}
			w := map[string]*graph.Tensor{"w": n.tensor(0, 1, c.kernel, c.kernel, 3/c.groups, 3)}
			op := "conv_transpose2d"
			if bits {
				op, a.Binary = "bitserial_conv_transpose2d", &graph.BinaryAttrs{WeightScale: graph.ScaleMean}
			} else {
				x = n.plain("dequantize", x)
			}
			y := n.quantize(n.add(op, a, w, x), &graph.QuantizeAttrs{LevelType: n.Value("x").LevelType})
			n.Outputs = []string{y}
			g, err := Fuse(t.Context(), n.Graph, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, m := range g.Nodes {
				switch f := m.Attrs.(type) {
				case *graph.FusedConv:
					got += fmt.Sprintf(" %dx%dx%d", f.KH, f.KW, f.Out)
					if f.Epilogue.OutBits != 2 {
						t.Errorf("%+v: the quantizer does not fold: %s", c, g)
					}
				case *graph.NoAttrs: // the dequantize before it
				default:
					got += " " + m.Op
				}
			}
			if got != " "+c.want {
				t.Errorf("%+v: got%s\n%s", c, got, g)
			}
		}
	}
}
