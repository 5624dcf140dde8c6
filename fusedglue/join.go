package fusedglue

import (
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
)

// joinOf is the function of two tensors of numbers that n is; ok is false where n is none.
func joinOf(n *graph.Node) (f scalar.Function, ok bool) {
	f, _, ok = graph.FunctionOf(n)
	if count, truths := f.Arguments(); !ok || len(n.Inputs) != 2 || count != 2 || truths > 0 || f.Truth() {
		return 0, false
	}
	return f, n.DistinctInputs()
}

// foldJoin puts n, a function of two tensors such as the sum behind a residual block, into the
// convolution that makes one of them, if nobody else reads that: the float in its tile meets the
// element of the other tensor, and goes on in the tile. Where both sides are convolutions it is the
// later one. The convolution takes n's place, since the other tensor may be made behind it.
func (r *rewriter) foldJoin(n *graph.Node) {
	f, ok := joinOf(n)
	if !ok || r.g.Value(n.Output).Encoded() {
		return
	}
	var into *graph.Node
	side := 0
	for i, in := range n.Inputs {
		p := r.sole(in)
		a := open(p)
		if a == nil || len(a.Epilogue.Joins) == maxJoins || !slices.Equal(r.g.Value(in).Shape, r.g.Value(n.Output).Shape) {
			continue
		}
		if into == nil || slices.Index(r.g.Nodes, p) > slices.Index(r.g.Nodes, into) {
			into, side = p, i
		}
	}
	if into == nil {
		return
	}
	join := graph.Join{Function: f, Reverse: side == 1, From: n.Name}
	a := open(into)
	a.Epilogue.Joins = append(slices.Clone(a.Epilogue.Joins), join)
	inputs := append(slices.Clone(into.Inputs), n.Inputs[1-side])
	r.Remove(into)
	n.Name, n.Op, n.Attrs, n.Weights, n.Verdict, n.Pos = into.Name, into.Op, a, into.Weights, into.Verdict, into.Pos
	n.Part = into.Part
	if into.Note != "" {
		n.Note = into.Note
	}
	r.SetInputs(n, inputs...)
}

// joinLevels lets n, a convolution that makes levels, read levels where it meets what a dequantize
// makes of them: the words of both are cut into the same bits.
func (r *rewriter) joinLevels(n *graph.Node, f *graph.FusedConv) {
	inputs := slices.Clone(n.Inputs)
	others := f.Others(n)
	for k, in := range others {
		if d := r.Producer(in); d != nil && d.Op == "dequantize" {
			inputs[len(inputs)-len(others)+k] = d.Inputs[0]
		}
	}
	r.SetInputs(n, inputs...)
	for _, in := range others {
		if d := r.Producer(in); d != nil && r.ConsumerCount(in) == 0 && !r.g.IsOutput(in) {
			r.Remove(d)
		}
	}
}

// maxJoins is the number of tensors that a convolution joins at most: each is one more that its
// tile reads.
const maxJoins = 4
