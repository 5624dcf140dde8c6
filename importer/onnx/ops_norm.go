package onnx

import (
	"slices"

	"ripc/graph"
)

// lowerBatchNorm takes the statistics as constants; axis 1 is that of the channels.
func lowerBatchNorm(n *node) *tensor {
	b, t := n.b, n.in[0]
	train := n.intAttr("training_mode", 0)
	switch {
	case train != 0 && b.onConstants: // weight standardization
		return lowerBatchStatistics(n)
	case train != 0:
		panic(n.fail("export the model in evaluation mode", "training_mode is on"))
	}
	eps := n.floatAttr("epsilon", 1e-5)
	n.failIf(len(t.shape) < 2, "", "input has shape %v, want [N, C, ...]", t.shape)
	if t.flat == nil {
		t = b.stored(t, t.last(1))
	}
	weights := map[string]*graph.Tensor{}
	for i, name := range []string{"gamma", "beta", "mean", "var"} {
		a := n.konst(1+i, name)
		n.failIf(!slices.Equal(a.shape, t.shape[1:2]),
			"", "%s %q has shape %v, want [%d]", name, n.Input[1+i], a.shape, t.shape[1])
		shape := slices.Repeat([]int{1}, len(t.shape)-1)
		shape[0] = a.len()
		w := b.vector(t, a.view(shape))
		if w.Data.Len() == 1 {
			w.Shape = []int{1}
		}
		weights[name] = w
	}
	return b.elementwise(t, "batch_norm", &graph.BatchNormAttrs{Epsilon: float64(eps)}, weights)
}
