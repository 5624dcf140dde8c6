package recognize

import (
	"testing"

	"ripc/graph"
)

// TestSpatial: levels pass ops that move pixels, and a transposed convolution of them is bitserial.
func TestSpatial(t *testing.T) {
	n := newNet(t.Fatal, 5)
	x := n.quant(b1(), n.input(1, 4, 4, 8))
	x = n.add("depth_to_space", &graph.BlockAttrs{Block: [2]int{2, 2}}, nil, x)
	x = n.add("resize", &graph.ResizeAttrs{Factor: [2]int{2, 1}}, nil, x)
	x = n.add("space_to_depth", &graph.BlockAttrs{Block: [2]int{2, 2}, Order: graph.BlockCRD}, nil, x)
	a := &graph.ConvTranspose2DAttrs{Strides: [2]int{2, 2}, Pad: graph.Padding{Mode: graph.PadExplicit, Top: 1, Left: 1}}
	y := n.add("conv_transpose2d", a, map[string]*graph.Tensor{"w": n.few([]int{-1, 1}, 3, 3, 8, 4), "b": n.real(4)}, x)
	check(t, "spatial", n.run(y), `
		quantize(x0) -> quantize1
		depth_to_space(quantize1) -> depth_to_space3.levels
		resize(depth_to_space3.levels) -> resize4.levels
		space_to_depth(resize4.levels) -> space_to_depth5.levels
		bitserial_conv_transpose2d(space_to_depth5.levels) -> conv_transpose2d6.sums # binary: 1-bit weights x 1-bit activations
		add(conv_transpose2d6.sums) -> conv_transpose2d6`)
}
