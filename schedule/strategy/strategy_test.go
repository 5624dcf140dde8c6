package strategy_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ripc/codegen"
	"ripc/codegen/llvm/emit"
	"ripc/compile"
	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/difftest"
	"ripc/internal/golden"
	"ripc/internal/need"
	"ripc/internal/testlayer"
	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/size"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/schedule"
	"ripc/schedule/strategy"
	"ripc/targets"
	"ripc/targets/isa"
)

// machines are the targets that strategies are tried for; the first is like a server of today.
func machines(t testing.TB) []targets.Target {
	var all []targets.Target
	for _, name := range []string{"x86-64-v4", "x86-64-v3", "x86-64-v4", "rpi3", "rpi4", "rpi2", "x86-64", "rpi5", "wasm32-relaxed"} {
		m, err := targets.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	all[0].Name = "avx512 with vpopcnt"
	all[0].Features = append(append([]string(nil), all[0].Features...), "avx512vpopcntdq", "avx512bitalg", "avx512vbmi", "avx512vnni")
	all[0].CountOps = 1
	return all
}

func intRange(t *rapid.T, lo, hi int, what string) int { return rapid.IntRange(lo, hi).Draw(t, what) }

func channels(t *rapid.T, what string) int {
	return rapid.SampledFrom([]int{1, 3, 31, 32, 33, 64, 100, 130}).Draw(t, what)
}

func padding(t *rapid.T, kh, kw, h, w int) graph.Padding {
	p := graph.Padding{Mode: graph.PadExplicit}
	if rapid.Bool().Draw(t, "padded") {
		p.Top, p.Bottom = intRange(t, 0, kh-1, "top"), intRange(t, 0, kh-1, "bottom")
		p.Left, p.Right = intRange(t, 0, kw-1, "left"), intRange(t, 0, kw-1, "right")
	}
	p.Bottom = max(p.Bottom, kh-h-p.Top) // the window fits
	p.Right = max(p.Right, kw-w-p.Left)
	return p
}

func encoding(t *rapid.T) ir.EncodingKind {
	return rapid.SampledFrom([]ir.EncodingKind{ir.Unipolar, ir.Bipolar}).Draw(t, "encoding")
}

// convolution is any bconv2d, fconv2d or dense layer that fusedglue could make.
func convolution(t *rapid.T) *ir.Func {
	return convolutionOf(t, intRange(t, 1, 9, "h"), intRange(t, 1, 20, "w"), channels(t, "in"), channels(t, "out"))
}

// largeConvolution is too large to interpret.
func largeConvolution(t *rapid.T) *ir.Func {
	c := rapid.SampledFrom([]int{3, 16, 64, 96, 100, 512, 1000, 4096})
	return convolutionOf(t, intRange(t, 1, 112, "h"), intRange(t, 1, 112, "w"), c.Draw(t, "in"), c.Draw(t, "out"))
}

func convolutionOf(t *rapid.T, h, w, in, out int) *ir.Func {
	if rapid.IntRange(0, 4).Draw(t, "dense") == 0 {
		h, w = 1, 1
	}
	a := &graph.FusedConv{SH: intRange(t, 1, 3, "sh"), SW: intRange(t, 1, 3, "sw"), In: in, Out: out}
	a.KH, a.KW = intRange(t, 1, min(5, h+1), "kh"), intRange(t, 1, min(5, w+1), "kw")
	a.Pad = padding(t, a.KH, a.KW, h, w)
	if g := rapid.SampledFrom([]int{1, 1, 2, 5, 11, 32}).Draw(t, "groups"); in%g == 0 && out%g == 0 {
		a.Groups = g
	}
	enc := encoding(t)
	e := &a.Epilogue
	for i := range intRange(t, 0, 3, "steps") {
		e.Steps = append(e.Steps, scalar.Step{Kind: []scalar.Kind{scalar.Mul, scalar.Relu, scalar.Fma}[i]})
	}
	for range max(0, intRange(t, -2, 2, "joins")) {
		e.Joins = append(e.Joins, graph.Join{Function: rapid.SampledFrom([]scalar.Function{scalar.Plus, scalar.Minus}).Draw(t, "function"), Steps: []scalar.Step{{Kind: scalar.Relu}}})
	}
	bits := intRange(t, 1, 3, "bits")
	beside := drawBeside(t, a, enc)
	if rapid.IntRange(0, 2).Draw(t, "float") == 0 {
		if rapid.Bool().Draw(t, "bias") {
			a.Bias = make([]float32, a.Out)
		}
		switch intRange(t, 0, 3, "levels") {
		case 3:
			e.OutBits, e.OutEnc = 8, ir.Unipolar
			e.Quantizer = &scalar.Quantizer{LevelType: scalar.LevelType{Bits: 8, Enc: ir.Unipolar, Scale: 0.1}, Rounding: scalar.HalfUp}
		case 1:
			e.OutBits, e.OutEnc, e.Levels = bits, enc, make([]float32, 1<<bits-1)
		case 2:
			e.OutBits, e.OutEnc, e.LevelRows = bits, enc, slices.Repeat([][]float32{make([]float32, a.Out)}, 1<<bits-1)
		}
		if bits := intRange(t, 0, 4, "weight bits"); bits > 0 {
			a.Few = &graph.FewBits{Attrs: graph.BinaryAttrs{Enc: rapid.SampledFrom([]graph.WeightEncoding{graph.BipolarWeights, graph.AffineWeights}).Draw(t, "weights"), Bits: bits}}
		}
		return testlayer.Reals(a, intRange(t, 1, 2, "batch"), h, w, slice(t, a), beside...)
	}
	planes := rapid.SampledFrom([]int{1, 1, 2, 3, 8}).Draw(t, "planes")
	x := graph.Value{LevelType: scalar.LevelType{Enc: enc, Bits: planes}, Shape: []int{1, h, w, a.In}}
	a.X, a.W = graph.IntegersOf(x.LevelType), graph.Integers{Min: -1, Max: 1, Step: 2} // as testlayer sets them
	target := rapid.SampledFrom([]targets.Target{{}, {Arch: "aarch64"}, {Arch: "aarch64", ShortSums: true}, {Arch: "aarch64", VectorBits: 128, Registers: 32, L1: 6000}}).Draw(t, "laid out for")
	switch intRange(t, 0, 3, "epilogue") {
	case 3:
		e.OutBits, e.OutEnc = 6, ir.Bipolar
		e.Quantizer = &scalar.Quantizer{LevelType: scalar.LevelType{Bits: 6, Enc: ir.Bipolar, Scale: 0.1}}
	case 1:
		*e = graph.Epilogue{OutBits: bits, OutEnc: enc}
		for range 1<<bits - 1 {
			e.Thresholds = append(e.Thresholds, make([]int32, a.Out))
		}
	case 2:
		*e = graph.Epilogue{OutBits: bits, OutEnc: enc, Shift: &graph.ShiftAdd{}}
		if rapid.Bool().Draw(t, "left") {
			e.Shift.Left = make([]int32, a.Out)
		}
	}
	oh, ow := (h+a.Pad.Top+a.Pad.Bottom-a.KH)/a.SH+1, (w+a.Pad.Left+a.Pad.Right-a.KW)/a.SW+1
	if e.OutBits > 0 && len(e.Joins) == 0 && rapid.Bool().Draw(t, "pooled") {
		k := [2]int{intRange(t, 1, min(3, oh), "ph"), intRange(t, 1, min(3, ow), "pw")}
		a.Pool = &graph.PoolAttrs{Kernel: k, Strides: k}
	}
	by := rapid.SampledFrom(layout.Applying(a, &x)).Draw(t, "algorithm")
	if !by.Averages() {
		beside = slices.DeleteFunc(beside, func(n *graph.Node) bool { return n.Op == "global_avg_pool" })
	}
	batch := intRange(t, 1, 2, "batch")
	const most = 1<<31/(255*128) - 1 // bytes of which a sum of products with 8-bit weights fits i32: more are no layer
	if by.ReadsBytes() && a.KH*a.KW*in <= most && rapid.Bool().Draw(t, "bytes") {
		return testlayer.Bytes(a, target, enc, planes, batch, h, w, beside...)
	}
	return testlayer.Integers(a, target, by, enc, planes, batch, h, w, slice(t, a), beside...)
}

// drawBeside draws levels that a makes beside floats, or their mean in their place, none in most
// cases; a layer that makes no floats has none.
func drawBeside(t *rapid.T, a *graph.FusedConv, enc ir.EncodingKind) []*graph.Node {
	var nodes []*graph.Node
	if rapid.IntRange(0, 3).Draw(t, "mean") == 3 {
		return []*graph.Node{{Op: "global_avg_pool"}}
	}
	for range max(0, intRange(t, -3, 2, "beside")) {
		lt := scalar.LevelType{Enc: enc, Bits: intRange(t, 1, 3, "beside bits"), Scale: 0.1}
		if rapid.Bool().Draw(t, "beside formula") {
			nodes = append(nodes, &graph.Node{Attrs: &graph.QuantizeAttrs{LevelType: lt}})
			continue
		}
		row := rapid.SampledFrom([]int{1, a.Out}).Draw(t, "beside row")
		nodes = append(nodes, &graph.Node{Attrs: &graph.ThresholdAttrs{LevelType: lt}, Weights: map[string]*graph.Tensor{"thresholds": {Shape: []int{lt.Top(), row}}}})
	}
	return nodes
}

// slice is all of the output or, in units of its type, a part of a wider one.
func slice(t *rapid.T, a *graph.FusedConv) ops.Slice {
	n := a.Out
	if a.Epilogue.OutBits > 0 {
		n = ops.Words(a.Out)
	}
	if !rapid.Bool().Draw(t, "slice") {
		return ops.Slice{}
	}
	off := intRange(t, 0, 3, "offset")
	return ops.Slice{Offset: off, Total: off + n + intRange(t, 0, 2, "after")}
}

// other is any Func of ops without accumulators.
func other(t *rapid.T) *ir.Func {
	s := []int{intRange(t, 1, 2, "batch"), intRange(t, 1, 9, "h"), intRange(t, 1, 9, "w"), channels(t, "c")}
	bits, enc := intRange(t, 1, 3, "bits"), encoding(t)
	lies := rapid.SampledFrom([]layout.Form{layout.Planes, layout.Bytes, layout.SignedBytes})
	var words, floats ops.Slice // parts of wider outputs; of levels, where their channels fill words
	if rapid.Bool().Draw(t, "part") {
		if floats = (ops.Slice{Offset: 3, Total: s[3] + 5}); s[3]%ops.WordBits == 0 {
			words = ops.Slice{Offset: 1, Total: ops.Words(s[3]) + 2}
		}
	}
	reals := layout.Tensor{Value: graph.Value{Shape: s}}
	levels := func(shape []int, bits int, form layout.Form) layout.Tensor {
		return layout.Tensor{Value: graph.Value{LevelType: scalar.LevelType{Bits: bits, Enc: enc}, Shape: shape}, Form: form}
	}
	switch intRange(t, 0, 22, "op") {
	case 21:
		x := levels(s, bits, lies.Draw(t, "form"))
		f, _ := ops.Gather(&graph.GatherAttrs{Rows: rapid.SliceOfN(rapid.IntRange(0, s[1]-1), 1, 9).Draw(t, "rows"), Columns: rapid.SliceOfN(rapid.IntRange(0, s[2]-1), 0, 9).Draw(t, "columns")}, x)
		return f
	case 22:
		f, _ := ops.Interpolate(&graph.InterpolateAttrs{Rows: rapid.SliceOfN(rapid.Float32Range(0, float32(s[1]-1)), 0, 9).Draw(t, "rows"), Columns: rapid.SliceOfN(rapid.Float32Range(0, float32(s[2]-1)), 1, 9).Draw(t, "columns")}, reals)
		return f
	case 18:
		right := slices.Clone(s)
		right[intRange(t, 0, 3, "repeated")] = 1
		a := &graph.IntAddAttrs{IntPair: graph.IntPair{LevelType: scalar.LevelType{Bits: 8, Enc: ir.Unipolar, Scale: 0.25}, High: 255}, A: 0.5, B: 0.25, C: 0.125}
		a.Form = rapid.SampledFrom([]graph.Requantization{graph.FloatRequantization, graph.FixedRequantization}).Draw(t, "requantization")
		levels := func(shape []int, what string) layout.Tensor {
			return layout.Tensor{Value: graph.Value{LevelType: a.LevelType, Shape: shape}, Form: lies.Draw(t, what)}
		}
		return ops.IntAdd(a, levels(s, "left form"), levels(rapid.SampledFrom([][]int{s, right, {s[3]}}).Draw(t, "right"), "right form"), lies.Draw(t, "form"))
	case 19:
		p := &graph.PoolAttrs{Kernel: [2]int{intRange(t, 1, 5, "kh"), intRange(t, 1, 5, "kw")}, Strides: [2]int{intRange(t, 1, 3, "sh"), intRange(t, 1, 3, "sw")}}
		p.Pad = padding(t, p.Kernel[0], p.Kernel[1], s[1], s[2])
		form := rapid.SampledFrom([]layout.Form{layout.Bytes, layout.SignedBytes}).Draw(t, "bytes")
		return ops.MaxPool(p, levels(s, 8, form), 0, ops.Slice{Offset: 1, Total: 2 + s[3]})
	case 20:
		x := levels(s, 8, rapid.SampledFrom([]layout.Form{layout.Bytes, layout.SignedBytes}).Draw(t, "form"))
		x.Scale = 1
		return ops.Pad(&graph.SpatialPadAttrs{Pad: padding(t, 3, 3, s[1], s[2]), Value: float64(x.Float(7))}, x)
	case 0, 1, 2, 3:
		p := &graph.PoolAttrs{Kernel: [2]int{intRange(t, 1, 5, "kh"), intRange(t, 1, 5, "kw")}, Strides: [2]int{intRange(t, 1, 3, "sh"), intRange(t, 1, 3, "sw")}}
		p.Pad = padding(t, p.Kernel[0], p.Kernel[1], s[1], s[2])
		switch intRange(t, 0, 2, "pool") {
		case 1:
			return ops.MaxPool(p, reals, 0, ops.Slice{})
		case 2:
			return ops.AvgPool(p, s, ops.Slice{})
		}
		return ops.MaxPoolBits(p, bits, s, enc, rapid.SampledFrom([]int{0, 4, 16}).Draw(t, "vector"), ops.Slice{Offset: 1, Total: 2 + ops.Words(s[3])})
	case 4:
		return ops.GlobalAvgPool(s)
	case 5:
		return ops.Softmax([]int{s[0], rapid.SampledFrom([]int{1, 2, 10, 100, 1000, 1001}).Draw(t, "classes")})
	case 6:
		bits = intRange(t, 1, 8, "wide")
		return ops.Quantize(&graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: bits, Enc: enc, Scale: 0.25}, Rounding: rapid.SampledFrom(scalar.Roundings()).Draw(t, "rounding")}, stepsBefore(t), numbers(t), s, lies.Draw(t, "form"), words)
	case 7:
		return ops.PackLevels(scalar.LevelType{Bits: intRange(t, 1, 8, "wide"), Enc: enc}, s, words)
	case 8:
		return ops.Unpack(scalar.LevelType{Bits: intRange(t, 1, 8, "wide"), Enc: enc}, s)
	case 9:
		return ops.Dequantize(scalar.LevelType{Enc: enc, Bits: intRange(t, 1, 8, "wide"), Scale: 0.5, Offset: rapid.SampledFrom([]float64{0, 0.3}).Draw(t, "offset")}, s)
	case 10:
		off := intRange(t, 0, 70, "offset")
		return ops.Concat(levels(s, intRange(t, 1, 3, "concat"), layout.Planes), ops.Slice{Offset: off, Total: off + s[3] + intRange(t, 0, 40, "after")})
	case 11:
		return ops.FlattenBits(bits, s, enc)
	case 12:
		bits = intRange(t, 1, 4, "threshold bits")
		return ops.Threshold(&graph.ThresholdAttrs{LevelType: scalar.LevelType{Bits: bits, Enc: enc}, NotLess: rapid.Bool().Draw(t, "not less")}, intRange(t, 1, 1<<bits-1, "count"), rapid.SampledFrom([]int{1, s[3]}).Draw(t, "row"), stepsBefore(t), numbers(t), s, layout.Form(rapid.IntRange(int(layout.Planes), int(layout.Bytes)).Draw(t, "form")), words)
	case 13:
		a := &graph.TransposeAttrs{Perm: rapid.Permutation([]int{0, 1, 2, 3}).Draw(t, "perm")}
		if rapid.Bool().Draw(t, "bits") {
			return ops.Transpose(a, levels(s, bits, layout.Planes))
		}
		return ops.Transpose(a, reals)
	case 14:
		right := slices.Clone(s)
		right[intRange(t, 0, 3, "repeated")] = 1
		return ops.Function(rapid.SampledFrom([]scalar.Function{scalar.Plus, scalar.Over, scalar.GreaterEqual}).Draw(t, "binary"), s, rapid.SampledFrom([][]int{s, right, {s[3]}, {1}}).Draw(t, "right"))
	case 15:
		s = append([]int{intRange(t, 1, 2, "a"), intRange(t, 1, 2, "b")}, s...)
		a := &graph.SliceAttrs{Begin: []int{0, 0, 0, 0, 0, 0}, Size: s, Stride: []int{1, 1, 1, 1, 1, 1}}
		if rapid.Bool().Draw(t, "bits") {
			return ops.CopySlice(a, levels(s, bits, layout.Planes))
		}
		return ops.CopySlice(a, layout.Tensor{Value: graph.Value{Shape: s}})
	case 16:
		if rapid.Bool().Draw(t, "unpack") {
			return ops.UnpackWords(s, enc)
		}
		return ops.PackWords(s, enc)
	}
	if rapid.Bool().Draw(t, "mask") {
		return ops.MaskBits(bits, s, enc)
	}
	kind := rapid.SampledFrom(scalar.Kinds())
	return ops.Eltwise([]scalar.Step{{Kind: kind.Draw(t, "step"), Hi: 1, Mode: rapid.SampledFrom(scalar.Roundings()).Draw(t, "mode")}}, numbers(t), s, floats)
}

