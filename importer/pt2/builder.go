package pt2

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"ripc/graph"
	"ripc/importer"
	"ripc/importer/internal/kit"
	"ripc/importer/internal/source"
	"ripc/importer/onnx"
	"ripc/ir"
)

// tensor is a tensor of the program.
type tensor = onnx.Tensor

// builder makes the graph.
type builder struct {
	*onnx.Program
	archive *archive
	options importer.Options
	nodes   []*fileNode // that are read
	begins  []string    // tensors that the caller brings
	ends    []string    // tensors that are outputs
	weights map[string]string
	tensors map[string]*tensor // by name in the program
	bad     *tensor            // stands for tensors of nodes that could not be read
	scalars map[string]int     // numbers that the program computes of extents
	roots   map[string]string  // by tensor: the tensor that it may share memory with
	stale   map[string]string  // by tensor: the node that overwrote its memory
	sizes   *source.Sizes
	fixed   bool // shapes are those of the file
	faults  source.Faults
	uncut   []*ir.Error // of nodes that one may do without
	unread  map[int]bool
}

func newBuilder(ctx context.Context, a *archive, o importer.Options, eval onnx.Evaluator, memory int64) *builder {
	return &builder{Program: onnx.NewProgram(ctx, a.file, o, eval, memory), archive: a, options: o,
		weights: map[string]string{}, tensors: map[string]*tensor{}, bad: &tensor{}, scalars: map[string]int{},
		roots: map[string]string{}, stale: map[string]string{}, unread: map[int]bool{},
		faults: source.Faults{File: a.file}}
}

// wiring is the program as it is cut.
func (b *builder) wiring() *source.Wiring {
	w := &source.Wiring{File: b.archive.file}
	s := b.archive.program.GraphModule.Signature
	for _, in := range s.InputSpecs {
		if in.UserInput != nil && in.UserInput.Arg.Tensor != nil {
			w.Inputs = append(w.Inputs, in.UserInput.Arg.Tensor.Name)
		}
	}
	for _, out := range s.OutputSpecs {
		if out.UserOutput != nil && out.UserOutput.Arg.Tensor != nil {
			w.Outputs = append(w.Outputs, out.UserOutput.Arg.Tensor.Name)
		}
	}
	nodes := b.archive.program.GraphModule.Graph.Nodes
	for i := range nodes {
		f := &nodes[i]
		wire := source.Wire{Name: f.called(i), Makes: f.makes()}
		for _, in := range f.Inputs {
			for _, name := range in.Arg.tensors() {
				if b.weights[name] == "" && name != "" {
					wire.Reads = append(wire.Reads, name)
				}
			}
			for _, name := range in.Arg.symbols() {
				wire.Reads = append(wire.Reads, name)
			}
		}
		w.Nodes = append(w.Nodes, wire)
	}
	return w
}

// cut finds the nodes and the interface that the options ask for.
func (b *builder) cut() {
	b.signature()
	nodes := b.archive.program.GraphModule.Graph.Nodes
	w := b.wiring()
	b.begins, b.ends = w.Inputs, w.Outputs
	keep := slices.Repeat([]bool{true}, len(nodes))
	if len(b.options.Begin)+len(b.options.End) > 0 {
		part := kit.Must(w.Cut(b.options.Begin, b.options.End))
		b.begins, b.ends, keep = part.Inputs, part.Outputs, part.Keep
	}
	for i := range nodes {
		if !keep[i] {
			b.nodes = append(b.nodes, nil)
			continue
		}
		b.nodes = append(b.nodes, &nodes[i])
	}
}

// signature finds the names of the weights, and refuses programs with other effects than outputs.
func (b *builder) signature() {
	for _, in := range b.archive.program.GraphModule.Signature.InputSpecs {
		switch {
		case in.Parameter != nil:
			b.weights[in.Parameter.Arg.Name] = in.Parameter.Name
		case in.Buffer != nil:
			b.weights[in.Buffer.Arg.Name] = in.Buffer.Name
		case in.Constant != nil:
			b.weights[in.Constant.Arg.Name] = in.Constant.Name
		}
	}
	for _, out := range b.archive.program.GraphModule.Signature.OutputSpecs {
		switch {
		case out.Mutation != nil:
			panic(errorf(b.archive.file, "export the network in evaluation mode: net.eval()",
				"the program changes buffer %q", out.Mutation.Buffer))
		case out.UserOutput == nil || out.UserOutput.Arg.Tensor == nil:
			panic(errorf(b.archive.file, "export a network that returns tensors", "an output is no tensor"))
		}
	}
}

