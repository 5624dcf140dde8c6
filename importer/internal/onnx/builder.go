package onnx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"ripc/graph"
	"ripc/importer"
	"ripc/importer/internal/kit"
	pb "ripc/importer/internal/onnx/internal/onnxpb"
	"ripc/importer/internal/source"
	"ripc/internal/human"
	"ripc/internal/lists"
	"ripc/internal/names"
	"ripc/internal/stop"
	"ripc/ir"
)

// builder makes the graph.
type builder struct {
	kit.Kit
	file            string
	model           *pb.ModelProto
	options         importer.Options
	open            Opener
	mem             budget
	eval            importer.Evaluator // of constants, nil if they stay nodes
	scalars         bool               // tensors may have no axes; their values are [1]
	batchStatistics bool               // BatchNormalization may use them: the graph is run at once, on constants
	order           []int              // of the file's nodes
	ops             ops
	unknown         map[string]*unknownOp // ops that are not supported
	remark          string                // on the file, for the note of its first input
	sizes           *source.Sizes
	opset           map[string]int64
	g               *graph.Builder
	tensors         map[string]*tensor           // by name in the file
	used            names.Set                    // of graph values and nodes, and names in the file
	wanted          map[string]bool              // the file's outputs
	readers         map[string]*pb.NodeProto     // the last node that reads a tensor of the file
	counts          map[string]int               // how many of the file's nodes read a tensor
	behind          *kit.Levels                  // levels of 8 bits behind floats
	scaled          map[*graph.Node]*scaled      // float layers that could be of integers
	constants       map[*graph.Node]*quantParams // the sources of constant operands of float sums and products
	faults          source.Faults
	n               *node // the node that is being read
}

func newBuilder(ctx context.Context, file string, m *pb.ModelProto, open Opener, o importer.Options,
	memory int64) *builder {
	b := &builder{file: file, model: m, options: o, open: open, mem: budget{left: memory, ctx: ctx}, ops: table(),
		unknown: map[string]*unknownOp{},
		opset:   map[string]int64{}, tensors: map[string]*tensor{}, wanted: map[string]bool{},
		readers: map[string]*pb.NodeProto{}, counts: map[string]int{}, scaled: map[*graph.Node]*scaled{},
		constants: map[*graph.Node]*quantParams{},
		g:         graph.NewBuilder(source.NewGraph(file)), faults: source.Faults{File: file}}
	b.Kit = kit.Kit{Emit: b.emit, Each: b.emitShaped, Reshape: b.emitReshape,
		Take: func(elements int) { b.mem.take(elements, 4) }}
	b.behind = kit.NewLevels(b.g, b.emit)
	for _, o := range m.Graph.Output {
		b.wanted[o.GetName()] = true
		b.used.Take(o.GetName())
	}
	for _, n := range m.Graph.Node {
		for _, in := range n.Input {
			b.readers[in] = n
			b.counts[in]++
		}
	}
	return b
}

// errorf is an error of the whole file.
func (b *builder) errorf(help, format string, args ...any) error {
	return &ir.Error{Pos: ir.Pos{File: b.file}, Msg: fmt.Sprintf(format, args...), Help: help}
}

// node reads one node of the file.
func (b *builder) node(index int, p *pb.NodeProto) {
	n := &node{NodeProto: p, b: b}
	n.name(index)
	b.read(index, n, p.Output, func() []*tensor {
		b.prepare(n)
		return b.evaluate(n)
	})
}

// errBad ends the reading of a node that reads a bad tensor.
var errBad = errors.New("it reads the result of a node with a fault")

