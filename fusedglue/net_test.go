package fusedglue

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// net builds graphs.
type net struct {
	*graph.Graph
	b    *graph.Builder // of Graph
	fail func(args ...any)
	rnd  func() float64 // of weights
}

func newNet(fail func(args ...any), rnd func() float64) *net {
	b := graph.NewBuilder(&graph.Graph{Name: "net", File: "net.json"})
	return &net{b.Graph(), b, fail, rnd}
}

func (n *net) input(shape ...int) string {
	n.b.Input(&graph.Value{Name: "x", Shape: shape, Layout: "NHWC"})
	return "x"
}

func (n *net) levels(bits int, enc ir.EncodingKind, shape ...int) string {
	n.input(shape...)
	v := n.Values["x"]
	v.Bits, v.Enc, v.Scale = bits, enc, 1/float64(int(1)<<bits-1)
	return "x"
}

// add appends a node and gives its output.
func (n *net) add(op string, attrs any, w map[string]*graph.Tensor, inputs ...string) string {
	id := len(n.Nodes) + 1
	node := &graph.Node{Name: fmt.Sprintf("n%d", id), Op: op, Inputs: inputs, Output: fmt.Sprintf("t%d", id), Attrs: attrs, Weights: w, Pos: ir.Pos{Line: id}}
	if _, err := n.b.Append(node); err != nil {
		n.fail(err)
	}
	return node.Output
}

// tensor has values around mean.
func (n *net) tensor(mean, spread float64, shape ...int) *graph.Tensor {
	t := &graph.Tensor{Shape: shape}
	for range t.Elems() {
		t.Data = graph.NumbersOf(append(t.Data.Floats(), float32(mean+spread*n.rnd())))
	}
	return t
}

func (n *net) c(x string) int { return n.Value(x).Channels() }

func (n *net) conv(x string, k, out int, pad graph.PaddingMode) string {
	a := &graph.Conv2DAttrs{Strides: [2]int{1, 1}, Pad: graph.Padding{Mode: pad}}
	return n.add("conv2d", a, map[string]*graph.Tensor{"w": n.tensor(0, 1, k, k, n.c(x), out), "b": n.tensor(0, 1, out)}, x)
}

func (n *net) bconv(x string, k, out int, pad graph.PaddingMode, b graph.BinaryAttrs) string {
	a := &graph.Conv2DAttrs{Strides: [2]int{1, 1}, Pad: graph.Padding{Mode: pad}, Binary: &b}
	return n.add("bitserial_conv2d", a, map[string]*graph.Tensor{"w": n.tensor(0, 0.3, k, k, n.c(x), out), "scale": n.tensor(0, 0.2, out)}, x)
}

func (n *net) dense(x string, out int) string {
	return n.add("bitserial_dense", &graph.DenseAttrs{Binary: &graph.BinaryAttrs{WeightScale: graph.ScaleMean}}, map[string]*graph.Tensor{"w": n.tensor(0, 0.3, n.c(x), out)}, x)
}

func (n *net) bn(x string, gamma float64) string {
	c := n.c(x)
	v := n.tensor(1, 0, c)
	for i := range v.Data.Len() {
		v.Data.Floats()[i] += float32(n.rnd() * n.rnd())
		v.Data.Floats()[i] = max(v.Data.At(i), 0.1)
	}
	w := map[string]*graph.Tensor{"gamma": n.tensor(gamma, 1-gamma/2, c), "beta": n.tensor(0, 0.5, c), "mean": n.tensor(0, 0.5, c), "var": v}
	if gamma > 0 {
		for i, g := range w["gamma"].Data.All() {
			w["gamma"].Data.Floats()[i] = max(g, 0.05)
		}
	}
	return n.add("batch_norm", &graph.BatchNormAttrs{Epsilon: 1e-3}, w, x)
}

func (n *net) shiftNorm(x string, mode graph.ShiftMode, bits int) string {
	c := n.c(x)
	v := n.tensor(3, 1, c)
	for i := range v.Data.Len() {
		v.Data.Floats()[i] = max(v.Data.At(i), 0.1)
	}
	return n.add("shift_norm", &graph.ShiftNormAttrs{Mode: mode, Bits: bits, Enc: ir.Unipolar, Epsilon: 1e-5}, map[string]*graph.Tensor{"mean": n.tensor(0, 1, c), "var": v}, x)
}

func (n *net) pool(x string, k, stride int, pad graph.PaddingMode) string {
	return n.add("max_pool", &graph.PoolAttrs{Kernel: [2]int{k, k}, Strides: [2]int{stride, stride}, Pad: graph.Padding{Mode: pad}}, nil, x)
}

func (n *net) plain(op string, inputs ...string) string {
	return n.add(op, graph.OpNamed(op).NewAttrs(), nil, inputs...)
}