// numbers draws a type of numbers that steps and quantizers read.
func numbers(t *rapid.T) ir.Type {
	return rapid.SampledFrom([]ir.Type{ir.F32, ir.F32, ir.I16, ir.I8}).Draw(t, "numbers")
}

// stepsBefore draws float steps before a quantizer, none in most cases.
func stepsBefore(t *rapid.T) []scalar.Step {
	return []scalar.Step{{Kind: scalar.Fma}, {Kind: scalar.PRelu}, {Kind: scalar.Clip, Hi: 1}}[:max(0, intRange(t, -3, 3, "steps before"))]
}

// legal applies a trace and checks that what comes out is sound and can be generated. It gives a
// Func with f's parameters.
func legal(t *rapid.T, f *ir.Func, tr schedule.Trace, m targets.Target) *ir.Func {
	r, err := tr.ApplyAll(f, schedule.WithInstrs(isa.For(m)))
	if err != nil {
		t.Fatalf("%s: %v\ntrace:\n%s%s", m.Name, err, tr, f)
	}
	g := r.Func
	for _, check := range []func(*ir.Func) error{ir.Verify, arith.VerifyBounds, arith.VerifyWidths} {
		if err := check(g); err != nil {
			t.Fatalf("%s: %v\ntrace:\n%s%s", m.Name, err, tr, g)
		}
	}
	if l := withoutAxis(g); l != "" && !strings.Contains(tr.String(), "fuse ") { // one loop over two axes
		t.Fatalf("%s: loop %%%s has lost its axis\ntrace:\n%s%s", m.Name, l, tr, g)
	}
	var large *codegen.SizeError
	switch _, err := emit.Kernel(g, "kernel", m, nil); {
	case errors.As(err, &large) && size.Of(g.Body) > size.Max/8:
		// Sizes are estimates, within a factor of eight (levels of 3 bits of a float sum with a
		// join: 6.6): a drawn schedule may be too large after all, the default may not.
		if c, err := compile.Default(f, m); err != nil || c.Trace.String() == tr.String() {
			t.Fatalf("%s: the default: %v, %v\ntrace:\n%s%s", m.Name, err, large, tr, g)
		}
	case err != nil:
		t.Fatalf("%s: %v\ntrace:\n%s%s", m.Name, err, tr, g)
	}
	return r.PackingFunc()
}

