package recognize

import (
	"math"
	"slices"
	"testing"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/passorder"
	"ripc/ir"
)

func TestPassTable(t *testing.T) {
	if err := passorder.Check(passorder.Names(Passes()), order()); err != nil {
		t.Error(err)
	}
	for _, p := range Passes() {
		if p.Doc == "" {
			t.Errorf("pass %s has no description", p.Name)
		}
	}
}

// TestSink: levels pass what neither computes nor averages; who wants floats still gets them.
func TestSink(t *testing.T) {
	n := newNet(t.Fatal, 1)
	x := n.quant(u2(), n.input(1, 8, 8, 3))
	p := n.pool("max_pool", n.plain("relu", x), 2, 2)
	s := n.add("slice", &graph.SliceAttrs{Begin: []int{0, 0, 0, 0}, Size: []int{1, 4, 4, 3}, Stride: []int{1, 1, 1, 1}}, nil, x)
	c := n.add("concat", &graph.ConcatAttrs{}, nil, p, s)
	c = n.add("transpose", &graph.TransposeAttrs{Perm: []int{0, 2, 1, 3}}, nil, c)
	y := n.conv(c, n.few([]int{-1, 1}, 3, 3, 6, 4), same, true)
	check(t, "chain", n.run(y, n.plain("flatten", p)), `
		quantize(x0) -> quantize1
		max_pool(quantize1) -> max_pool4.levels
		dequantize(max_pool4.levels) -> max_pool4
		slice(quantize1) -> slice5.levels
		concat(max_pool4.levels, slice5.levels) -> concat6.levels
		transpose(concat6.levels) -> transpose7.levels
		bitserial_conv2d(transpose7.levels) -> conv2d8.sums # binary: 1-bit weights x 2-bit activations
		add(conv2d8.sums) -> conv2d8
		flatten(max_pool4) -> flatten9`)

	n = newNet(t.Fatal, 1)
	x = n.quant(b1(), n.input(1, 4, 4, 3))
	pad := &graph.SpatialPadAttrs{Pad: graph.Padding{Mode: graph.PadExplicit, Top: 1, Bottom: 1, Left: 1, Right: 1}}
	y = n.conv(n.add("pad", pad, nil, x), n.few([]int{-1, 0, 1}, 3, 3, 3, 4), valid, false)
	r := n.run(n.add("add", &graph.BinaryOpAttrs{}, nil, y, y), x)
	if len(n.Nodes) == 0 || r.Nodes[2].Attrs.(*graph.Conv2DAttrs).Pad != (graph.Padding{Mode: graph.PadExplicit, Top: 1, Bottom: 1, Left: 1, Right: 1}) {
		t.Errorf("%s", dump(r))
	}
	check(t, "zeros around bipolar levels", r, `
		quantize(x0) -> quantize1
		dequantize(quantize1) -> dequantize2
		bitserial_conv2d(quantize1) -> conv2d4 # binary: ternary weights x 1-bit activations
		add(conv2d4, conv2d4) -> add5`)
}

// TestDense: flattened levels, and a second quantizer of the same kind that changes nothing.
func TestDense(t *testing.T) {
	n := newNet(t.Fatal, 2)
	x := n.quant(u2(), n.quant(u2(), n.input(2, 4, 4, 3)))
	y := n.add("dense", &graph.DenseAttrs{}, map[string]*graph.Tensor{"w": n.few([]int{-3, -1, 1, 3}, 48, 5)}, n.plain("flatten", x))
	check(t, "dense", n.run(y), `
		quantize(x0) -> quantize1
		flatten(quantize1) -> flatten5.levels
		bitserial_dense(flatten5.levels) -> dense6 # binary: 2-bit weights x 2-bit activations`)
}

// TestManyPlanes: what a layer costs, here 40 pairs of bit planes, is no reason to keep it float.
func TestManyPlanes(t *testing.T) {
	n := newNet(t.Fatal, 3)
	x := n.quant(&graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 8, Enc: ir.Unipolar, Scale: 1}, Rounding: scalar.Floor}, n.input(1, 200))
	check(t, "many planes", n.run(n.add("dense", &graph.DenseAttrs{}, map[string]*graph.Tensor{"w": n.few([]int{-8, -3, 0, 7}, 200, 1)}, x)), `
		quantize(x0) -> quantize1
		bitserial_dense(quantize1) -> dense3 # binary: 4-bit weights x 8-bit activations`)
}

