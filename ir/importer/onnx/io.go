package onnx

import (
	"fmt"
	"slices"

	"ripc/ir"
	"ripc/ir/graph"
	pb "ripc/ir/importer/onnx/internal/onnxpb"
)

// initializers reads the file's constants.
func (b *builder) initializers() {
	g := b.model.Graph
	for _, s := range g.SparseInitializer {
		b.errs = append(b.errs, b.errorf("store it as a dense tensor", "initializer %q is sparse, which is not supported", s.GetValues().GetName()))
	}
	for _, t := range g.Initializer {
		if b.tensors[t.GetName()] != nil {
			b.errs = append(b.errs, b.errorf("", "initializer %q is given twice", t.GetName()))
			continue
		}
		v := &tensor{bad: true}
		a, err := b.constant(t)
		if err != nil {
			b.errs = append(b.errs, &ir.Error{Pos: ir.Pos{File: b.file}, Node: fmt.Sprintf("initializer %q", t.GetName()), Msg: err.Error()})
		} else {
			v = &tensor{shape: a.shape, konst: a}
		}
		b.tensors[t.GetName()] = v
	}
}

// inputs makes the graph's inputs, as the file has them, and brings images into the order in which they are stored inside.
func (b *builder) inputs() {
	var files []*pb.ValueInfoProto
	for _, v := range b.model.Graph.Input {
		if t := b.tensors[v.GetName()]; t != nil && t.value == nil {
			continue // an initializer that is listed as an input too
		}
		if slices.ContainsFunc(files, func(o *pb.ValueInfoProto) bool { return o.GetName() == v.GetName() }) {
			b.errs = append(b.errs, b.errorf("", "input %q is given twice", v.GetName()))
			continue
		}
		files = append(files, v)
		b.used[v.GetName()] = true
	}
	for _, v := range files {
		t, err := b.input(v)
		if err != nil {
			b.errs = append(b.errs, err)
			t = &tensor{bad: true}
		}
		b.tensors[v.GetName()] = t
	}
	if len(files) == 0 {
		b.errs = append(b.errs, b.errorf("", "the model has no input"))
	}
}

func (b *builder) input(v *pb.ValueInfoProto) (*tensor, error) {
	name := v.GetName()
	tt := v.GetType().GetTensorType()
	if tt == nil || tt.Shape == nil {
		return nil, b.errorf("give the input a type and a shape (onnx.tools.update_model_dims)", "input %q has no tensor type with a shape", name)
	}
	shape, err := b.inputShape(name, tt.Shape)
	if err != nil {
		return nil, err
	}
	gv := &graph.Value{Name: name, DType: ir.F32, Shape: shape, Layout: layoutOf(shape)}
	var q *quantParams
	switch dt := dtype(tt.GetElemType()); dt {
	case dtFloat:
	case dtUint8, dtInt8:
		if q, err = b.inputParams(name, dt); err != nil {
			return nil, err
		}
		a := q.attrs()
		gv.DType, gv.Enc, gv.Bits, gv.Scale, gv.Zero = ir.U8, a.Enc, a.Bits, a.Scale, a.Zero
		if a.Signed {
			gv.DType = ir.I8
		}
	default:
		return nil, b.errorf("use float32, uint8 or int8", "input %q is %s, which is not supported", name, dt)
	}
	b.g.Inputs = append(b.g.Inputs, name)
	b.g.Values[name] = gv
	t := &tensor{shape: shape, value: gv}
	b.n = &node{NodeProto: &pb.NodeProto{}, b: b, base: name, label: fmt.Sprintf("input %q", name)}
	if len(shape) == 4 {
		if t, err = b.stored(t, nhwc()); err != nil {
			return nil, err
		}
	}
	if q != nil {
		if t, err = b.elementwise(t, "dequantize", &graph.NoAttrs{}, nil); err != nil {
			return nil, err
		}
		t.integers = q
	}
	return t, nil
}

