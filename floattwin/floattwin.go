// Package floattwin makes the float network that a binary one replaces: the same layers, shapes and wiring, and f32 numbers everywhere.
// What it computes means nothing: binary networks are compared with it, in time and in size.
//
// Its weights are drawn at random, so that nearly all differ, as in a trained float network. Lowering would store weights with few
// different values as bits, and unpack them in the inner loop. That is no float network, and it is slower than one.
package floattwin

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"ripc/graph"
	"ripc/graph/scalar"
)

// Of makes the twin of g, a network as importers and recognition leave it. The same g has the same twin, bit for bit.
// Layers of levels become float layers of the same geometry, with drawn weights whose sums are about 1. Quantizers, signs and ShiftNorm
// become relu and batch_norm, which a float network has in their place. Quantizers of the network's inputs vanish, and so do changes of
// the form of levels. It fails with *ir.Error where a layer has no such counterpart.
func Of(g *graph.Graph) (*graph.Graph, error) {
	t := twin{g: g, b: graph.NewBuilder(&graph.Graph{Name: g.Name + "_float", File: g.File}), of: map[string]string{}, draw: rand.New(rand.NewPCG(seed, 0))}
	for _, name := range g.Inputs {
		v := *g.Value(name)
		v.LevelType, v.View, v.Declared = scalar.LevelType{}, 0, ""
		t.b.Input(&v)
		t.of[name] = name
	}
	for _, n := range g.Nodes {
		if err := t.add(n); err != nil {
			return nil, fmt.Errorf("float twin: %w", err)
		}
	}
	for _, name := range g.Outputs {
		t.b.Graph().Outputs = append(t.b.Graph().Outputs, t.of[name])
	}
	return t.b.Graph(), nil
}

// seed is that of all twins.
const seed = 38

// twin is a twin in the making.
type twin struct {
	g    *graph.Graph
	b    *graph.Builder
	of   map[string]string // the twin's tensors by those of g
	draw *rand.Rand
}

// add appends what stands for n.
func (t *twin) add(n *graph.Node) error {
	m := *n
	m.Verdict = graph.Verdict{}
	m.Inputs = nil
	for _, in := range n.Inputs {
		m.Inputs = append(m.Inputs, t.of[in])
	}
	t.of[n.Output] = n.Output
	switch {
	case graph.Products(n.Op):
		return t.layer(&m)
	case n.Op == "shift_norm":
		return t.norm(&m)
	case n.Op == "int_avg_pool":
		m.Op, m.Attrs = "avg_pool", &n.Attrs.(*graph.IntPoolAttrs).PoolAttrs
		return t.append(&m)
	case n.Op == "int_softmax":
		m.Op, m.Attrs = "softmax", &graph.NoAttrs{}
		return t.append(&m)
	case n.Op == "int_add" || n.Op == "int_mul":
		m.Op, m.Attrs, m.Weights = strings.TrimPrefix(n.Op, "int_"), &graph.BinaryOpAttrs{}, nil
		return t.append(&m)
	case slices.Contains([]string{"quantize", "threshold", "sign", "fake_quant", "round", "int_map"}, n.Op):
		return t.relu(&m)
	case n.Op == "dequantize" && !t.float(m.Inputs[0]):
		return t.append(&m)
	case slices.Contains([]string{"dequantize", "bitpack", "unpack"}, n.Op):
		if !t.g.IsOutput(n.Output) {
			t.of[n.Output] = m.Inputs[0]
			return nil
		}
		return t.relu(&m) // an output must be some layer's own
	}
	return t.append(&m)
}

// append adds n. Truth values and positions stay what they are in the twin; an op that reads levels of any kind, but no f32 operand
// beside them, gets them as f32.
func (t *twin) append(n *graph.Node) error {
	t.spread(n)
	_, err := t.b.Append(n)
	if err == nil || !slices.ContainsFunc(n.Inputs, func(in string) bool { return !t.float(in) }) {
		return err
	}
	for i, in := range n.Inputs {
		if t.float(in) {
			continue
		}
		d := &graph.Node{Name: t.b.NodeName(n.Name + "_dequantize"), Op: "dequantize", Inputs: []string{in}, Output: t.b.TensorName(in + "_f32"), Pos: n.Pos, Attrs: &graph.NoAttrs{}}
		if _, err := t.b.Append(d); err != nil {
			return err
		}
		n.Inputs[i] = d.Output
	}
	_, err = t.b.Append(n)
	return err
}

