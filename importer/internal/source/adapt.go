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
	"ripc/ir"
)

// Adapt lets the caller bring the inputs of g as o says: in another order of axes, as bytes, and
// not normalized yet. The conversion to the model's own inputs becomes nodes of the network. A
// transpose that the network begins with goes where the caller's order makes it needless. Errors
// are *ir.Error.
func Adapt(g *graph.Graph, o importer.Options) (*graph.Graph, error) {
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
	if err := a.check(o); err != nil {
		return nil, err
	}
	for _, name := range g.Inputs {
		in, own := o.Inputs[name]
		if !own {
			in = o.Inputs[""]
		}
		if err := a.input(g.Value(name), in); err != nil {
			return nil, err
		}
	}
	for _, n := range g.Nodes {
		if err := a.node(n); err != nil {
			return nil, err
		}
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

func (a *adapter) errorf(help, format string, args ...any) error {
	return &ir.Error{Pos: ir.Pos{File: a.g.File}, Msg: fmt.Sprintf(format, args...), Help: help}
}

// check wants the inputs that options are for to be there.
func (a *adapter) check(o importer.Options) error {
	if all := o.Inputs[""]; all.Layout != "" &&
		!slices.ContainsFunc(a.g.Inputs, func(in string) bool { return len(a.g.Value(in).Shape) == 4 }) {
		return a.errorf("", "%s: no input has four axes", importer.Layout.With(strings.ToLower(all.Layout)))
	}
	_, err := NewSizes(a.g.File, o, a.g.Inputs)
	return err
}

// add appends a node of a name that is free.
func (a *adapter) add(name, op string, attrs any, weights map[string]*graph.Tensor, in string) (string, error) {
	name = a.used.Unique(name)
	_, err := a.b.Append(&graph.Node{Name: name, Op: op, Inputs: []string{in}, Output: name, Attrs: attrs,
		Weights: weights, Pos: ir.Pos{File: a.g.File}})
	return name, err
}

// transpose appends a transpose of a tensor.
func (a *adapter) transpose(name, in string, perm []int) (string, error) {
	if m, ok := a.moves[in]; ok {
		both := make([]int, len(perm))
		for d, p := range perm {
			both[d] = m.perm[p]
		}
		in, perm = m.from, both
	}
	if slices.IsSorted(perm) {
		return in, nil
	}
	out, err := a.add(name, "transpose", &graph.TransposeAttrs{Perm: perm}, nil, in)
	if err == nil {
		a.moves[out] = move{in, perm}
	}
	return out, err
}

// input makes the input that the caller brings, and v from it.
func (a *adapter) input(v *graph.Value, o importer.Input) error {
	in := *v
	last := len(in.Shape) - 1
	channels := last // the axis of channels, as the caller has it
	image := len(in.Shape) == 4 && (in.Layout == importer.NHWC || in.Layout == importer.NCHW)
	if o.Layout != "" {
		switch {
		case !slices.Contains([]string{importer.NHWC, importer.NCHW}, o.Layout):
			return a.errorf(fmt.Sprintf("it can be %s or %s", importer.NHWC, importer.NCHW), "input %q: layout %q",
				v.Name, o.Layout)
		case len(in.Shape) == 4 && !image:
			return a.errorf("", "input %q has the layout %q: which of its axes are channels is not known", v.Name,
				in.Layout)
		case !image, in.Layout == o.Layout:
		case v.Encoded() && v.View != graph.Bytes:
			return a.errorf("", "input %q is packed: the words hold its last axis", v.Name)
		case o.Layout == importer.NHWC:
			in.Shape, in.Layout = kit.Permuted(in.Shape, toNHWC()), o.Layout
		default:
			in.Shape, in.Layout = kit.Permuted(in.Shape, toNCHW()), o.Layout
		}
	}
	if image && in.Layout == importer.NCHW {
		channels = 1
	}
	steps := []struct {
		word    importer.Option
		op      string
		numbers []float32
	}{{importer.Scale, "mul", o.Scale}, {importer.Mean, "sub", o.Mean}, {importer.Std, "div", o.Std}}
	normalized := false
	for _, s := range steps {
		if len(s.numbers) == 0 {
			continue
		}
		normalized = true
		if n := in.Shape[channels]; len(s.numbers) != 1 && len(s.numbers) != n {
			return a.errorf("give one, or one for each channel", "%s: %d numbers for input %q, which has %d channels",
				s.word, len(s.numbers), v.Name, n)
		}
		for _, x := range s.numbers {
			if x-x != 0 || s.op == "div" && max(x, -x) < 0x1p-126 { // subnormal numbers count as zero
				return a.errorf("", "%s: %g, for input %q", s.word, x, v.Name)
			}
		}
	}
	bytes := o.Type == importer.U8
	switch {
	case o.Type != "" && o.Type != importer.U8 && o.Type != importer.F32:
		return a.errorf(fmt.Sprintf("it can be %s or %s", importer.U8, importer.F32), "input %q: type %q", v.Name,
			o.Type)
	case v.Encoded() && normalized:
		return a.errorf("", "input %q holds levels, %s, which stand for numbers already: "+
			"only inputs of f32 can be normalized", v.Name, v.LevelType)
	case v.Encoded() && o.Type != "" && o.Type != v.DType().String():
		return a.errorf("", "input %q is %s in the model: only inputs of f32 can be brought as %s", v.Name, v.DType(),
			o.Type)
	case v.Encoded():
		bytes = false
	}
	if bytes {
		in.LevelType = scalar.LevelType{Enc: ir.Unipolar, Bits: 8, Scale: 1}
	}
	a.b.Input(&in)
	x, layout := v.Name, in.Layout
	bring := func(to string) (err error) {
		switch {
		case !image || layout == to:
		case to == importer.NHWC:
			x, err = a.transpose(v.Name+".nhwc", x, toNHWC())
		default:
			x, err = a.transpose(v.Name+".nchw", x, toNCHW())
		}
		layout = to
		return err
	}
	if normalized || bytes { // channels last, as steps want them
		if err := bring(importer.NHWC); err != nil {
			return err
		}
	}
	var err error
	if bytes {
		if x, err = a.add(v.Name+".float", "dequantize", &graph.NoAttrs{}, nil, x); err != nil {
			return err
		}
	}
	for _, s := range steps {
		if len(s.numbers) == 0 {
			continue
		}
		w := map[string]*graph.Tensor{"b": {Shape: []int{len(s.numbers)},
			Data: graph.NumbersOf(slices.Clone(s.numbers))}}
		if x, err = a.add(v.Name+"."+string(s.word), s.op, &graph.BinaryOpAttrs{}, w, x); err != nil {
			return err
		}
	}
	err = bring(v.Layout)
	a.to[v.Name] = x
	return err
}

// node takes over a node of g.
func (a *adapter) node(n *graph.Node) error {
	m := *n
	m.Inputs = slices.Clone(n.Inputs)
	for i, in := range m.Inputs {
		if to, ok := a.to[in]; ok {
			m.Inputs[i] = to
		}
	}
	if t, ok := n.Attrs.(*graph.TransposeAttrs); ok && a.moves[m.Inputs[0]].from != "" && !a.g.IsOutput(n.Output) {
		var err error
		a.to[n.Output], err = a.transpose(n.Output, m.Inputs[0], t.Perm)
		return err
	}
	_, err := a.b.Append(&m)
	return err
}

func toNHWC() []int { return []int{0, 2, 3, 1} }
func toNCHW() []int { return []int{0, 3, 1, 2} }
