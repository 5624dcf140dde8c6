package fusedglue

import (
	"context"
	"fmt"
	"slices"

	"ripc/graph"
)

// wholeWords is a number of channels with the property that parts of a multiple of it join as whole
// words, in any packing. Other parts would have to be merged bit by bit.
const wholeWords = 32

// parts lets the readers of a concatenation read its parts, if no reader needs it in one piece.
// Readers may be slices of exactly one part, other concatenations, and quantizers with the steps
// before them. Networks that keep all their features have such blocks. Levels are then joined
// instead of floats, and the layers that make the floats can write their levels beside them.
func parts(ctx context.Context, r *rewriter) error {
	for n := range r.EachNode(ctx) {
		if part := r.sliceOfPart(n); part != "" && !r.g.IsOutput(n.Output) {
			m := r.Producer(n.Inputs[0])
			r.Redirect(n.Output, part)
			r.Remove(n)
			r.removeUnread(m)
		}
	}
	for m := range r.EachNode(ctx) {
		if m.Op != "concat" || r.g.Value(m.Output).Encoded() || !r.readInParts(m) {
			continue
		}
		for _, n := range r.Consumers(m.Output) {
			if n.Op == "concat" {
				i := slices.Index(n.Inputs, m.Output)
				r.SetInputs(n, slices.Concat(n.Inputs[:i], m.Inputs, n.Inputs[i+1:])...)
				continue
			}
			r.split(r.untilLevels(n), m)
		}
		r.removeUnread(m)
	}
	return nil
}

// sliceOfPart returns the part of a concatenation that slice n equals, or "".
func (r *rewriter) sliceOfPart(n *graph.Node) string {
	a, ok := n.Attrs.(*graph.SliceAttrs)
	if !ok {
		return ""
	}
	m, whole, last := r.Producer(n.Inputs[0]), r.g.Value(n.Inputs[0]).Shape, len(a.Begin)-1
	if m == nil || m.Op != "concat" {
		return ""
	}
	for d := range last {
		if a.Begin[d] != 0 || a.Size[d] != whole[d] || a.Stride[d] != 1 {
			return ""
		}
	}
	first := 0
	for _, in := range m.Inputs {
		n := r.g.Value(in).Channels()
		if a.Begin[last] == first && a.Size[last] == n && a.Stride[last] == 1 {
			return in
		}
		first += n
	}
	return ""
}

// readInParts reports whether all readers of m, a concatenation of floats, can read its parts, and
// whether that pays. It pays if parts have other readers, so that quantizers cannot pass m by
// themselves, and a convolution makes one of the parts.
func (r *rewriter) readInParts(m *graph.Node) bool {
	readers := r.Consumers(m.Output)
	if r.g.IsOutput(m.Output) || !m.DistinctInputs() || len(readers) == 0 {
		return false
	}
	quantized, shared := false, len(readers) > 1
	for _, in := range m.Inputs {
		shared = shared || r.soleProducerOf(in) == nil
		if r.g.Value(in).Channels()%wholeWords != 0 {
			return false
		}
	}
	for _, n := range readers {
		if n.Op == "concat" {
			if slices.ContainsFunc(n.Inputs, func(in string) bool { return slices.Contains(m.Inputs, in) }) ||
				!n.DistinctInputs() {
				return false
			}
			continue
		}
		if r.untilLevels(n) == nil {
			return false
		}
		quantized = true
	}
	return quantized && shared && slices.ContainsFunc(m.Inputs, r.madeOpen)
}

// madeOpen reports whether a convolution makes a tensor, possibly followed by steps and sums with
// other tensors.
func (r *rewriter) madeOpen(tensor string) bool {
	p := r.Producer(tensor)
	if p == nil || openConv(p) != nil {
		return p != nil
	}
	_, joins := joinOf(p)
	return (joins || p.Op == "eltwise") && slices.ContainsFunc(p.Inputs, r.reachesOpen)
}

// untilLevels returns n and the chain of its only readers: steps, and the quantizer behind them. It
// returns nil if no quantizer ends the chain.
func (r *rewriter) untilLevels(n *graph.Node) (chain []*graph.Node) {
	for {
		chain = append(chain, n)
		if _, ok := quantizerOf(n); ok {
			return chain
		}
		readers := r.Consumers(n.Output)
		if _, ok := n.Attrs.(*graph.Elementwise); !ok || len(n.Inputs) != 1 || len(readers) != 1 ||
			r.g.IsOutput(n.Output) {
			return nil
		}
		n = readers[0]
	}
}

// split lets chain, a quantizer and the steps before it, read the parts of m, and joins the levels.
func (r *rewriter) split(chain []*graph.Node, m *graph.Node) {
	k, last := movers()[m.Op], chain[len(chain)-1]
	joined := &graph.Node{Name: r.NodeName(fmt.Sprintf("%s.%s", m.Name, last.Name)), Op: m.Op, Attrs: m.Attrs,
		Pos: m.Pos, Output: last.Output}
	for i, in := range m.Inputs {
		x := r.g.Value(in)
		for _, n := range chain {
			part := r.partOf(n, m, k, i)
			r.insertPart(last, part, n, i, in, x)
			in = part.Output
		}
		joined.Inputs = append(joined.Inputs, in)
	}
	r.InsertBefore(last, joined, r.g.Value(last.Output))
	for _, n := range slices.Backward(chain) {
		r.Remove(n)
	}
}
