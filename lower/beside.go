package lower

import (
	"fmt"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
	"ripc/lower/layout"
)

// planStepsBefore finds the float steps that quantizers alone read: the quantizer's stage does
// them.
func (l *lowering) planStepsBefore() {
	for _, n := range l.quantizers() {
		if e, _ := l.quantized(n); e != nil {
			l.before[n.Name], l.done[e.Name] = e, true
		}
	}
}

// planBeside finds the quantizers of floats that a fused layer makes and that others read too, such
// as a shortcut: the layer's stage writes their levels beside the floats.
func (l *lowering) planBeside() {
	for _, n := range l.quantizers() {
		_, floats := l.quantized(n)
		if p := l.besideLayer(n, floats); p != nil {
			l.beside[p.Name] = append(l.beside[p.Name], n)
			l.done[n.Name] = true
		}
	}
}

// quantizers are the nodes that make planes or bytes of floats for other layers.
func (l *lowering) quantizers() []*graph.Node {
	return slices.DeleteFunc(slices.Clone(l.g.Nodes), func(n *graph.Node) bool {
		return n.Op != "quantize" && n.Op != "threshold" || l.requantized[n.Name] != nil || l.byteOutputs[n.Name] != nil
	})
}

// quantized are the floats that n, a quantizer, makes levels of, and the float steps before it that
// its stage takes, nil for none.
func (l *lowering) quantized(n *graph.Node) (e *graph.Node, floats string) {
	floats = n.Inputs[0]
	if e := l.Producer(floats); e != nil && l.soleReader(floats) == n && l.dequantized[e.Name] == nil {
		if s, ok := e.Attrs.(*graph.Elementwise); ok && !slices.ContainsFunc(s.Steps, scalar.Step.Long) {
			return e, e.Inputs[0]
		}
	}
	return nil, floats
}

// besideLayer returns the fused layer of the floats if its stage can write the levels of n, a
// quantizer of them, beside; else nil. The floats have other readers.
func (l *lowering) besideLayer(n *graph.Node, floats string) *graph.Node {
	p := l.Producer(floats)
	if p == nil || l.soleReader(floats) != nil || l.packApart {
		return nil
	}
	if f, ok := p.Attrs.(*graph.FusedConv); ok {
		if _, ok := layout.BesideOf(f, n); ok {
			return p
		}
	}
	return nil
}

// stepsBefore returns the float steps that the stage of n, a quantizer, fuses, their input, and its
// buffer with the steps' operands.
func (l *lowering) stepsBefore(n *graph.Node) (steps []scalar.Step, x layout.Tensor, args []string) {
	reader := n
	if e := l.before[n.Name]; e != nil {
		reader, steps = e, e.Attrs.(*graph.Elementwise).Steps
	}
	x, src := l.read(reader, reader.Inputs[0])
	steps = slices.Concat(x.UnitSteps(), steps)
	return steps, x, append([]string{src}, l.operands(n.Name, steps, asTheyAre)...)
}

// asTheyAre lays operands out for a stage that reads them by channel.
func asTheyAre(v []float32) []float32 { return v }

// operands are constants for those of steps, in order, of the stage of that name, laid out as the
// stage reads them.
func (l *lowering) operands(stage string, steps []scalar.Step, layOut func([]float32) []float32) []string {
	var args []string
	for _, s := range steps {
		for _, v := range s.Vectors() {
			v = layOut(v)
			args = append(args, l.constant(fmt.Sprintf("%s.s%d", stage, len(args)), ir.F32, []int{len(v)}, v))
		}
	}
	return args
}

// levelsBeside are the levels that the stage of n, the layer f, writes beside its floats, and the
// buffers for them.
func (l *lowering) levelsBeside(n *graph.Node, f *graph.FusedConv) (all []layout.Beside, args []string) {
	for _, q := range l.beside[n.Name] {
		b, _ := layout.BesideOf(f, q)
		if e := l.before[q.Name]; e != nil {
			b.Steps = e.Attrs.(*graph.Elementwise)
		}
		at := l.result(q)
		b.Offset, b.Total = at.slice.Offset, at.slice.Total
		all, args = append(all, b), append(args, at.buf)
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
