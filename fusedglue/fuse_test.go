package fusedglue

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ripc/ir"
	"ripc/ir/graph"
	"ripc/ir/interp"
	"ripc/lower"
)

// net builds graphs.
type net struct {
	*graph.Graph
	fail func(args ...any)
	rnd  func() float64 // of weights
}

func newNet(fail func(args ...any), rnd func() float64) *net {
	return &net{&graph.Graph{Name: "net", File: "net.json", Values: map[string]*graph.Value{}}, fail, rnd}
}

func (n *net) input(shape ...int) string {
	n.Values["x"] = &graph.Value{Name: "x", DType: ir.F32, Shape: shape, Layout: "NHWC"}
	n.Inputs = []string{"x"}
	return "x"
}

func (n *net) levels(bits int, enc ir.EncodingKind, shape ...int) string {
	n.input(shape...)
	v := n.Values["x"]
	v.DType, v.Bits, v.Enc, v.Scale = ir.U8, bits, enc, 1/float64(int(1)<<bits-1)
	return "x"
}

// add appends a node and gives its output.
func (n *net) add(op string, attrs any, w map[string]*graph.Tensor, inputs ...string) string {
	id := len(n.Nodes) + 1
	node := &graph.Node{Name: fmt.Sprintf("n%d", id), Op: op, Inputs: inputs, Outputs: []string{fmt.Sprintf("t%d", id)}, Attrs: attrs, Weights: w, Pos: ir.Pos{Line: id}}
	v, err := graph.Infer(n.Graph, node)
	if err != nil {
		n.fail(err)
	}
	v.Name = node.Outputs[0]
	n.Values[v.Name] = v
	n.Nodes = append(n.Nodes, node)
	return v.Name
}

// tensor has values around mean.
func (n *net) tensor(mean, spread float64, shape ...int) *graph.Tensor {
	t := &graph.Tensor{Shape: shape}
	for range t.Elems() {
		t.Data = append(t.Data, float32(mean+spread*n.rnd()))
	}
	return t
}

func (n *net) c(x string) int { return n.Value(x).Channels() }

func (n *net) conv(x string, k, out int, pad string) string {
	a := &graph.Conv2DAttrs{Strides: [2]int{1, 1}, Pad: graph.Padding{Mode: pad}}
	return n.add("conv2d", a, map[string]*graph.Tensor{"w": n.tensor(0, 1, k, k, n.c(x), out), "b": n.tensor(0, 1, out)}, x)
}

func (n *net) bconv(x string, k, out int, pad string, b graph.BinaryAttrs) string {
	a := &graph.Conv2DAttrs{Strides: [2]int{1, 1}, Pad: graph.Padding{Mode: pad}, Binary: &b}
	return n.add("bitserial_conv2d", a, map[string]*graph.Tensor{"w": n.tensor(0, 0.3, k, k, n.c(x), out), "scale": n.tensor(0, 0.2, out)}, x)
}

func (n *net) dense(x string, out int) string {
	return n.add("bitserial_dense", &graph.DenseAttrs{Binary: &graph.BinaryAttrs{WeightScale: "mean"}}, map[string]*graph.Tensor{"w": n.tensor(0, 0.3, n.c(x), out)}, x)
}

func (n *net) bn(x string, gamma float64) string {
	c := n.c(x)
	v := n.tensor(1, 0, c)
	for i := range v.Data {
		v.Data[i] += float32(n.rnd() * n.rnd())
		v.Data[i] = max(v.Data[i], 0.1)
	}
	w := map[string]*graph.Tensor{"gamma": n.tensor(gamma, 1-gamma/2, c), "beta": n.tensor(0, 0.5, c), "mean": n.tensor(0, 0.5, c), "var": v}
	if gamma > 0 {
		for i, g := range w["gamma"].Data {
			w["gamma"].Data[i] = max(g, 0.05)
		}
	}
	return n.add("batch_norm", &graph.BatchNormAttrs{Epsilon: 1e-3}, w, x)
}