func (n *net) quantize(x string, a *graph.QuantizeAttrs) string { return n.add("quantize", a, nil, x) }

// joined is a function of x, an image, and of another tensor, at times; levels are the input of the layer that made x.
func (n *net) joined(t *rapid.T, x, levels string) string {
	s := slices.Clone(n.Value(x).Shape)
	op := pick(t, "join", "", "", "add", "sub", "mul", "maximum", "add")
	if op == "" {
		return x
	}
	other, v := "", n.Value(levels)
	switch between(t, 0, 4, "other") {
	case 0: // levels, or a part of them
		part := n.add("slice", &graph.SliceAttrs{Begin: make([]int, 4), Size: []int{s[0], min(s[1], v.Shape[1]), min(s[2], v.Shape[2]), min(s[3], v.Shape[3])}, Stride: []int{1, 1, 1, 1}}, nil, levels)
		if !fits(n.Value(part).Shape, s) {
			return x
		}
		other = n.plain("dequantize", part)
	case 1: // one number a channel
		other = n.add("constant", &graph.ConstantAttrs{}, map[string]*graph.Tensor{"value": n.tensor(0, 1, 1, 1, 1, s[3])})
	case 2: // gates of each picture
		other = n.add("reshape", &graph.ReshapeAttrs{Shape: []int{s[0], 1, 1, s[3]}}, nil, n.plain("global_avg_pool", n.plain("relu", x)))
	default: // another layer's sums, which somebody else may read too
		b := graph.BinaryAttrs{WeightScale: graph.ScaleTensor, PadValue: graph.PadOnes}
		if v.Shape[1] != s[1] || v.Shape[2] != s[2] {
			return x
		}
		if other = n.bconv(levels, 1, s[3], graph.PadSame, b); between(t, 0, 3, "read twice") == 0 {
			n.Outputs = append(n.Outputs, n.plain("relu", other))
		}
	}
	if rapid.Bool().Draw(t, "swapped") {
		x, other = other, x
	}
	y := n.add(op, &graph.BinaryOpAttrs{}, nil, x, other)
	if !slices.Equal(n.Value(y).Shape, s) {
		t.Fatalf("%v instead of %v", n.Value(y).Shape, s)
	}
	if between(t, 0, 3, "sum read twice") == 0 {
		n.Outputs = append(n.Outputs, n.plain("relu", y))
	}
	return y
}

// fits reports whether a tensor of shape s may be repeated to one of shape to.
func fits(s, to []int) bool {
	for d := range s {
		if s[d] != to[d] && s[d] != 1 {
			return false
		}
	}
	return true
}

// moved puts one of the ops that only move elements behind x, an image, at times.
func (n *net) moved(t *rapid.T, x string) string {
	s := slices.Clone(n.Value(x).Shape)
	switch between(t, 0, 12, "move") {
	case 0:
		return n.add("pad", &graph.SpatialPadAttrs{Pad: graph.Padding{Top: 1, Right: 2}, Value: pick(t, "value", 0, 0.3, -7)}, nil, x)
	case 1:
		return n.add("reshape", &graph.ReshapeAttrs{Shape: []int{s[0], s[2], 1, s[1] * s[3]}}, nil, x)
	case 2:
		return n.add("reshape", &graph.ReshapeAttrs{Shape: []int{s[0], 1, s[1] * s[2], s[3]}}, nil, x)
	case 3:
		return n.add("transpose", &graph.TransposeAttrs{Perm: pick(t, "perm", []int{0, 2, 1, 3}, []int{0, 3, 1, 2}, []int{0, 1, 2, 3})}, nil, x)
	case 4:
		a := &graph.SliceAttrs{Begin: make([]int, 4), Size: s, Stride: []int{1, 1, 1, 1}}
		if d := between(t, 1, 3, "axis"); s[d] > 2 {
			a.Begin[d], a.Stride[d], a.Size[d] = 1, 2, s[d]/2
		}
		return n.add("slice", a, nil, x)
	case 5:
		return n.add("reshape", &graph.ReshapeAttrs{Shape: s}, nil, n.plain("flatten", x))
	}
	return x
}

