package source

import (
	"fmt"
	"slices"
	"strings"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/importer"
	"ripc/importer/internal/kit"
	"ripc/internal/names"
	"ripc/internal/stop"
	"ripc/ir"
)

// Adapt lets the caller bring the inputs of g as o says: in another order of axes, as bytes, and
// not normalized yet. The conversion to the model's own inputs becomes nodes of the network. A
// transpose that the network begins with goes where the caller's order makes it needless. Errors
// are *ir.Error.
func Adapt(g *graph.Graph, o importer.Options) (_ *graph.Graph, err error) {
	defer stop.Catch(&err)
	if len(o.Inputs) == 0 {
		return g, nil
	}
	a := &adapter{g: g, b: graph.NewBuilder(&graph.Graph{Name: g.Name, File: g.File}), to: map[string]string{},
		moves: map[string]move{}}
	for name := range g.Values {
		a.used.Take(name)
	}
	for _, n := range g.Nodes {
		a.used.Take(n.Name)
	}
	a.check(o)
	for _, name := range g.Inputs {
		in, own := o.Inputs[name]
		if !own {
			in = o.Inputs[""]
		}
		a.input(g.Value(name), in)
	}
	for _, n := range g.Nodes {
		a.node(n)
	}
	a.b.Graph().Outputs = g.Outputs
	a.b.Prune()
	return a.b.Graph(), nil
}

// adapter makes a graph anew.
type adapter struct {
	g     *graph.Graph
	b     *graph.Builder
	used  names.Set
	to    map[string]string // tensors of g -> those that hold them now
	moves map[string]move   // tensors that the adapter transposed
}

// move is a transpose of a tensor.
type move struct {
	from string
	perm []int
}

// failIf ends the work with an error if a condition holds.
func (a *adapter) failIf(condition bool, help, format string, args ...any) {
	if condition {
		panic(&ir.Error{Pos: ir.Pos{File: a.g.File}, Msg: fmt.Sprintf(format, args...), Help: help})
	}
}

// check wants the inputs that options are for to be there.
func (a *adapter) check(o importer.Options) {
	all := o.Inputs[""]
	a.failIf(all.Layout != "" &&
		!slices.ContainsFunc(a.g.Inputs, func(in string) bool { return len(a.g.Value(in).Shape) == 4 }),
		"", "%s: no input has four axes", importer.Layout.With(strings.ToLower(all.Layout)))
	stop.Must(NewSizes(a.g.File, o, a.g.Inputs))
}

// add appends a node of a name that is free.
func (a *adapter) add(name, op string, attrs any, weights map[string]*graph.Tensor, in string) string {
	name = a.used.Unique(name)
	stop.Must(a.b.Append(&graph.Node{Name: name, Op: op, Inputs: []string{in}, Output: name, Attrs: attrs,
		Weights: weights, Pos: ir.Pos{File: a.g.File}}))
	return name
}

// transpose appends a transpose of a tensor.
func (a *adapter) transpose(name, in string, perm []int) string {
	if m, ok := a.moves[in]; ok {
		in, perm = m.from, kit.Permuted(m.perm, perm)
	}
	if slices.IsSorted(perm) {
		return in
	}
	out := a.add(name, "transpose", &graph.TransposeAttrs{Perm: perm}, nil, in)
	a.moves[out] = move{in, perm}
	return out
}

// step is a step of a normalization.
type step struct {
	word    importer.Option
	op      string
	numbers []float32
}

