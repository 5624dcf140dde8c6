package template_test

import (
	"fmt"
	"math/rand/v2"
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
	h, w := intRange(t, 1, 9, "h"), intRange(t, 1, 20, "w")
	if rapid.IntRange(0, 4).Draw(t, "dense") == 0 {
		h, w = 1, 1
	}
	a := &graph.FusedConv{SH: intRange(t, 1, 3, "sh"), SW: intRange(t, 1, 3, "sw"), In: channels(t, "in"), Out: channels(t, "out"), DotMul: 2}
	a.KH, a.KW = intRange(t, 1, min(5, h+1), "kh"), intRange(t, 1, min(5, w+1), "kw")
	a.Pad = padding(t, a.KH, a.KW, h, w)
	enc := encoding(t)
	e := &a.Epilogue
	for i := range intRange(t, 0, 3, "steps") {
		e.Steps = append(e.Steps, graph.FloatStep{Kind: []string{"mul", "relu", "fma"}[i]})
	}
	bits := intRange(t, 1, 3, "bits")
	if rapid.IntRange(0, 2).Draw(t, "float") == 0 {
		a.Out = min(a.Out, 100)
		if rapid.Bool().Draw(t, "bias") {
			a.Bias = make([]float32, a.Out)
		}
		if rapid.Bool().Draw(t, "levels") {
			e.OutBits, e.OutEnc, e.Levels = bits, enc, make([]float32, 1<<bits-1)
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
	switch intRange(t, 0, 12, "op") {
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
		return ops.Quantize(&graph.QuantizeAttrs{Bits: bits, Enc: enc, Scale: 0.25, Rounding: rapid.SampledFrom([]string{"half_even", "half_up", "floor"}).Draw(t, "rounding")}, s)
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
	}
	if rapid.Bool().Draw(t, "mask") {
		return ops.MaskBits(bits, s, enc)
	}
	return ops.Eltwise(graph.FloatStep{Kind: rapid.SampledFrom([]string{"mul", "fma", "relu"}).Draw(t, "step")}, s)
}

// legal applies a trace and checks that what comes out is sound, means the same, and can be generated.
func legal(t *rapid.T, tt testing.TB, f *ir.Func, tr schedule.Trace, m targets.Target) {
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
	difftest.Same(&failing{tt, t, fmt.Sprintf("%s, trace:\n%s", m.Name, tr)}, f, g, 1)
}

// failing reports a failure of difftest to rapid, which shrinks the case.
type failing struct {
	testing.TB
	t    *rapid.T
	what string
}

func (f *failing) Helper()                           {}
func (f *failing) Fatalf(format string, args ...any) { f.t.Fatalf(f.what+format, args...) }

func checkTemplates(t *testing.T, draw func(*rapid.T) *ir.Func) {
	all := machines(t)
	rapid.Check(t, func(rt *rapid.T) {
		f := draw(rt)
		m := rapid.SampledFrom(all).Draw(rt, "target")
		legal(rt, t, f, template.Default(f, m), m)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		legal(rt, t, f, template.Random(f, m, r), m)
	})
}

func TestConvolutions(t *testing.T) { checkTemplates(t, convolution) }

func TestOtherOps(t *testing.T) { checkTemplates(t, other) }
