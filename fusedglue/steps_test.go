package fusedglue

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ripc/graph"
	"ripc/graph/explain"
	"ripc/graph/scalar"
	"ripc/ir"
)

func ones(n int, v float32) *graph.Tensor {
	return &graph.Tensor{Shape: []int{n}, Data: graph.NumbersOf(slices.Repeat([]float32{v}, n))}
}

// TestMergeSteps: steps that no convolution takes in become one layer, unless somebody else sees what is between them.
func TestMergeSteps(t *testing.T) {
	for _, seen := range []bool{false, true} {
		n, _ := chain(t, ir.Unipolar, 1)
		x := n.input(1, 4, 4, 3)
		x = n.add("sub", &graph.BinaryOpAttrs{Reverse: true}, map[string]*graph.Tensor{"b": ones(1, 2)}, x)
		if x = n.add("clip", &graph.ClipAttrs{Min: -1, Max: math.Inf(1)}, nil, x); seen {
			n.Outputs = append(n.Outputs, x)
		}
		x = n.add("fake_quant", &graph.FakeQuantAttrs{Min: -2, Max: 1, Rounding: scalar.Floor}, map[string]*graph.Tensor{"scale": ones(3, 0.5), "zero_point": ones(1, 0)}, x)
		n.Outputs = append(n.Outputs, n.add("div", &graph.BinaryOpAttrs{Reverse: true}, map[string]*graph.Tensor{"b": ones(3, 1)}, x))
		g, err := Fuse(t.Context(), n.Graph, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range g.Nodes {
			text := n.Op
			if e, ok := n.Attrs.(*graph.Elementwise); ok {
				for _, s := range e.Steps {
					text += " " + s.Kind.String()
				}
			}
			got = append(got, text)
		}
		want := []string{"eltwise mul add clip div clip round mul", "div"}
		if seen {
			want = []string{"eltwise mul add clip", "eltwise div clip round mul", "div"}
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		for _, s := range g.Nodes[0].Attrs.(*graph.Elementwise).Steps {
			for _, v := range s.Vectors() {
				if len(v) != 1 {
					t.Errorf("%s has %d operands that are alike for all channels", s.Kind, len(v))
				}
			}
		}
	}
}

// TestTurning: constants that make infinities or NaN of the sums do not fold into thresholds, and the layer says so.
func TestTurning(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		op   string
		b    float32
		want string
	}{
		{"mul", 2, ""}, {"mul", 0, ""}, {"mul", inf, `"n2" makes `}, {"div", 0, `"n2" makes `}, {"add", float32(math.NaN()), `"n2" makes NaN`}, {"mul", 3e38, ""}, {"div", 1e-38, `"n2" makes `},
	} {
		n, x := chain(t, ir.Unipolar, 2)
		x = n.bconv(x, 3, 5, graph.PadSame, graph.BinaryAttrs{WeightScale: graph.ScaleNone})
		if c.b == 3e38 { // clipped before the sums get there
			x = n.add("clip", &graph.ClipAttrs{Min: -1, Max: 1}, nil, x)
		}
		x = n.add(c.op, &graph.BinaryOpAttrs{}, map[string]*graph.Tensor{"b": ones(5, c.b)}, x)
		n.Outputs = []string{n.quantize(x, &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 2, Enc: ir.Unipolar, Scale: 1}})}
		g, err := Fuse(t.Context(), n.Graph, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		folded := g.Nodes[0].Attrs.(*graph.FusedConv).Epilogue.Thresholds != nil
		if len(g.Nodes) != 1 || folded != (c.want == "") || !strings.Contains(explain.Verdict(g.Nodes[0].Verdict), c.want) {
			t.Errorf("%s %g: %s%s", c.op, c.b, g, explain.Verdict(g.Nodes[0].Verdict))
		}
		if err := explain.Strict(g, Strict(g)); (err == nil) != folded || err != nil && !strings.Contains(err.Error(), "stays float: "+c.want) {
			t.Errorf("%s %g: %v", c.op, c.b, err)
		}
	}
}