// withoutAxis is a loop of f that has no axis, "" if all have one: primitives keep them.
func withoutAxis(f *ir.Func) string {
	name := ""
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		if l, ok := s.(*ir.For); ok && l.Axis == ir.NoAxis {
			name = l.Var
		}
		return true
	})
	return name
}

// failing reports a failure of difftest to rapid, which shrinks the case.
type failing struct {
	testing.TB
	t    *rapid.T
	what string
}

func (f *failing) Helper()                           {}
func (f *failing) Fatalf(format string, args ...any) { f.t.Fatalf(f.what+format, args...) }

// draw calls see with traces for a random Func on a random target.
func draw(t *rapid.T, all []targets.Target, f *ir.Func, see func(tr schedule.Trace, m targets.Target)) {
	m := rapid.SampledFrom(all).Draw(t, "target")
	if rapid.Bool().Draw(t, "small cache") { // which keeps no weights
		m.L1 = 1 << 10
	}
	c, err := compile.Default(f, m) // which has the back end count
	if err != nil {
		t.Fatalf("%s: %v\n%s", m.Name, err, f)
	}
	see(c.Trace, m)
	c, err = testlayer.Random(f, m, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)))
	if err != nil {
		t.Fatalf("%s: %v\n%s", m.Name, err, f)
	}
	see(c.Trace, m)
}

