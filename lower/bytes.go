package lower

import (
	"slices"

	"ripc/graph"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
)

// planForms finds the levels that lie in memory as bytes, as all their readers take them.
func (l *lowering) planForms() {
	l.inBytes = map[string]bool{}
	for _, n := range l.g.Nodes {
		v := l.g.Values[n.Output]
		if v == nil || !v.Encoded() || v.Bits < layout.MinBytes || l.g.IsOutput(v.Name) || !l.writesBytes(n) {
			continue
		}
		readers := l.Consumers(v.Name)
		l.inBytes[v.Name] = len(readers) > 0 && !slices.ContainsFunc(readers, func(r *graph.Node) bool {
			return r.Op != "bconv2d" && r.Op != "window_sum" || !l.readsBytes(r, v.Name, bytesView{})
		})
	}
}

// writesBytes reports whether the stage of n can write levels as bytes.
func (l *lowering) writesBytes(n *graph.Node) bool {
	switch n.Op {
	case "bconv2d", "fconv2d":
		return true
	case "quantize":
		return !l.done[n.Name] && l.before[n.Name] == nil
	}
	return false
}

// bytesOf is the buffer in which the levels that n reads first lie as bytes.
func (l *lowering) bytesOf(n *graph.Node) (buf string, ok bool) {
	name := n.Inputs[0]
	if v, ok := l.views[name]; ok && l.readsBytes(n, name, v) {
		return v.buf, true
	}
	return l.at[name].buf, l.inBytes[name]
}

// bytesView is a tensor of levels that is not there as bits: it lies in the caller's buffer, one a byte, perhaps with its axes in
// another order.
type bytesView struct {
	buf   string
	shape []int                 // in the buffer
	move  *graph.TransposeAttrs // from there to the tensor; nil for none
}

// planBytes finds the levels that nobody needs as bits: at the interface, inputs that become floats, and outputs that were floats;
// inside, those that were floats and become floats again.
func (l *lowering) planBytes() {
	l.views, l.taken, l.written, l.passed = map[string]bytesView{}, map[string]*graph.Node{}, map[string]*graph.Node{}, map[string]*graph.Node{}
	for _, name := range l.g.Inputs {
		if v := l.g.Value(name); v.Encoded() && v.View == graph.Bytes {
			l.view(name, bytesView{buf: name, shape: v.Shape})
		}
	}
	for _, name := range l.g.Outputs {
		l.planOutput(l.g.Value(name))
	}
	for _, n := range l.g.Nodes {
		readers := l.Consumers(n.Output)
		if n.Op != "quantize" || l.g.IsOutput(n.Output) || len(readers) == 0 || slices.ContainsFunc(readers, func(r *graph.Node) bool { return r.Op != "dequantize" }) {
			continue
		}
		l.passed[n.Name] = n
		for _, r := range readers {
			l.passed[r.Name] = n
			l.takeSteps(r)
		}
	}
}

// takeSteps lets the stage of n, a dequantize, do the float steps behind it, if nobody else reads it.
func (l *lowering) takeSteps(n *graph.Node) {
	if e := l.soleReader(n.Output); e != nil && e.Op == "eltwise" && len(e.Inputs) == 1 {
		l.taken[e.Name] = n
	}
}

// view makes a tensor of levels a view, and what moves of it, as far as floats come of that.
func (l *lowering) view(name string, v bytesView) {
	l.views[name] = v
	for _, n := range l.Consumers(name) {
		if !l.readsBytes(n, name, v) {
			continue
		}
		switch n.Op {
		case "bconv2d", "window_sum":
		case "dequantize":
			l.takeSteps(n)
		case "transpose":
			l.view(n.Output, bytesView{buf: v.buf, shape: v.shape, move: n.Attrs.(*graph.TransposeAttrs)})
		default:
			l.view(n.Output, bytesView{buf: v.buf, shape: l.g.Value(n.Output).Shape})
		}
	}
}

// readsBytes reports whether n, which reads v as a tensor, makes floats of it or sums of its bytes, or only moves that for others that do.
func (l *lowering) readsBytes(n *graph.Node, tensor string, v bytesView) bool {
	switch n.Op {
	case "bconv2d", "window_sum":
		return v.move == nil && !slices.Contains(n.Inputs[1:], tensor) && l.choices[n.Name].Algorithm.ReadsBytes()
	case "dequantize":
		return true
	case "transpose", "reshape", "flatten":
		if v.move != nil || l.g.IsOutput(n.Output) {
			return false
		}
		var next bytesView
		if n.Op == "transpose" {
			next.move = n.Attrs.(*graph.TransposeAttrs)
		}
		readers := l.Consumers(n.Output)
		return len(readers) > 0 && !slices.ContainsFunc(readers, func(r *graph.Node) bool { return !l.readsBytes(r, n.Output, next) })
	}
	return false
}