func (n *net) shiftNorm(x, mode string, bits int) string {
	c := n.c(x)
	v := n.tensor(3, 1, c)
	for i := range v.Data {
		v.Data[i] = max(v.Data[i], 0.1)
	}
	return n.add("shift_norm", &graph.ShiftNormAttrs{Mode: mode, Bits: bits, Epsilon: 1e-5}, map[string]*graph.Tensor{"mean": n.tensor(0, 1, c), "var": v}, x)
}

func (n *net) pool(x string, k, stride int, pad string) string {
	return n.add("max_pool", &graph.PoolAttrs{Kernel: [2]int{k, k}, Strides: [2]int{stride, stride}, Pad: graph.Padding{Mode: pad}}, nil, x)
}

func (n *net) plain(op string, inputs ...string) string {
	return n.add(op, &graph.NoAttrs{}, nil, inputs...)
}

func (n *net) quantize(x string, a *graph.QuantizeAttrs) string { return n.add("quantize", a, nil, x) }

// drawNet is a network of binary layers with all kinds of glue. needsPoolAfter says that shift_norm stands behind a pool.
func drawNet(t *rapid.T) (n *net, needsPoolAfter bool) {
	r := random(t, "weights")
	n = newNet(func(args ...any) { t.Fatal(args...) }, r.NormFloat64)
	x := n.input(between(t, 1, 2, "batch"), between(t, 4, 9, "h"), between(t, 4, 9, "w"), between(t, 1, 4, "c"))
	if rapid.Bool().Draw(t, "conv") {
		x = n.conv(x, 3, between(t, 1, 40, "first"), "same")
		if rapid.Bool().Draw(t, "bn") {
			x = n.bn(x, pick(t, "gamma", 0.0, 1.0))
		}
		if rapid.Bool().Draw(t, "pool") {
			x = n.pool(x, 2, 2, "valid")
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
		b := graph.BinaryAttrs{WeightScale: pick(t, "scale", "mean", "tensor", "none"), PadValue: "one"}
		out := pick(t, "out", 1, 5, 32, 33, 64)
		shift := v.Enc == ir.Unipolar && rapid.Bool().Draw(t, "shift_norm")
		if shift {
			b.WeightScale = "mean"
		}
		in, bits, enc := x, v.Bits, v.Enc
		x = n.bconv(x, pick(t, "k", 1, 3), out, "same", b)
		if !shift && between(t, 0, 2, "fire") == 0 { // two layers side by side, whose glue stands behind their concat
			parts := []string{x, n.bconv(in, 1, pick(t, "other", 1, 32), "same", b)}
			if rapid.Bool().Draw(t, "pool before concat") {
				parts[0], parts[1] = n.pool(parts[0], 2, 1, "same"), n.pool(parts[1], 2, 1, "same")
			}
			x = n.add("concat", &graph.ConcatAttrs{}, nil, parts...)
		}
		pooled := func() {
			if n.Value(x).Shape[1] > 1 && n.Value(x).Shape[2] > 1 && rapid.Bool().Draw(t, "pool") {
				if rapid.Bool().Draw(t, "overlap") {
					x = n.pool(x, 3, 2, "same")
				} else {
					x = n.pool(x, 2, 2, "valid")
				}
			}
		}
		if shift {
			bare := x
			pooled()
			needsPoolAfter = needsPoolAfter || bare != x
			x = n.shiftNorm(x, pick(t, "mode", "riptide", "exact_round"), bits)
		} else {
			if between(t, 0, 4, "extra use") == 0 {
				n.Outputs = append(n.Outputs, x)
			}
			pooled()
			for range between(t, 0, 2, "steps") {
				if rapid.Bool().Draw(t, "relu") {
					x = n.plain("relu", x)
				} else {
					x = n.bn(x, pick(t, "gamma", 0.0, 1.0))
				}
				pooled()
			}
			a := &graph.QuantizeAttrs{Bits: bits, Enc: enc, Scale: n.Value(in).Scale, Rounding: a.Rounding}
			if between(t, 0, 5, "wide") == 0 {
				a.Bits = 5
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
			p := n.pool(x, 1, 1, "valid")
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
	return n, needsPoolAfter
}

// interpret runs the network that Fuse makes with some passes disabled.
func interpret(t *rapid.T, n *net, disabled []string, inputs [][]byte) ([][]byte, *graph.Graph) {
	text := n.String()
	g, err := Fuse(n.Graph, disabled, nil)
	if err != nil {
		t.Fatalf("disabled %v: %v\n%s", disabled, err, n)
	}
	if n.String() != text {
		t.Fatalf("Fuse changed its input:\n%s%s", text, n)
	}
	p, err := lower.Program(g)
	if err != nil {
		t.Fatalf("disabled %v: %v\n%s%s", disabled, err, n, g)
	}
	out, err := interp.RunProgram(t.Context(), p, inputs, interp.Options{Checked: true})
	if err != nil {
		t.Fatalf("disabled %v: %v\n%s%s", disabled, err, n, g)
	}
	return out, g
}

func optional() []string {
	var names []string
	for _, p := range Passes() {
		if !p.Required {
			names = append(names, p.Name)
		}
	}
	return names
}

// TestDisabledPasses: passes only make networks faster.
func TestDisabledPasses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, needsPoolAfter := drawNet(t)
		names := optional()
		if needsPoolAfter {
			names = slices.DeleteFunc(names, func(s string) bool { return strings.HasPrefix(s, "pool_after") })
		}
		sets := [][]string{names}
		for range 2 {
			sets = append(sets, []string{pick(t, "one", names...)})
		}
		sets = append(sets, rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID).Draw(t, "some"))
		x := n.Value("x")
		data := n.tensor(0.3, 1, x.Shape...).Data
		input, err := binary.Append(nil, binary.LittleEndian, data)
		if err != nil {
			t.Fatal(err)
		}
		want, full := interpret(t, n, nil, [][]byte{input})
		for _, set := range sets {
			got, g := interpret(t, n, set, [][]byte{input})
			for i := range want {
				if len(got) != len(want) || !bytes.Equal(got[i], want[i]) {
					t.Fatalf("disabled %v: output %d differs\n%s\nall passes: %s\nwithout: %s", set, i, n, full, g)
				}
			}
		}
	})
}

