package fusedglue

import (
	"context"
	"fmt"
	"slices"

	"ripc/graph"
)

// poolParts lets a pool that alone reads a concatenation of floats pool each of the tensors that it
// consists of, as soon as there is one: what is joined is smaller, by as much as the pool makes of
// it, and nothing lies in memory in one piece before it is pooled.
func poolParts(ctx context.Context, r *rewriter) error {
	for n := range r.Each(ctx) {
		a, pools := n.Attrs.(*graph.PoolAttrs)
		m := r.only(n)
		if !pools || m == nil || m.Op != "concat" || !m.DistinctInputs() || r.g.Value(m.Output).Encoded() || r.g.Value(n.Output).Elems() >= r.g.Value(m.Output).Elems() {
			continue
		}
		if slices.ContainsFunc(m.Inputs, func(in string) bool { return r.Producer(in) == nil }) {
			continue
		}
		var pooled []string
		for i, in := range m.Inputs {
			part := &graph.Node{Name: r.NodeName(fmt.Sprintf("%s.%d", n.Name, i)), Op: n.Op, Attrs: a, Inputs: []string{in}, Output: r.TensorName(fmt.Sprintf("%s.%s", in, n.Name)), Pos: n.Pos}
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
