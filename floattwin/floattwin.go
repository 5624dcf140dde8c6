// Package floattwin makes the float network that a binary one replaces: the same layers, shapes and
// wiring, and f32 numbers everywhere. Its results mean nothing: it is a baseline for time and size.
//
// Its weights are drawn at random, so that nearly all differ, as in a trained float network.
// Lowering would store weights with few different values as bits, and unpack them in the inner
// loop. That is no float network, and it is slower than one.
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
	"ripc/ir"
)

// Of makes the twin of g, a network as importers and recognition leave it. The same g has the same
// twin, bit for bit. Layers of levels become float layers of the same geometry, with drawn weights
// that sum to about 1. Quantizers, signs and ShiftNorm become relu and batch_norm, their
// counterparts in a float network. Quantizers of the network's inputs vanish, and so do changes of
// the form of levels. The parts of a layer (graph.Part) become one layer again, and means of
// integers an avg_pool. It fails with *Error if a layer has no counterpart.
func Of(g *graph.Graph) (*graph.Graph, error) {
	b := graph.NewBuilder(&graph.Graph{Name: g.Name + "_float", File: g.File})
	t := twin{g: g, index: graph.NewIndex(g), b: b, counterparts: map[string]string{},
		draw: rand.New(rand.NewPCG(seed, 0))}
	for _, name := range g.Inputs {
		v := *g.Value(name)
		v.LevelType, v.View, v.Declared = scalar.LevelType{}, 0, ""
		t.b.Input(&v)
		t.counterparts[name] = name
	}
	for _, n := range g.Nodes {
		if err := t.add(n); err != nil {
			return nil, &Error{err}
		}
	}
	for _, name := range g.Outputs {
		if t.counterparts[name] == absent {
			msg := fmt.Sprintf("output %q is made by a part of a layer", name)
			return nil, &Error{&ir.Error{Pos: ir.Pos{File: g.File}, Msg: msg}}
		}
		t.b.Graph().Outputs = append(t.b.Graph().Outputs, t.counterparts[name])
	}
	t.b.Prune() // nodes that only parts of layers read
	return t.b.Graph(), nil
}

// Error is the reason why a network has no float twin.
type Error struct{ Err error }

// Error returns the message with its context.
func (e *Error) Error() string { return "no float twin: " + e.Err.Error() }

// Unwrap gives the reason alone.
func (e *Error) Unwrap() error { return e.Err }

// absent stands for a tensor that has no counterpart, because another one counts for it.
const absent = ""

// seed is that of all twins.
const seed = 38

// twin is a twin in the making.
type twin struct {
	g            *graph.Graph
	index        *graph.Index // of g
	b            *graph.Builder
	counterparts map[string]string // the twin's tensors by those of g
	draw         *rand.Rand
}

// add appends the counterpart of n.
func (t *twin) add(n *graph.Node) error {
	m := *n
	m.Verdict = graph.Verdict{}
	m.Part = graph.Part{}
	m.Inputs = nil
	for _, in := range n.Inputs {
		if t.counterparts[in] != absent {
			m.Inputs = append(m.Inputs, t.counterparts[in])
		}
	}
	t.counterparts[n.Output] = n.Output
	switch gone := len(n.Inputs) - len(m.Inputs); {
	case n.Part.Repeats, gone > 0 && len(m.Inputs) == 0:
		t.counterparts[n.Output] = absent
		return nil
	case gone == 1 && len(m.Inputs) == 1 && (n.Op == "add" || n.Op == "sub"): // the sum of a layer's parts
		return t.replace(n.Output, m.Inputs[0])
	case gone > 0:
		return t.g.Errorf(n, "", "it reads a part of a layer")
	case n.Part.Groups > 0:
		if err := t.g.CheckPart(n, t.index.Producer(n.Inputs[0])); err != nil {
			return err
		}
		m.Inputs = []string{t.counterparts[t.index.Producer(n.Inputs[0]).Inputs[0]]}
	case t.isRescaling(n):
		t.counterparts[n.Output] = m.Inputs[0]
		return nil
	case strings.HasPrefix(n.Op, "logical_") && slices.ContainsFunc(m.Inputs, t.isFloat):
		// the truth values of quantizers
		m.Inputs = []string{m.Inputs[slices.IndexFunc(m.Inputs, t.isFloat)]}
		return t.relu(&m)
	}
	switch {
	case isMean(n):
		return t.mean(&m)
	case graph.Products(n.Op):
		return t.layer(&m, n.Part.Groups)
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
	case n.Op == "dequantize" && !t.isFloat(m.Inputs[0]):
		return t.append(&m)
	case slices.Contains([]string{"dequantize", "bitpack", "unpack"}, n.Op):
		if !t.g.IsOutput(n.Output) {
			t.counterparts[n.Output] = m.Inputs[0]
			return nil
		}
		return t.relu(&m) // an output must be some layer's own
	}
	return t.append(&m)
}

// replace lets the twin's tensor made stand for tensor of g. Outputs keep their names.
func (t *twin) replace(tensor, made string) error {
	t.counterparts[tensor] = made
	if !t.g.IsOutput(tensor) {
		return nil
	}
	if p := t.b.Producer(made); p == nil || t.g.IsOutput(made) {
		return t.g.Errorf(t.index.Producer(tensor), "", "its output is another one, %q", made)
	}
	t.b.RenameTensor(made, tensor)
	for name, of := range t.counterparts {
		if of == made {
			t.counterparts[name] = tensor
		}
	}
	return nil
}

