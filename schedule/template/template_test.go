package template_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ripc/codegen"
	"ripc/internal/difftest"
	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/graph"
	"ripc/ir/ops"
	"ripc/schedule"
	"ripc/schedule/template"
	"ripc/targets"
	"ripc/targets/isa"
)

// machines are the targets that templates are tried for; the first is like a server of today.
func machines(t testing.TB) []targets.Target {
	var all []targets.Target
	for _, name := range []string{"x86-64-v4", "x86-64-v3", "x86-64-v4", "rpi3", "rpi4", "rpi2"} {
		m, err := targets.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	all[0].Name = "avx512 with vpopcnt"
	all[0].Features = append(append([]string(nil), all[0].Features...), "avx512vpopcntdq", "avx512bitalg")
	return all
}

func intRange(t *rapid.T, lo, hi int, what string) int { return rapid.IntRange(lo, hi).Draw(t, what) }

func channels(t *rapid.T, what string) int {
	return rapid.SampledFrom([]int{1, 3, 31, 32, 33, 64, 100, 130}).Draw(t, what)
}

func padding(t *rapid.T, kh, kw, h, w int) graph.Padding {
	p := graph.Padding{Mode: "explicit"}
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
	a := &graph.FusedConv{SH: intRange(t, 1, 3, "sh"), SW: intRange(t, 1, 3, "sw"), In: in, Out: out, DotMul: 2}
	a.KH, a.KW = intRange(t, 1, min(5, h+1), "kh"), intRange(t, 1, min(5, w+1), "kw")
	a.Pad = padding(t, a.KH, a.KW, h, w)
	enc := encoding(t)
	e := &a.Epilogue
	for i := range intRange(t, 0, 3, "steps") {
		e.Steps = append(e.Steps, graph.FloatStep{Kind: []string{"mul", "relu", "fma"}[i]})
	}
	bits := intRange(t, 1, 3, "bits")
	if rapid.IntRange(0, 2).Draw(t, "float") == 0 {
		if rapid.Bool().Draw(t, "bias") {
			a.Bias = make([]float32, a.Out)
		}
		switch intRange(t, 0, 2, "levels") {
		case 1:
			e.OutBits, e.OutEnc, e.Levels = bits, enc, make([]float32, 1<<bits-1)
		case 2:
			e.OutBits, e.OutEnc, e.LevelRows = bits, enc, slices.Repeat([][]float32{make([]float32, a.Out)}, 1<<bits-1)
		}
		return ops.Conv("fconv2d", a, ir.NoEncoding, intRange(t, 1, 2, "batch"), h, w, slice(t, a))
	}
	a.Planes, a.PadOnes = intRange(t, 1, 3, "planes"), enc == ir.Bipolar
	switch intRange(t, 0, 2, "epilogue") {
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
	if e.OutBits > 0 && rapid.Bool().Draw(t, "pooled") {
		k := [2]int{intRange(t, 1, min(3, oh), "ph"), intRange(t, 1, min(3, ow), "pw")}
		a.Pool = &graph.PoolAttrs{Kernel: k, Strides: k}
	}
	return ops.Conv("bconv2d", a, enc, intRange(t, 1, 2, "batch"), h, w, slice(t, a))
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
	switch intRange(t, 0, 17, "op") {
	case 0, 1, 2, 3:
		p := &graph.PoolAttrs{Kernel: [2]int{intRange(t, 1, 5, "kh"), intRange(t, 1, 5, "kw")}, Strides: [2]int{intRange(t, 1, 3, "sh"), intRange(t, 1, 3, "sw")}}
		p.Pad = padding(t, p.Kernel[0], p.Kernel[1], s[1], s[2])
		if f := intRange(t, 0, 2, "pool"); f > 0 {
			return ops.PoolFloat([]string{"max_pool", "avg_pool"}[f-1], p, s)
		}
		return ops.MaxPoolBits(p, bits, s, enc, ops.Slice{Offset: 1, Total: 2 + ops.Words(s[3])})
	case 4:
		return ops.GlobalAvgPool(s)
	case 5:
		return ops.Softmax([]int{s[0], rapid.SampledFrom([]int{1, 2, 10, 100, 1000, 1001}).Draw(t, "classes")})
	case 6:
		bits = intRange(t, 1, 8, "wide")
		return ops.Quantize(&graph.QuantizeAttrs{Bits: bits, Enc: enc, Scale: 0.25, Rounding: rapid.SampledFrom(graph.Roundings()).Draw(t, "rounding")}, s)
	case 7:
		return ops.PackLevels(intRange(t, 1, 8, "wide"), s, enc)
	case 8:
		return ops.Unpack(intRange(t, 1, 8, "wide"), s, enc)
	case 9:
		return ops.Dequantize(intRange(t, 1, 8, "wide"), 0.5, s, enc)
	case 10:
		off := intRange(t, 0, 70, "offset")
		return ops.Concat(intRange(t, 0, 3, "concat"), s, enc, ops.Slice{Offset: off, Total: off + s[3] + intRange(t, 0, 40, "after")})
	case 11:
		return ops.FlattenBits(bits, s, enc)
	case 12:
		bits = intRange(t, 1, 4, "threshold bits")
		return ops.Threshold(&graph.ThresholdAttrs{Bits: bits, Enc: enc, NotLess: rapid.Bool().Draw(t, "not less")}, intRange(t, 1, 1<<bits-1, "count"), rapid.SampledFrom([]int{1, s[3]}).Draw(t, "row"), s)
	case 13:
		a := &graph.TransposeAttrs{Perm: rapid.Permutation([]int{0, 1, 2, 3}).Draw(t, "perm")}
		if rapid.Bool().Draw(t, "bits") {
			return ops.TransposeBits(a, bits, s, enc)
		}
		return ops.TransposeFloat(a, s)
	case 14:
		right := slices.Clone(s)
		right[intRange(t, 0, 3, "repeated")] = 1
		return ops.BinaryOp(rapid.SampledFrom([]string{"add", "div"}).Draw(t, "binary"), s, rapid.SampledFrom([][]int{s, right, {s[3]}, {1}}).Draw(t, "right"))
	case 15:
		s = append([]int{intRange(t, 1, 2, "a"), intRange(t, 1, 2, "b")}, s...)
		a := &graph.SliceAttrs{Begin: []int{0, 0, 0, 0, 0, 0}, Size: s, Stride: []int{1, 1, 1, 1, 1, 1}}
		if rapid.Bool().Draw(t, "bits") {
			return ops.SliceBits(a, bits, s, enc)
		}
		return ops.SliceFloat(a, s)
	case 16:
		if rapid.Bool().Draw(t, "unpack") {
			return ops.UnpackWords(s, enc)
		}
		return ops.PackWords(s, enc)
	}
	if rapid.Bool().Draw(t, "mask") {
		return ops.MaskBits(bits, s, enc)
	}
	kind := rapid.SampledFrom([]string{"mul", "div", "add", "fma", "relu", "clip", "prelu", "round", "sign"})
	return ops.Eltwise([]graph.FloatStep{{Kind: kind.Draw(t, "step"), Hi: 1, Mode: rapid.SampledFrom(graph.Roundings()).Draw(t, "mode")}}, s)
}

// legal applies a trace and checks that what comes out is sound and can be generated.
func legal(t *rapid.T, f *ir.Func, tr schedule.Trace, m targets.Target) *ir.Func {
	g, err := tr.Apply(f, schedule.WithInstrs(isa.For(m.Arch, m.Features)))
	if err != nil {
		t.Fatalf("%s: %v\ntrace:\n%s%s", m.Name, err, tr, f)
	}
	for _, check := range []func(*ir.Func) error{ir.Verify, arith.VerifyBounds, arith.VerifyWidths} {
		if err := check(g); err != nil {
			t.Fatalf("%s: %v\ntrace:\n%s%s", m.Name, err, tr, g)
		}
	}
	if _, err := codegen.Kernel(g, "kernel", m); err != nil {
		t.Fatalf("%s: %v\ntrace:\n%s%s", m.Name, err, tr, g)
	}
	return g
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
	see(template.Default(f, m), m)
	see(template.Random(f, m, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))), m)
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

func TestLarge(t *testing.T) {
	all := machines(t)
	rapid.Check(t, func(rt *rapid.T) {
		f := largeConvolution(rt)
		draw(rt, all, f, func(tr schedule.Trace, m targets.Target) { legal(rt, f, tr, m) })
	})
}

// TestKnobs: whatever somebody writes into the knobs, the trace applies.
func TestKnobs(t *testing.T) {
	all := machines(t)
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(-1, 40)
		k := template.Knobs{TileW: n.Draw(rt, "w"), TileH: n.Draw(rt, "h"), Lanes: n.Draw(rt, "lanes"), UnrollK: true, FiltersOuter: rapid.Bool().Draw(rt, "outer")}
		f := convolution(rt)
		tr := template.Build(f, all[0], k)
		if _, err := tr.Apply(f); err != nil {
			rt.Fatalf("%+v: %v\n%s", k, err, tr)
		}
	})
}

// TestTraces: steps that are not legal are left out, so what matters for speed is spelled out here.
func TestTraces(t *testing.T) {
	want := map[string]string{
		"3x3_64": `reorder h b q w
split h 2 tail=guard -> h.o h.i
split w 13 tail=shift -> w.o w.i
reorder h.o b q h.i w.o w.i
compute_at acc w.o
compute_at xp h.o
vectorize xp.c
reorder acc.kh acc.kw acc.c acc.w acc.o
unroll acc.w*
vectorize acc.o*
unroll acc.c
unroll acc.kw
parallel h.o
unroll w.i
vectorize l
`,
		"dense": `reorder o h b w
split o 64 tail=shift -> o.o o.i
reorder o.o h b w o.i
compute_at acc w
reorder acc.kh acc.kw acc.c acc.o
vectorize acc.o*
vectorize o.i
`,
		"maxpool": `reorder h b
parallel h
vectorize c
vectorize c0
vectorize c1
unroll j
unroll i
`,
	}
	all := layers()
	for name := range want {
		f := all[name]
		if got := template.Default(f, machines(t)[0]).String(); got != want[name] {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want[name])
		}
	}
}