// TestWideWeights: integers of up to 8 bits are weights of sums of integers, whatever the levels have.
func TestWideWeights(t *testing.T) {
	var ints []int
	for q := -127; q <= 127; q++ {
		ints = append(ints, q)
	}
	n := newNet(t.Fatal, 3)
	x := n.quant(&graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 8, Enc: ir.Unipolar, Scale: 1}, Rounding: scalar.Floor}, n.input(1, 4, 4, 8))
	check(t, "8 bits", n.run(n.conv(x, n.few(ints, 3, 3, 8, 4), same, false)), `
		quantize(x0) -> quantize1
		bitserial_conv2d(quantize1) -> conv2d3 # binary: 8-bit weights x 8-bit activations`)
	for _, c := range []struct {
		least, channels int
		binary          bool
	}{{-127, 512, true}, {-127, 3600, true}, {-128, 512, true}, {-128, 1024, true}, {-128, 3640, true}, {-128, 3700, false}} {
		n := newNet(t.Fatal, 3)
		x := n.quant(&graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 8, Enc: ir.Unipolar, Scale: 1}, Rounding: scalar.Floor}, n.input(1, 4, 4, c.channels))
		g := n.run(n.conv(x, n.few([]int{c.least, 3, 0, 127}, 3, 3, c.channels, 2), same, false))
		if last := g.Nodes[len(g.Nodes)-1]; (last.Op == "bitserial_conv2d") != c.binary {
			t.Errorf("%+v: %s", c, g)
		}
	}
}

// TestWideWeightsMissed: weights of 5 to 8 bits are named where levels became real before the layer, and not where the caller's input is real.
func TestWideWeightsMissed(t *testing.T) {
	for _, c := range []struct {
		least, most int
		levels      bool
		bits        int
	}{{-31, 31, true, 6}, {-31, 31, false, 0}, {-127, 127, true, 8}, {-7, 7, false, 4}} {
		var ints []int
		for q := c.least; q <= c.most; q++ {
			ints = append(ints, q)
		}
		n := newNet(t.Fatal, 3)
		x := n.input(1, 4, 4, 8)
		if c.levels {
			x = n.plain("sigmoid", n.plain("softmax", n.quant(u2(), x)))
		}
		g := n.run(n.conv(x, n.few(ints, 3, 3, 8, 4), same, false))
		if why := g.Nodes[len(g.Nodes)-1].Verdict; why.Args.WeightBits != c.bits {
			t.Errorf("%+v: %+v", c, why)
		}
	}
}

// TestSum: a sum of levels of one scale, or with a power of two between the scales, has levels itself; those of other sums are real numbers.
func TestSum(t *testing.T) {
	for _, c := range []struct {
		op   string
		a, b *graph.QuantizeAttrs
		want string
	}{
		{"add", u2(), u2(), "unipolar3"},
		{"sub", u2(), u2(), "affine3(zero=3)"},
		{"add", b1(), b1(), "affine2(zero=1)"},
		{"add", b1(), &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 2, Enc: ir.Unipolar, Scale: 0.5, Zero: 1}}, "affine3(zero=2)"},
		{"add", u2(), b1(), "affine3(zero=2)"}, // the scale is doubled
		{"add", u2(), &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 1, Enc: ir.Unipolar, Scale: 0.3}}, ""},
		{"add", &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 8, Enc: ir.Unipolar, Scale: 1}}, &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 8, Enc: ir.Unipolar, Scale: 1}}, ""},
		{"mul", u2(), u2(), "unipolar4"},
		{"mul", u2(), &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 3, Enc: ir.Unipolar, Scale: 1}}, ""},
	} {
		n := newNet(t.Fatal, 5)
		x, y := n.input(1, 4, 4, 8), n.input(1, 4, 4, 8)
		s := n.add(c.op, &graph.BinaryOpAttrs{}, nil, n.quant(c.a, x), n.quant(c.b, y))
		g := n.run(n.conv(s, n.few([]int{-1, 1}, 3, 3, 8, 4), same, false))
		last := g.Nodes[len(g.Nodes)-1]
		v := g.Value(last.Inputs[0])
		if v.Encoded() != (c.want != "") || v.Encoded() && v.String() != s+".levels: "+c.want+"[1, 4, 4, 8]" {
			t.Errorf("%s of %+v and %+v: %s", c.op, c.a, c.b, g)
		}
	}
}