// TestThresholdBehindFloats: levels of a float convolution by channel; a NaN that counts as the highest level does so still.
func TestThresholdBehindFloats(t *testing.T) {
	for _, c := range []struct {
		shape   []int
		data    []float32
		notLess bool
		rows    bool
		folds   bool
	}{
		{[]int{1, 1}, []float32{0.5}, false, false, true},
		{[]int{1, 2}, []float32{0.5, -1}, false, true, true},
		{[]int{1, 2}, []float32{0, -1}, true, true, true},
		{[]int{1, 1}, []float32{0}, true, false, true},
		{[]int{1, 1}, []float32{0.5}, true, false, false},
	} {
		n, _ := chain(t, ir.Unipolar, 1)
		x := n.conv(n.input(1, 4, 4, 3), 3, 2, graph.PadSame)
		a := &graph.ThresholdAttrs{LevelType: scalar.LevelType{Bits: 1, Enc: ir.BipolarInv, Scale: 1}, NotLess: c.notLess}
		n.Outputs = []string{n.add("threshold", a, map[string]*graph.Tensor{"thresholds": {Shape: c.shape, Data: graph.NumbersOf(c.data)}}, x)}
		g, err := Fuse(t.Context(), n.Graph, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		e := g.Nodes[0].Attrs.(*graph.FusedConv).Epilogue
		if c.folds != (len(g.Nodes) == 1) || c.folds && (e.LevelRows != nil) != c.rows || !c.folds && g.Nodes[1].Verdict.Reason != graph.WhyNaNHighest {
			t.Errorf("%+v: %s", c, g)
		}
		for o := range 2 {
			for _, v := range []float32{-2, -1, -0.5, 0, 0.25, 0.5, 7, float32(math.NaN()), float32(math.Inf(-1)), float32(math.Inf(1))} {
				if !c.folds {
					break
				}
				y, l := scalar.EvalSteps(e.Steps, o, v), e.Levels
				if c.rows {
					l = []float32{e.LevelRows[0][o]}
				}
				if want := a.Level(&graph.Tensor{Shape: c.shape, Data: graph.NumbersOf(c.data)}, o, v); (y >= l[0]) != (want == 1) {
					t.Errorf("%+v: %g of channel %d gives %v, want %d", c, v, o, y >= l[0], want)
				}
			}
		}
	}
}

// TestStrictFloatLayers: which float convolutions are the model's own wish.
func TestStrictFloatLayers(t *testing.T) {
	few := func(n *net, w *graph.Tensor) *graph.Tensor {
		for i, v := range w.Data.All() {
			if w.Data.Floats()[i] = 0.5; v < 0 {
				w.Data.Floats()[i] = -0.5
			}
		}
		return w
	}
	for _, c := range []struct {
		what  string
		build func(n *net, x string) string // x are levels
		want  string
	}{
		{"last", func(n *net, x string) string {
			x = n.bconv(x, 1, 4, graph.PadSame, graph.BinaryAttrs{WeightScale: graph.ScaleMean})
			x = n.quantize(x, &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 2, Enc: ir.Unipolar, Scale: 1}})
			return n.conv(n.plain("dequantize", x), 1, 2, graph.PadSame)
		}, ""},
		{"between", func(n *net, x string) string {
			x = n.bconv(x, 1, 4, graph.PadSame, graph.BinaryAttrs{WeightScale: graph.ScaleMean})
			x = n.quantize(x, &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 2, Enc: ir.Unipolar, Scale: 1}})
			x = n.conv(n.plain("dequantize", x), 1, 2, graph.PadSame)
			x = n.quantize(x, &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 2, Enc: ir.Unipolar, Scale: 1}})
			return n.bconv(x, 1, 4, graph.PadSame, graph.BinaryAttrs{WeightScale: graph.ScaleMean})
		}, `node "n4" (fconv2d): stays float: its input has 2 bits, but it has real weights (128 MACs, 28.6 % of all)`},
		{"binary weights", func(n *net, x string) string {
			x = n.plain("dequantize", x)
			x = n.conv(n.plain("relu", n.bn(x, 0)), 3, 2, graph.PadSame)
			few(n, n.Nodes[len(n.Nodes)-1].Weights["w"])
			return x
		}, `stays float: it has 1-bit weights, but its input is not quantized (864 MACs, 100.0 % of all)`},
		{"6-bit weights behind bits", func(n *net, x string) string {
			x = n.bconv(x, 1, 4, graph.PadSame, graph.BinaryAttrs{WeightScale: graph.ScaleMean})
			x = n.conv(n.plain("softmax", x), 1, 2, graph.PadSame)
			n.Nodes[len(n.Nodes)-1].Verdict = graph.Verdict{Reason: graph.WhyFloatInput, Args: ir.Args{WeightBits: 6, Weights: "affine"}}
			return n.conv(x, 1, 2, graph.PadSame)
		}, `stays float: it has 6-bit weights, but its input is not quantized`},
		{"6-bit weights at the end", func(n *net, x string) string {
			x = n.bconv(x, 1, 4, graph.PadSame, graph.BinaryAttrs{WeightScale: graph.ScaleMean})
			x = n.conv(n.plain("softmax", x), 1, 2, graph.PadSame)
			n.Nodes[len(n.Nodes)-1].Verdict = graph.Verdict{Reason: graph.WhyFloatInput, Args: ir.Args{WeightBits: 6, Weights: "affine"}}
			return x
		}, ""},
	} {
		n, x := chain(t, ir.Unipolar, 2)
		n.Outputs = []string{c.build(n, x)}
		g, err := Fuse(t.Context(), n.Graph, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := explain.Strict(g, Strict(g)); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s\n%s", c.what, err, c.want, g)
		}
	}
}

