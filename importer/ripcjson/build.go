package ripcjson

import (
	"fmt"
	"slices"
	"strconv"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/importer"
	"ripc/importer/internal/kit"
	"ripc/importer/internal/source"
	"ripc/internal/lists"
	"ripc/internal/stop"
	"ripc/ir"
)

// builder turns a document that the schema has passed into a graph.
type builder struct {
	*problems
	doc     *document
	lim     limits
	options importer.Options
	sizes   *source.Sizes
	g       *graph.Graph
	out     *graph.Builder // of g
	weights *weights
	made    map[string]bool // tensors that some node or input makes, whether or not they turned out well
}

// rawNode is a node as written.
type rawNode struct {
	at      string // JSON pointer
	line    int
	name    string
	op      string
	inputs  []string
	outputs []string
}

// label names a node in messages.
func label(name, op string) string {
	if op == "" {
		return fmt.Sprintf("node %q", name)
	}
	return fmt.Sprintf("node %q (%s)", name, op)
}

func (n *rawNode) label() string { return label(n.name, n.op) }

func (b *builder) fault(n *rawNode, help, format string, args ...any) {
	b.add(n.line, n.label(), help, format, args...)
}

// inputs adds the caller's tensors to the graph.
func (b *builder) inputs() {
	b.made = map[string]bool{}
	var names []string
	for i := range b.doc.list("/inputs") {
		names = append(names, b.doc.text("/inputs/"+strconv.Itoa(i)+"/name"))
	}
	b.sizes = stop.Must(source.NewSizes(b.file, b.options, names))
	for i := range b.doc.list("/inputs") {
		at := "/inputs/" + strconv.Itoa(i)
		name := b.doc.text(at + "/name")
		if b.made[name] {
			b.add(b.doc.lines[at], fmt.Sprintf("input %q", name), "", "an earlier input has the same name")
			continue
		}
		b.made[name] = true
		v, msg, help := b.input(at)
		if msg != "" {
			b.add(b.doc.lines[at], fmt.Sprintf("input %q", name), help, "%s", msg)
			continue
		}
		shape, _, err := b.sizes.Shape(name, v.Shape, nil)
		stop.Check(err)
		v.Shape = shape
		v.Name = name
		b.out.Input(v)
	}
}

// input reads one input. msg is its fault, "" if there is none, and help the accepted values.
func (b *builder) input(at string) (v *graph.Value, msg, help string) {
	v = &graph.Value{Shape: b.doc.integers(at + "/shape"), Note: b.doc.text(at + "/note")}
	v.Layout = b.doc.textOr(at+"/layout", graph.LayoutOf(v.Shape))
	if len(v.Layout) > 0 && len(v.Layout) != len(v.Shape) {
		return nil, fmt.Sprintf("layout %s does not fit shape %v", v.Layout, v.Shape), "use one letter for each axis"
	}
	if kit.Count(v.Shape, b.lim.tensor) > b.lim.tensor {
		return nil, fmt.Sprintf("shape %v has more than %d elements", v.Shape, b.lim.tensor), ""
	}
	enc, zero, err := b.encoding(at, ir.NoEncoding)
	if err != nil {
		return nil, err.Error(), ""
	}
	packed, dtype := b.doc.flag(at+"/packed"), b.doc.text(at+"/dtype")
	switch {
	case enc == ir.NoEncoding && dtype != "f32":
		return nil, "dtype " + dtype + " without an encoding", "give encoding (and bits), or use dtype f32"
	case enc != ir.NoEncoding && packed && dtype != "u32" && dtype != "i32":
		return nil, "dtype " + dtype + " for packed levels", "bit planes are u32 words: use dtype u32"
	case packed && dtype == "i32" && b.doc.integer(at+"/bits", 1) != 1:
		return nil, "dtype i32 for packed levels of several bits", "bit planes are u32 words: use dtype u32"
	case dtype == "i8" && (b.doc.text(at+"/encoding") != "affine" || b.doc.integer(at+"/bits", 1) != 8):
		return nil, "dtype i8 for other than affine levels of 8 bits", "use dtype u8, or encoding affine and bits 8"
	case enc != ir.NoEncoding && !packed && dtype != "u8" && dtype != "i8":
		return nil, "dtype " + dtype + " for levels", "use dtype u8, or u32 with packed: true"
	case enc == ir.NoEncoding:
		return v, "", ""
	}
	bits := b.doc.integer(at+"/bits", 1)
	v.LevelType = scalar.LevelType{Enc: enc, Bits: bits, Scale: b.doc.number(at+"/scale", unitScale(bits)), Zero: zero,
		Signed: dtype == "i8", Offset: b.doc.number(at+"/offset", 0)}
	switch {
	case v.Signed:
		v.Zero += 128
	case dtype == "i32":
		v.View = graph.IntWords
	case packed:
		v.View = graph.Planes
	}
	if v.Zero < 0 || v.Zero > v.Top() {
		return nil, fmt.Sprintf("zero_point %d is none of the %d-bit values", zero, bits),
			"the zero point is one of the tensor's values"
	}
	return v, "", ""
}