// inputShape is an input's shape; a batch size that is left open becomes 1.
func (b *builder) inputShape(name string, s *pb.TensorShapeProto) ([]int, error) {
	var shape []int
	for d, dim := range s.Dim {
		v := dim.GetDimValue()
		if dim.Value == nil || dim.GetDimParam() != "" {
			open := dim.GetDimParam()
			if d != 0 {
				return nil, b.errorf("fix it, with onnxruntime.tools.make_dynamic_shape_fixed or at export", "input %q: axis %d (%q) has no fixed size", name, d, open)
			}
			b.notes[name] = "the file leaves the batch size open, so it is 1 here"
			if open != "" {
				b.notes[name] = fmt.Sprintf("the file leaves the batch size %s open, so it is 1 here", open)
			}
			v = 1
		}
		if v < 1 || v > maxElements {
			return nil, b.errorf("", "input %q: axis %d has size %d", name, d, v)
		}
		shape = append(shape, int(v))
	}
	if _, err := elements(shape); err != nil {
		return nil, b.errorf("", "input %q: %v", name, err)
	}
	if len(shape) == 0 || len(shape) > graph.MaxRank {
		return nil, b.errorf(fmt.Sprintf("want 1 to %d axes", graph.MaxRank), "input %q has shape %v", name, shape)
	}
	if product(shape) > graph.MaxElems {
		return nil, b.errorf("", "input %q: shape %v has more than %d elements", name, shape, graph.MaxElems)
	}
	return shape, nil
}

func layoutOf(shape []int) string {
	switch len(shape) {
	case 2:
		return "NC"
	case 4:
		return "NCHW"
	}
	return ""
}

// outputs gives the graph's outputs the file's order and names.
func (b *builder) outputs() {
	seen := map[string]bool{}
	for _, o := range b.model.Graph.Output {
		name := o.GetName()
		if seen[name] {
			b.errs = append(b.errs, b.errorf("", "output %q is given twice", name))
			continue
		}
		seen[name] = true
		t := b.tensors[name]
		if t == nil {
			b.errs = append(b.errs, b.errorf("", "output %q is made by no node", name))
			continue
		}
		b.n = &node{NodeProto: &pb.NodeProto{}, b: b, base: name, label: fmt.Sprintf("output %q", name)}
		if err := b.output(name, t); err != nil {
			b.errs = append(b.errs, err)
		}
	}
	if len(seen) == 0 {
		b.errs = append(b.errs, b.errorf("", "the model has no output"))
	}
}

func (b *builder) output(name string, t *tensor) error {
	var v *graph.Value
	var err error
	switch {
	case t.bad:
		return nil
	case t.cond != nil:
		return b.n.fail("add Cast to float", "holds truth values, which are not supported as an output")
	case t.konst != nil && !t.konst.dt.float():
		return b.n.fail("", "is a constant of type %s; only float is supported", t.konst.dt)
	case t.konst != nil:
		v, err = b.constantNode(t.konst)
	case t.integers != nil:
		v, err = b.integerOutput(t)
	default:
		if t, err = b.asFile(t); err == nil {
			v = t.value
		}
	}
	if err != nil {
		return err
	}
	if gn := b.made[v]; gn == nil || slices.Contains(b.g.Outputs, v.Name) || gn.Name == name {
		// An input or another output: a copy of its own.
		if v, err = b.emit("reshape", &graph.ReshapeAttrs{Shape: slices.Clone(v.Shape)}, nil, v); err != nil {
			return err
		}
	}
	b.renameValue(slices.Index(b.g.Nodes, b.made[v]), name)
	b.g.Outputs = append(b.g.Outputs, name)
	return nil
}

// integerOutput is the levels that a tensor of quantized integers was made from.
func (b *builder) integerOutput(t *tensor) (*graph.Value, error) {
	t, err := b.plain(t)
	if err != nil {
		return nil, err
	}
	levels := *t
	if p := b.made[t.value]; p != nil && p.Op == "dequantize" {
		levels.value = b.g.Values[p.Inputs[0]]
	} else if levels.value, err = b.emit("quantize", t.integers.attrs(), nil, t.value); err != nil { // exact: each is one of the levels
		return nil, err
	}
	levels.orders = nil
	out, err := b.asFile(&levels)
	if err != nil {
		return nil, err
	}
	return out.value, nil
}

// removeDead drops nodes that nothing reads. What there is to say of an input, the first node that reads it then notes.
func (b *builder) removeDead() {
	live := map[string]bool{}
	for _, o := range b.g.Outputs {
		live[o] = true
	}
	var kept []*graph.Node
	for i := len(b.g.Nodes) - 1; i >= 0; i-- {
		n := b.g.Nodes[i]
		if !live[n.Outputs[0]] {
			delete(b.g.Values, n.Outputs[0])
			continue
		}
		for _, in := range n.Inputs {
			live[in] = true
		}
		kept = append(kept, n)
	}
	slices.Reverse(kept)
	b.g.Nodes = kept
	for _, n := range kept {
		for _, in := range n.Inputs {
			n.Note += b.notes[in]
			delete(b.notes, in)
		}
	}
}
