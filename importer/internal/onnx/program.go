package onnx

import (
	"context"
	"fmt"
	"math"

	"ripc/graph"
	"ripc/importer"
	"ripc/importer/internal/kit"
	pb "ripc/importer/internal/onnx/internal/onnxpb"
	"ripc/importer/internal/source"
	"ripc/internal/f32"
	"ripc/ir"
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
func NewProgram(ctx context.Context, file string, o importer.Options, eval importer.Evaluator, memory int64) *Program {
	b := newBuilder(ctx, file, &pb.ModelProto{Graph: &pb.GraphProto{}}, nil, o, memory)
	b.eval, b.scalars = eval, true
	b.wanted[""] = true // any node may read the results of Op
	return &Program{b}
}

// Inputs reads the inputs of these names by f. The options may name them. outputs are the names of
// the outputs.
func (p *Program) Inputs(names, outputs []string, f func(name string) *Tensor) {
	for _, name := range outputs {
		p.b.used.Take(name)
		p.b.wanted[name] = true
	}
	p.b.readInputs(names, func(i int) *Tensor { return f(names[i]) })
}

// Sizes gives inputs their shapes.
func (p *Program) Sizes() *source.Sizes { return p.b.sizes }

// Node reads a node of the file by f, and reports whether that went well. label is its name in
// messages, name that of its layer, and base the first part of the names of its values. f makes the
// results, tensors of these names. A name is empty where nobody reads the result.
func (p *Program) Node(index int, label, name, base string, results []string, f func() []*Tensor) bool {
	return p.b.read(index, &node{NodeProto: &pb.NodeProto{Name: &name}, b: p.b, label: label, base: base}, results, f)
}

// Tensor returns a tensor that a node reads, nil if there is none.
func (p *Program) Tensor(name string) *Tensor {
	t := p.b.tensors[name]
	if t != nil && t.bad {
		panic(errBad)
	}
	return t
}

// SetTensor gives a tensor a name.
func (p *Program) SetTensor(name string, t *Tensor) { p.b.tensors[name] = t }

// Finish makes the outputs and returns the graph. help is for an input that is an output. advice is
// the network as a file has it.
func (p *Program) Finish(outputs []string, help string, network func() *source.Wiring) *graph.Graph {
	p.b.makeOutputs(outputs, help, func(i int, t *Tensor) {
		p.b.n.failIf(len(t.shape) == 0, "keep one axis (keepdim)", "is a single number without axes")
		p.b.output(outputs[i], t)
	})
	p.b.faults.Advise(network)
	return p.b.finished()
}

// Unsupported is an error at the node at work, which one may do without.
func (p *Program) Unsupported(help, msg string) error {
	e := &ir.Error{Pos: ir.Pos{File: p.b.file}, Node: p.b.n.label, Msg: msg, Help: help}
	p.b.faults.Unsupported = append(p.b.faults.Unsupported, e)
	return e
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

// Take reserves memory for constants of n elements.
func (p *Program) Take(n int) { p.b.mem.take(n, 4) }

// Constant returns a tensor of floats.
func (p *Program) Constant(shape []int, data []float32) *Tensor {
	return &tensor{shape: shape, konst: &array{dt: dtFloat, shape: shape, f: data}}
}

// Decode returns a tensor of the file with these bytes. Its type is one of ONNX, as ONNX numbers
// them. Truth values stay truth values, and all others become floats. It fails at an integer that
// f32 does not have.
func (p *Program) Decode(dt int, shape []int, raw []byte) *Tensor {
	if dtype(dt) == dtFloat {
		return p.Constant(shape, f32.FromBytes(raw))
	}
	a := p.b.mem.newArray(dtype(dt), shape)
	if readRaw(a, raw); a.dt != dtBool {
		for k := range a.len() {
			v := a.number(k)
			p.b.n.failIf(!a.dt.float() && math.Abs(v) > maxExact,
				"", "reads a tensor that holds %g, an integer beyond 2^24", v)
		}
		a = p.b.n.convert(a, dtFloat)
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

// EmitEach returns the result of an op of the graph on single elements. Ops of several operands
// have their default attributes.
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