// TestFloat: what stays float says why, and keeps no levels that nobody reads.
func TestFloat(t *testing.T) {
	for what, c := range map[string]struct {
		build func(n *net) string
		want  string
	}{
		"float network": {func(n *net) string { return n.conv(n.input(1, 4, 4, 3), n.real(3, 3, 3, 4), same, true) },
			`conv2d(x0) -> conv2d1 # float: its input is not quantized: the caller brings real numbers`},
		"binary weights": {func(n *net) string { return n.conv(n.input(1, 4, 4, 3), n.few([]int{-1, 1}, 3, 3, 3, 4), same, true) },
			`conv2d(x0) -> conv2d1 # float: it has 1-bit weights, but its input is not quantized: the caller brings real numbers`},
		"declared": {func(n *net) string {
			x := n.input(1, 4, 4, 3)
			n.Value(x).Declared = "BIPOLAR"
			return n.conv(n.binary("mul", 0.5, n.binary("add", 1, x)), n.few([]int{-1, 1}, 3, 3, 3, 4), same, true)
		}, `add(x0) -> add1
			mul(add1) -> mul2
			conv2d(mul2) -> conv2d3 # float: it has 1-bit weights, but its input is not quantized: the caller brings real numbers, and the file says that they are BIPOLAR`},
		"10-bit weights": {func(n *net) string {
			var ints []int
			for q := -511; q <= 511; q++ {
				ints = append(ints, q)
			}
			return n.conv(n.quant(u2(), n.input(1, 4, 4, 8)), n.few(ints, 3, 3, 8, 4), same, true)
		}, `fake_quant(x0) -> dequantize2 # glue: its 2-bit levels are read by float layers only, so they stay f32
			conv2d(dequantize2) -> conv2d3 # float: its input has 2 bits, but it has weights of 10 bits, where at most 8 bits become bitserial`},
		"scales by input": {func(n *net) string {
			w := n.real(3, 3, 8, 4)
			for i := range w.Data.Len() {
				w.Data.Floats()[i] = float32(math.Sqrt(float64(2+i/4%8))) * float32(1-2*(i*i%7%2))
			}
			return n.conv(n.quant(u2(), n.input(1, 4, 4, 8)), w, same, false)
		}, `fake_quant(x0) -> dequantize2 # glue: its 2-bit levels are read by float layers only, so they stay f32
			conv2d(dequantize2) -> conv2d3 # float: its input has 2 bits, but it has 1-bit weights with a scale for each input channel`},
		"average": {func(n *net) string {
			return n.conv(n.pool("avg_pool", n.quant(u2(), n.input(1, 4, 4, 8)), 3, 1), n.few([]int{-1, 1}, 1, 1, 8, 4), same, false)
		}, `fake_quant(x0) -> dequantize2 # glue: its 2-bit levels are read by float layers only, so they stay f32
			avg_pool(dequantize2) -> avg_pool3
			conv2d(avg_pool3) -> conv2d4 # float: it has 1-bit weights, but its input is not quantized: avg_pool "avg_pool3" makes real numbers`},
		"average of many": {func(n *net) string {
			return n.conv(n.pool("avg_pool", n.quant(u2(), n.input(1, 10, 10, 8)), 5, 5), n.few([]int{-1, 1}, 1, 1, 8, 4), same, false)
		}, `fake_quant(x0) -> dequantize2 # glue: its 2-bit levels are read by float layers only, so they stay f32
			avg_pool(dequantize2) -> avg_pool3
			conv2d(avg_pool3) -> conv2d4 # float: it has 1-bit weights, but its input is not quantized: avg_pool "avg_pool3" makes means of 25 levels of 2 bits, too many to be levels of 8 bits`},
		"other types": {func(n *net) string {
			x := n.input(1, 4, 4, 8)
			return n.conv(n.add("concat", &graph.ConcatAttrs{}, nil, n.quant(u2(), x), n.quant(&graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 2, Enc: ir.Unipolar, Scale: 0.37}, Rounding: scalar.Floor}, x)),
				n.few([]int{-1, 1}, 1, 1, 16, 4), same, false)
		}, `fake_quant(x0) -> dequantize2 # glue: its 2-bit levels are read by float layers only, so they stay f32
			fake_quant(x0) -> dequantize4 # glue: its 2-bit levels are read by float layers only, so they stay f32
			concat(dequantize2, dequantize4) -> concat5
			conv2d(concat5) -> conv2d6 # float: it has 1-bit weights, but its input is not quantized: concat "concat5" joins levels of different types`},
		"one in the padding": {func(n *net) string {
			pad := &graph.SpatialPadAttrs{Pad: graph.Padding{Mode: graph.PadExplicit, Top: 1}, Value: 0.77}
			return n.conv(n.add("pad", pad, nil, n.quant(b1(), n.input(1, 4, 4, 8))), n.few([]int{-1, 1}, 1, 1, 8, 4), same, false)
		}, `quantize(x0) -> quantize1
			dequantize(quantize1) -> dequantize2
			pad(dequantize2) -> pad3
			conv2d(pad3) -> conv2d4 # float: it has 1-bit weights, but its input is not quantized: pad "pad3" adds 0.77, which is none of the 1-bit bipolar levels`},
		"too wide": {func(n *net) string {
			n.Graph.Values["x0"] = &graph.Value{Name: "x0", Shape: []int{1, 400000}, Layout: "NC"}
			n.Inputs = []string{"x0"}
			x := n.quant(&graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 8, Enc: ir.Unipolar, Scale: 1}, Rounding: scalar.Floor}, "x0")
			return n.add("dense", &graph.DenseAttrs{}, map[string]*graph.Tensor{"w": n.few([]int{-7, -5, -3, -1, 1, 3, 5, 7}, 400000, 1)}, x)
		}, `fake_quant(x0) -> dequantize2 # glue: its 8-bit levels are read by float layers only, so they stay f32
			dense(dequantize2) -> dense3 # float: sums of 400000 products of 8-bit activations and 3-bit weights could pass 32 bits, with the glue's additions`},
	} {
		n := newNet(t.Fatal, 3)
		check(t, what, n.run(c.build(n)), c.want)
	}
}

