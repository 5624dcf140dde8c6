package graph

import (
	"slices"

	"ripc/internal/human"
)

// inferMatMul wants two tensors of the same rank, from 2 to 4.
func inferMatMul(g *Graph, n *Node, in []*Value, _ *NoAttrs) *Value {
	g.failIf(len(in) != 2, n, "a product with a constant is a dense layer", "has %s, want 2",
		human.Count(len(in), "input"))
	for _, x := range in {
		g.needFloat(n, x)
	}
	x, y := in[0].Shape, in[1].Shape
	rank := len(x)
	g.failIf(rank != len(y) || rank < 2 || rank > 4, n, "reshape them",
		"inputs have shapes %v and %v, want two of one rank from 2 to 4", x, y)
	out := slices.Clone(x)
	out[rank-1] = y[rank-1]
	ok := x[rank-1] == y[rank-2]
	for d := range rank - 2 {
		ok = ok && (x[d] == y[d] || x[d] == 1 || y[d] == 1)
		out[d] = max(x[d], y[d])
	}
	g.failIf(!ok, n, "want [..., M, K] and [..., K, N]; only axes of extent 1 are repeated",
		"inputs have shapes %v and %v", x, y)
	return (&Value{}).reshaped(out)
}
