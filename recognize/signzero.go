package recognize

import (
	"fmt"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// signZero gives sign one bit where the option says what it makes of 0.
func signZero(r *rewriter) error {
	if r.options.SignZero == 0 {
		return nil
	}
	from := float32(0)
	if r.options.SignZero < 0 {
		from = least
	}
	for _, n := range slices.Clone(r.g.Nodes) {
		if n.Op != "sign" {
			continue
		}
		l := r.TensorName(n.Output + ".levels")
		t := &graph.Node{Name: n.Name + ".threshold", Op: "threshold", Attrs: &graph.ThresholdAttrs{LevelType: scalar.LevelType{Enc: ir.Bipolar, Bits: 1, Scale: 1}},
			Inputs: n.Inputs, Weights: map[string]*graph.Tensor{"thresholds": {Shape: []int{1, 1}, Data: []float32{from}}}, Note: n.Note}
		t.Verdict = remark(graph.WhySignZero, n)
		t.Verdict.Args.Value = fmt.Sprintf("%+d", r.options.SignZero)
		if err := r.insert(n, t, l); err != nil {
			return err
		}
		d := &graph.Node{Name: n.Name, Op: "dequantize", Attrs: &graph.NoAttrs{}, Inputs: []string{l}}
		out := n.Output
		r.Remove(n)
		if err := r.insert(t, d, out); err != nil {
			return err
		}
	}
	return nil
}