// plainest is the plainest schedule of f.
func plainest(t testing.TB, f *ir.Func, m targets.Target) strategy.Choice {
	t.Helper()
	c, err := strategy.Plainest(f, m, 0, nil)
	if err != nil {
		t.Fatalf("%s on %s: %v", f.Name, m.Name, err)
	}
	return c
}

// plain are the schedules of f by all strategies that apply, at the first values of their knobs.
func plain(t testing.TB, f *ir.Func, m targets.Target) []strategy.Choice {
	t.Helper()
	l := strategy.LayerOf(f, m)
	var all []strategy.Choice
	for _, s := range strategy.For(l) {
		c, err := s.Build(l, nil)
		if err != nil {
			t.Fatalf("%s on %s: %v", f.Name, m.Name, err)
		}
		all = append(all, c)
	}
	return all
}

// at is the schedule of f at a point of a strategy.
func at(t testing.TB, f *ir.Func, m targets.Target, name string, v strategy.Values) strategy.Choice {
	t.Helper()
	c, err := named(t, name).Build(strategy.LayerOf(f, m), v)
	if err != nil {
		t.Fatalf("%s on %s: %v", f.Name, m.Name, err)
	}
	return c
}

// domain is that of a knob, nil where the strategy does not have it.
func domain(t testing.TB, f *ir.Func, m targets.Target, name, knob string) []int {
	t.Helper()
	for _, k := range named(t, name).Knobs(strategy.LayerOf(f, m)) {
		if k.Name == knob {
			return k.Domain
		}
	}
	return nil
}