// isRescaling reports whether n gives levels another scale or offset, which costs nothing: their
// integers stay.
func (t *twin) isRescaling(n *graph.Node) bool {
	if !slices.Contains([]string{"add", "sub", "mul", "div"}, n.Op) || len(n.Inputs) != 1 || t.g.IsOutput(n.Output) {
		return false
	}
	return t.g.Value(n.Inputs[0]).Encoded() && t.g.Value(n.Output).Encoded()
}

// isMean reports whether n adds up the windows of each channel of integers, as importers write
// means and sums of integers.
func isMean(n *graph.Node) bool {
	a, ok := n.Attrs.(*graph.Conv2DAttrs)
	if !ok || a.Integer == nil {
		return false
	}
	w := n.Weights["w"]
	for _, v := range w.Data.All() {
		if v != 1 {
			return false
		}
	}
	return w.Shape[2] == 1 && w.Shape[3] == a.GroupCount()
}

// mean appends the avg_pool of the windows of n.
func (t *twin) mean(n *graph.Node) error {
	a, w := n.Attrs.(*graph.Conv2DAttrs), n.Weights["w"]
	pool := &graph.PoolAttrs{Kernel: [2]int{w.Shape[0], w.Shape[1]}, Strides: a.Strides, Pad: a.Pad}
	n.Op, n.Weights, n.Attrs = "avg_pool", nil, pool
	return t.append(n)
}

// append adds n. Truth values and positions stay as they are in the twin. An op that reads levels
// of any kind, but no f32 operand beside them, gets them as f32.
func (t *twin) append(n *graph.Node) error {
	t.spread(n)
	_, err := t.b.Append(n)
	if err == nil || !slices.ContainsFunc(n.Inputs, func(in string) bool { return !t.isFloat(in) }) {
		return err
	}
	for i, in := range n.Inputs {
		if t.isFloat(in) {
			continue
		}
		d := &graph.Node{Name: t.b.NodeName(n.Name + "_dequantize"), Op: "dequantize", Inputs: []string{in},
			Output: t.b.TensorName(in + "_f32"), Pos: n.Pos, Attrs: &graph.NoAttrs{}}
		if _, err := t.b.Append(d); err != nil {
			return err
		}
		n.Inputs[i] = d.Output
	}
	_, err = t.b.Append(n)
	return err
}

// isFloat reports whether a tensor of the twin is one of f32 numbers.
func (t *twin) isFloat(tensor string) bool {
	v := t.b.Graph().Value(tensor)
	return !v.Encoded() && !v.Whole
}

// relu appends a relu in n's place. If n reads an input of the network or the output of a relu,
// nothing stands in its place.
func (t *twin) relu(n *graph.Node) error {
	if p := t.b.Producer(n.Inputs[0]); (p == nil || p.Op == "relu") && !t.g.IsOutput(n.Output) {
		t.counterparts[n.Output] = n.Inputs[0]
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
	norm := &graph.Node{Name: t.b.NodeName(n.Name + "_bn"), Op: "batch_norm", Inputs: n.Inputs,
		Output: t.b.TensorName(n.Output + "_bn"), Pos: n.Pos, Attrs: &graph.BatchNormAttrs{Epsilon: 1e-3},
		Weights: map[string]*graph.Tensor{"gamma": vector(1), "beta": vector(0), "mean": vector(0.125),
			"var": vector(0.75)}}
	if err := t.append(norm); err != nil {
		return err
	}
	n.Inputs = []string{norm.Output}
	return t.relu(n)
}

// layer appends the float layer of n's geometry. If groups is not 0, n reads one of that many
// groups of the layer's input channels.
func (t *twin) layer(n *graph.Node, groups int) error {
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
	shape := slices.Clone(n.Weights["w"].Shape)
	if groups > 0 { // of input channels
		shape[len(shape)-2] *= groups
	}
	weights := map[string]*graph.Tensor{"w": t.weights(shape)}
	if b := n.Weights["b"]; b != nil {
		weights["b"] = b
	} else if b := n.Weights["bias"]; b != nil { // of integers, in units that the twin does not have
		weights["b"] = &graph.Tensor{Shape: b.Shape, Data: graph.NumbersOf(make([]float32, b.Data.Len()))}
	}
	n.Weights = weights
	return t.append(n)
}

// weights draws weights [..., O] from a normal distribution. Sums of their products with numbers
// about 1 are about 1.
func (t *twin) weights(shape []int) *graph.Tensor {
	w := make([]float32, graph.Elems(shape))
	deviation := 1 / math.Sqrt(float64(len(w)/shape[len(shape)-1]))
	for i := range w {
		w[i] = float32(deviation * t.draw.NormFloat64())
	}
	return &graph.Tensor{Shape: shape, Data: graph.NumbersOf(w)}
}

// spread makes the numbers of n's other weights differ, by up to an eighth, as trained ones do:
// parameters of a batch_norm, biases, slopes. Infinite numbers stay, and so do weights of one
// number.
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
