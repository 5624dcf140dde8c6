package fusedglue

import (
	"testing"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// TestBlocks: normalization and quantizer behind depth_to_space, resize and a slice of rows and columns fold into the
// convolution that made the pixels, channel by channel.
func TestBlocks(t *testing.T) {
	for _, order := range []graph.BlockOrder{graph.BlockDCR, graph.BlockCRD} {
		n, x := chain(t, ir.Unipolar, 2)
		y := n.bconv(x, 3, 12, graph.PadSame, graph.BinaryAttrs{WeightScale: graph.ScaleMean})
		y = n.add("depth_to_space", &graph.BlockAttrs{Block: [2]int{2, 2}, Order: order}, nil, y)
		y = n.add("slice", &graph.SliceAttrs{Begin: []int{0, 1, 1, 0}, Size: []int{1, 6, 6, 3}, Stride: []int{1, 1, 1, 1}}, nil, y)
		y = n.add("resize", &graph.ResizeAttrs{Factor: [2]int{2, 1}}, nil, y)
		y = n.plain("relu", n.bn(y, 1))
		n.Outputs = []string{n.add("quantize", &graph.QuantizeAttrs{LevelType: n.Value(x).LevelType}, nil, y)}
		g, err := Fuse(t.Context(), n.Graph, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		f, ok := g.Nodes[0].Attrs.(*graph.FusedConv)
		if !ok || len(g.Nodes) != 4 || len(f.Epilogue.Thresholds) != 3 {
			t.Fatalf("%s: %s", order, g)
		}
		if v := g.Value(g.Nodes[1].Output); !v.Encoded() {
			t.Errorf("%s moves floats: %s", order, g)
		}
	}
}

// TestBlocksOfChannels: space_to_depth lets pass what is the same in all channels, and nothing else.
func TestBlocksOfChannels(t *testing.T) {
	for _, op := range []string{"relu", "batch_norm"} {
		n, x := chain(t, ir.Unipolar, 2)
		y := n.add("space_to_depth", &graph.BlockAttrs{Block: [2]int{2, 2}}, nil, n.bconv(x, 3, 3, graph.PadSame, graph.BinaryAttrs{WeightScale: graph.ScaleMean}))
		if op == "relu" {
			y = n.plain("relu", y)
		} else {
			y = n.bn(y, 1)
		}
		n.Outputs = []string{y}
		g, err := Fuse(t.Context(), n.Graph, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if passed := len(g.Nodes) == 2; passed != (op == "relu") {
			t.Errorf("%s: %s", op, g)
		}
	}
}

// TestPoolFalls: a norm of a negative factor behind a max_pool keeps both float, and the layer names the channel.
func TestPoolFalls(t *testing.T) {
	for _, falls := range []bool{false, true} {
		n, x := chain(t, ir.Bipolar, 1)
		x = n.bn(n.pool(n.bconv(x, 1, 4, graph.PadSame, graph.BinaryAttrs{WeightScale: graph.ScaleNone}), 2, 2, graph.PadValid), 1)
		norm := n.Nodes[len(n.Nodes)-1]
		if falls {
			norm.Weights["gamma"].Data.Floats()[2] = -0.5
		}
		n.Outputs = []string{n.quantize(x, &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 1, Enc: ir.Bipolar, Scale: 1}})}
		g, err := Fuse(t.Context(), n.Graph, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := graph.Verdict{Kind: graph.Binary}
		if falls {
			want.Reason, want.Where, want.Args = graph.WhyPoolFalls, norm.Name, ir.Args{Channel: 2}
		}
		for _, m := range g.Nodes {
			if m.Op == "bconv2d" && (m.Verdict.Reason != want.Reason || m.Verdict.Where != want.Where || m.Verdict.Args != want.Args) {
				t.Errorf("falls %t: %+v\n%s", falls, m.Verdict, g)
			}
		}
	}
}