// named is a strategy.
func named(t testing.TB, name string) strategy.Strategy {
	t.Helper()
	for _, s := range strategy.All() {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("there is no strategy %s", name)
	return strategy.Strategy{}
}

func TestSame(t *testing.T) {
	all := machines(t)
	for name, op := range map[string]func(*rapid.T) *ir.Func{"convolutions": convolution, "others": other} {
		t.Run(name, rapid.MakeCheck(func(rt *rapid.T) {
			f := op(rt)
			draw(rt, all, f, func(tr schedule.Trace, m targets.Target) {
				g := legal(rt, f, tr, m)
				difftest.Same(&failing{t, rt, fmt.Sprintf("%s, trace:\n%s", m.Name, tr)}, f, g, 1)
			})
		}))
	}
}

// TestPairsSame: counting by pairs and by whole windows, with any tiles, gives the sums of the
// plain loops.
func TestPairsSame(t *testing.T) {
	for name, m := range map[string]targets.Target{"pairs": machines(t)[0], "carry_tree": machines(t)[2]} {
		t.Run(name, func(t *testing.T) { pairsSame(t, name, m) })
	}
}

func pairsSame(t *testing.T, strategyName string, m targets.Target) {
	windows := strategyName == "carry_tree"
	counted := 0
	rapid.Check(t, func(rt *rapid.T) {
		a := &graph.FusedConv{SH: 1, SW: intRange(rt, 1, 2, "sw"), Out: channels(rt, "out")}
		planes := intRange(rt, 1, 3, "planes")
		a.In = rapid.SampledFrom([]int{64, 100, 192, 640}).Draw(rt, "in")
		a.KH, a.KW = intRange(rt, 1, 3, "kh"), intRange(rt, 2, 3, "kw")
		if windows { // others are not counted so
			a.KH, a.KW, a.SW, planes = 3, 3, 1, 1
			a.In = rapid.SampledFrom([]int{50, 64, 128, 320, 512}).Draw(rt, "words")
			a.Out = rapid.SampledFrom([]int{16, 32, 48, 64, 96}).Draw(rt, "filters")
		}
		h, w := intRange(rt, 1, 4, "h"), intRange(rt, 1, 9, "w")
		a.Pad = graph.Padding{Mode: graph.PadExplicit, Top: intRange(rt, 0, a.KH-1, "top"), Left: intRange(rt, 0, a.KW-1, "left"), Right: intRange(rt, 1, a.KW-1, "right")}
		a.Pad.Bottom = max(0, a.KH-h-a.Pad.Top)
		a.Pad.Right = max(a.Pad.Right, a.KW-w-a.Pad.Left)
		enc := encoding(rt)
		a.Epilogue = graph.Epilogue{OutBits: 1, OutEnc: enc, Thresholds: [][]int32{make([]int32, a.Out)}}
		for o := range a.Out {
			a.Epilogue.Thresholds[0][o] = int32(a.KH * a.KW * a.In / 2)
		}
		f := testlayer.Integers(a, targets.Target{}, layout.Popcount, enc, planes, intRange(rt, 1, 2, "batch"), h, w, slice(rt, a))
		s, l := named(t, strategyName), strategy.LayerOf(f, m)
		if ok, _ := s.Applies(l); !ok {
			return
		}
		v := strategy.Values{}
		for _, k := range s.Knobs(l) {
			v[k.Name] = rapid.SampledFrom(k.Domain).Draw(rt, k.Name)
		}
		c, err := s.Build(l, v)
		if err != nil {
			rt.Fatal(err)
		}
		tr := c.Trace
		counted++
		difftest.Same(&failing{t, rt, fmt.Sprintf("trace:\n%s", tr)}, f, legal(rt, f, tr, m), 1)
	})
	if counted == 0 {
		t.Error("no trace counts so")
	}
}

func TestLarge(t *testing.T) {
	all := machines(t)
	rapid.Check(t, func(rt *rapid.T) {
		f := largeConvolution(rt)
		draw(rt, all, f, func(tr schedule.Trace, m targets.Target) { legal(rt, f, tr, m) })
	})
}

// TestPoints: every point of a space can be built, or is refused with its values; and every value
// of a knob is reached by a point that can be built. So a tuner may draw whatever it likes. In make
// test, each layer is on one target.
func TestPoints(t *testing.T) {
	all := machines(t)
	ls := layers()
	takes := need.Part(t, 4)
	for i, name := range slices.Sorted(maps.Keys(ls)) {
		f := ls[name]
		for k, m := range []targets.Target{all[0], all[2], all[4], all[5]} {
			if !takes(i + k) {
				continue
			}
			l, r := strategy.LayerOf(f, m), rand.New(rand.NewPCG(1, 2))
			reached := map[string]bool{}
			strategies := strategy.For(l)
			for range 300 * len(strategies) {
				s := strategies[r.IntN(len(strategies))]
				v := s.Random(l, r)
				_, err := s.Build(l, v)
				var point *strategy.PointError
				if err != nil && (!errors.As(err, &point) || point.Strategy != s.Name || !maps.Equal(point.Values, v)) {
					t.Fatalf("%s on %s, %s: %v", name, m.Name, v, err)
				}
				if err == nil {
					for k, n := range v {
						reached[fmt.Sprint(s.Name, k, n)] = true
					}
				}
			}
			for _, s := range strategies {
				for _, k := range s.Knobs(l) {
					if values := slices.Compact(slices.Sorted(slices.Values(k.Domain))); len(values) == 0 || len(values) < len(k.Domain) {
						t.Errorf("%s on %s, %s: %s is one of %d", name, m.Name, s.Name, k.Name, k.Domain)
					}
					for _, n := range k.Domain {
						if len(k.Domain) <= 4 && !reached[fmt.Sprint(s.Name, k.Name, n)] {
							t.Errorf("%s on %s: no point of %s has %s=%d", name, m.Name, s.Name, k.Name, n)
						}
					}
				}
			}
			if _, err := testlayer.Random(f, m, r); err != nil {
				t.Errorf("%s on %s: %v", name, m.Name, err)
			}
		}
	}
}

// TestKnobs: whatever somebody writes into the knobs, the trace applies, or the values are refused.
func TestKnobs(t *testing.T) {
	all := machines(t)
	rapid.Check(t, func(rt *rapid.T) {
		f := convolution(rt)
		m := rapid.SampledFrom(all).Draw(rt, "target")
		l := strategy.LayerOf(f, m)
		s := rapid.SampledFrom(strategy.For(l)).Draw(rt, "strategy")
		v := strategy.Values{}
		for _, k := range s.Knobs(l) {
			v[k.Name] = intRange(rt, -1, 40, k.Name)
		}
		c, err := s.Build(l, v)
		if err != nil {
			return
		}
		if _, err := c.Trace.ApplyAll(f, schedule.WithInstrs(isa.For(m))); err != nil {
			rt.Fatalf("%s: %v\n%s", v, err, c.Trace)
		}
	})
}

// TestApplies: exactly the strategies that apply can be built at the first values of their knobs,
// and the others say why they do not. Each is for some layer, so that the tests that go over layers
// try it.
func TestApplies(t *testing.T) {
	tried := map[string]bool{}
	for name, f := range layers() {
		for _, m := range append(machines(t), device(t)) {
			l := strategy.LayerOf(f, m)
			for _, s := range strategy.All() {
				ok, why := s.Applies(l)
				if !ok {
					if why == "" {
						t.Errorf("%s on %s: %s does not say why it does not apply", name, m.Name, s.Name)
					}
					continue
				}
				tried[s.Name] = true
				if _, err := s.Build(l, nil); err != nil {
					t.Errorf("%s on %s: %v", name, m.Name, err)
				}
			}
		}
	}
	for _, s := range strategy.All() {
		if !tried[s.Name] {
			t.Errorf("strategy %s applies to none of the layers of layers() on any target of machines(): add one", s.Name)
		}
	}
}

// TestTraces pins the schedules of typical layers, and what is left out of them, at the points that
// the headlines of testdata/traces.txt name.
func TestTraces(t *testing.T) {
	text, err := os.ReadFile("testdata/traces.txt")
	if err != nil {
		t.Fatal(err)
	}
	all, on := layers(), map[string]targets.Target{}
	for _, m := range append(machines(t), device(t)) {
		on[m.Name] = m
	}
	var b strings.Builder
	for headline := range strings.Lines(string(text)) {
		of, point, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(headline), "# "), ": ")
		if !strings.HasPrefix(headline, "# ") || !ok || of == "left out" {
			continue
		}
		layer, machine, _ := strings.Cut(of, " on ")
		words := strings.Fields(point)
		v := strategy.Values{}
		for _, w := range words[1:] {
			name, n, _ := strings.Cut(w, "=")
			if v[name], err = strconv.Atoi(n); err != nil {
				t.Fatal(err)
			}
		}
		c := at(t, all[layer], on[machine], words[0], v)
		fmt.Fprintf(&b, "# %s: %s %s\n%s", of, c.Strategy, c.Values, c.Trace)
		for _, l := range c.LeftOut {
			fmt.Fprintf(&b, "# left out: %s: %s\n", l.Step, l.Why)
		}
		b.WriteByte('\n')
	}
	golden.Check(t, "testdata/traces.txt", []byte(b.String()))
}

// TestPairsApply: counting by pairs is for words in pairs that have a copy, and for targets that
// have the instruction.
func TestPairsApply(t *testing.T) {
	m := machines(t)
	wide := m[0]
	wide.Name, wide.VectorBits = "avx512 with vpopcnt, 1024 bits", 1024
	for _, c := range []struct {
		h, in, out, k, planes int
		target                targets.Target
		want                  bool
	}{
		{28, 128, 128, 3, 1, m[0], true},
		{7, 512, 512, 3, 1, m[0], true},
		{14, 256, 256, 3, 3, m[0], true},
		{28, 128, 128, 3, 1, m[1], false}, // no instruction
		{7, 512, 512, 3, 1, wide, false},  // one for half a vector
		{28, 96, 128, 3, 1, m[0], false},  // three words
		{28, 128, 128, 1, 1, m[0], false}, // no copy of the input to keep pairs in
		{14, 64, 256, 3, 1, m[0], true},
	} {
		a := &graph.FusedConv{KH: c.k, KW: c.k, SH: 1, SW: 1, In: c.in, Out: c.out}
		a.Pad = graph.Padding{Top: c.k / 2, Bottom: c.k / 2, Left: c.k / 2, Right: c.k / 2}
		a.Epilogue = graph.Epilogue{OutBits: 1, OutEnc: ir.Unipolar, Thresholds: [][]int32{make([]int32, c.out)}}
		f := testlayer.Integers(a, targets.Target{}, layout.Popcount, ir.Unipolar, c.planes, 1, c.h, c.h, ops.Slice{})
		if got, why := named(t, "pairs").Applies(strategy.LayerOf(f, c.target)); got != c.want {
			t.Errorf("%s on %s: %v, %s", f.Name, c.target.Name, got, why)
		}
	}
}

