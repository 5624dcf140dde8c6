// Package floattwin makes the float network in whose place a binary one stands: the same layers, shapes and wiring, and f32
// numbers everywhere. What it computes means nothing; it is there to be compared with, in time and in size.
package floattwin

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"ripc/graph"
	"ripc/graph/scalar"
)

// Of makes the twin of g, a network as importers and recognition leave it. Layers of levels become float layers of the same geometry,
// whose weights are scaled to sums of about 1; quantizers, signs and ShiftNorm become what a float network has in their place, relu and
// batch_norm; what changes only the form of levels vanishes. It fails with *ir.Error where a layer has no such counterpart.
func Of(g *graph.Graph) (*graph.Graph, error) {
	t := twin{g: g, b: graph.NewBuilder(&graph.Graph{Name: g.Name + "_float", File: g.File}), of: map[string]string{}}
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

// twin is a twin in the making.
type twin struct {
	g  *graph.Graph
	b  *graph.Builder
	of map[string]string // the twin's tensors by those of g
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

// relu appends a relu in n's place, unless n reads what a relu made, and nothing else.
func (t *twin) relu(n *graph.Node) error {
	if p := t.b.Producer(n.Inputs[0]); p != nil && p.Op == "relu" && !t.g.IsOutput(n.Output) {
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
		return &graph.Tensor{Shape: []int{c}, Data: slices.Repeat([]float32{v}, c)}
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
	w := n.Weights["w"]
	weights := map[string]*graph.Tensor{"w": scaled(w)}
	if b := n.Weights["b"]; b != nil {
		weights["b"] = b
	} else if b := n.Weights["bias"]; b != nil { // of integers, in units that the twin does not have
		weights["b"] = &graph.Tensor{Shape: b.Shape, Data: make([]float32, len(b.Data))}
	}
	n.Weights = weights
	return t.append(n)
}

// scaled is w with weights of such a size that sums of its products with numbers about 1 are about 1.
func scaled(w *graph.Tensor) *graph.Tensor {
	most := float32(0)
	for _, v := range w.Data {
		most = max(most, v, -v)
	}
	if most == 0 {
		return w
	}
	by := float32(1/math.Sqrt(float64(len(w.Data)/w.Shape[len(w.Shape)-1]))) / most
	out := &graph.Tensor{Shape: w.Shape, Data: make([]float32, len(w.Data))}
	for i, v := range w.Data {
		out.Data[i] = v * by
	}
	return out
}
