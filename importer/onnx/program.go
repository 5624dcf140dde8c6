package onnx

import (
	"context"
	"fmt"
	"slices"

	"ripc/graph"
	"ripc/importer"
	"ripc/importer/internal/kit"
	"ripc/importer/internal/source"
	pb "ripc/importer/onnx/internal/onnxpb"
)

// Program makes the graph of another format's file. The reader of that file spells its operators in
// those of ONNX, as the last known opset defines them. Faults end the work at once, as package kit
// has it.
type Program struct{ b *builder }

// Tensor is a tensor of a Program: a constant, or computed from an input.
type Tensor = tensor

// Attrs are attributes of an operator: of int, []int, float32 or string.
type Attrs map[string]any

// NewProgram returns a Program without nodes. Constants take at most memory bytes. eval computes
// operators on constants.
func NewProgram(ctx context.Context, file string, o importer.Options, eval Evaluator, memory int64) *Program {
	b := newBuilder(ctx, file, &pb.ModelProto{Graph: &pb.GraphProto{}}, nil, o, memory)
	b.eval, b.scalars = eval, true
	b.wanted[""] = true // any node may read the results of Op
	return &Program{b}
}

// Graph returns the builder of the graph.
func (p *Program) Graph() *graph.Builder { return p.b.g }

// Interface takes the names of the inputs and outputs. The options may name these inputs.
func (p *Program) Interface(inputs, outputs []string) *source.Sizes {
	for _, name := range slices.Concat(inputs, outputs) {
		p.b.used.Take(name)
	}
	for _, name := range outputs {
		p.b.wanted[name] = true
	}
	p.b.sizes = kit.Must(source.NewSizes(p.b.file, p.b.options, inputs))
	return p.b.sizes
}

// Begin begins a node of the file. label is its name in messages, name that of its layer, and base
// the first part of the names of its values.
func (p *Program) Begin(label, name, base string) {
	p.b.n = &node{NodeProto: &pb.NodeProto{Name: &name}, b: p.b, label: label, base: base}
}

// End ends a node. It gives the layer its name, and the results, which may be nil, the file's names
// for them.
func (p *Program) End(names []string, results []*Tensor) {
	p.b.n.nameLayer()
	for i, name := range names {
		if results[i] != nil {
			p.b.rename(results[i], name)
		}
	}
}

// Fail is an error at the node at work.
func (p *Program) Fail(help, format string, args ...any) error {
	return p.b.n.fail(help, format, args...)
}

// Input appends an input of the graph.
func (p *Program) Input(name string, shape []int, note string) *Tensor {
	v := &graph.Value{Name: name, Shape: shape, Layout: layoutOf(shape), Note: note}
	p.b.g.Input(v)
	t := &tensor{shape: shape, value: v}
	if len(shape) == 4 {
		t = p.b.store(t, nhwc())
	}
	return t
}

// Output appends an output of the graph.
func (p *Program) Output(name string, t *Tensor) { p.b.output(name, t) }

// Take reserves memory for constants of n elements.
func (p *Program) Take(n int) { p.b.mem.take(n, 4) }

// Constant returns a tensor of floats, or of truth values.
func (p *Program) Constant(shape []int, truths bool, data []float32) *Tensor {
	a := &array{dt: dtFloat, shape: shape, f: data}
	if truths {
		a = p.b.n.convert(a, dtBool)
	}
	return &tensor{shape: shape, konst: a}
}

// Integers returns a constant list.
func (p *Program) Integers(list ...int) *Tensor { return p.b.integers(list) }

// Op returns the result of an operator of the standard. Operands may be nil where the operator
// allows it.
func (p *Program) Op(name string, attrs Attrs, in ...*Tensor) *Tensor {
	return p.apply(name, p.b.ops[key{standard, name}], attrs, in)
}

// EmitEach returns the result of an op of the graph on single elements. Without attributes these are
// the op's defaults.
func (p *Program) EmitEach(name string, attrs any, in ...*Tensor) *Tensor {
	return p.apply(name, &op{mixed: true, lower: func(n *node) *tensor {
		if len(n.in) == 1 {
			return n.b.elementwise(n.in[0], name, attrs, nil)
		}
		return n.b.function(name, n.in...)
	}}, nil, in)
}

// Resample returns positions along axes of an operand: pixels, or positions between pixels.
func (p *Program) Resample(t *Tensor, near, between []*kit.Along) *Tensor {
	return p.apply("", &op{moves: true, lower: func(n *node) *tensor { return n.b.resample(n.in[0], near, between) }},
		nil, []*tensor{t})
}

// apply returns the result of an operator with a row.
func (p *Program) apply(name string, row *op, attrs Attrs, in []*tensor) *tensor {
	n := &node{NodeProto: &pb.NodeProto{OpType: &name, Output: []string{""}}, b: p.b, op: row, label: p.b.n.label,
		base: p.b.n.base, opset: lastOpset, attrs: map[string]*pb.AttributeProto{}, in: in}
	for i := range in {
		n.Input = append(n.Input, fmt.Sprint(i))
	}
	for name, v := range attrs {
		a := &pb.AttributeProto{Name: &name}
		switch v := v.(type) {
		case int:
			a.Type, a.I = pb.AttributeProto_INT.Enum(), new(int64(v))
		case float32:
			a.Type, a.F = pb.AttributeProto_FLOAT.Enum(), &v
		case string:
			a.Type, a.S = pb.AttributeProto_STRING.Enum(), []byte(v)
		case []int:
			a.Type = pb.AttributeProto_INTS.Enum()
			for _, i := range v {
				a.Ints = append(a.Ints, int64(i))
			}
		default:
			panic(fmt.Sprintf("BUG: attribute %q of type %T", name, v))
		}
		n.attrs[name] = a
	}
	return p.b.evaluate(n)[0]
}

// Extents is the shape as the file has it.
func (t *tensor) Extents() []int { return t.shape }

// Numbers are the elements of a constant; ok is false for other tensors.
func (t *tensor) Numbers() (data []float32, ok bool) {
	if t.konst == nil {
		return nil, false
	}
	return t.konst.floats(), true
}

// IsTruth reports whether the elements are truth values.
func (t *tensor) IsTruth() bool {
	return t.truth || t.cond != nil || t.konst != nil && t.konst.dt == dtBool
}

// IsWhole reports whether the elements are positions.
func (t *tensor) IsWhole() bool { return t.value != nil && t.value.Whole }