// chain is a fixed network, changed a little by each case of the tests below.
func chain(t *testing.T, enc ir.EncodingKind, bits int) (*net, string) {
	v := 0.1
	n := newNet(t.Fatal, func() float64 { v = -v * 1.01; return v })
	x := n.levels(bits, enc, 1, 4, 4, 3)
	return n, x
}

func TestFolding(t *testing.T) {
	n, x := chain(t, ir.Unipolar, 2)
	x = n.bconv(x, 3, 5, "same", graph.BinaryAttrs{WeightScale: "mean"})
	x = n.pool(x, 2, 2, "valid")
	x = n.plain("relu", n.bn(x, 1))
	x = n.quantize(x, &graph.QuantizeAttrs{Bits: 2, Enc: ir.Unipolar, Scale: 1.0 / 3})
	n.Outputs = []string{x}
	var passes []string
	g, err := Fuse(n.Graph, nil, func(pass string, g *graph.Graph) { passes = append(passes, pass) })
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Nodes) != 1 || g.Nodes[0].Op != "bconv2d" || len(passes) != len(Passes()) {
		t.Errorf("passes %v give %s", passes, g)
	}
	if f := g.Nodes[0].Attrs.(*graph.FusedConv); f.Pool == nil || len(f.Epilogue.Thresholds) != 3 {
		t.Errorf("%s", g)
	}
	if err := Strict(g); err != nil {
		t.Error(err)
	}
}