// input makes the input that the caller brings, and v from it.
func (a *adapter) input(v *graph.Value, o importer.Input) {
	in := *v
	image := len(in.Shape) == 4 && (in.Layout == importer.NHWC || in.Layout == importer.NCHW)
	if o.Layout != "" {
		a.relabel(&in, image, o.Layout)
	}
	channels := len(in.Shape) - 1 // the axis of channels, as the caller has it
	if image && in.Layout == importer.NCHW {
		channels = 1
	}
	var steps []step
	for _, s := range []step{{importer.Scale, "mul", o.Scale}, {importer.Mean, "sub", o.Mean},
		{importer.Std, "div", o.Std}} {
		if len(s.numbers) == 0 {
			continue
		}
		steps = append(steps, s)
		n := in.Shape[channels]
		a.failIf(len(s.numbers) != 1 && len(s.numbers) != n, "give one, or one for each channel",
			"%s: %d numbers for input %q, which has %d channels", s.word, len(s.numbers), v.Name, n)
		for _, x := range s.numbers { // subnormal numbers count as zero
			a.failIf(x-x != 0 || s.op == "div" && max(x, -x) < 0x1p-126, "", "%s: %g, for input %q", s.word, x, v.Name)
		}
	}
	a.failIf(o.Type != "" && o.Type != importer.U8 && o.Type != importer.F32,
		fmt.Sprintf("it can be %s or %s", importer.U8, importer.F32), "input %q: type %q", v.Name, o.Type)
	a.failIf(v.Encoded() && len(steps) > 0, "", "input %q holds levels, %s, which stand for numbers already: "+
		"only inputs of f32 can be normalized", v.Name, v.LevelType)
	a.failIf(v.Encoded() && o.Type != "" && o.Type != v.DType().String(),
		"", "input %q is %s in the model: only inputs of f32 can be brought as %s", v.Name, v.DType(), o.Type)
	bytes := o.Type == importer.U8 && !v.Encoded()
	if bytes {
		in.LevelType = scalar.LevelType{Enc: ir.Unipolar, Bits: 8, Scale: 1}
	}
	a.b.Input(&in)
	x, layout := v.Name, in.Layout
	bring := func(to string) {
		switch {
		case !image || layout == to:
		case to == importer.NHWC:
			x = a.transpose(v.Name+".nhwc", x, toNHWC())
		default:
			x = a.transpose(v.Name+".nchw", x, toNCHW())
		}
		layout = to
	}
	if len(steps) > 0 || bytes { // channels last, as steps want them
		bring(importer.NHWC)
	}
	if bytes {
		x = a.add(v.Name+".float", "dequantize", &graph.NoAttrs{}, nil, x)
	}
	for _, s := range steps {
		w := map[string]*graph.Tensor{"b": kit.Vector(slices.Clone(s.numbers))}
		x = a.add(v.Name+"."+string(s.word), s.op, &graph.BinaryOpAttrs{}, w, x)
	}
	bring(v.Layout)
	a.to[v.Name] = x
}

// relabel gives an input the order of axes that the caller has.
func (a *adapter) relabel(in *graph.Value, image bool, layout string) {
	a.failIf(!slices.Contains([]string{importer.NHWC, importer.NCHW}, layout),
		fmt.Sprintf("it can be %s or %s", importer.NHWC, importer.NCHW), "input %q: layout %q", in.Name, layout)
	a.failIf(len(in.Shape) == 4 && !image,
		"", "input %q has the layout %q: which of its axes are channels is not known", in.Name, in.Layout)
	if !image || in.Layout == layout {
		return
	}
	a.failIf(in.Encoded() && in.View != graph.Bytes,
		"", "input %q is packed: the words hold its last axis", in.Name)
	perm := toNHWC()
	if layout == importer.NCHW {
		perm = toNCHW()
	}
	in.Shape, in.Layout = kit.Permuted(in.Shape, perm), layout
}

// node takes over a node of g.
func (a *adapter) node(n *graph.Node) {
	m := *n
	m.Inputs = slices.Clone(n.Inputs)
	for i, in := range m.Inputs {
		if to, ok := a.to[in]; ok {
			m.Inputs[i] = to
		}
	}
	if t, ok := n.Attrs.(*graph.TransposeAttrs); ok && a.moves[m.Inputs[0]].from != "" && !a.g.IsOutput(n.Output) {
		a.to[n.Output] = a.transpose(n.Output, m.Inputs[0], t.Perm)
		return
	}
	stop.Must(a.b.Append(&m))
}

func toNHWC() []int { return []int{0, 2, 3, 1} }
func toNCHW() []int { return []int{0, 3, 1, 2} }