// encoding reads an encoding; affine is unipolar with a zero point.
func (b *builder) encoding(at string, def ir.EncodingKind) (enc ir.EncodingKind, zero int, err error) {
	text := b.doc.textOr(at+"/encoding", def.String())
	zero = b.doc.integer(at+"/zero_point", 0)
	if text == "affine" {
		return ir.Unipolar, zero, nil
	}
	if zero != 0 {
		return def, 0, fmt.Errorf("zero_point %d without encoding affine", zero)
	}
	if text == def.String() {
		return def, 0, nil
	}
	enc, err = ir.ParseEncodingKind(text)
	return enc, 0, err
}

// unitScale is the scale that maps levels of this many bits to 0..1.
func unitScale(bits int) float64 { return 1 / float64(int(1)<<bits-1) }

// build checks one node and adds it to the graph. A node with inputs that failed is passed over:
// that was reported.
func (b *builder) build(n *rawNode) {
	for _, in := range n.inputs {
		if b.g.Values[in] == nil {
			return
		}
	}
	node := &graph.Node{Name: n.name, Op: n.op, Inputs: n.inputs, Output: n.outputs[0],
		Weights: map[string]*graph.Tensor{}, Pos: ir.Pos{File: b.file, Line: n.line}, Verdict: b.reason(n),
		Note: b.doc.text(n.at + "/note"),
		Part: graph.Part{Of: b.doc.text(n.at + "/part/of"), Repeats: b.doc.flag(n.at + "/part/repeats"),
			Groups: b.doc.integer(n.at+"/part/groups", 0)}}
	row := formats()[n.op]
	node.Attrs = b.resized(node, row.attrs(&coder{builder: b, n: n, at: n.at + "/attrs"}, nil))
	if !row.weights(b.weightReader(n, node)) {
		return
	}
	out, err := b.out.Append(node)
	if err != nil {
		b.addError(err)
		return
	}
	var producer *graph.Node
	if len(node.Inputs) > 0 {
		producer = b.out.Producer(node.Inputs[0])
	}
	if err := b.g.CheckPart(node, producer); err != nil {
		b.addError(err)
	}
	if kit.Count(out.Shape, b.lim.tensor) > b.lim.tensor {
		b.fault(n, "", "output of shape %v has more than %d elements", out.Shape, b.lim.tensor)
	}
}

// resized is the attributes of n, where they depend on the batch and that is another than the model
// was written for.
func (b *builder) resized(n *graph.Node, attrs any) any {
	batch := b.sizes.Batch()
	if len(n.Inputs) == 0 {
		return attrs
	}
	x := b.g.Values[n.Inputs[0]].Shape
	switch a := attrs.(type) {
	case *graph.ReshapeAttrs:
		a.Shape = batch.Reshape(x, a.Shape)
	case *graph.SliceAttrs:
		if len(a.Begin) > 0 && len(a.Size) > 0 && len(a.Stride) > 0 {
			a.Size[0] = batch.Slice(x, a.Begin[0], a.Stride[0], a.Size[0])
		}
	}
	return attrs
}

// outputs checks the names of the network's outputs.
func (b *builder) outputs(nodes []*rawNode) {
	seen := map[string]bool{}
	for i, name := range b.doc.texts("/outputs") {
		line, where := b.doc.lines["/outputs/"+strconv.Itoa(i)], fmt.Sprintf("output %q", name)
		switch {
		case seen[name]:
			b.add(line, where, "", "listed twice")
		case !b.made[name]:
			var known []string
			for _, n := range nodes {
				known = append(known, n.outputs...)
			}
			b.add(line, where, b.didYouMean(name, known), "no node makes this tensor")
		case b.isInput(name):
			b.add(line, where, "", "is an input; an output must be made by a node")
		}
		seen[name] = true
	}
	b.g.Outputs = b.doc.texts("/outputs")
}

func (b *builder) isInput(name string) bool {
	return slices.Contains(b.g.Inputs, name)
}

// checkUnused refuses parts that nobody reads, most likely because of a misspelt name: results of
// nodes, and tensors given besides generated ones.
func (b *builder) checkUnused() {
	read := lists.Set(b.g.Outputs...)
	for _, n := range b.g.Nodes {
		for _, in := range n.Inputs {
			read[in] = true
		}
	}
	for _, n := range b.g.Nodes {
		if !read[n.Output] {
			b.addError(b.g.Errorf(n, "list it under outputs, or remove the node", "no node reads the result %q",
				n.Output))
		}
	}
	b.weights.checkUnused(b)
}
