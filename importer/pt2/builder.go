package pt2

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ripc/graph"
	"ripc/importer"
	"ripc/importer/internal/kit"
	"ripc/importer/internal/source"
	"ripc/internal/names"
	"ripc/ir"
)

// builder makes the graph.
type builder struct {
	kit.Kit
	ctx     context.Context
	archive *archive
	options importer.Options
	eval    Evaluator
	memory  int64       // bytes that constants may still take
	work    int64       // done on constants
	nodes   []*fileNode // that are read
	begins  []string    // tensors that the caller brings
	ends    []string    // tensors that are outputs
	weights map[string]string
	tensors map[string]*tensor // by name in the program
	scalars map[string]int     // numbers that the program computes of extents
	roots   map[string]string  // by tensor: the tensor that it may share memory with
	stale   map[string]string  // by tensor: the node that overwrote its memory
	g       *graph.Builder
	used    names.Set
	sizes   *source.Sizes
	fixed   bool // shapes are those of the file
	faults  source.Faults
	uncut   []*ir.Error // of nodes that one may do without
	unread  map[int]bool
	n       *node
}

// tensor is a tensor of the program: a constant, or a view of a value.
type tensor struct {
	konst *constant
	*kit.View
	truth bool // it holds truth values
	bad   bool // its node could not be read
}

// extents is the tensor's shape.
func (t *tensor) extents() []int {
	if t.konst != nil {
		return t.konst.shape
	}
	return t.Shape
}

// derived returns the tensor of v. Its elements lie in the order of t's.
func (t *tensor) derived(v *graph.Value) *tensor {
	return &tensor{View: t.Derived(v), truth: v.LevelType == graph.Truths()}
}

func newBuilder(ctx context.Context, a *archive, o importer.Options, eval Evaluator, memory int64) *builder {
	b := &builder{ctx: ctx, archive: a, options: o, eval: eval, memory: memory,
		weights: map[string]string{}, tensors: map[string]*tensor{}, scalars: map[string]int{},
		roots: map[string]string{}, stale: map[string]string{}, unread: map[int]bool{},
		g: graph.NewBuilder(source.NewGraph(a.file)), faults: source.Faults{File: a.file}}
	b.Kit = kit.Kit{Emit: b.emit, Each: b.emit, Reshape: b.reshape, Take: b.take}
	return b
}

// emit adds a node to the graph and returns its result. The result's name is provisional.
func (b *builder) emit(op string, attrs any, weights map[string]*graph.Tensor, in ...*graph.Value) *graph.Value {
	n := &graph.Node{Name: b.g.NodeName(b.n.called + "." + op), Output: b.used.Unique(b.n.base + "." + op),
		Op: op, Attrs: attrs, Weights: weights, Pos: ir.Pos{File: b.archive.file}}
	for _, v := range in {
		n.Inputs = append(n.Inputs, v.Name)
	}
	v, err := b.g.Append(n)
	var e *ir.Error
	if errors.As(err, &e) { // of the graph's node: that of the file is meant
		panic(b.n.fail(e.Help, "%s", e.Msg))
	}
	kit.Check(err)
	b.n.made, b.n.unnamed = append(b.n.made, n), append(b.n.unnamed, v)
	return v
}

// reshape returns v with another shape. It emits nothing if v has that shape, and one reshape for
// two in a row.
func (b *builder) reshape(v *graph.Value, shape []int) *graph.Value {
	if p := b.g.Producer(v.Name); p != nil && p.Op == "reshape" {
		v = b.g.Graph().Value(p.Inputs[0])
	}
	if slices.Equal(v.Shape, shape) {
		return v
	}
	if len(shape) == 0 {
		shape = []int{1}
	}
	return b.emit("reshape", &graph.ReshapeAttrs{Shape: slices.Clone(shape)}, nil, v)
}

