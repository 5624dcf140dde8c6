package fusedglue

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/graph/explain"
	"ripc/graph/scalar"
	"ripc/ir"
	"ripc/ir/interp"
	"ripc/lower"
)

// interpret runs the network that Fuse makes with some passes disabled.
func interpret(t *rapid.T, n *net, disabled []string, inputs [][]byte) ([][]byte, *graph.Graph) {
	text := n.String()
	g, err := Fuse(t.Context(), n.Graph, disabled, nil)
	if err != nil {
		t.Fatalf("disabled %v: %v\n%s", disabled, err, n)
	}
	if n.String() != text {
		t.Fatalf("Fuse changed its input:\n%s%s", text, n)
	}
	p, err := lower.Program(t.Context(), g, lower.Options{})
	if err != nil {
		t.Fatalf("disabled %v: %v\n%s%s", disabled, err, n, g)
	}
	out, err := interp.RunProgram(t.Context(), p, inputs, interp.Options{Checks: interp.All()})
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
		n, names := drawNet(t), optional()
		sets := [][]string{names}
		for range 2 {
			sets = append(sets, []string{pick(t, "one", names...)})
		}
		sets = append(sets, rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID).Draw(t, "some"))
		x := n.Value("x")
		data := n.tensor(0.3, 1, x.Shape...).Data.Floats()
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
	x = n.bconv(x, 3, 5, graph.PadSame, graph.BinaryAttrs{WeightScale: graph.ScaleMean})
	x = n.pool(x, 2, 2, graph.PadValid)
	x = n.plain("relu", n.bn(x, 1))
	x = n.quantize(x, &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 2, Enc: ir.Unipolar, Scale: 1.0 / 3}})
	n.Outputs = []string{x}
	var passes []string
	g, err := Fuse(t.Context(), n.Graph, nil, func(pass string, g *graph.Graph) { passes = append(passes, pass) })
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Nodes) != 1 || g.Nodes[0].Op != "bconv2d" || len(passes) != len(Passes()) {
		t.Errorf("passes %v give %s", passes, g)
	}
	if f := g.Nodes[0].Attrs.(*graph.FusedConv); f.Pool == nil || len(f.Epilogue.Thresholds) != 3 {
		t.Errorf("%s", g)
	}
	if err := explain.Strict(g, Strict(g)); err != nil {
		t.Error(err)
	}
}

func TestStrict(t *testing.T) {
	n, x := chain(t, ir.Unipolar, 1)
	x = n.bconv(x, 3, 5, graph.PadSame, graph.BinaryAttrs{WeightScale: graph.ScaleMean})
	n.Outputs = []string{x}
	x = n.bn(x, 0) // some channels turn around
	x = n.quantize(x, &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 1, Enc: ir.Unipolar, Scale: 1}})
	x = n.bconv(x, 1, 2, graph.PadSame, graph.BinaryAttrs{WeightScale: graph.ScaleMean}) // the last layer may leave as floats
	n.Outputs = append(n.Outputs, n.plain("relu", x))
	g, err := Fuse(t.Context(), n.Graph, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := "net.json:1: node \"n1\" (bconv2d): stays float: the glue up to \"n3\" does not fold to integers"
	if err := explain.Strict(g, Strict(g)); err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), `node "n2" (eltwise): stays float`) || strings.Contains(err.Error(), "n4") {
		t.Errorf("got %v, want %s", err, want)
	}
	if why := Strict(g)[0].Verdict.Reason; why != graph.WhyCallerReads {
		t.Errorf("the reason is %s", why)
	}
}

// TestStrictSums: a layer of levels by weights of up to 8 bits that is float because its sums may pass 32 bits.
func TestStrictSums(t *testing.T) {
	n := &graph.Node{Name: "n", Op: "fconv2d", Inputs: []string{"x"}, Output: "y", Attrs: &graph.FusedConv{KH: 1, KW: 1, SH: 1, SW: 1, In: 2, Out: 1, WFloat: []float32{0.3, 0.7}}}
	g := &graph.Graph{File: "m.json", Nodes: []*graph.Node{n}, Inputs: []string{"x"}, Outputs: []string{"y"}, Values: map[string]*graph.Value{
		"x": {Name: "x", Shape: []int{1, 1, 1, 2}, Layout: "NHWC"}, "y": {Name: "y", Shape: []int{1, 1, 1, 1}, Layout: "NHWC"}}}
	if err := explain.Strict(g, Strict(g)); err != nil {
		t.Errorf("real weights: %v", err)
	}
	n.Verdict = graph.Verdict{Kind: graph.Float, Reason: graph.WhyAccumulator, Args: ir.Args{Bits: 8, Count: 70000, WeightBits: 8, Weights: "affine"}}
	if err := explain.Strict(g, Strict(g)); err == nil || !strings.Contains(err.Error(), "could pass 32 bits") || !strings.Contains(err.Error(), "help: cut it into layers") {
		t.Errorf("got %v", err)
	}
}