// drawNet is a network of binary layers with all kinds of glue.
func drawNet(t *rapid.T) *net {
	r := random(t, "weights")
	n := newNet(func(args ...any) { t.Fatal(args...) }, r.NormFloat64)
	x := n.input(between(t, 1, 2, "batch"), between(t, 4, 9, "h"), between(t, 4, 9, "w"), between(t, 1, 4, "c"))
	if rapid.Bool().Draw(t, "conv") {
		x = n.conv(x, 3, between(t, 1, 40, "first"), graph.PadSame)
		if rapid.Bool().Draw(t, "bn") {
			x = n.bn(x, pick(t, "gamma", 0.0, 1.0))
		}
		if rapid.Bool().Draw(t, "pool") {
			x = n.pool(x, 2, 2, graph.PadValid)
		}
	}
	a := drawQuantize(t, 4)
	a.Bits = min(a.Bits, 3)
	if between(t, 0, 3, "unipolar") > 0 {
		a.Enc = ir.Unipolar
	}
	x = n.quantize(x, a)
	for range between(t, 1, 3, "layers") {
		v := n.Value(x)
		b := graph.BinaryAttrs{WeightScale: pick(t, "scale", graph.ScaleMean, graph.ScaleTensor, graph.ScaleNone), PadValue: graph.PadOnes}
		out := pick(t, "out", 1, 5, 32, 33, 64)
		shift := rapid.Bool().Draw(t, "shift_norm")
		if shift {
			b.WeightScale = pick(t, "weight scale", graph.ScaleMean, graph.ScaleAP2, graph.ScaleNone)
			switch between(t, 0, 3, "weights") {
			case 0:
				b.Enc, b.Bits = graph.TernaryWeights, 1
			case 1:
				b.Bits, b.WeightScale = 2, graph.ScaleAP2
			}
		}
		in, bits, enc := x, v.Bits, v.Enc
		x = n.bconv(x, pick(t, "k", 1, 3), out, graph.PadSame, b)
		if !shift && between(t, 0, 2, "fire") == 0 { // two layers side by side, whose glue stands behind their concat
			parts := []string{x, n.bconv(in, 1, pick(t, "other", 1, 32), graph.PadSame, b)}
			if rapid.Bool().Draw(t, "pool before concat") {
				parts[0], parts[1] = n.pool(parts[0], 2, 1, graph.PadSame), n.pool(parts[1], 2, 1, graph.PadSame)
			}
			x = n.add("concat", &graph.ConcatAttrs{}, nil, parts...)
		}
		pooled := func() {
			if n.Value(x).Shape[1] > 1 && n.Value(x).Shape[2] > 1 && rapid.Bool().Draw(t, "pool") {
				if rapid.Bool().Draw(t, "overlap") {
					x = n.pool(x, 3, 2, graph.PadSame)
				} else {
					x = n.pool(x, 2, 2, graph.PadValid)
				}
			}
		}
		if shift {
			if between(t, 0, 4, "extra use") == 0 {
				n.Outputs = append(n.Outputs, x)
			}
			pooled()
			if s := n.Value(x).Shape; between(t, 0, 4, "move") == 0 {
				x = n.add("reshape", &graph.ReshapeAttrs{Shape: []int{s[0], 1, s[1] * s[2], s[3]}}, nil, x)
			}
			if between(t, 0, 2, "bias") == 0 {
				x = n.add("add", &graph.BinaryOpAttrs{}, map[string]*graph.Tensor{"b": n.tensor(0, 0.3, n.c(x))}, x)
			}
			if between(t, 0, 3, "relu") == 0 {
				x = n.plain("relu", x)
			}
			x = n.shiftNorm(x, pick(t, "mode", graph.ShiftRiptide, graph.ShiftExactRound), bits)
			n.Nodes[len(n.Nodes)-1].Attrs.(*graph.ShiftNormAttrs).Enc = enc
			n.Value(x).Enc = enc
		} else {
			if between(t, 0, 4, "extra use") == 0 {
				n.Outputs = append(n.Outputs, x)
			}
			pooled()
			x = n.joined(t, x, in)
			x = n.moved(t, x)
			for range between(t, 0, 2, "steps") {
				if rapid.Bool().Draw(t, "relu") {
					x = n.plain("relu", x)
				} else {
					x = n.bn(x, pick(t, "gamma", 0.0, 1.0))
				}
				pooled()
				x = n.moved(t, x)
			}
			a := &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: bits, Enc: enc, Scale: n.Value(in).Scale}, Rounding: a.Rounding}
			if between(t, 0, 3, "wide") == 0 {
				a.Bits, a.Scale = between(t, 5, 8, "bits"), 0.02
			}
			if between(t, 0, 2, "join behind") == 0 {
				x = n.joined(t, x, in)
			}
			x = n.quantize(x, a)
		}
		pooled()
		switch between(t, 0, 5, "view") {
		case 0:
			x = n.plain("bitpack", x)
		case 1:
			x = n.plain("unpack", n.plain("bitpack", x))
		case 2:
			x = n.add("concat", &graph.ConcatAttrs{}, nil, x)
		case 3:
			p := n.pool(x, 1, 1, graph.PadValid)
			x = n.add("concat", &graph.ConcatAttrs{}, nil, x, p)
		}
	}
	switch between(t, 0, 3, "head") {
	case 0:
		x = n.dense(n.plain("flatten", x), 3)
	case 1:
		x = n.plain("global_avg_pool", n.plain("dequantize", x))
	case 2:
		x = n.plain("dequantize", x)
	}
	n.Outputs = append(n.Outputs, x)
	return n
}