func TestStrict(t *testing.T) {
	n, x := chain(t, ir.Unipolar, 1)
	x = n.bconv(x, 3, 5, "same", graph.BinaryAttrs{WeightScale: "mean"})
	n.Outputs = []string{x}
	x = n.bn(x, 0) // some channels turn around
	x = n.quantize(x, &graph.QuantizeAttrs{Bits: 1, Enc: ir.Unipolar, Scale: 1})
	x = n.bconv(x, 1, 2, "same", graph.BinaryAttrs{WeightScale: "mean"}) // the last layer may leave as floats
	n.Outputs = append(n.Outputs, n.plain("relu", x))
	g, err := Fuse(n.Graph, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := "net.json:1: node \"n1\" (bconv2d): stays float: the glue up to \"n3\" does not fold to integers"
	if err := Strict(g); err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), `node "n2" (eltwise): stays float`) || strings.Contains(err.Error(), "n4") {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestErrors(t *testing.T) {
	bin := graph.BinaryAttrs{WeightScale: "mean", PadValue: "zero"}
	for what, c := range map[string]struct {
		enc   ir.EncodingKind
		build func(n *net, x string) string
		want  string
	}{
		"shift_norm after a float layer": {ir.Unipolar, func(n *net, x string) string {
			return n.shiftNorm(n.conv(n.plain("dequantize", x), 1, 2, "same"), "riptide", 2)
		}, `net.json:3: node "n3" (shift_norm): shift_norm works on the integers of one bitserial layer, but its input "t2" is made otherwise or used elsewhere too`},
		"shift_norm after batch_norm": {ir.Unipolar, func(n *net, x string) string {
			return n.shiftNorm(n.bn(n.bconv(x, 1, 2, "same", bin), 1), "riptide", 2)
		}, `shift_norm works on the integers of one bitserial layer, but its input "t2" is made otherwise`},
		"shift_norm on an output": {ir.Unipolar, func(n *net, x string) string {
			x = n.bconv(x, 1, 2, "same", bin)
			n.Outputs = append(n.Outputs, x)
			return n.shiftNorm(x, "riptide", 2)
		}, "used elsewhere too"},
		"other bits": {ir.Unipolar, func(n *net, x string) string {
			return n.shiftNorm(n.bconv(x, 1, 2, "same", bin), "riptide", 1)
		}, `node "n2" (shift_norm): shift_norm gives 1 unipolar bits, but the layer before it reads 2 bits, unipolar`},
		"bipolar input": {ir.Bipolar, func(n *net, x string) string {
			return n.shiftNorm(n.bconv(x, 1, 2, "same", bin), "riptide", 2)
		}, "shift_norm gives 2 unipolar bits, but the layer before it reads 2 bits, bipolar"},
		"ternary weights": {ir.Unipolar, func(n *net, x string) string {
			return n.shiftNorm(n.bconv(x, 3, 2, "same", graph.BinaryAttrs{WeightScale: "mean", Enc: "ternary"}), "riptide", 2)
		}, `node "n2" (shift_norm): shift_norm needs +-1 weights in the layer before it`},
		"weights above 1": {ir.Unipolar, func(n *net, x string) string {
			x = n.bconv(x, 1, 2, "same", bin)
			for i := range n.Nodes[0].Weights["w"].Data {
				n.Nodes[0].Weights["w"].Data[i] = 2
			}
			return n.shiftNorm(x, "riptide", 2)
		}, "channel 0: the weight scale rounds to more than 1 (wb < 0) (weight scale 2, mean"},
	} {
		n, x := chain(t, c.enc, 2)
		n.Outputs = append(n.Outputs, c.build(n, x))
		_, err := Fuse(n.Graph, nil, nil)
		var e *ir.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", what, err, c.want)
		}
	}
	n, x := chain(t, ir.Bipolar, 2)
	n.Outputs = []string{n.bconv(x, 3, 2, "valid", bin)}
	if _, err := Fuse(n.Graph, nil, nil); err != nil {
		t.Errorf("bipolar without padding: %v", err)
	}
	for _, name := range []string{"bind", "nothing"} {
		if _, err := Fuse(n.Graph, []string{name}, nil); err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "fold_steps, pool_after") {
			t.Errorf("disabling %q: %v", name, err)
		}
	}
}
