package recognize

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"ripc/graph"
	"ripc/graph/explain"
	"ripc/graph/scalar"
	"ripc/ir"
)

// net builds graphs of plain ops as importers make them.
type net struct {
	*graph.Graph
	b    *graph.Builder // of Graph
	fail func(args ...any)
	r    *rand.Rand
}

func newNet(fail func(args ...any), seed uint64) *net {
	b := graph.NewBuilder(&graph.Graph{Name: "net", File: "net.onnx"})
	return &net{b.Graph(), b, fail, rand.New(rand.NewPCG(seed, 1))}
}

func (n *net) input(shape ...int) string {
	name := fmt.Sprintf("x%d", len(n.Inputs))
	n.b.Input(&graph.Value{Name: name, Shape: shape, Layout: graph.LayoutOf(shape)})
	return name
}

// add appends a node, which makes the tensor of its name.
func (n *net) add(op string, attrs any, w map[string]*graph.Tensor, inputs ...string) string {
	name := fmt.Sprintf("%s%d", op, len(n.Nodes)+1)
	node := &graph.Node{Name: name, Op: op, Inputs: inputs, Output: name, Attrs: attrs, Weights: w, Pos: ir.Pos{Line: len(n.Nodes) + 1}}
	if _, err := n.b.Append(node); err != nil {
		n.fail(err)
	}
	return name
}

func (n *net) plain(op string, inputs ...string) string {
	return n.add(op, graph.OpNamed(op).NewAttrs(), nil, inputs...)
}

// binary is an op with a constant.
func (n *net) binary(op string, b float32, x string) string {
	return n.add(op, &graph.BinaryOpAttrs{}, map[string]*graph.Tensor{"b": {Shape: []int{1}, Data: graph.NumbersOf([]float32{b})}}, x)
}

// quant is a quantizer as importers make it: the result is f32.
func (n *net) quant(a *graph.QuantizeAttrs, x string) string {
	return n.plain("dequantize", n.add("quantize", a, nil, x))
}

// few are weights of these integers, with a scale for each output channel.
func (n *net) few(ints []int, shape ...int) *graph.Tensor {
	t := &graph.Tensor{Shape: shape}
	outs := shape[len(shape)-1]
	scale := make([]float32, outs)
	for o := range scale {
		scale[o] = float32(n.r.Float64() + 0.1)
	}
	for i := range t.Elems() {
		t.Data = graph.NumbersOf(append(t.Data.Floats(), scale[i%outs]*float32(ints[n.r.IntN(len(ints))])))
	}
	return t
}

func (n *net) real(shape ...int) *graph.Tensor {
	t := &graph.Tensor{Shape: shape}
	for range t.Elems() {
		t.Data = graph.NumbersOf(append(t.Data.Floats(), float32(n.r.NormFloat64())))
	}
	return t
}

func (n *net) c(x string) int { return n.Value(x).Channels() }

func (n *net) conv(x string, w *graph.Tensor, pad graph.Padding, biased bool) string {
	ws := map[string]*graph.Tensor{"w": w}
	if biased {
		ws["b"] = n.real(w.Shape[3])
	}
	return n.add("conv2d", &graph.Conv2DAttrs{Strides: [2]int{1, 1}, Pad: pad}, ws, x)
}

func (n *net) pool(op, x string, k, stride int) string {
	return n.add(op, &graph.PoolAttrs{Kernel: [2]int{k, k}, Strides: [2]int{stride, stride}, Pad: graph.Padding{Mode: graph.PadSame}}, nil, x)
}

var (
	valid = graph.Padding{Mode: graph.PadValid}
	same  = graph.Padding{Mode: graph.PadSame}
)

func u2() *graph.QuantizeAttrs {
	return &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 2, Enc: ir.Unipolar, Scale: 0.25}, Rounding: scalar.HalfEven}
}

func b1() *graph.QuantizeAttrs {
	return &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 1, Enc: ir.Bipolar, Scale: 0.5}, Rounding: scalar.HalfUp}
}

// dump is everything of a graph that Run may not change, or finds again.
func dump(g *graph.Graph) string {
	var b strings.Builder
	b.WriteString(g.String())
	for _, n := range g.Nodes {
		fmt.Fprintf(&b, "%s %s %v %v %#v %+v %q\n", n.Name, n.Op, n.Inputs, n.Output, n.Attrs, n.Verdict, n.Note)
		for _, k := range []string{"w", "b", "scale", "zero_point", "thresholds"} {
			if w := n.Weights[k]; w != nil {
				fmt.Fprintf(&b, "  %s %v %v\n", k, w.Shape, w.Data.Floats())
			}
		}
	}
	return b.String()
}

// run recognizes n, which it may not change, and does so twice.
func (n *net) run(outputs ...string) *graph.Graph {
	n.Outputs = outputs
	before := dump(n.Graph)
	g, err := Run(context.Background(), n.Graph, Options{})
	if err != nil {
		n.fail(err)
	}
	if after := dump(n.Graph); after != before {
		n.fail("Run changed its input:\n" + before + after)
	}
	again, err := Run(context.Background(), g, Options{})
	if err != nil {
		n.fail(err)
	}
	if !reflect.DeepEqual(again, g) {
		n.fail("a second Run changes\n" + dump(g) + "to\n" + dump(again))
	}
	return g
}

// lines are a graph's nodes: "op(inputs) -> output", and what they became, or why they stay float.
func lines(g *graph.Graph) []string {
	var out []string
	for _, n := range g.Nodes {
		l := fmt.Sprintf("%s(%s) -> %s", n.Op, strings.Join(n.Inputs, ", "), n.Output)
		if b, ok := binaryAttrs(n); ok && b != nil {
			l += fmt.Sprintf(" # binary: %s weights x %d-bit activations", explain.Weights(b.WeightType()), g.Value(n.Inputs[0]).Bits)
		} else if why := explain.Verdict(n.Verdict); why != "" {
			l += fmt.Sprintf(" # %s: %s", n.Verdict.Kind, why)
		}
		out = append(out, l)
	}
	return out
}

func check(t *testing.T, what string, g *graph.Graph, want string) {
	t.Helper()
	got := strings.Join(lines(g), "\n")
	want = strings.ReplaceAll(strings.TrimSpace(want), "\t", "")
	if got != want {
		t.Errorf("%s: got\n%s\nwant\n%s", what, got, want)
	}
}
