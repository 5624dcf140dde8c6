package dataflow

import (
	"fmt"
	"slices"
	"strings"

	"ripc/graph"
	"ripc/graph/scalar"
)

// finder finds engines for the nodes of a graph.
type finder struct {
	g     *graph.Graph
	index *graph.Index
}

// engines makes the engines of a node, or says why it has none, by op.
func engines() map[string]func(f *finder, n *graph.Node) (candidate, string) {
	noTable := func(*finder, *graph.Node) (candidate, string) {
		return candidate{}, fmt.Sprintf("its tensors have different shapes, or more than %d bits together",
			maxLookupBits)
	}
	return map[string]func(f *finder, n *graph.Node) (candidate, string){
		"bconv2d": (*finder).conv,
		"max_pool": func(f *finder, n *graph.Node) (candidate, string) {
			in, _ := shapeOf(f.g.Value(n.Inputs[0]))
			return f.single(n, newPool(in, n.Attrs.(*graph.PoolAttrs)))
		},
		"pad": (*finder).pad, "slice": (*finder).slice,
		"add": (*finder).add, "sub": (*finder).add, "mul": (*finder).rescale, "div": (*finder).rescale,
		"concat": (*finder).concat, "reshape": (*finder).alias, "flatten": (*finder).alias,
		"int_avg_pool": (*finder).mean, "int_add": noTable, "int_mul": noTable, "int_map": noTable,
	}
}

// candidateOf finds the engines of n, and of the nodes that become engines with it.
func (f *finder) candidateOf(n *graph.Node) (candidate, string) {
	if n.Op == "fconv2d" {
		return candidate{}, "its weights or its input are floats"
	}
	if c, ok := f.lookup(n); ok {
		return c, ""
	}
	find, known := engines()[n.Op]
	if !known || len(n.Inputs) == 0 {
		return candidate{}, "op " + n.Op + " has no engine"
	}
	for _, t := range append(slices.Clone(n.Inputs), n.Output) {
		v := f.g.Value(t)
		if _, ok := shapeOf(v); !ok {
			return candidate{}, "it works on more than one picture, or on other than pictures and vectors"
		}
		if !v.Encoded() && t != n.Output {
			return candidate{}, "its input is floats"
		}
	}
	return find(f, n)
}

// single is node n with one engine.
func (f *finder) single(n *graph.Node, e Engine) (candidate, string) {
	return f.series(n.Name, []*graph.Node{n}, n.Inputs, nil, e), ""
}

// alias is a node that leaves the levels of its input as they are.
func (f *finder) alias(n *graph.Node) (candidate, string) {
	return candidate{nodes: []*graph.Node{n}, inputs: n.Inputs}, ""
}

// inside is behind the name of a tensor for each engine that a layer still has.
const inside = " before the last engine"

// series is nodes as the engines of a layer, one behind the other. The first reads inputs, the last
// one more besides the engine before it.
func (f *finder) series(name string, nodes []*graph.Node, inputs, more []string, all ...Engine) candidate {
	c := candidate{nodes: nodes, inputs: slices.Concat(inputs, more)}
	in := inputs
	for i, e := range all {
		s := &Stage{Name: name, Inputs: in, Output: c.output() + strings.Repeat(inside, len(all)-1-i), Engine: e}
		if i > 0 && i == len(all)-1 {
			s.Inputs = slices.Concat(in, more)
		}
		c.stages, in = append(c.stages, s), []string{s.Output}
	}
	return c
}

// conv is a layer with weights. Where its sums stay floats, a quantizer behind max pools and float
// steps goes before them, if all rise or fall with the sum: each level of a maximum is that of the
// greatest sum, or of the least.
func (f *finder) conv(n *graph.Node) (candidate, string) {
	c := n.Attrs.(*graph.FusedConv)
	if k, ok := f.argmax(n, c); ok {
		return k, ""
	}
	if nodes, folded, pools := f.foldTail(n, c); nodes != nil {
		if k, why := f.convOf(nodes, folded, pools); why == "" || len(nodes) == 1 {
			return k, why
		}
	}
	return f.convOf([]*graph.Node{n}, c, nil)
}

// foldTail follows the only readers of n's floats to a quantizer. It returns nil if other ops are
// between.
func (f *finder) foldTail(n *graph.Node, c *graph.FusedConv) (nodes []*graph.Node, folded *graph.FusedConv,
	pools []*graph.PoolAttrs) {
	conv := *c
	if c.Pool != nil {
		pools = append(pools, c.Pool)
	}
	for nodes = []*graph.Node{n}; ; {
		t := nodes[len(nodes)-1].Output
		if f.g.Value(t).Encoded() {
			return nodes, &conv, pools
		}
		readers := f.index.Consumers(t)
		if len(readers) != 1 || f.g.IsOutput(t) {
			return nil, nil, nil
		}
		n = readers[0]
		switch a := n.Attrs.(type) {
		case *graph.Elementwise:
			conv.Epilogue.AddSteps(a.Steps)
		case *graph.PoolAttrs:
			if n.Op != "max_pool" {
				return nil, nil, nil
			}
			pools = append(pools, a)
		case *graph.ThresholdAttrs:
			rows := n.Weights["thresholds"]
			for j := range rows.Shape[0] {
				row := make([]float32, c.Out)
				for o := range row {
					row[o] = rows.Data.At(j*rows.Shape[1] + o%rows.Shape[1])
				}
				conv.Epilogue.LevelRows = append(conv.Epilogue.LevelRows, row)
			}
		case *graph.QuantizeAttrs:
			conv.Epilogue.Quantizer = a
		default:
			return nil, nil, nil
		}
		if len(n.Inputs) != 1 {
			return nil, nil, nil
		}
		nodes = append(nodes, n)
	}
}

