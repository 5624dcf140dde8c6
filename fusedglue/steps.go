package fusedglue

import (
	"slices"

	"ripc/graph"
)

// eltwise turns elementwise ops into float steps (op "eltwise", attribute *graph.Elementwise). b /
// x stays, since a step has x as its first operand.
func eltwise(r *rewriter, n *graph.Node) {
	steps := graph.Steps(r.g, n)
	if len(steps) == 0 {
		return
	}
	for i := range steps {
		steps[i].From = n.Name
	}
	n.Op, n.Attrs = "eltwise", &graph.Elementwise{Steps: steps}
}

// maxSteps bounds the steps of one layer: all of them stand in its innermost loop, which must stay
// within size.Max even in vectors of 64 channels. A sign takes some 90 instructions there.
const maxSteps = 32

// mergeSteps merges neighbouring eltwise nodes, if the tensor between them has no other reader.
func mergeSteps(r *rewriter, n *graph.Node) {
	s, ok := n.Attrs.(*graph.Elementwise)
	if !ok {
		return
	}
	p := r.soleProducer(n)
	if p == nil {
		return
	}
	if e, ok := p.Attrs.(*graph.Elementwise); ok && !(hasLong(e.Steps) && hasLong(s.Steps)) &&
		len(e.Steps)+len(s.Steps) <= maxSteps {
		p.Attrs = &graph.Elementwise{Steps: slices.Concat(e.Steps, s.Steps)}
		r.absorb(p, n)
	}
}
