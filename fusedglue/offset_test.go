package fusedglue

import (
	"math/rand/v2"
	"testing"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// TestOffset: glue behind levels with an offset becomes thresholds, which an integer moves where padding cuts the window;
// where none does, it stays float and says why.
func TestOffset(t *testing.T) {
	for _, c := range []struct {
		name         string
		bits         int
		pad          graph.PaddingMode
		outside      graph.PadValue
		folds, moves bool
	}{
		{"unpadded", 2, graph.PadValid, graph.PadZeros, true, false},
		{"padded with a level", 2, graph.PadSame, graph.PadOnes, true, false},
		{"padded with zeros", 1, graph.PadSame, graph.PadZeros, true, true},
		{"padded with zeros, 2 bits", 2, graph.PadSame, graph.PadZeros, false, false},
	} {
		r := rand.New(rand.NewPCG(1, 2))
		n := newNet(t.Fatal, r.NormFloat64)
		x := n.quantize(n.input(1, 5, 5, 8), &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 1, Enc: ir.Bipolar, Scale: 0.7, Offset: 0.3}})
		x = n.bn(n.bconv(x, 3, 6, c.pad, graph.BinaryAttrs{WeightScale: graph.ScaleMean, PadValue: c.outside}), 0)
		n.Outputs = []string{n.quantize(x, &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: c.bits, Enc: ir.Bipolar, Scale: 0.7, Offset: -0.1}})}
		g, err := Fuse(t.Context(), n.Graph, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		p := g.Nodes[len(g.Nodes)-1]
		e := p.Attrs.(*graph.FusedConv).Epilogue
		if (e.Thresholds != nil) != c.folds || (e.Border != nil) != c.moves || (p.Verdict.Reason == graph.WhyBorders) == c.folds {
			t.Errorf("%s: %s, %+v", c.name, g, p.Verdict)
		}
	}
}

// TestWeightOffset: layers whose weights have an offset share the sums of their windows if they read one tensor alike, take
// their quantizers in, and are none that should have been binary.
func TestWeightOffset(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	n := newNet(t.Fatal, r.NormFloat64)
	x := n.quantize(n.input(1, 5, 5, 8), &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 1, Enc: ir.Bipolar, Scale: 0.7}})
	for i, k := range []int{3, 3, 1} {
		b := &graph.BinaryAttrs{WeightScale: graph.ScaleMean, Offset: true}
		a := &graph.Conv2DAttrs{Strides: [2]int{1, 1}, Pad: graph.Padding{Mode: graph.PadSame}, Binary: b}
		y := n.add("bitserial_conv2d", a, map[string]*graph.Tensor{"w": n.tensor(0, 0.3, k, k, 8, 4), "offset": n.tensor(0, 0.1, 4)}, x)
		if i > 0 {
			y = n.quantize(n.bn(y, 0), &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 2, Enc: ir.Bipolar, Scale: 0.7}})
		}
		n.Outputs = append(n.Outputs, y)
	}
	g, err := Fuse(t.Context(), n.Graph, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, n := range g.Nodes {
		count[n.Op]++
		if f, ok := n.Attrs.(*graph.FusedConv); ok && n.Op == "bconv2d" && (f.Epilogue.OutBits > 0) != (n.Verdict.Reason == graph.WhyTwoIntegers) {
			t.Errorf("%+v", n.Verdict)
		}
	}
	if count["window_sum"] != 2 || count["bconv2d"] != 3 || count["quantize"]+count["threshold"] != 1 || len(Strict(g)) > 0 {
		t.Errorf("%s%+v", g, Strict(g))
	}
}
