package lce

import (
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/lists"
	"ripc/internal/stop"
	"ripc/ir"
)

// add appends a node of the operator at work and gives its result.
func (b *builder) add(op string, attrs any, weights map[string]*graph.Tensor, in ...*graph.Value) *graph.Value {
	name := b.unique(shortName(b.names[b.op.outputs[0]]) + "/" + op)
	n := &graph.Node{Name: b.out.NodeName(name), Op: op, Output: name, Attrs: attrs, Weights: weights,
		Pos: ir.Pos{File: b.g.File}, Inputs: lists.Map(in, func(v *graph.Value) string { return v.Name })}
	if n.Weights == nil {
		n.Weights = map[string]*graph.Tensor{}
	}
	return stop.Must(b.out.Append(n))
}

// elems is the number of elements of a shape, at most graph.MaxElems+1.
func elems(shape []int) int {
	n := 1
	for _, d := range shape {
		if d < 1 || n > graph.MaxElems/d {
			return graph.MaxElems + 1
		}
		n *= d
	}
	return n
}

// bind makes v the value of tensor i. It quantizes v if the file has 8-bit integers there, and
// reshapes v if the file has other axes of extent 1. If the operator's last node made v, v gets the
// name of the tensor.
func (b *builder) bind(i int, v *graph.Value) {
	t := &b.file.tensors[i]
	bits := v.Encoded() && v.Enc == ir.BipolarInv
	if b.resized {
		if t.shape = slices.Clone(v.Shape); bits && t.typ == typeI32 && len(t.shape) > 0 {
			t.shape[len(t.shape)-1] = words(v.Channels())
		}
		t.elems = elems(t.shape)
	}
	if t.allowsShape(v.Shape) {
		t.shape, t.elems = slices.Clone(v.Shape), elems(v.Shape)
	}
	switch {
	case t.typ == typeI32 && bits:
		want := slices.Clone(v.Shape)
		if len(want) > 0 {
			want[len(want)-1] = words(v.Channels())
		}
		failIf(!slices.Equal(want, t.shape),
			"", "makes bits of shape %v, in words %v; the file says %v", v.Shape, want, t.shape)
	case v.Whole && (t.typ == typeI32 || t.typ == typeI64), v.LevelType == graph.Truths() && t.typ == typeBool:
		failIf(!slices.Equal(v.Shape, t.shape), "the file may be damaged, or made for a batch that is not fixed",
			"makes a tensor of shape %v, the file says %v", v.Shape, t.shape)
	case v.Whole || v.LevelType == graph.Truths():
		panic(faultf("", "makes %s, the file says %s", v.LevelType, typeName(t.typ)))
	case t.typ == typeF32 || t.typ == typeI8 || t.typ == typeU8:
		failIf(bits, "", "makes bits, the file says %s", typeName(t.typ))
		failIf(!slices.Equal(v.Shape, t.shape), "the file may be damaged, or made for a batch that is not fixed",
			"makes a tensor of shape %v, the file says %v", v.Shape, t.shape)
		if t.typ == typeF32 {
			break
		}
		q := &graph.Value{}
		levelsOf(t, q)
		if v.Encoded() {
			failIf(v.LevelType != q.LevelType,
				"", "makes integers of scale %g and zero point %d, the file says scale %g and zero point %d",
				v.Scale, v.Zero-graph.CallerZero(v.LevelType), q.Scale, q.Zero-graph.CallerZero(q.LevelType))
			break
		}
		if l := b.behind.Of(v); l != nil && l.LevelType == q.LevelType {
			v = b.replaceResult(l)
			break
		}
		if l := b.mapLevels(v, q.LevelType); l != nil {
			v = b.replaceResult(l)
			break
		}
		v = b.add("quantize", &graph.QuantizeAttrs{LevelType: q.LevelType, Rounding: scalar.HalfAway}, nil, v)
	default:
		panic(faultf("", "makes a tensor of type %s", typeName(t.typ)))
	}
	b.values[i] = v
	if b.outputs[i] && bits {
		v = b.add("bitpack", &graph.BitpackAttrs{Int32: true}, nil, v)
	} else if b.outputs[i] && !b.madeByOperator(v) { // the operator did nothing, but its result needs a name of its own
		v = b.add("reshape", &graph.ReshapeAttrs{Shape: slices.Clone(t.shape)}, nil, v)
		b.values[i] = v
	}
	if b.madeByOperator(v) {
		b.nameResult(i, v)
	}
}

// madeByOperator reports whether a node of the operator at work makes a value.
func (b *builder) madeByOperator(v *graph.Value) bool {
	p := b.out.Producer(v.Name)
	return p != nil && b.out.Place(p) >= b.first
}

// mapLevels makes levels of type t of v, which float steps, alike in all channels, make of the real
// values of others: a table. It returns nil if v is made otherwise.
func (b *builder) mapLevels(v *graph.Value, t scalar.LevelType) *graph.Value {
	before, real := b.behind.UndoSteps(v, func(_ *graph.Value, p *graph.Node) bool { return p.Op != "reshape" })
	x := b.behind.Of(before)
	if x == nil {
		return nil
	}
	q := &scalar.Quantizer{LevelType: t, Rounding: scalar.HalfAway}
	return b.add("int_map", graph.IntMapOf(x.LevelType, q, real), nil, x)
}

// replaceResult takes levels in the place of the result that the operator at work computed from
// their real values. It drops the operator's nodes that no node reads any more, and returns levels.
// Dequantized values stay, since the next operator may read them.
func (b *builder) replaceResult(levels *graph.Value) *graph.Value {
	for _, n := range slices.Backward(slices.Clone(b.g.Nodes[b.first:])) {
		if n.Output != levels.Name && n.Op != "dequantize" && b.out.ConsumerCount(n.Output) == 0 {
			b.out.Remove(n)
		}
	}
	return levels
}

// nameResult gives a result of the operator at work the name of tensor i. The node that does the
// operator's work, and not one before or behind it, gets the first part of that name. No other
// place renames a value.
func (b *builder) nameResult(i int, result *graph.Value) {
	name := b.names[i]
	b.out.RenameTensor(result.Name, name)
	main := b.out.Producer(name)
	for _, n := range b.g.Nodes[b.first:] {
		if op := n.Op; op != "dequantize" && op != "reshape" && op != "transpose" && op != "constant" {
			main = n
			break
		}
	}
	b.out.RenameNode(main, b.out.NodeName(shortName(name)))
	if b.remark != "" {
		main.Note = b.remark
	}
}