// read reads a node by f, and reports whether that went well. If the node has a fault, its outputs
// are bad. Nodes that read a bad tensor are left out, so that every message is about another
// mistake.
func (b *builder) read(index int, n *node, outputs []string, f func() []*tensor) (ok bool) {
	b.n = n
	var outs []*tensor
	err := stop.Try(func() { outs = f() })
	n.nameLayer()
	var e *ir.Error
	switch {
	case err == nil || errors.Is(err, errBad):
	case errors.Is(err, errCounted):
		b.faults.Unread(index)
	case errors.As(err, &e):
		b.faults.Unread(index)
		b.faults.Add(err)
	default:
		b.faults.Unread(index)
		b.faults.Add(n.fail("", "%v", err))
	}
	for i, name := range outputs {
		switch {
		case name == "":
		case b.tensors[name] != nil:
			b.faults.Add(n.fail("", "tensor %q is made twice", name))
		case err != nil:
			b.tensors[name] = &tensor{bad: true}
		case i < len(outs) && outs[i] != nil:
			b.rename(outs[i], name)
			b.tensors[name] = outs[i]
		}
	}
	return err == nil
}

// name finds the names of the node in messages and in the graph.
func (n *node) name(index int) {
	n.base = fmt.Sprintf("node%d", index)
	for _, o := range n.Output {
		if o != "" {
			n.base = o
			break
		}
	}
	d := n.GetDomain()
	if isStandard(d) {
		d = ""
	}
	n.opset = n.b.opset[d]
	op := n.GetOpType()
	if d != "" {
		op = d + "." + op
	}
	if n.opset != 0 {
		op += fmt.Sprintf(", opset %d", n.opset)
	}
	n.label = fmt.Sprintf("node %q (%s)", n.displayName(), op)
}

// displayName returns the node's name or, if the file gives it none, the name of its output.
func (n *node) displayName() string { return cmp.Or(n.GetName(), n.base) }

// prepare finds the node's row, its attributes and its inputs.
func (b *builder) prepare(n *node) {
	for _, f := range b.model.Functions {
		n.failIf(f.GetName() == n.GetOpType() && f.GetDomain() == n.GetDomain(),
			"inline the model's functions (onnx.inliner.inline_local_functions) before importing",
			"is a function of the model itself, which is not supported")
	}
	if n.op = b.ops.find(n.GetDomain(), n.GetOpType()); n.op == nil {
		panic(b.unsupportedError(n))
	}
	for _, name := range n.Input {
		t := b.tensors[name]
		n.failIf(t == nil && name != "", "", "input %q is made by no node and is no input of the model", name)
		n.in = append(n.in, t)
	}
	bad := slices.ContainsFunc(n.in, func(t *tensor) bool { return t != nil && t.bad })
	n.upToDate()
	n.readAttrs()
	for i := range n.op.min {
		n.failIf(i >= len(n.in), "", "has %s, wants %d", human.Count(len(n.in), "input"), n.op.min)
		n.failIf(n.in[i] == nil, "", "its input %d of %d is left out, and is needed", i+1, len(n.in))
	}
	n.failIf(n.op.max == many && slices.Contains(n.in, nil), "", "an input is left out")
	n.failIf(len(n.in) > n.op.max, "", "has %s, wants at most %d", human.Count(len(n.in), "input"), n.op.max)
	for i, name := range n.Output {
		n.failIf(name != "" && i >= max(1, n.op.outputs) && b.isRead(name),
			"", "output %q is used; of this op, only the first output is supported", name)
	}
	if bad {
		panic(errBad)
	}
}

// isRead reports whether a tensor of the file is used by a node or is an output.
func (b *builder) isRead(name string) bool { return b.wanted[name] || b.readers[name] != nil }

