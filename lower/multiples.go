package lower

import (
	"slices"

	"ripc/graph"
	"ripc/lower/layout"
)

// planMultiples finds the floats of bitserial layers that are stored as integer multiples of one
// number. The stages of all readers begin with the product. Sums of such tensors come after their
// operands.
func (l *lowering) planMultiples() {
	for _, n := range l.g.Nodes {
		m, ok := l.multiplesOf(n)
		if !ok {
			continue
		}
		if form, ok := m.Form(); ok {
			l.multiples[n.Output], l.forms[n.Output] = m, form
		}
	}
}

// multiplesOf are the floats that n makes, if they are multiples and all that reads them can read
// these.
func (l *lowering) multiplesOf(n *graph.Node) (m layout.Multiples, ok bool) {
	f, fused := n.Attrs.(*graph.FusedConv)
	if !fused || n.Op != "bconv2d" || l.means[n.Name] != nil || l.g.IsOutput(n.Output) ||
		l.ConsumerCount(n.Output) == 0 {
		return m, false
	}
	if slices.ContainsFunc(l.Consumers(n.Output), func(r *graph.Node) bool { return !l.readsMultiples(r, n.Output) }) {
		return m, false
	}
	var others []*layout.Multiples
	for _, name := range f.JoinedTensors(n) {
		var o *layout.Multiples
		if m, ok := l.multiples[name]; ok {
			o = &m
		}
		others = append(others, o)
	}
	return layout.MultiplesOf(f, others)
}

// readsMultiples reports whether the stage of n can read a tensor of floats as integer multiples of
// a unit.
func (l *lowering) readsMultiples(n *graph.Node, tensor string) bool {
	switch n.Op {
	case "eltwise":
		return true
	case "quantize", "threshold":
		return l.requantized[n.Name] == nil && l.byteOutputs[n.Name] == nil
	case "bconv2d", "fconv2d":
		f := n.Attrs.(*graph.FusedConv)
		return !slices.Contains(n.Inputs[:len(n.Inputs)-len(f.Epilogue.Joins)], tensor)
	}
	return false
}
