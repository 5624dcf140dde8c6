package lce

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ripc/graph"
	"ripc/importer"
	"ripc/importer/internal/kit"
	"ripc/importer/internal/source"
	"ripc/internal/human"
	"ripc/internal/names"
	"ripc/internal/stop"
	"ripc/ir"
)

// Read reads the .tflite file at path.
func Read(ctx context.Context, path string, o importer.Options) (*graph.Graph, error) {
	data, err := source.Read(path, maxFile, "")
	if err != nil {
		return nil, err
	}
	return parse(ctx, path, data, o, maxWeights)
}

// parse reads data as o asks for it, and allows constants of at most limit elements in all. name is
// that of the file in messages, and, without folder and extension, the graph's. Every error is, or
// joins, *ir.Error with the file and, where there is one, the operator.
func parse(ctx context.Context, name string, data []byte, o importer.Options, limit int) (_ *graph.Graph, err error) {
	defer stop.Catch(&err)
	f := decode(name, data)
	f.cut(name, o)
	return newBuilder(name, f, o, limit).build(ctx), nil
}

func newBuilder(name string, f *file, o importer.Options, limit int) *builder {
	b := &builder{
		file: f, options: o,
		g: source.NewGraph(name), faults: source.Faults{File: name},
		left: limit, values: make([]*graph.Value, len(f.tensors)), floats: map[*graph.Value]*graph.Value{},
		folded: map[int][]float32{}, lists: map[int][]int{},
		shared: map[string]*graph.Tensor{}, failed: map[int]bool{}, outputs: map[int]bool{},
	}
	b.out = graph.NewBuilder(b.g)
	b.Kit = kit.Kit{Emit: b.add, Each: b.add, Reshape: b.reshape, Take: b.take}
	b.behind = kit.NewLevels(b.out, b.add)
	return b
}

// builder makes the graph of a file.
type builder struct {
	kit.Kit
	file    *file
	options importer.Options
	g       *graph.Graph
	left    int // elements that constants may still have

	// A value may be renamed or removed after it was kept here: names of values are never kept.
	values  []*graph.Value                // by tensor: the value that holds it, nil if none does
	floats  map[*graph.Value]*graph.Value // by levels: their floats; an entry counts while the graph holds them
	folded  map[int][]float32             // by tensor: constants that an operator made of constants
	shared  map[string]*graph.Tensor      // weights, which several operators may read
	failed  map[int]bool                  // tensors of operators with a fault, which was reported
	used    names.Set                     // of values
	out     *graph.Builder                // of g
	outputs map[int]bool                  // tensors that are outputs of the model
	names   []string                      // of the tensors, unique
	bits    map[int]int                   // by int32 tensor: channels that its words hold, as far as its readers say
	faults  source.Faults
	sizes   *source.Sizes
	resized bool // inputs have other shapes than the file says, and so may all tensors

	lists map[int][]int // by tensor: whole numbers that were computed of shapes, nil where they are not known

	behind *kit.Levels // levels of 8 bits behind floats

	op     *operator // at work
	remark string    // on it: why it is none of integers
	first  int       // its first node
}

// build goes through the operators once; faults that do not depend on each other are reported
// together.
func (b *builder) build(ctx context.Context) *graph.Graph {
	for _, i := range b.file.outputs {
		b.outputs[i] = true
	}
	b.nameTensors()
	b.countBits()
	b.inputs()
	handlers := handlers()
	for i := range b.file.ops {
		stop.Check(ctx.Err())
		b.op, b.first, b.remark = &b.file.ops[i], len(b.g.Nodes), ""
		h, ok := handlers[b.op.op]
		known := ok && h.custom == b.op.custom
		switch {
		case b.dependsOnFailed():
			if !known {
				b.faults.Unread(i)
			}
			b.fail(nil)
		case b.computeList():
		case !known:
			b.faults.Unread(i)
			b.fail(b.unsupportedError())
		default:
			if err := stop.Try(func() { b.convert(h) }); err != nil {
				b.faults.Unread(i)
				b.out.Truncate(b.first)
				b.fail(err)
			}
		}
	}
	b.op = nil
	b.finishOutputs()
	if b.faults.Any() {
		b.faults.Advise(func() *source.Wiring {
			w, _ := b.file.wiring(b.g.File)
			return w
		})
		panic(b.faults.Err())
	}
	b.out.Prune()
	return stop.Must(source.Adapt(b.g, b.options))
}