// inRank returns v as a tensor of a shape with the same number of elements.
func (b *builder) inRank(v *graph.Value, shape []int) *tensor {
	if len(shape) == 0 {
		return &tensor{View: &kit.View{Value: v, Shape: []int{}}}
	}
	return &tensor{View: kit.ViewOf(v)}
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
	b.sizes = kit.Must(source.NewSizes(b.archive.file, b.options, b.begins))
	b.fixed = b.options.Batch == 0 && len(b.options.Shapes) == 0
	for _, name := range b.begins {
		b.used.Take(name)
	}
	for _, name := range b.begins {
		b.tensors[name] = &tensor{bad: true}
		b.n = &node{b: b, base: name, called: name, label: fmt.Sprintf("input %q", name)}
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
		panic(b.n.fail("", "the file does not say its type"))
	}
	if meta.DType != dtFloat {
		forBytes := importer.Type.With(importer.U8)
		panic(b.n.fail("export the network with a float32 input; "+forBytes+" lets the caller bring bytes",
			"is %v", meta.DType))
	}
	shape, open := meta.shape()
	if len(shape) == 0 || len(shape) > graph.MaxRank {
		panic(b.n.fail(fmt.Sprintf("want 1 to %d axes", graph.MaxRank), "has shape %v", shape))
	}
	if len(open) > 0 {
		b.fixed = false
	}
	shape, note, err := b.sizes.Shape(name, shape, open)
	kit.Check(err)
	if v := b.archive.program.SchemaVersion; v.Minor > schemaMinor && len(b.g.Graph().Inputs) == 0 {
		newer := fmt.Sprintf("schema %d.%d is newer than %d.%d, the last one known: the program is read as in that one",
			v.Major, v.Minor, schemaMajor, schemaMinor)
		note = strings.TrimPrefix(note+"; "+newer, "; ")
	}
	v := &graph.Value{Name: name, Shape: shape, Layout: graph.LayoutOf(shape), Note: note}
	if len(shape) == 4 {
		v.Layout = importer.NCHW
	}
	b.g.Input(v)
	t := kit.ViewOf(v)
	if len(shape) == 4 { // images are NHWC inside
		t = kit.ImageView(b.StoreView(t, kit.ImageAxes()))
	}
	return &tensor{View: t}
}

// outputs gives the graph its outputs.
func (b *builder) outputs() {
	for i, name := range b.ends {
		t := b.tensors[name]
		b.n = &node{b: b, base: name, called: name, label: fmt.Sprintf("output %q", name)}
		switch {
		case slices.Contains(b.ends[:i], name):
			b.faults.Add(errorf(b.archive.file, "", "output %q is given twice", name))
		case t == nil:
			b.faults.Add(errorf(b.archive.file, "", "output %q is made by no node", name))
		case !t.bad:
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
	g := b.g.Graph()
	if slices.Contains(b.begins, name) {
		panic(b.n.fail("return a copy of it", "is an input; an output must be made by a node"))
	}
	if len(t.extents()) == 0 {
		panic(b.n.fail("keep one axis (keepdim)", "is a single number without axes"))
	}
	v := b.materialized(t)
	if p := b.g.Producer(v.Name); p == nil || slices.Contains(g.Outputs, v.Name) {
		v = b.emit("reshape", &graph.ReshapeAttrs{Shape: slices.Clone(v.Shape)}, nil, v) // a copy of its own
	}
	if v.Name != name {
		b.rename(v, name)
	}
	g.Outputs = append(g.Outputs, name)
}

// materialized returns a value that holds t in the file's order.
func (b *builder) materialized(t *tensor) *graph.Value {
	if t.konst != nil {
		return b.constant(t.konst)
	}
	return b.StoreView(t.View, kit.Identity(len(t.Shape)))
}

// constant emits c.
func (b *builder) constant(c *constant) *graph.Value {
	if len(c.data) == 0 {
		panic(b.n.fail("", "a constant of shape %v is empty", c.shape))
	}
	b.take(len(c.data))
	shape := c.shape
	if len(shape) == 0 {
		shape = []int{1}
	}
	return b.Constant(shape, c.data)
}

// rename gives a value of the node at work its name in the file, unless another value has it.
func (b *builder) rename(v *graph.Value, name string) {
	if p := b.g.Producer(v.Name); p == nil {
		return
	}
	if other := b.g.Graph().Values[name]; other != nil {
		b.renameValue(other, b.used.Unique(name))
	}
	b.renameValue(v, name)
}

func (b *builder) renameValue(v *graph.Value, name string) {
	b.used.Take(name)
	b.g.RenameTensor(v.Name, name)
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
