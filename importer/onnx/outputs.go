package onnx

import (
	"fmt"
	"slices"

	"ripc/graph"
	pb "ripc/importer/onnx/internal/onnxpb"
)

// outputs gives the graph's outputs the file's order and names.
func (b *builder) outputs() {
	seen := map[string]bool{}
	for _, o := range b.model.Graph.Output {
		name := o.GetName()
		if seen[name] {
			b.faults.Add(b.errorf("", "output %q is given twice", name))
			continue
		}
		seen[name] = true
		t := b.tensors[name]
		if t == nil {
			b.faults.Add(b.errorf("", "output %q is made by no node", name))
			continue
		}
		if slices.Contains(b.g.Graph().Inputs, name) {
			b.faults.Add(b.errorf("put Identity behind it, and make that the output", "output %q is an input; an output must be made by a node", name))
			continue
		}
		b.n = &node{NodeProto: &pb.NodeProto{}, b: b, base: name, label: fmt.Sprintf("output %q", name)}
		if err := b.output(name, t); err != nil {
			b.faults.Add(err)
			continue
		}
		declared := dtype(o.GetType().GetTensorType().GetElemType())
		if err := b.declaredAs(name, t, declared); err != nil {
			b.faults.Add(err)
			continue
		}
		b.noteType(name, declared)
	}
	if len(seen) == 0 {
		b.faults.Add(b.errorf("", "the model has no output"))
	}
}

// declaredAs checks that integers of 8 bits are signed as the file declares output name.
func (b *builder) declaredAs(name string, t *tensor, declared dtype) error {
	if t.integers == nil || !declared.eightBits() || !t.integers.dt.eightBits() || t.integers.dt == declared {
		return nil
	}
	return b.errorf(fmt.Sprintf("declare it as %s, or give its zero point the type %s", t.integers.dt, declared), "output %q is declared as %s, and its nodes make %s of it", name, declared, t.integers.dt)
}

// noteType says so at output name where its nodes make floats of what the file declares to be integers, which other runtimes refuse.
func (b *builder) noteType(name string, declared dtype) {
	v, p := b.g.Graph().Values[name], b.g.Producer(name)
	if v == nil || p == nil || p.Note != "" || declared == 0 || declared.float() || declared == dtDouble || v.Encoded() || v.Whole {
		return
	}
	p.Note = fmt.Sprintf("the file declares output %q as %s, but its nodes make float of it", name, declared)
}

func (b *builder) output(name string, t *tensor) error {
	var v *graph.Value
	var err error
	switch {
	case t.bad:
		return nil
	case t.cond != nil:
		if t, err = b.truths(t); err == nil {
			return b.output(name, t)
		}
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
	if gn := b.g.Producer(v.Name); gn == nil || slices.Contains(b.g.Graph().Outputs, v.Name) || gn.Output == name {
		// Made of an input or of another output: a copy of its own.
		if v, err = b.emit("reshape", &graph.ReshapeAttrs{Shape: slices.Clone(v.Shape)}, nil, v); err != nil {
			return err
		}
	}
	b.renameValue(v, name)
	g := b.g.Graph()
	g.Outputs = append(g.Outputs, name)
	return nil
}

// integerOutput is the levels that a tensor of quantized integers was made from.
func (b *builder) integerOutput(t *tensor) (*graph.Value, error) {
	if t.integers.dt == dtInt32 {
		return nil, b.n.fail("put Cast to float behind it", "is sums of integers, int32, which are no output of a network")
	}
	t, err := b.plain(t)
	if err != nil {
		return nil, err
	}
	levels := *t
	if l := b.behind.Of(t.value); l != nil && l.LevelType == t.integers.levelType() {
		levels.value = l
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
