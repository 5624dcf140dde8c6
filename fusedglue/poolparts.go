package fusedglue

import (
	"context"
	"fmt"
	"slices"

	"ripc/graph"
)

// poolParts replaces a pool of a concatenation of floats by pools of its parts, if the pool is the
// only reader. Less is joined then, and the unpooled tensor never lies in memory as a whole.
func poolParts(ctx context.Context, r *rewriter) error {
	for n := range r.EachNode(ctx) {
		a, pools := n.Attrs.(*graph.PoolAttrs)
		m := r.soleProducer(n)
		if !pools || m == nil || m.Op != "concat" || !m.DistinctInputs() || r.g.Value(m.Output).Encoded() ||
			r.g.Value(n.Output).Elems() >= r.g.Value(m.Output).Elems() {
			continue
		}
		if slices.ContainsFunc(m.Inputs, func(in string) bool { return r.Producer(in) == nil }) {
			continue
		}
		var pooled []string
		for i, in := range m.Inputs {
			part := &graph.Node{Name: r.NodeName(fmt.Sprintf("%s.%d", n.Name, i)), Op: n.Op, Attrs: a,
				Inputs: []string{in}, Output: r.TensorName(fmt.Sprintf("%s.%s", in, n.Name)), Pos: n.Pos}
			if _, err := r.InsertAfter(r.Producer(in), part); err != nil {
				return err
			}
			pooled = append(pooled, part.Output)
		}
		r.SetInputs(m, pooled...)
		r.absorb(m, n)
	}
	return nil
}