func TestErrors(t *testing.T) {
	bin := graph.BinaryAttrs{WeightScale: graph.ScaleMean}
	for what, c := range map[string]struct {
		enc   ir.EncodingKind
		build func(n *net, x string) string
		want  string
	}{
		"shift_norm after a float layer": {ir.Unipolar, func(n *net, x string) string {
			return n.shiftNorm(n.conv(n.plain("dequantize", x), 1, 2, graph.PadSame), graph.ShiftRiptide, 2)
		}, `net.json:3: node "n3" (shift_norm): shift_norm works on the integers of bitserial layers and on levels, but its input "t2" is made by a float layer`},
		"shift_norm after batch_norm": {ir.Unipolar, func(n *net, x string) string {
			return n.shiftNorm(n.bn(n.bconv(x, 1, 2, graph.PadSame, bin), 1), graph.ShiftRiptide, 2)
		}, `but its input "t2" is made by batch_norm`},
		"shift_norm of two layers of different scales": {ir.Unipolar, func(n *net, x string) string {
			y := n.bconv(x, 1, 2, graph.PadSame, graph.BinaryAttrs{WeightScale: graph.ScaleNone})
			return n.shiftNorm(n.add("add", &graph.BinaryOpAttrs{}, nil, y, n.bconv(x, 1, 2, graph.PadSame, bin)), graph.ShiftRiptide, 2)
		}, `add "n3" is of layers that sum in different scales`},
		"shift_norm of a layer and levels": {ir.Unipolar, func(n *net, x string) string {
			y := n.bconv(x, 1, 2, graph.PadSame, bin)
			return n.shiftNorm(n.add("add", &graph.BinaryOpAttrs{}, nil, y, n.plain("relu", y)), graph.ShiftRiptide, 2)
		}, `add "n3" reads relu "n2", which makes no sums of a bitserial layer`},
		"shift_norm of what the caller brings": {ir.Unipolar, func(n *net, _ string) string {
			return n.shiftNorm(n.input(1, 4, 4, 2), graph.ShiftRiptide, 2)
		}, "is brought by the caller"},
		"shift_norm of joined channels": {ir.Unipolar, func(n *net, x string) string {
			x = n.bconv(x, 1, 2, graph.PadSame, bin)
			s := n.Value(x).Shape
			return n.shiftNorm(n.add("reshape", &graph.ReshapeAttrs{Shape: []int{s[0], s[1], s[2] / 2, 2 * s[3]}}, nil, x), graph.ShiftRiptide, 2)
		}, `reshape "n2" before it joins channels`},
		"weights above 1": {ir.Unipolar, func(n *net, x string) string {
			x = n.bconv(x, 1, 2, graph.PadSame, bin)
			for i := range n.Nodes[0].Weights["w"].Data.Len() {
				n.Nodes[0].Weights["w"].Data.Floats()[i] = 2
			}
			return n.shiftNorm(x, graph.ShiftRiptide, 2)
		}, "channel 0: the weight scale rounds to more than 1, and ShiftNorm shifts to the right (weight scale 2, mean"},
	} {
		n, x := chain(t, c.enc, 2)
		n.Outputs = append(n.Outputs, c.build(n, x))
		_, err := Fuse(t.Context(), n.Graph, nil, nil)
		var e *ir.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", what, err, c.want)
		}
	}
	n, x := chain(t, ir.Bipolar, 2)
	n.Outputs = []string{n.bconv(x, 3, 2, graph.PadValid, bin)}
	if _, err := Fuse(t.Context(), n.Graph, nil, nil); err != nil {
		t.Errorf("bipolar without padding: %v", err)
	}
	for _, name := range []string{"bind", "nothing"} {
		if _, err := Fuse(t.Context(), n.Graph, []string{name}, nil); err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "moves, curves, fold_steps") {
			t.Errorf("disabling %q: %v", name, err)
		}
	}
}

// TestFuseMany: what it takes to fuse a network grows with its nodes, not with their square: chains whose steps join, pools
// that pass every step behind them, and a tensor that everybody reads.
func TestFuseMany(t *testing.T) {
	for name, add := range map[string]func(n *net, i, count int, x, y string) string{
		"mixed": func(n *net, i, count int, x, y string) string {
			switch i % 3 {
			case 0:
				return n.pool(y, 1, 1, graph.PadValid)
			case 1:
				return n.plain("relu", y)
			}
			return n.add("add", &graph.BinaryOpAttrs{}, nil, x, y)
		},
		// All steps may move behind all transposes.
		"steps before transposes": func(n *net, i, count int, x, y string) string {
			if i < count/2 || i == count-1 {
				return n.plain("relu", y)
			}
			return n.add("transpose", &graph.TransposeAttrs{Perm: []int{0, 2, 1, 3}}, nil, y)
		},
	} {
		t.Run(name, func(t *testing.T) {
			lookups := func(count int) int {
				n := newNet(func(args ...any) { t.Fatal(args...) }, func() float64 { return 1 })
				x := n.input(1, 4, 4, 2)
				y := x
				for i := range count {
					y = add(n, i, count, x, y)
				}
				n.Outputs = []string{y}
				r := newRewriter(n.Graph)
				if err := r.run(t.Context(), Passes(), nil, nil); err != nil {
					t.Fatal(err)
				}
				if len(r.g.Nodes) == 0 {
					t.Error("nothing is left")
				}
				return r.Lookups()
			}
			half, whole := lookups(3000), lookups(6000)
			if whole > half*5/2 {
				t.Errorf("3000 nodes take %d lookups, 6000 take %d", half, whole)
			}
		})
	}
}