// evaluate makes the node's outputs: constants of constants, or graph nodes.
func (b *builder) evaluate(n *node) []*tensor {
	args := make([]*array, len(n.in))
	all := n.op.fold != nil
	for i, t := range n.in {
		if t != nil {
			args[i] = t.konst
			all = all && t.konst != nil
		}
	}
	if all {
		as := n.op.fold(n, args)
		return lists.Map(as, func(a *array) *tensor { return &tensor{shape: a.shape, konst: a} })
	}
	if !slices.ContainsFunc(n.in, func(t *tensor) bool { return t != nil && t.konst == nil }) && n.op.computes() &&
		b.eval != nil {
		return b.interpret(n)
	}
	if !n.op.computes() {
		e := &ir.Error{Pos: ir.Pos{File: b.file}, Node: n.label,
			Msg:  "its operands are computed from an input; this op is only supported on constants",
			Help: "it is there for computations of exporters on shapes and weights; use another op in the network"}
		b.faults.Unsupported = append(b.faults.Unsupported, e)
		panic(e)
	}
	for i, t := range n.in {
		switch {
		case t == nil || t.konst != nil:
		case t.value != nil && t.value.Whole && !n.op.moves:
			panic(n.fail("put Cast to float before it",
				"input %q holds positions; arithmetic on integers is not supported", n.Input[i]))
		case t.integers != nil && !n.op.moves && !(n.op.clips && t.integers.dt.eightBits()):
			help := "put DequantizeLinear before it"
			if t.integers.dt == dtInt32 {
				help = "put Cast to float before it"
			}
			panic(n.fail(help, "input %q holds integers; arithmetic on them is not supported", n.Input[i]))
		case t.cond != nil && n.op.moves && !n.op.logic:
			n.in[i] = b.truths(t)
		case (t.cond != nil || t.truth) && !n.op.moves && !n.op.logic:
			panic(n.fail("put Cast to float before it",
				"input %q holds truth values, which only Where, Cast and logic may read", n.Input[i]))
		}
	}
	if t := n.in[0]; t.konst != nil && !n.op.mixed {
		n.failIf(len(t.shape) == 0 || !t.konst.dt.float(),
			"", "its operand is a constant %s of shape %v, which is not supported", t.konst.dt, t.shape)
		n.in[0] = &tensor{shape: t.shape, value: b.constantNode(t.konst)}
	}
	return n.op.results(n)
}

// uniqueName makes a name unique among values.
func (b *builder) uniqueName(name string) string {
	return b.used.Unique(cmp.Or(name, "tensor"))
}

// emit adds a node to the graph and gives its output. The names of both are provisional (rename,
// nameLayer).
func (b *builder) emit(op string, attrs any, weights map[string]*graph.Tensor, in ...*graph.Value) *graph.Value {
	gn := &graph.Node{Name: b.g.NodeName(b.n.displayName() + "." + op), Output: b.uniqueName(b.n.base + "." + op),
		Op: op, Attrs: attrs, Weights: weights, Pos: ir.Pos{File: b.file},
		Inputs: lists.Map(in, func(v *graph.Value) string { return v.Name })}
	v, err := b.g.Append(gn)
	if err != nil {
		var e *ir.Error
		if errors.As(err, &e) { // of the graph's node: the file's is meant
			panic(&ir.Error{Pos: ir.Pos{File: b.file}, Node: b.n.label, Msg: e.Msg, Help: e.Help, Err: e.Err})
		}
		panic(err)
	}
	b.n.failIf(len(v.Shape) == 0,
		"keep one axis (keepdims)", "its result is a single number without axes, which is only supported for constants")
	if _, err := elements(v.Shape); err != nil {
		panic(b.n.fail("", "its result: %v", err))
	}
	b.n.made = append(b.n.made, gn)
	b.n.unnamed = append(b.n.unnamed, v)
	return v
}

// layer is the node of the graph that users take for n: the first that is no move and no change of
// form, else the last. It is nil if n became none.
func (n *node) layer() *graph.Node {
	for _, gn := range n.made {
		if op := gn.Op; op != "dequantize" && op != "reshape" && op != "transpose" && op != "constant" {
			return gn
		}
	}
	if len(n.made) == 0 {
		return nil
	}
	return n.made[len(n.made)-1]
}

// nameLayer gives n's layer n's own name.
func (n *node) nameLayer() {
	if layer := n.layer(); layer != nil {
		n.b.g.RenameNode(layer, n.b.g.NodeName(n.displayName()))
	}
}

// rename gives t's value the name of the file's tensor, if it was made for it and the name is free.
func (b *builder) rename(t *tensor, name string) {
	k := slices.Index(b.n.unnamed, t.value)
	if k < 0 || b.used.Has(name) {
		return
	}
	b.n.unnamed = slices.Delete(b.n.unnamed, k, k+1)
	b.renameValue(t.value, name)
}

// renameValue renames a value.
func (b *builder) renameValue(v *graph.Value, name string) {
	b.used.Take(name)
	b.g.RenameTensor(v.Name, name)
}
