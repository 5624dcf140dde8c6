package fusedglue

import (
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
)

// joinOf returns the function of two tensors of numbers that n computes. ok is false for other
// nodes.
func joinOf(n *graph.Node) (f scalar.Function, ok bool) {
	f, _, ok = graph.FunctionOf(n)
	if count, truths := f.Arguments(); !ok || len(n.Inputs) != 2 || count != 2 || truths > 0 || f.Truth() {
		return 0, false
	}
	return f, n.DistinctInputs()
}

// foldJoin fuses n, a function of two tensors, into the convolution that makes one of them, if n is
// its only reader. An example is the sum behind a residual block. The epilogue then loads the
// element of the other tensor, and continues in the tile. If convolutions make both, the later one
// fuses n. It takes n's place in the graph, since the other tensor may be produced after it.
func (r *rewriter) foldJoin(n *graph.Node) {
	f, ok := joinOf(n)
	if !ok || r.g.Value(n.Output).Encoded() {
		return
	}
	var into *graph.Node
	side := 0
	for i, in := range n.Inputs {
		p := r.soleProducerOf(in)
		a := openConv(p)
		if a == nil || len(a.Epilogue.Joins) == maxJoins ||
			!slices.Equal(r.g.Value(in).Shape, r.g.Value(n.Output).Shape) {
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
	a := openConv(into)
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

// joinLevels lets n, a convolution that makes levels, read packed levels instead of their
// dequantized values: the epilogue unpacks them in step with the words that it packs.
func (r *rewriter) joinLevels(n *graph.Node, f *graph.FusedConv) {
	inputs := slices.Clone(n.Inputs)
	others := f.JoinedTensors(n)
	for k, in := range others {
		if d := r.Producer(in); d != nil && d.Op == "dequantize" {
			inputs[len(inputs)-len(others)+k] = d.Inputs[0]
		}
	}
	r.SetInputs(n, inputs...)
	for _, in := range others {
		if d := r.Producer(in); d != nil {
			r.removeUnread(d)
		}
	}
}

// maxJoins bounds the tensors that one convolution joins: its tile reads each of them.
const maxJoins = 4