// bitsWanted reports whether a tensor of levels that is a view is needed as bits too.
func (l *lowering) bitsWanted(name string) bool {
	v, ok := l.views[name]
	return !ok || l.g.IsOutput(name) || slices.ContainsFunc(l.Consumers(name), func(n *graph.Node) bool { return !l.readsBytes(n, name, v) })
}

// soleReader is the only node that reads a tensor, nil where there are others, or the caller does.
func (l *lowering) soleReader(name string) *graph.Node {
	if readers := l.Consumers(name); len(readers) == 1 && !l.g.IsOutput(name) {
		return readers[0]
	}
	return nil
}

// planOutput finds the quantizer whose levels the caller takes as bytes, if nobody else reads them.
func (l *lowering) planOutput(v *graph.Value) {
	if !v.Encoded() || v.View != graph.Bytes || l.ConsumerCount(v.Name) > 0 {
		return
	}
	n := l.Producer(v.Name)
	if n != nil && n.Op == "transpose" && l.soleReader(n.Inputs[0]) == n {
		if q := l.Producer(n.Inputs[0]); q != nil && q.Op == "quantize" {
			l.written[q.Name], l.written[n.Name] = n, n
		}
	}
	if n != nil && n.Op == "quantize" {
		l.written[n.Name] = n
	}
}

// skipped reports whether n is done by another stage.
func (l *lowering) skipped(n *graph.Node) bool {
	if len(n.Inputs) == 1 && n.Op != "dequantize" {
		if _, ok := l.views[n.Output]; ok {
			return true
		}
	}
	if last := l.written[n.Name]; last != nil && last != n { // a quantizer whose result is moved: the transpose comes behind it
		return true
	}
	if l.done[n.Name] {
		return true
	}
	if n.Op != "dequantize" {
		return l.passed[n.Name] == n
	}
	e := l.soleReader(n.Output)
	return e != nil && l.taken[e.Name] == n
}

// floats makes floats of the levels that n, a dequantize, reads, of the caller's bytes or of the floats that they were, with the steps
// of e behind it, if it is not nil.
func (l *lowering) floats(n, e *graph.Node) {
	v, view := l.views[n.Inputs[0]]
	last, a := n, &graph.Elementwise{}
	if e != nil {
		last, a = e, e.Attrs.(*graph.Elementwise)
	}
	operand := asTheyAre
	stage := &graph.Node{Name: last.Name, Op: n.Op, Inputs: n.Inputs, Output: last.Output, Verdict: n.Verdict, Note: last.Note}
	src := v.buf
	var f *ir.Func
	if view {
		operand = func(w []float32) []float32 { return ops.BytesOperand(w, v.move, v.shape) }
		f = ops.FromBytes(l.g.Value(n.Inputs[0]).LevelType, v.move, a.Steps, v.shape)
	} else {
		q := l.passed[n.Name]
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

// bytes writes what n makes, a quantize or a transpose behind one, to the caller's bytes.
func (l *lowering) bytes(n *graph.Node) {
	q, move := n, (*graph.TransposeAttrs)(nil)
	if n.Op == "transpose" {
		q, move = l.Producer(n.Inputs[0]), n.Attrs.(*graph.TransposeAttrs)
	}
	x, y := l.g.Value(q.Inputs[0]), l.g.Value(n.Output)
	b := interfaceBuffer(y, ir.OutputBuf)
	b.Name = l.fresh(y.Name)
	l.p.Buffers = append(l.p.Buffers, b)
	l.at[y.Name] = place{buf: b.Name}
	stage := &graph.Node{Name: q.Name, Op: q.Op, Inputs: q.Inputs, Output: n.Output, Verdict: q.Verdict, Note: q.Note}
	l.stage(stage, ops.ToBytes(q.Attrs.(*graph.QuantizeAttrs), move, x.Shape), 0, l.floatUntil(x), l.at[x.Name].buf, b.Name)
}

// unpacked reports whether n is a dequantize of levels that are not there as bits.
func (l *lowering) unpacked(n *graph.Node) bool {
	if n.Op != "dequantize" {
		return false
	}
	_, view := l.views[n.Inputs[0]]
	return view || l.passed[n.Name] != nil
}

// byteOutput reports whether bytes has made the caller's buffer of v.
func (l *lowering) byteOutput(v *graph.Value) bool {
	n := l.Producer(v.Name)
	return n != nil && l.written[n.Name] != nil
}