// TestStepped: quantizers that are spelled out in steps.
func TestStepped(t *testing.T) {
	for what, c := range map[string]struct {
		build      func(n *net, x string) string
		want       string
		thresholds []float32
	}{
		"sign": {func(n *net, x string) string { return n.plain("sign", x) }, "affine2(zero=1)", []float32{0, 0x1p-126}},
		"DoReFa": {func(n *net, x string) string {
			x = n.binary("mul", 3, n.add("clip", &graph.ClipAttrs{Min: 0, Max: 1}, nil, x))
			return n.binary("div", 3, n.add("round", &graph.RoundAttrs{Mode: scalar.HalfUp}, nil, x))
		}, "unipolar2", []float32{0x1.555556p-3, 0.5, 0x1.aaaaaap-1}},
		"bipolar": {func(n *net, x string) string {
			x = n.binary("sub", 0.5, n.add("round", &graph.RoundAttrs{Mode: scalar.Floor}, nil, n.add("clip", &graph.ClipAttrs{Min: 0, Max: 1}, nil, x)))
			return n.binary("mul", 2, x)
		}, "bipolar1", []float32{1}},
	} {
		n := newNet(t.Fatal, 4)
		q := c.build(n, n.input(1, 4, 4, 8))
		y := n.conv(q, n.few([]int{-1, 1}, 3, 3, 8, 4), same, false)
		g := n.run(y)
		if len(g.Nodes) != 2 || g.Nodes[0].Op != "threshold" || g.Nodes[1].Op != "bitserial_conv2d" {
			t.Errorf("%s: %s", what, dump(g))
			continue
		}
		if got := g.Nodes[0].Weights["thresholds"].Data.Floats(); !slices.Equal(got, c.thresholds) {
			t.Errorf("%s: thresholds %g, want %g", what, got, c.thresholds)
		}
		if v := g.Value(g.Nodes[0].Output); v.String() != v.Name+": "+c.want+"[1, 4, 4, 8]" {
			t.Errorf("%s: %s, want %s", what, v, c.want)
		}
	}
}

// TestNotes: what the importer or the user said of a node stays as it is, and changes no reason.
func TestNotes(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(n *net, x string) string
		want graph.Reason
	}{
		{"float", func(n *net, x string) string { return n.conv(x, n.few([]int{-1, 1}, 1, 1, 3, 4), same, false) }, graph.WhyInputReal},
		{"bits", func(n *net, x string) string {
			return n.conv(n.quant(b1(), x), n.few([]int{-1, 1}, 1, 1, 3, 4), same, false)
		}, graph.NoReason},
		{"levels", func(n *net, x string) string {
			return n.plain("relu", n.quant(&graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 8, Enc: ir.Unipolar, Scale: 0.5}, Rounding: scalar.HalfEven}, x))
		}, graph.WhyUnreadLevels},
	} {
		for _, note := range []string{"a batch", "float: because I say so: bitserial"} {
			n := newNet(t.Fatal, 1)
			y := c.make(n, n.input(1, 4, 4, 3))
			n.Nodes[0].Note = note
			first := n.run(y).Nodes[0]
			if first.Note != note || first.Verdict.Reason != c.want {
				t.Errorf("%s: note %q, verdict %+v, want %q, %s", c.name, first.Note, first.Verdict, note, c.want)
			}
		}
	}
}
