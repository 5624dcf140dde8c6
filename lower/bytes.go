package lower

import (
	"slices"

	"ripc/graph"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
)

// planOutputs finds the quantizers of levels that the caller takes.
func (l *lowering) planOutputs() {
	for _, name := range l.g.Outputs {
		l.planOutput(l.g.Value(name))
	}
}

// planRequantized finds the levels that nobody needs as bits or bytes, between quantizers and
// floats.
func (l *lowering) planRequantized() {
	for _, n := range l.g.Nodes {
		if n.Op != "quantize" || !l.becomesFloats(n.Output) {
			continue
		}
		l.requantized[n.Name], l.done[n.Name] = n, true
		for _, r := range l.Consumers(n.Output) {
			l.requantized[r.Name] = n
		}
	}
}

// becomesFloats reports whether a tensor has readers, and all of them turn levels into floats.
func (l *lowering) becomesFloats(name string) bool {
	readers := l.Consumers(name)
	return !l.g.IsOutput(name) && len(readers) > 0 && !slices.ContainsFunc(readers, func(r *graph.Node) bool {
		return r.Op != "dequantize"
	})
}

// planOutput finds the quantizer of levels that the caller takes as bytes, if they have no other
// reader.
func (l *lowering) planOutput(v *graph.Value) {
	if !v.Encoded() || v.View != graph.Bytes || l.ConsumerCount(v.Name) > 0 {
		return
	}
	n := l.Producer(v.Name)
	if n != nil && n.Op == "transpose" && l.soleReader(n.Inputs[0]) == n {
		if q := l.Producer(n.Inputs[0]); q != nil && q.Op == "quantize" {
			l.byteOutputs[q.Name], l.byteOutputs[n.Name] = n, n
			l.done[q.Name] = true // the transpose comes behind it
		}
	}
	if n != nil && n.Op == "quantize" {
		l.byteOutputs[n.Name] = n
	}
}

// planForms finds the levels that are stored as bytes: the caller's, and whole families with
// producers and consumers that all can.
func (l *lowering) planForms() {
	for _, name := range l.g.Inputs {
		if v := l.g.Value(name); v.Encoded() && v.View == graph.Bytes {
			l.forms[name] = layout.BytesOf(v.LevelType)
		}
	}
	for _, f := range l.families() {
		if form, ok := l.bytesOf(f); ok {
			for _, name := range f.members {
				l.forms[name] = form
			}
		}
	}
}

// planTransposes finds the transposes that stages do which make floats of bytes.
func (l *lowering) planTransposes() {
	for _, n := range l.g.Nodes {
		if n.Op == "transpose" && l.formAt(n, n.Inputs[0]).Bytewise() && l.becomesFloats(n.Output) {
			l.transposed[n.Output], l.done[n.Name] = n, true
		}
	}
}

// planStepsBehind finds the float steps that stages do which make floats of levels.
func (l *lowering) planStepsBehind() {
	for _, n := range l.g.Nodes {
		if n.Op == "dequantize" && (l.requantized[n.Name] != nil || l.formAt(n, n.Inputs[0]).Bytewise()) {
			l.takeSteps(n)
		}
	}
}

// takeSteps lets the stage of n, a dequantize, do the float steps behind it, if nobody else reads
// it.
func (l *lowering) takeSteps(n *graph.Node) {
	if e := l.soleReader(n.Output); e != nil && e.Op == "eltwise" && len(e.Inputs) == 1 {
		l.dequantized[e.Name], l.done[n.Name] = n, true
	}
}

// family are tensors of levels that lie in memory in the same form, since ops lie between that only
// move or choose levels.
type family struct {
	members []string
	sources []string // inputs of the network with the levels of members
	chosen  bool     // not all such ops only move levels
}

// keepsForm reports whether the levels that n makes lie as those lie that it reads. Chooses says
// that it does not only move them.
func keepsForm(g *graph.Graph, n *graph.Node) (keeps, chooses bool) {
	if n.Output == "" || len(n.Inputs) == 0 || !g.Value(n.Inputs[0]).Encoded() || !g.Value(n.Output).Encoded() {
		return false, false
	}
	switch n.Op {
	case "reshape", "flatten", "transpose", "slice", "depth_to_space", "space_to_depth", "resize", "gather":
		return true, false
	case "max_pool", "pad", "concat":
		return true, true
	}
	return graph.OfLevels(g, n) && len(n.Inputs) == 1, false
}

