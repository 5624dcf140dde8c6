package onnx

import (
	"fmt"
	"slices"

	"ripc/graph"
	pb "ripc/importer/internal/onnx/internal/onnxpb"
	"ripc/internal/lists"
	"ripc/internal/stop"
)

// outputs gives the graph's outputs the file's order and names.
func (b *builder) outputs() {
	names := lists.Map(b.model.Graph.Output, (*pb.ValueInfoProto).GetName)
	b.makeOutputs(names, "put Identity behind it, and make that the output", func(i int, t *tensor) {
		b.output(names[i], t)
		declared := dtype(b.model.Graph.Output[i].GetType().GetTensorType().GetElemType())
		b.declaredAs(names[i], t, declared)
		b.noteType(names[i], declared)
	})
}

// makeOutputs makes the outputs of these names by f. help is for an input that is an output.
func (b *builder) makeOutputs(names []string, help string, f func(i int, t *tensor)) {
	for i, name := range names {
		b.n = &node{NodeProto: &pb.NodeProto{}, b: b, base: name, label: fmt.Sprintf("output %q", name)}
		err := stop.Try(func() {
			switch t := b.tensors[name]; {
			case slices.Contains(names[:i], name):
				panic(b.errorf("", "output %q is given twice", name))
			case t == nil:
				panic(b.errorf("", "output %q is made by no node", name))
			case slices.Contains(b.g.Graph().Inputs, name):
				panic(b.errorf(help, "output %q is an input; an output must be made by a node", name))
			case !t.bad:
				f(i, t)
			}
		})
		if err != nil {
			b.faults.Add(err)
		}
	}
	if len(names) == 0 {
		b.faults.Add(b.errorf("", "the model has no output"))
	}
}

// declaredAs checks that integers of 8 bits are signed as the file declares output name.
func (b *builder) declaredAs(name string, t *tensor, declared dtype) {
	if t.integers == nil || !declared.eightBits() || !t.integers.dt.eightBits() || t.integers.dt == declared {
		return
	}
	panic(b.errorf(fmt.Sprintf("declare it as %s, or give its zero point the type %s", t.integers.dt, declared),
		"output %q is declared as %s, and its nodes make %s of it", name, declared, t.integers.dt))
}

// noteType adds a note if the file declares output name as integers, and its nodes make floats.
// Other runtimes refuse such files.
func (b *builder) noteType(name string, declared dtype) {
	v, p := b.g.Graph().Values[name], b.g.Producer(name)
	if v == nil || p == nil || p.Note != "" || declared == 0 || declared.float() || declared == dtDouble ||
		v.Encoded() || v.Whole {
		return
	}
	p.Note = fmt.Sprintf("the file declares output %q as %s, but its nodes make float of it", name, declared)
}

func (b *builder) output(name string, t *tensor) {
	var v *graph.Value
	switch {
	case t.cond != nil:
		t = b.truths(t)
		b.output(name, t)
		return
	case t.konst != nil && !t.konst.dt.float():
		panic(b.n.fail("", "is a constant of type %s; only float is supported", t.konst.dt))
	case t.konst != nil:
		v = b.constantNode(t.konst)
	case t.integers != nil:
		v = b.integerOutput(t)
	default:
		t = b.storeAsFile(t)
		v = t.value
	}
	if gn := b.g.Producer(v.Name); gn == nil || slices.Contains(b.g.Graph().Outputs, v.Name) || gn.Output == name {
		// Made of an input or of another output: a copy of its own.
		v = b.emit("reshape", &graph.ReshapeAttrs{Shape: slices.Clone(v.Shape)}, nil, v)
	}
	b.renameValue(v, name)
	g := b.g.Graph()
	g.Outputs = append(g.Outputs, name)
}

// integerOutput is the levels that a tensor of quantized integers was made from.
func (b *builder) integerOutput(t *tensor) *graph.Value {
	b.n.failIf(t.integers.dt == dtInt32,
		"put Cast to float behind it", "is sums of integers, int32, which are no output of a network")
	t = b.orderColumns(t)
	levels := *t
	if l := b.behind.Of(t.value); l != nil && l.LevelType == t.integers.levelType() {
		levels.value = l
	} else {
		levels.value = b.emit("quantize", t.integers.attrs(), nil, t.value)
	}
	levels.orders = nil
	return b.storeAsFile(&levels).value
}
