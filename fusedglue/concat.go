package fusedglue

import (
	"fmt"
	"slices"

	"ripc/graph"
)

// concatAfter moves float steps and quantizers behind a concatenation to its inputs, where these come from convolutions that
// may take them in. Each gets its own channels' operands.
func concatAfter(r *rewriter) error {
	for i := 0; i < len(r.g.Nodes); i++ {
		n := r.g.Nodes[i]
		if c := r.only(n); c != nil && c.Op == "concat" && r.splits(n, c) {
			i = slices.Index(r.g.Nodes, c) - 1 // what is before c is as it was
			r.split(n, c)
		}
	}
	return nil
}

// splits reports whether n, behind the concatenation c, is of use before it.
func (r *rewriter) splits(n, c *graph.Node) bool {
	_, steps := n.Attrs.(*graph.Elementwise)
	if q, ok := quantizerOf(n); !steps && (!ok || q.bits > maxThresholdBits) || r.g.Value(c.Output).Encoded() || !c.DistinctInputs() {
		return false
	}
	return slices.ContainsFunc(c.Inputs, func(in string) bool {
		return r.fromConvolution(r.sole(in))
	})
}

// split turns n(c(a, b, ...)) into c(n(a), n(b), ...).
func (r *rewriter) split(n, c *graph.Node) {
	y, at := r.g.Value(n.Output), 0
	inputs := make([]string, len(c.Inputs))
	for i, in := range c.Inputs {
		part := *n
		to := at + r.g.Value(in).Channels()
		part.Attrs, part.Weights = partOf(n, at, to)
		v := *y
		v.Shape, v.View = slices.Clone(r.g.Value(in).Shape), graph.Bytes
		part.Name, part.Inputs, part.Output = r.NodeName(fmt.Sprintf("%s.%d", n.Name, i)), []string{in}, r.TensorName(fmt.Sprintf("%s.%s", in, n.Name))
		r.InsertBefore(c, &part, &v)
		inputs[i], at = part.Output, to
	}
	r.SetInputs(c, inputs...)
	r.absorb(c, n)
}

// partOf are n's attributes and weights for channels from to to-1.
func partOf(n *graph.Node, from, to int) (any, map[string]*graph.Tensor) {
	switch a := n.Attrs.(type) {
	case *graph.Elementwise:
		steps := slices.Clone(a.Steps)
		for i, s := range steps {
			if s.A != nil {
				steps[i].A = s.A[from:to]
			}
			if s.B != nil {
				steps[i].B = s.B[from:to]
			}
		}
		return &graph.Elementwise{Steps: steps}, nil
	case *graph.ThresholdAttrs:
		t := n.Weights["thresholds"]
		if t.Shape[1] == 1 {
			return a, n.Weights
		}
		part := &graph.Tensor{Shape: []int{t.Shape[0], to - from}}
		for i := 0; i < len(t.Data); i += t.Shape[1] {
			part.Data = append(part.Data, t.Data[i+from:i+to]...)
		}
		return a, map[string]*graph.Tensor{"thresholds": part}
	}
	return n.Attrs, n.Weights
}
