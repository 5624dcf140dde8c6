package fusedglue

import (
	"context"
	"slices"

	"ripc/graph"
)

// eltwise makes the ops on single elements float steps (op "eltwise", attribute
// *graph.Elementwise). b / x, whose operands are the wrong way round for a step, stays what it is.
func eltwise(ctx context.Context, r *rewriter) error {
	for n := range r.Each(ctx) {
		steps := graph.Steps(r.g, n)
		if len(steps) == 0 {
			continue
		}
		for i := range steps {
			steps[i].From = n.Name
		}
		n.Op, n.Attrs = "eltwise", &graph.Elementwise{Steps: steps}
	}
	return nil
}

// maxSteps is the number of steps that one layer takes: all of them stand in its innermost loop,
// which has a limit (size.Max) in vectors of 64 channels too. A sign takes some 90 instructions
// there.
const maxSteps = 32

// mergeSteps joins neighbouring eltwise nodes whose tensor between them nobody else reads.
func mergeSteps(ctx context.Context, r *rewriter) error {
	for n := range r.Each(ctx) {
		s, ok := n.Attrs.(*graph.Elementwise)
		if !ok {
			continue
		}
		p := r.only(n)
		if p == nil {
			continue
		}
		if e, ok := p.Attrs.(*graph.Elementwise); ok && !(long(e.Steps) && long(s.Steps)) && len(e.Steps)+len(s.Steps) <= maxSteps {
			p.Attrs = &graph.Elementwise{Steps: slices.Concat(e.Steps, s.Steps)}
			r.absorb(p, n)
		}
	}
	return nil
}