// TestCarrySave: words are counted in pairs, around the planes' doubling if there is one.
func TestCarrySave(t *testing.T) {
	conv := func(planes int) *ir.Func {
		a := &graph.FusedConv{KH: 3, KW: 3, SH: 1, SW: 1, In: 64, Out: 32}
		return testlayer.Integers(a, targets.Target{}, layout.Popcount, ir.Unipolar, planes, 1, 9, 9, ops.Slice{})
	}
	for _, m := range machines(t) {
		for planes, where := range map[int]string{1: "w.o", 2: "acc.n"} {
			tr := at(t, conv(planes), m, "carry_save", strategy.Values{"filters_outer": 1, "tile_w": 2}).Trace.String()
			if !strings.Contains(tr, "carry_save acc acc.c "+where+" -> acc.s acc.cs\n") {
				t.Errorf("%s, %d planes:\n%s", m.Name, planes, tr)
			}
		}
	}
}

// TestManyPlanes: the sums of the plainest schedules are proved for any number of planes, also
// where a row is a tile and what is left beside it, each doubling its sums plane by plane.
func TestManyPlanes(t *testing.T) {
	for planes := 1; planes <= 8; planes++ {
		a := &graph.FusedConv{KH: 3, KW: 2, SH: 2, SW: 1, DH: 3, DW: 3, In: 6, Out: 32}
		a.Pad = graph.Padding{Top: 3, Bottom: 3, Left: 1, Right: 2}
		a.Epilogue = graph.Epilogue{OutBits: 1, OutEnc: ir.Bipolar, Thresholds: [][]int32{make([]int32, 32)}}
		f := testlayer.Integers(a, targets.Target{}, layout.Popcount, ir.Bipolar, planes, 1, 3, 3, ops.Slice{})
		for _, m := range machines(t) {
			for _, c := range plain(t, f, m) {
				if err := arith.VerifyWidths(c.Func); err != nil {
					t.Errorf("%s, %s, %d planes: %v", m.Name, c.Strategy, planes, err)
				}
			}
		}
	}
}

// pooledPlanes is a layer whose windows of a pool are rows and columns of sums, doubled plane by
// plane.
func pooledPlanes() *ir.Func {
	a := &graph.FusedConv{KH: 4, KW: 5, SH: 1, SW: 1, In: 3, Out: 32}
	a.Pad = graph.Padding{Mode: graph.PadExplicit, Top: 1, Bottom: 2, Right: 3}
	a.Epilogue = graph.Epilogue{OutBits: 3, OutEnc: ir.Unipolar, Shift: &graph.ShiftAdd{}}
	a.Pool = &graph.PoolAttrs{Kernel: [2]int{2, 3}, Strides: [2]int{2, 3}}
	return testlayer.Integers(a, targets.Target{}, layout.Popcount, ir.Unipolar, 8, 2, 4, 17, ops.Slice{})
}

// TestProvedPoints: whatever tile is cut out of the rows and columns of a pool's windows, its sums
// can be proved: no point is refused for their sake.
func TestProvedPoints(t *testing.T) {
	f, m := pooledPlanes(), machines(t)[4]
	s, l := named(t, "bytes"), strategy.LayerOf(f, m)
	built, cut := 0, 0
	for i := range uint64(200) {
		v := s.Random(l, rand.New(rand.NewPCG(i, 0)))
		c, err := s.Build(l, v)
		var sum *ir.Error
		var point *strategy.PointError
		switch {
		case errors.As(err, &point) && point.Step == "" && errors.As(err, &sum):
			t.Errorf("%s: %v", v, err)
		case err == nil:
			built++
			if strings.Contains(c.Trace.String(), "tail=cut -> acc.w.o") {
				cut++
			}
		}
	}
	if built < 50 || cut < 20 {
		t.Errorf("%d points were built, %d of them cut: the test shows nothing", built, cut)
	}
}

// TestSizeOfPoints: what would be more code than a kernel may have is refused before there is any,
// with the values.
func TestSizeOfPoints(t *testing.T) {
	a := &graph.FusedConv{KH: 1, KW: 4, SH: 1, SW: 1, Pad: graph.Padding{Right: 3}, In: 384, Out: 1000, Groups: 8}
	f := testlayer.Integers(a, targets.Target{}, layout.PopcountDense, ir.Unipolar, 3, 1, 1, 1, ops.Slice{}) // a lane after the other: vectors have filters of several groups
	s := named(t, "carry_save")
	for _, m := range machines(t) {
		l := strategy.LayerOf(f, m)
		for lanes, small := range map[int]bool{32: true, 64: false} {
			_, err := s.Build(l, strategy.Values{"lanes": lanes})
			var point *strategy.PointError
			switch {
			case small && err != nil:
				t.Errorf("%s: %v", m.Name, err)
			case !small && (!errors.As(err, &point) || point.Values["lanes"] != lanes || !strings.Contains(err.Error(), "instructions, more than 4000")):
				t.Errorf("%s: %d lanes: error %v; want one that says how much code they are", m.Name, lanes, err)
			}
		}
	}
}

// TestLargeUnrolls: a loop that is not written out because that would be too much code is noted.
func TestLargeUnrolls(t *testing.T) {
	noted := 0
	for name, f := range map[string]*ir.Func{"3x3_64": layers()["3x3_64"], "pooled": pooledPlanes()} {
		for _, m := range machines(t) {
			l, r := strategy.LayerOf(f, m), rand.New(rand.NewPCG(3, 4))
			for _, s := range strategy.For(l) {
				for range 5 {
					c, err := s.Build(l, s.Random(l, r))
					if err != nil {
						continue
					}
					for _, left := range c.LeftOut {
						if left.Why == "the code would be too large" {
							noted++
							if strings.Contains(c.Trace.String(), left.Step+"\n") {
								t.Errorf("%s on %s, %s %s: %s is both left out and done", name, m.Name, s.Name, c.Values, left.Step)
							}
						}
					}
				}
			}
		}
	}
	if noted == 0 {
		t.Error("no loop is too large to be unrolled: the test shows nothing")
	}
}