// float reports whether a tensor of the twin is one of f32 numbers.
func (t *twin) float(tensor string) bool {
	v := t.b.Graph().Value(tensor)
	return !v.Encoded() && !v.Whole
}

// relu appends a relu in n's place. If n reads an input of the network or the output of a relu, nothing stands in its place.
func (t *twin) relu(n *graph.Node) error {
	if p := t.b.Producer(n.Inputs[0]); (p == nil || p.Op == "relu") && !t.g.IsOutput(n.Output) {
		t.of[n.Output] = n.Inputs[0]
		return nil
	}
	n.Op, n.Attrs, n.Weights = "relu", &graph.NoAttrs{}, nil
	return t.append(n)
}

// norm appends batch_norm and relu in the place of a ShiftNorm, n.
func (t *twin) norm(n *graph.Node) error {
	c := t.b.Graph().Value(n.Inputs[0]).Channels()
	vector := func(v float32) *graph.Tensor {
		return &graph.Tensor{Shape: []int{c}, Data: graph.NumbersOf(slices.Repeat([]float32{v}, c))}
	}
	norm := &graph.Node{Name: t.b.NodeName(n.Name + "_bn"), Op: "batch_norm", Inputs: n.Inputs, Output: t.b.TensorName(n.Output + "_bn"), Pos: n.Pos,
		Attrs:   &graph.BatchNormAttrs{Epsilon: 1e-3},
		Weights: map[string]*graph.Tensor{"gamma": vector(1), "beta": vector(0), "mean": vector(0.125), "var": vector(0.75)}}
	if err := t.append(norm); err != nil {
		return err
	}
	n.Inputs = []string{norm.Output}
	return t.relu(n)
}

// layer appends the float layer of n's geometry.
func (t *twin) layer(n *graph.Node) error {
	switch a := n.Attrs.(type) {
	case *graph.Conv2DAttrs:
		b := *a
		b.Binary, b.Integer = nil, nil
		n.Op, n.Attrs = "conv2d", &b
	case *graph.ConvTranspose2DAttrs:
		b := *a
		b.Binary = nil
		n.Op, n.Attrs = "conv_transpose2d", &b
	case *graph.DenseAttrs:
		n.Op, n.Attrs = "dense", &graph.DenseAttrs{}
	}
	weights := map[string]*graph.Tensor{"w": t.weights(n.Weights["w"].Shape)}
	if b := n.Weights["b"]; b != nil {
		weights["b"] = b
	} else if b := n.Weights["bias"]; b != nil { // of integers, in units that the twin does not have
		weights["b"] = &graph.Tensor{Shape: b.Shape, Data: graph.NumbersOf(make([]float32, b.Data.Len()))}
	}
	n.Weights = weights
	return t.append(n)
}

// weights draws weights [..., O] from a normal distribution. Sums of their products with numbers about 1 are about 1.
func (t *twin) weights(shape []int) *graph.Tensor {
	w := make([]float32, graph.Elems(shape))
	deviation := 1 / math.Sqrt(float64(len(w)/shape[len(shape)-1]))
	for i := range w {
		w[i] = float32(deviation * t.draw.NormFloat64())
	}
	return &graph.Tensor{Shape: shape, Data: graph.NumbersOf(w)}
}

// spread makes the numbers of n's other weights differ, by up to an eighth, as trained ones do: parameters of a batch_norm, biases,
// slopes. Infinite numbers stay, and so do weights of one number.
func (t *twin) spread(n *graph.Node) {
	n.Weights = maps.Clone(n.Weights)                 // the network has the map, too
	for _, key := range graph.OpNamed(n.Op).Weights { // in a fixed order, since they are drawn
		w := n.Weights[key]
		if w == nil || key == "w" || w.Data.Len() == 1 {
			continue
		}
		out := slices.Clone(w.Data.Floats())
		for i, v := range out {
			by := float32(t.draw.Float64() / 8)
			switch {
			case v == 0:
				out[i] = by
			case !math.IsInf(float64(v), 0):
				out[i] = v - v*by // of v's sign, and finite
			}
		}
		n.Weights[key] = &graph.Tensor{Shape: w.Shape, Data: graph.NumbersOf(out)}
	}
}