// TestLongChains: what is too long for one layer becomes several, with and without a convolution before it.
func TestLongChains(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, conv := range []bool{false, true} {
		n := newNet(t.Fatal, r.Float64)
		x := n.input(1, 2, 2, 3)
		if conv {
			x = n.conv(x, 1, 3, graph.PadSame)
		}
		for range 5*maxSteps + 1 {
			x = n.plain("relu", x)
		}
		n.Outputs = []string{x}
		g, err := Fuse(t.Context(), n.Graph, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		steps := 0
		for _, n := range g.Nodes {
			count := 0
			switch a := n.Attrs.(type) {
			case *graph.Elementwise:
				count = len(a.Steps)
			case *graph.FusedConv:
				count = len(a.Epilogue.Steps)
			}
			if steps += count; count > maxSteps {
				t.Errorf("%s has %d steps", n.Name, count)
			}
		}
		if steps != 5*maxSteps+1 || len(g.Nodes) != 6 {
			t.Errorf("%d steps in %d layers", steps, len(g.Nodes))
		}
	}
}

// TestFoldSums: a quantizer behind steps of a layer of floats compares the sums themselves, where that takes no more comparisons than there are steps.
func TestFoldSums(t *testing.T) {
	fma := scalar.Step{Kind: scalar.Fma, A: []float32{0.3, 1e-30, 7e30}, B: []float32{-0.7, 0.1, 2}}
	falls := scalar.Step{Kind: scalar.Mul, A: []float32{0.3, -1, 2}}
	relu, most := scalar.Step{Kind: scalar.Relu}, scalar.Step{Kind: scalar.Most, A: []float32{1}}
	for _, c := range []struct {
		bits  int
		steps []scalar.Step
		folds bool
	}{
		{1, []scalar.Step{fma}, true},
		{1, []scalar.Step{fma, relu}, true},
		{2, []scalar.Step{fma, relu, {Kind: scalar.Relu6}}, true},
		{2, []scalar.Step{fma, relu}, false}, // three comparisons in the place of two steps
		{1, []scalar.Step{falls}, false},
		{1, []scalar.Step{{Kind: scalar.Mul, A: []float32{1e-40}}, {Kind: scalar.Add, A: []float32{1}}}, false}, // infinity becomes NaN
		{1, []scalar.Step{most}, false},      // a NaN becomes 1
		{1, []scalar.Step{relu, fma}, false}, // and 2 in a channel
	} {
		a := &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: c.bits, Enc: ir.Unipolar, Scale: 1}}
		node := &graph.Node{Op: "quantize", Attrs: a}
		q, _ := quantizerOf(node)
		f := &graph.FusedConv{Out: 3}
		f.Epilogue.Steps = c.steps
		sums := foldSums(f, q)
		if folds := len(f.Epilogue.Steps) == 0; folds != c.folds {
			t.Errorf("%+v: folded: %t", c, folds)
		}
		if !c.folds {
			continue
		}
		for o := range f.Out {
			limits := floatLevels(sums, o)
			numbers := []float32{0, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), -math.MaxFloat32, math.MaxFloat32}
			for _, l := range limits {
				numbers = append(numbers, l, math.Nextafter32(l, float32(math.Inf(-1))), math.Nextafter32(l, float32(math.Inf(1))))
			}
			for _, x := range numbers {
				level := 0
				for _, l := range limits {
					if x >= l {
						level++
					}
				}
				if want := q.level(o, scalar.EvalSteps(c.steps, o, x)); level != want {
					t.Errorf("%+v: sum %g of channel %d has level %d, want %d", c, x, o, level, want)
				}
			}
		}
	}
}