// layers are typical of SqueezeNet.
func layers() map[string]*ir.Func {
	layer := func(h, in, out, k, stride int, bits int) *graph.FusedConv {
		a := &graph.FusedConv{KH: k, KW: k, SH: stride, SW: stride, In: in, Out: out}
		a.Pad = graph.Padding{Top: k / 2, Bottom: k / 2, Left: k / 2, Right: k / 2}
		if bits > 0 {
			a.Epilogue = graph.Epilogue{OutBits: bits, OutEnc: ir.Unipolar, Thresholds: [][]int32{make([]int32, out)}}
		} else {
			a.Epilogue.Steps = []scalar.Step{{Kind: scalar.Mul}}
		}
		return a
	}
	conv := func(h, in, out, k, stride int, bits int) *ir.Func {
		return testlayer.Integers(layer(h, in, out, k, stride, bits), targets.Target{}, layout.Popcount, ir.Unipolar, 1, 1, h, h, ops.Slice{})
	}
	dots := func(arch string, h, in, out, k, stride int) *ir.Func {
		return testlayer.Integers(layer(h, in, out, k, stride, 1), targets.Target{Arch: arch}, layout.Dot, ir.Unipolar, 8, 1, h, h, ops.Slice{})
	}
	looked := func(arch string, in, out, k, planes int, by layout.Algorithm) *ir.Func {
		a := &graph.FusedConv{KH: k, KW: k, SH: 1, SW: 1, In: in, Out: out, Pad: graph.Padding{Top: k / 2, Bottom: k / 2, Left: k / 2, Right: k / 2}}
		a.Epilogue = graph.Epilogue{OutBits: 1, OutEnc: ir.Unipolar, Thresholds: [][]int32{make([]int32, out)}}
		m := targets.Target{Arch: arch}
		if arch != "" {
			m.Features = []string{"neon"}
		}
		return testlayer.Integers(a, m, by, ir.Unipolar, planes, 1, 13, 13, ops.Slice{})
	}
	first := &graph.FusedConv{KH: 3, KW: 3, SH: 2, SW: 2, In: 3, Out: 64, Bias: make([]float32, 64)}
	first.Epilogue = graph.Epilogue{OutBits: 1, OutEnc: ir.Unipolar, Levels: []float32{0.5}}
	last := func(h, in, out, k int, by layout.Algorithm) *ir.Func {
		return testlayer.Integers(layer(h, in, out, k, 1, 0), targets.Target{}, by, ir.Unipolar, 1, 1, h, h, ops.Slice{}, &graph.Node{Op: "global_avg_pool"})
	}
	return map[string]*ir.Func{
		"across_8":   looked("", 128, 64, 3, 2, layout.Table8Across),
		"across_6":   looked("", 33, 40, 1, 3, layout.Table6Across),
		"mean_1x1":   last(13, 512, 1000, 1, layout.Popcount),
		"mean_3x3":   last(13, 512, 1000, 3, layout.Popcount),
		"mean_table": last(13, 512, 1024, 1, layout.Table6),
		"mean_word":  last(4, 32, 32, 3, layout.Table4),
		"mean_words": last(4, 32, 128, 3, layout.Table4),
		"mean_odd":   last(4, 32, 31, 3, layout.Table4),
		"3x3_64":     conv(13, 64, 256, 3, 1, 1),
		"3x3_few":    conv(4, 128, 16, 3, 1, 1), // one vector of filters on AVX-512
		"3x3_floats": conv(5, 128, 48, 3, 1, 0), // which blocks of 32 do not divide
		"1x1_512":    conv(13, 512, 64, 1, 1, 1),
		"dense":      conv(1, 4096, 1000, 1, 1, 0),
		"float_3x3":  testlayer.Reals(first, 1, 112, 112, ops.Slice{}),
		"float_deep": testlayer.Reals(layer(7, 256, 128, 3, 1, 0), 1, 7, 7, ops.Slice{}),
		"dot_3x3":    dots("", 13, 64, 256, 3, 1),
		"dot_stem":   dots("", 112, 3, 64, 3, 2),
		"dot_signed": dots("aarch64", 13, 64, 256, 3, 1),
		"dot_floats": testlayer.Integers(layer(14, 32, 64, 3, 1, 0), targets.Target{Arch: "aarch64"}, layout.Dot, ir.Unipolar, 8, 1, 14, 14, ops.Slice{}),
		"tiles":      conv(4, 128, 64, 3, 1, 1), // of matrices
		"tiles_s2":   conv(8, 64, 32, 3, 2, 1),
		"tiles_7":    conv(7, 256, 32, 3, 1, 1),
		"tiles_many": testlayer.Integers(layer(4, 64, 32, 3, 1, 1), targets.Target{}, layout.Popcount, ir.Unipolar, 1, 3, 4, 4, ops.Slice{}),
		"tiles_a2":   testlayer.Integers(layer(4, 64, 64, 3, 1, 1), targets.Target{}, layout.Popcount, ir.Unipolar, 2, 1, 4, 4, ops.Slice{}),
		"tiles_a3":   testlayer.Integers(layer(8, 128, 32, 3, 2, 1), targets.Target{}, layout.Popcount, ir.Unipolar, 3, 2, 8, 8, ops.Slice{}),
		"tiles_dot":  dots("", 4, 64, 32, 3, 1),
		"tiles_dot7": dots("", 7, 32, 64, 1, 1),
		"few":        few(33, 96),
		"maxpool":    ops.MaxPoolBits(&graph.PoolAttrs{Kernel: [2]int{3, 3}, Strides: [2]int{2, 2}}, 1, []int{1, 55, 55, 128}, ir.Unipolar, 0, ops.Slice{}),
		"maxpool_a2": ops.MaxPoolBits(&graph.PoolAttrs{Kernel: [2]int{3, 3}, Strides: [2]int{2, 2}}, 2, []int{1, 55, 55, 128}, ir.Unipolar, 16, ops.Slice{}),
		"softmax":    ops.Softmax([]int{2, 40}),
		"table4":     looked("", 48, 64, 3, 1, layout.Table4),
		"table4_arm": looked("aarch64", 48, 64, 3, 2, layout.Table4),
		"table6":     looked("", 128, 128, 3, 3, layout.Table6),
		"table6_1x1": looked("", 16, 64, 1, 2, layout.Table6), // sums of bytes
	}
}

// few is a 3x3 layer whose channels do not fill words.
func few(in, out int) *ir.Func {
	a := &graph.FusedConv{KH: 3, KW: 3, SH: 1, SW: 1, In: in, Out: out, Pad: graph.Padding{Top: 1, Bottom: 1, Left: 1, Right: 1}}
	a.Epilogue = graph.Epilogue{OutBits: 1, OutEnc: ir.Unipolar, Thresholds: [][]int32{make([]int32, out)}}
	return testlayer.Integers(a, targets.Target{}, layout.PopcountDense, ir.Unipolar, 1, 1, 7, 7, ops.Slice{})
}