// families are those of all tensors of levels that layers make, in the order of the layers.
func (l *lowering) families() []*family {
	of := map[string]*family{}
	var all []*family
	for _, n := range l.g.Nodes {
		v := l.g.Values[n.Output]
		if v == nil || !v.Encoded() || l.requantized[n.Name] != nil || l.byteOutputs[n.Name] != nil {
			continue
		}
		f := &family{members: []string{v.Name}}
		of[v.Name], all = f, append(all, f)
		keeps, chooses := keepsForm(l.g, n)
		if !keeps {
			continue
		}
		f.chosen = chooses
		for _, in := range n.Inputs {
			if o := of[in]; o == nil {
				f.sources = append(f.sources, in)
			} else if o != f {
				f.join(o, of)
				all = slices.DeleteFunc(all, func(a *family) bool { return a == o })
			}
		}
	}
	return all
}

// join takes o's tensors in.
func (f *family) join(o *family, of map[string]*family) {
	for _, m := range o.members {
		of[m] = f
	}
	f.members, f.sources, f.chosen = append(o.members, f.members...), append(o.sources, f.sources...), f.chosen ||
		o.chosen
}

// bytesOf is the form of bytes in which f's levels lie; ok is false where they are planes of bits.
func (l *lowering) bytesOf(f *family) (form layout.Form, ok bool) {
	forms := map[layout.Form]bool{} // forms of the caller's members
	few, shown, made := false, false, false
	for _, name := range append(slices.Clone(f.members), f.sources...) {
		v := l.g.Value(name)
		few = few || v.Bits < layout.MinBytes
		if slices.Contains(l.g.Inputs, name) || l.g.IsOutput(name) {
			if v.View != graph.Bytes {
				return 0, false
			}
			forms[layout.BytesOf(v.LevelType)] = true
		}
	}
	for _, name := range f.members {
		n := l.Producer(name)
		keeps, _ := keepsForm(l.g, n)
		if !keeps && !l.writesBytes(n) {
			return 0, false
		}
		shown, made = shown || l.g.IsOutput(name), made || !keeps
		for _, r := range l.Consumers(name) {
			if keeps, _ := keepsForm(l.g, r); !keeps && !l.readsBytes(r, name) {
				return 0, false
			}
		}
	}
	// Only some bits of the caller's bytes count. Layers mask the rest, but stages that pass bytes
	// on do not.
	masked := slices.ContainsFunc(f.sources, func(s string) bool { return l.masked(l.g.Value(s)) })
	if len(forms) > 1 || masked && (shown || f.chosen) || few && made {
		return 0, false
	}
	for form := range forms {
		return form, true
	}
	if l.target.SignedBytes() && l.g.Value(f.members[0]).Bits == ir.U8.Bits() {
		return layout.SignedBytes, true
	}
	return layout.Bytes, true
}

// writesBytes reports whether the stage of n can write levels as bytes.
func (l *lowering) writesBytes(n *graph.Node) bool {
	switch n.Op {
	case "bconv2d", "fconv2d", "int_add", "int_mul", "int_map", "int_avg_pool", "int_softmax":
		return true
	case "quantize":
		_, floats := l.quantized(n)
		return l.besideLayer(n, floats) == nil
	}
	return false
}

// readsBytes reports whether n, which does not keep the form of levels, can read a tensor of levels
// as bytes.
func (l *lowering) readsBytes(n *graph.Node, tensor string) bool {
	switch n.Op {
	case "bconv2d", "window_sum":
		return n.Inputs[0] != tensor || l.choices[n.Name].Algorithm.ReadsBytes()
	case "fconv2d", "int_add", "int_mul", "int_map", "int_avg_pool", "int_softmax", "dequantize":
		return true
	}
	return false
}

// formAt is the form in which n reads a tensor: one of the caller's may be there as bits, too.
func (l *lowering) formAt(n *graph.Node, tensor string) layout.Form {
	v := l.g.Value(tensor)
	form, ok := l.forms[tensor]
	if !ok {
		return layout.FormOf(v)
	}
	if slices.Contains(l.g.Inputs, tensor) {
		keeps, _ := keepsForm(l.g, n)
		if keeps && l.transposed[n.Output] == nil && l.forms[n.Output] != form || !keeps && !l.readsBytes(n, tensor) {
			return layout.Planes
		}
	}
	return form
}

// read is a tensor as n reads it, and its buffer.
func (l *lowering) read(n *graph.Node, tensor string) (t layout.Tensor, buf string) {
	t = l.tensor(tensor, l.formAt(n, tensor))
	if bits, ok := l.bits[tensor]; ok && t.Form == layout.Planes {
		return t, bits
	}
	return t, l.at[tensor].buf
}

// tensor is a tensor in one of its forms.
func (l *lowering) tensor(name string, form layout.Form) layout.Tensor {
	return layout.Tensor{Value: *l.g.Value(name), Form: form, Multiples: l.multiples[name]}
}