// convOf is nodes as an engine for c with pools behind it.
func (f *finder) convOf(nodes []*graph.Node, c *graph.FusedConv, pools []*graph.PoolAttrs) (candidate, string) {
	x, y := f.g.Value(nodes[0].Inputs[0]), f.g.Value(nodes[len(nodes)-1].Output)
	levels, why := y.Bits, ""
	var r rule
	var more []string
	var joined *Lookup
	if len(c.Epilogue.Joins) == 1 && y.Encoded() {
		more = c.JoinedTensors(nodes[0])
		joined, r, why = joinRule(c, f.g.Value(more[0]), y)
		if joined != nil {
			levels = joined.InBits[0]
		}
	} else {
		r, why = ruleOf(c, y.Bits)
	}
	if why != "" {
		return candidate{}, why
	}
	var flips []bool
	if len(nodes) > 1 {
		flips = r.rise(levels)
	}
	m, why := newMVU(x, c, levels, r)
	if why != "" {
		return candidate{}, why
	}
	all := []Engine{m}
	for _, p := range pools {
		all = append(all, newPool(all[len(all)-1].Output(), p))
	}
	if slices.Contains(flips, true) {
		all = append(all, &Flip{all[len(all)-1].Output(), levels, flips})
	}
	if joined != nil {
		joined.Shape = all[len(all)-1].Output()
		all = append(all, joined)
	}
	return f.series(nodes[0].Name, nodes, nodes[0].Inputs[:1], more, all...), ""
}

// add is the sum or the difference of two tensors of levels, or of one and a number, which changes
// the meaning of levels alone.
func (f *finder) add(n *graph.Node) (candidate, string) {
	y := f.g.Value(n.Output)
	if len(n.Inputs) == 1 {
		return f.rescale(n)
	}
	shape, _ := shapeOf(y)
	a := &Add{Shape: shape, Bits: y.Bits}
	var types [2]scalar.LevelType
	for i, t := range n.Inputs {
		x := f.g.Value(t)
		if !y.Encoded() || !slices.Equal(x.Shape, y.Shape) {
			return candidate{}, "is no sum of two tensors of levels and one shape"
		}
		types[i] = rising(x.LevelType)
	}
	sum, fault := scalar.SumOf(types[0], types[1], n.Op == "sub")
	if fault != scalar.SumExact || sum.Type.Bits != y.Bits {
		return candidate{}, "its levels have no exact sum"
	}
	a.Terms = [2]scalar.Term{sum.X, sum.Y}
	a.Tops = [2]int{types[0].Top(), types[1].Top()}
	return f.single(n, a)
}

// rescale is a product with a number above 0, or a sum with a number: the levels stay.
func (f *finder) rescale(n *graph.Node) (candidate, string) {
	x, y := f.g.Value(n.Inputs[0]), f.g.Value(n.Output)
	if len(n.Inputs) != 1 || !y.Encoded() || x.Bits != y.Bits || x.Enc != y.Enc {
		return candidate{}, "it makes no levels of one tensor's"
	}
	return f.alias(n)
}

func (f *finder) concat(n *graph.Node) (candidate, string) {
	shape, _ := shapeOf(f.g.Value(n.Output))
	c := &Concat{Shape: shape}
	for _, t := range n.Inputs {
		if f.g.Value(t).LevelType != f.g.Value(n.Inputs[0]).LevelType {
			return candidate{}, "its levels have different types"
		}
		c.Parts = append(c.Parts, f.g.Value(t).Channels())
	}
	return f.single(n, c)
}

// pad surrounds pictures with a level, and slice takes some of their positions. Both are windows of
// one position.
func (f *finder) pad(n *graph.Node) (candidate, string) {
	a, x := n.Attrs.(*graph.SpatialPadAttrs), f.g.Value(n.Inputs[0])
	level, ok := x.Level(a.Value)
	if !ok {
		return candidate{}, "it pads with no level"
	}
	return f.crop(n, a.Pad, [2]int{1, 1}, Ascending(x.LevelType, int64(level)))
}

func (f *finder) slice(n *graph.Node) (candidate, string) {
	a, x := n.Attrs.(*graph.SliceAttrs), f.g.Value(n.Inputs[0])
	if len(x.Shape) != 4 || a.Size[3] != x.Shape[3] {
		return candidate{}, "it takes some of the channels"
	}
	return f.crop(n, graph.Padding{Top: -a.Begin[1], Left: -a.Begin[2]}, [2]int{a.Stride[1], a.Stride[2]}, 0)
}

func (f *finder) crop(n *graph.Node, pad graph.Padding, strides [2]int, level int64) (candidate, string) {
	in, _ := shapeOf(f.g.Value(n.Inputs[0]))
	out, _ := shapeOf(f.g.Value(n.Output))
	one := [2]int{1, 1}
	return f.single(n, &Crop{Window{In: in, Out: out, Kernel: one, Strides: strides, Dilation: one, Pad: pad,
		Level: level}})
}