// TestGroups: the lanes of layers whose groups do not fill words go one by one, and what they
// unpack is not a part of a pixel. The plainest schedules of such layers can be applied, and are
// not too much code.
func TestGroups(t *testing.T) {
	dense := &graph.FusedConv{KH: 1, KW: 1, SH: 1, SW: 1, In: 33, Out: 11, Groups: 11}
	pooled := &graph.FusedConv{KH: 3, KW: 3, SH: 1, SW: 1, In: 96, Out: 96, Groups: 2, Pool: &graph.PoolAttrs{Kernel: [2]int{3, 2}, Strides: [2]int{3, 2}}}
	pooled.Epilogue = graph.Epilogue{OutBits: 2, OutEnc: ir.Unipolar, Shift: &graph.ShiftAdd{}}
	for _, m := range machines(t) {
		for _, f := range []*ir.Func{
			testlayer.Integers(dense, targets.Target{}, layout.Float, ir.Unipolar, 8, 1, 1, 1, ops.Slice{}),
			testlayer.Integers(pooled, targets.Target{}, layout.PopcountDense, ir.Bipolar, 1, 1, 81, 6, ops.Slice{}),
		} {
			r, err := plainest(t, f, m).Trace.ApplyAll(f, schedule.WithInstrs(isa.For(m)))
			if err != nil {
				t.Fatalf("%s on %s: %v", f.Name, m.Name, err)
			}
			if _, err := emit.Kernel(r.Func, "kernel", m, nil); err != nil {
				t.Errorf("%s on %s: %v", f.Name, m.Name, err)
			}
		}
	}
}

// TestGroupsOfTables: where a group's filters are whole registers, they look up by instructions, as
// those of a layer of one group do, and where all filters look up in the tables of all groups;
// where not, one look-up after the other.
func TestGroupsOfTables(t *testing.T) {
	for _, m := range machines(t) {
		for by, entries := range map[layout.Algorithm]int{layout.Table4: 16, layout.Table4Halves: 16, layout.Table6: 64} {
			for _, c := range []struct{ groups, in, out int }{{2, 96, 96}, {3, 96, 96}, {2, 128, 64}, {4, 96, 96}, {6, 96, 96}, {12, 96, 96}, {2, 24, 62}, {3, 96, 87}, {3, 48, 48}, {6, 144, 144}} {
				if entries > 16 && c.in/c.groups%64 != 0 { // no tables of its own
					continue
				}
				a := &graph.FusedConv{KH: 3, KW: 3, SH: 1, SW: 1, In: c.in, Out: c.out, Groups: c.groups}
				a.Epilogue = graph.Epilogue{OutBits: 1, OutEnc: ir.Unipolar, Thresholds: [][]int32{make([]int32, a.Out)}}
				f := testlayer.Integers(a, m, by, ir.Unipolar, 2, 1, 9, 9, ops.Slice{})
				fits := slices.ContainsFunc(isa.Query(isa.LookUp, m), func(i isa.Instr) bool {
					return i.Words == entries && i.Halves == (by == layout.Table4Halves) && c.out/c.groups%i.Lanes == 0
				})
				fits = fits || layout.NewConv(a, graph.Value{Shape: []int{1, 9, 9, a.In}, LevelType: scalar.LevelType{Enc: ir.Unipolar, Bits: 2}}, m, by).Accumulation.(*layout.Tables).Merged
				if got := strings.Contains(at(t, f, m, "table", strategy.Values{"filters": slices.Max(domain(t, f, m, "table", "filters"))}).Trace.String(), "_lookup"); got != fits {
					t.Errorf("%s, %s, %d groups of %d filters: looked up by an instruction: %v", m.Name, by, c.groups, c.out/c.groups, got)
				}
			}
		}
	}
}

// TestGroupsOfBytes: filters of a group are lanes of instructions that multiply bytes, as those of
// a layer of one group are.
func TestGroupsOfBytes(t *testing.T) {
	for _, groups := range []int{1, 2, 8, 16} {
		for _, m := range machines(t) {
			a := &graph.FusedConv{KH: 3, KW: 3, SH: 1, SW: 1, In: 96, Out: 96, Groups: groups}
			instrs := append(isa.Query(isa.DotBytes, m), isa.Query(isa.DotPairs, m)...)
			quantized := graph.Epilogue{OutBits: 8, OutEnc: ir.Unipolar, Quantizer: &scalar.Quantizer{LevelType: scalar.LevelType{Bits: 8, Enc: ir.Unipolar, Scale: 0.1}}}
			packed := graph.Epilogue{OutBits: 1, OutEnc: ir.Unipolar, Thresholds: [][]int32{make([]int32, a.Out)}}
			for _, a.Epilogue = range []graph.Epilogue{quantized, packed} {
				if f := testlayer.Bytes(a, m, ir.Unipolar, 8, 1, 9, 9); len(instrs) > 0 != multiplied(t, f, m, nil) {
					t.Errorf("%s, %d groups, %d bits: %d instructions", m.Name, groups, a.Epilogue.OutBits, len(instrs))
				}
			}
		}
	}
}

// multiplied reports whether instructions multiply the bytes of f, with any number of channels that
// are computed together.
func multiplied(t *testing.T, f *ir.Func, m targets.Target, v strategy.Values) bool {
	lanes := domain(t, f, m, "dot", "lanes")
	if lanes == nil {
		return strings.Contains(at(t, f, m, "dot", v).Trace.String(), "tensorize")
	}
	return slices.ContainsFunc(lanes, func(n int) bool {
		point := strategy.Values{"lanes": n}
		maps.Copy(point, v)
		return strings.Contains(at(t, f, m, "dot", point).Trace.String(), "tensorize")
	})
}

// TestGuardedRows: where rows are not tiles' and the input itself is read, instructions read it
// under the tile's condition.
func TestGuardedRows(t *testing.T) {
	for _, h := range []int{25, 55} {
		for _, m := range machines(t) {
			a := &graph.FusedConv{KH: 1, KW: 1, SH: 1, SW: 1, In: 64, Out: 64}
			a.Epilogue = graph.Epilogue{OutBits: 8, OutEnc: ir.Unipolar, Quantizer: &scalar.Quantizer{LevelType: scalar.LevelType{Bits: 8, Enc: ir.Unipolar, Scale: 0.1}}}
			f, instrs := testlayer.Bytes(a, m, ir.Unipolar, 8, 1, h, 5), append(isa.Query(isa.DotBytes, m), isa.Query(isa.DotPairs, m)...)
			if len(instrs) > 0 != multiplied(t, f, m, strategy.Values{"tile_h": 4}) {
				t.Errorf("%s, %d rows: %d instructions", m.Name, h, len(instrs))
			}
		}
	}
}

// TestRunsWhole: a row of bytes that is one run is copied whole, also in layers of one row: no lane
// has a condition of its own.
func TestRunsWhole(t *testing.T) {
	for _, m := range machines(t) {
		a := &graph.FusedConv{KH: 2, KW: 5, SH: 3, SW: 2, In: 31, Out: 31, Pad: graph.Padding{Mode: graph.PadExplicit, Top: 1, Left: 3, Right: 2}}
		f := testlayer.Bytes(a, m, ir.BipolarInv, 8, 1, 1, 12)
		r, err := plainest(t, f, m).Trace.ApplyAll(f, schedule.WithInstrs(isa.For(m)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := emit.Kernel(r.Func, "kernel", m, nil); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
	}
}