// inputs makes the graph's inputs.
func (b *builder) inputs() {
	b.sizes = b.Interface(b.begins, b.ends)
	b.fixed = b.options.Batch == 0 && len(b.options.Shapes) == 0
	for _, name := range b.begins {
		b.tensors[name] = b.bad
		b.Begin(fmt.Sprintf("input %q", name), name, name)
		if err := kit.Try(func() { b.tensors[name] = b.input(name) }); err != nil {
			b.faults.Add(err)
		}
	}
	if len(b.begins) == 0 {
		b.faults.Add(errorf(b.archive.file, "", "the program has no input"))
	}
}

func (b *builder) input(name string) *tensor {
	meta, ok := b.archive.program.GraphModule.Graph.Tensors[name]
	if !ok {
		panic(b.Fail("", "the file does not say its type"))
	}
	if meta.DType != dtFloat {
		forBytes := importer.Type.With(importer.U8)
		panic(b.Fail("export the network with a float32 input; "+forBytes+" lets the caller bring bytes",
			"is %v", meta.DType))
	}
	shape, open := meta.shape()
	if len(shape) == 0 || len(shape) > graph.MaxRank {
		panic(b.Fail(fmt.Sprintf("want 1 to %d axes", graph.MaxRank), "has shape %v", shape))
	}
	if len(open) > 0 {
		b.fixed = false
	}
	shape, note, err := b.sizes.Shape(name, shape, open)
	kit.Check(err)
	if v := b.archive.program.SchemaVersion; v.Minor > schemaMinor && len(b.Graph().Graph().Inputs) == 0 {
		newer := fmt.Sprintf("schema %d.%d is newer than %d.%d, the last one known: the program is read as in that one",
			v.Major, v.Minor, schemaMajor, schemaMinor)
		note = strings.TrimPrefix(note+"; "+newer, "; ")
	}
	return b.Input(name, shape, note)
}

// outputs gives the graph its outputs.
func (b *builder) outputs() {
	for i, name := range b.ends {
		t := b.tensors[name]
		b.Begin(fmt.Sprintf("output %q", name), name, name)
		switch {
		case slices.Contains(b.ends[:i], name):
			b.faults.Add(errorf(b.archive.file, "", "output %q is given twice", name))
		case t == nil:
			b.faults.Add(errorf(b.archive.file, "", "output %q is made by no node", name))
		case t != b.bad:
			if err := kit.Try(func() { b.output(name, t) }); err != nil {
				b.faults.Add(err)
			}
		}
	}
	if len(b.ends) == 0 {
		b.faults.Add(errorf(b.archive.file, "", "the program has no output"))
	}
}

func (b *builder) output(name string, t *tensor) {
	if slices.Contains(b.begins, name) {
		panic(b.Fail("return a copy of it", "is an input; an output must be made by a node"))
	}
	if len(t.Extents()) == 0 {
		panic(b.Fail("keep one axis (keepdim)", "is a single number without axes"))
	}
	b.Output(name, t)
}

// adviseCut adds, to the errors of operators that are not supported, options that leave them out.
func (b *builder) adviseCut() {
	if len(b.uncut) > 0 {
		b.wiring().Advise(b.uncut, b.unread)
	}
}

// makes lists the tensors and the numbers that a node makes.
func (f *fileNode) makes() (list []string) {
	for i := range f.Outputs {
		list = append(list, f.Outputs[i].tensors()...)
		list = append(list, f.Outputs[i].symbols()...)
	}
	return list
}

// called is the name of the node with an index: its module's path and its operator.
func (f *fileNode) called(index int) string {
	_, op, _ := strings.Cut(f.Target, "aten.")
	op, _, _ = strings.Cut(cmp.Or(op, f.Target), ".")
	if m := f.module(); m != "" {
		return m + "." + op
	}
	if names := f.makes(); len(names) > 0 && names[0] != "" {
		return names[0]
	}
	return fmt.Sprintf("node%d", index)
}

// module is the path of the module that called the operator, "" for the outermost one.
func (f *fileNode) module() string {
	stack := strings.Split(f.Metadata.Modules, ";")
	if parts := strings.Split(stack[len(stack)-1], ","); len(parts) > 1 {
		return parts[1]
	}
	return ""
}

// tensors lists the tensors that a names; "" stands for one that is left out.
func (a *argument) tensors() (list []string) {
	for _, t := range a.Tensors {
		list = append(list, t.Name)
	}
	switch {
	case a.Tensor != nil:
		list = append(list, a.Tensor.Name)
	case a.OptionalTensor != nil && a.OptionalTensor.Tensor != nil:
		list = append(list, a.OptionalTensor.Tensor.Name)
	}
	return list
}

// symbols lists the computed numbers that a names.
func (a *argument) symbols() (list []string) {
	for _, s := range a.SymInts {
		if s.Name != nil {
			list = append(list, *s.Name)
		}
	}
	if a.SymInt != nil && a.SymInt.Name != nil {
		list = append(list, *a.SymInt.Name)
	}
	return list
}
