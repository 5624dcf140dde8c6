package fusedglue

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/ir"
)

// TestLevelQuantizers: a quantizer of levels' real values, steps before it included, gives the same levels as thresholds on the
// integers, and no float is left; another reader of the real values keeps them.
func TestLevelQuantizers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := random(t, "numbers")
		n := newNet(func(args ...any) { t.Fatal(args...) }, r.NormFloat64)
		c := pick(t, "channels", 1, 5, 33)
		x := n.levels(between(t, 1, 8, "bits"), pick(t, "encoding", ir.Unipolar, ir.Bipolar, ir.BipolarInv), 1, 2, 3, c)
		v := n.Value(x)
		if v.Scale = pick(t, "scale", v.Scale, 0.3, 1); v.Enc == ir.Unipolar {
			v.Zero = between(t, 0, v.Top(), "zero")
		}
		y := n.plain("dequantize", x)
		if rapid.Bool().Draw(t, "read") {
			n.Outputs = append(n.Outputs, y)
		}
		if rapid.Bool().Draw(t, "batch_norm") {
			y = n.plain("relu", n.bn(y, 1))
		}
		q, _ := drawQuantizer(t, r, c)
		op := "quantize"
		if _, ok := q.Attrs.(*graph.ThresholdAttrs); ok {
			op = "threshold"
		}
		n.Outputs = append(n.Outputs, n.add(op, q.Attrs, q.Weights, y))
		data := make([]byte, 2*3*c)
		for i := range data {
			data[i] = byte(r.IntN(1 << v.Bits))
		}
		got, g := interpret(t, n, nil, [][]byte{data})
		want, _ := interpret(t, n, []string{"level_quantizers"}, [][]byte{data})
		for i := range want {
			if !bytes.Equal(got[i], want[i]) {
				t.Fatalf("output %d: %v, want %v\n%s", i, got[i], want[i], g)
			}
		}
		last := g.Nodes[len(g.Nodes)-1]
		if _, ok := last.Attrs.(*graph.ThresholdAttrs); ok && g.Value(last.Inputs[0]).Name == "t1" {
			t.Fatalf("thresholds on real values\n%s", g)
		}
		if _, ok := last.Attrs.(*graph.LevelThresholds); ok && len(n.Outputs) == 1 && len(g.Nodes) != 1 {
			t.Fatalf("floats are left\n%s", g)
		}
	})
}