func (b *builder) dependsOnFailed() bool {
	return slices.ContainsFunc(b.op.inputs, func(i int) bool { return i >= 0 && b.failed[i] })
}

// fail reports err, if it is not nil, and marks the operator's outputs.
func (b *builder) fail(err error) {
	for _, o := range b.op.outputs {
		b.failed[o] = true
	}
	if err == nil {
		return
	}
	e := &ir.Error{Pos: ir.Pos{File: b.g.File}, Node: b.label()}
	var fault *opFault
	var inner *ir.Error
	switch {
	case errors.As(err, &fault):
		e.Msg, e.Help = fault.msg, fault.help
	case errors.As(err, &inner): // of graph.Infer: its node is one of several that stand for the operator
		e.Msg, e.Help = inner.Msg, inner.Help
	default:
		e.Err = err
	}
	if errors.As(err, new(*unsupportedOp)) {
		b.faults.Unsupported = append(b.faults.Unsupported, e)
	}
	b.faults.Add(e)
}

// label names the operator at work: TFLite's have no names, but their outputs do.
func (b *builder) label() string {
	name := fmt.Sprintf("operator %d", b.op.index)
	if len(b.op.outputs) > 0 {
		name = b.names[b.op.outputs[0]]
	}
	return fmt.Sprintf("node %q (%s, operator %d)", name, b.op.op, b.op.index)
}

// opFault is why an operator cannot be imported.
type opFault struct{ msg, help string }

// Error is the reason.
func (f *opFault) Error() string { return f.msg }

// faultf is an opFault.
func faultf(help, format string, args ...any) error {
	return &opFault{fmt.Sprintf(format, args...), help}
}

// failIf ends the conversion of an operator with an opFault if a condition holds.
func failIf(condition bool, help, format string, args ...any) {
	if condition {
		panic(faultf(help, format, args...))
	}
}

// unsupportedOp is the fault of an operator that is not in the table.
type unsupportedOp struct{ error }

// Unwrap is the fault itself.
func (u *unsupportedOp) Unwrap() error { return u.error }

func (b *builder) unsupportedError() error {
	what := "builtin"
	if b.op.custom {
		what = "custom"
	}
	return &unsupportedOp{faultf("docs/import-larq.md lists the supported operators, and ways around the others",
		"this %s operator (version %d) is not supported", what, b.op.version)}
}

// convert lets h make the operator's nodes and binds their result to the operator's output.
func (b *builder) convert(h handler) {
	failIf(len(b.op.outputs) != 1 && h.parts == nil, "", "has %d outputs, want 1", len(b.op.outputs))
	if n := len(b.op.inputs); n < h.min || n > h.max {
		want := fmt.Sprint(h.min)
		if h.max > h.min {
			want = fmt.Sprintf("%d to %d", h.min, h.max)
		}
		panic(faultf("", "has %s, want %s", human.Count(n, "input"), want))
	}
	for _, i := range slices.Concat(b.op.inputs, b.op.outputs) {
		if i < 0 || b.file.tensors[i].fault == "" || b.file.tensors[i].sparse && b.op.op == "DENSIFY" ||
			b.file.tensors[i].empty && h.parts != nil && slices.Contains(b.op.outputs, i) {
			continue
		}
		panic(faultf("", "tensor %q %s", b.file.tensors[i].name, b.file.tensors[i].fault))
	}
	if h.parts != nil {
		b.convertParts(h)
		return
	}
	val := h.convert(b)
	if val == nil { // folded
		return
	}
	b.bind(b.op.outputs[0], val)
}

// convertParts is convert for an operator of several outputs.
func (b *builder) convertParts(h handler) {
	part := h.parts(b)
	first := b.first
	defer func() { b.first = first }()
	for k, i := range b.op.outputs {
		if b.file.tensors[i].empty { // a part without elements, which nothing can read
			continue
		}
		b.first = len(b.g.Nodes)
		b.bind(i, part(k))
	}
}
