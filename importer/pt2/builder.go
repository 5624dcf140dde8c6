package pt2

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"ripc/graph"
	"ripc/importer"
	"ripc/importer/internal/onnx"
	"ripc/importer/internal/source"
	"ripc/internal/stop"
)

// tensor is a tensor of the program.
type tensor = onnx.Tensor

// builder makes the graph.
type builder struct {
	*onnx.Program
	archive *archive
	options importer.Options
	part    *source.Part // that is read
	weights map[string]string
	scalars map[string]int    // numbers that the program computes of extents
	roots   map[string]string // by tensor: the tensor that it may share memory with
	stale   map[string]string // by tensor: the node that overwrote its memory
	fixed   bool              // shapes are those of the file
}

func newBuilder(ctx context.Context, a *archive, o importer.Options, eval importer.Evaluator, memory int64) *builder {
	return &builder{Program: onnx.NewProgram(ctx, a.file, o, eval, memory), archive: a, options: o,
		weights: map[string]string{}, scalars: map[string]int{}, roots: map[string]string{}, stale: map[string]string{},
		fixed: o.Batch == 0 && len(o.Shapes) == 0}
}

// wiring is the program as it is cut.
func (b *builder) wiring() *source.Wiring {
	w := &source.Wiring{File: b.archive.file}
	s := b.archive.program.GraphModule.Signature
	for _, in := range s.InputSpecs {
		arg := in["user_input"].Arg
		w.Inputs = append(w.Inputs, arg.tensors()...)
	}
	for _, out := range s.OutputSpecs {
		arg := out["user_output"].Arg
		w.Outputs = append(w.Outputs, arg.tensors()...)
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
			wire.Reads = append(wire.Reads, in.Arg.symbols()...)
		}
		w.Nodes = append(w.Nodes, wire)
	}
	return w
}

// signature finds the names of the weights, and refuses programs with other effects than outputs.
func (b *builder) signature() {
	for _, in := range b.archive.program.GraphModule.Signature.InputSpecs {
		for kind, s := range in {
			if kind == "custom_obj" || kind == "token" {
				panic(errorf(b.archive.file, "export a network of tensors", "an input is no tensor"))
			}
			if name := cmp.Or(s.Parameter, s.Buffer, s.Constant); name != "" {
				b.weights[strings.Join(s.Arg.words, "")] = name
			}
		}
	}
	for _, out := range b.archive.program.GraphModule.Signature.OutputSpecs {
		change, changes := out["buffer_mutation"]
		switch arg := out["user_output"].Arg; {
		case changes:
			panic(errorf(b.archive.file, "export the network in evaluation mode: net.eval()",
				"the program changes buffer %q", change.Buffer))
		case len(arg.tensors()) != 1:
			panic(errorf(b.archive.file, "export a network that returns tensors", "an output is no tensor"))
		}
	}
}

// input reads an input.
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
	shape, note, err := b.Sizes().Shape(name, shape, open)
	stop.Check(err)
	if v := b.archive.program.SchemaVersion; v.Minor > schemaMinor && name == b.part.Inputs[0] {
		newer := fmt.Sprintf("schema %d.%d is newer than %d.%d, the last one known: the program is read as in that one",
			v.Major, v.Minor, schemaMajor, schemaMinor)
		note = strings.TrimPrefix(note+"; "+newer, "; ")
	}
	return b.Input(name, shape, note)
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