// masked reports whether bits of v's bytes do not count, since the caller's may be any.
func (l *lowering) masked(v *graph.Value) bool {
	return slices.Contains(l.g.Inputs, v.Name) && v.Bits < ir.U8.Bits()
}

// bitsWanted reports whether an input of the caller's bytes is needed as bits.
func (l *lowering) bitsWanted(name string) bool {
	return l.g.IsOutput(name) && l.masked(l.g.Value(name)) ||
		slices.ContainsFunc(l.Consumers(name), func(n *graph.Node) bool {
			return l.formAt(n, name) == layout.Planes
		})
}

// resultForm returns the form of n's result.
func (l *lowering) resultForm(n *graph.Node) layout.Form {
	if form, ok := l.forms[n.Output]; ok {
		return form
	}
	return layout.FormOf(l.g.Value(n.Output))
}

// soleReader is the only node that reads a tensor, nil where there are others, or the caller does.
func (l *lowering) soleReader(name string) *graph.Node { return soleReader(l.g, l.Index, name) }

// soleReader is lowering.soleReader of a tensor of g.
func soleReader(g *graph.Graph, index *graph.Index, name string) *graph.Node {
	if readers := index.Consumers(name); len(readers) == 1 && !g.IsOutput(name) {
		return readers[0]
	}
	return nil
}

// floats adds the stage of the floats of n, a dequantize, with the steps of e behind it if e is not
// nil. It reads bytes, or the floats that the levels were.
func (l *lowering) floats(n, e *graph.Node) {
	last, a := n, &graph.Elementwise{}
	if e != nil {
		last, a = e, e.Attrs.(*graph.Elementwise)
	}
	operand := asTheyAre
	stage := &graph.Node{Name: last.Name, Op: n.Op, Inputs: n.Inputs, Output: last.Output, Verdict: n.Verdict,
		Note: last.Note}
	var src string
	var f *ir.Func
	if q := l.requantized[n.Name]; q == nil {
		reader, tensor, move := n, n.Inputs[0], (*graph.TransposeAttrs)(nil)
		if m := l.transposed[tensor]; m != nil {
			reader, tensor, move = m, m.Inputs[0], m.Attrs.(*graph.TransposeAttrs)
		}
		var x layout.Tensor
		x, src = l.read(reader, tensor)
		operand = func(w []float32) []float32 { return ops.BytesOperand(w, move, x.Shape) }
		f = ops.FromBytes(x.StoredType(), move, a.Steps, x.Shape)
	} else {
		x := l.g.Value(q.Inputs[0])
		levels := q.Attrs.(*graph.QuantizeAttrs)
		src, f = l.at[x.Name].buf, ops.Requantize(levels, a.Steps, x.Shape)
		if stage.Op = q.Op; l.soleReader(q.Output) != nil {
			stage.Name, stage.Note = q.Name, q.Note
		}
	}
	args := append([]string{src}, l.operands(last.Name, a.Steps, operand)...)
	l.stage(stage, f, 0, graph.WhyRealsFollow, append(args, l.result(last).buf)...)
}

// bytes adds the stage that writes the result of n, a quantize or a transpose behind one, to the
// caller's bytes.
func (l *lowering) bytes(n *graph.Node) {
	q, move := n, (*graph.TransposeAttrs)(nil)
	if n.Op == "transpose" {
		q, move = l.Producer(n.Inputs[0]), n.Attrs.(*graph.TransposeAttrs)
	}
	x, y := l.g.Value(q.Inputs[0]), l.g.Value(n.Output)
	b := interfaceBuffer(y, ir.OutputBuf)
	b.Name = l.fresh(y.Name)
	l.add(b)
	l.at[y.Name] = place{buf: b.Name}
	stage := &graph.Node{Name: q.Name, Op: q.Op, Inputs: q.Inputs, Output: n.Output, Verdict: q.Verdict, Note: q.Note}
	l.stage(stage, ops.ToBytes(q.Attrs.(*graph.QuantizeAttrs), move, x.Shape), 0, l.floatUntil(x), l.at[x.Name].buf,
		b.Name)
}

// unpacked reports whether n is a dequantize of levels that are not there as bits.
func (l *lowering) unpacked(n *graph.Node) bool {
	return n.Op == "dequantize" && (l.requantized[n.Name] != nil || l.transposed[n.Inputs[0]] != nil ||
		l.formAt(n, n.Inputs[0]).Bytewise())
}

// byteOutput reports whether bytes has made the caller's buffer of v.
func (l *lowering) byteOutput(v *graph.Value) bool {
	n := l.Producer(v.Name)
	return n != nil && l.byteOutputs[n.Name] != nil
}
