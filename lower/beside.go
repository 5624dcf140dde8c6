package lower

import (
	"ripc/graph"
	"ripc/lower/layout"
)

// planBeside finds the quantizers of floats that others read too, such as a shortcut, and that a fused layer makes: its stage writes
// their levels beside the floats.
func (l *lowering) planBeside() {
	l.beside, l.besides = map[string][]*graph.Node{}, map[string]bool{}
	for _, n := range l.g.Nodes {
		if n.Op != "quantize" && n.Op != "threshold" || l.passed[n.Name] != nil || l.written[n.Name] != nil {
			continue
		}
		p := l.Producer(n.Inputs[0])
		if p == nil || l.soleReader(p.Output) != nil {
			continue
		}
		f, ok := p.Attrs.(*graph.FusedConv)
		if !ok {
			continue
		}
		if _, ok := layout.BesideOf(f, n); ok {
			l.beside[p.Name] = append(l.beside[p.Name], n)
			l.besides[n.Name] = true
		}
	}
}

// levelsBeside are the levels that the stage of n, the layer f, writes beside its floats, and the buffers for them.
func (l *lowering) levelsBeside(n *graph.Node, f *graph.FusedConv) (all []layout.Beside, args []string) {
	for _, q := range l.beside[n.Name] {
		b, _ := layout.BesideOf(f, q)
		all, args = append(all, b), append(args, l.result(q).buf)
	}
	return all, args
}

// besideBits is the number of bits of the levels that n's stage writes beside its floats.
func (l *lowering) besideBits(n *graph.Node) int {
	bits := 0
	for _, q := range l.beside[n.Name] {
		bits += l.g.Value(q.Output).Bits
	}
	return bits
}
