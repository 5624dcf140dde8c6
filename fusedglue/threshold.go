package fusedglue

import (
	"math"
	"slices"
	"sort"

	"ripc/internal/f32"
	"ripc/ir"
	"ripc/ir/graph"
)

// thresholdsOf replaces f's float steps and the quantizer behind them by thresholds on the popcount. The level is
// quantize(steps(f32(a))), each operation rounded as the float layer would: thresholds are searched on that very function.
// Channels in which it decreases have their filter negated.
func thresholdsOf(f *graph.FusedConv, enc ir.EncodingKind, a *graph.QuantizeAttrs) {
	steps := f.Epilogue.Steps
	flipped := make([]bool, f.Out)
	for o := range flipped {
		for _, s := range steps {
			if s.A != nil && s.A[o] < 0 {
				flipped[o] = !flipped[o]
			}
		}
	}
	if slices.Contains(flipped, true) {
		f.WBits, f.DotBase = slices.Clone(f.WBits), slices.Clone(f.DotBase)
		if f.PadCorr != nil {
			k := *f.PadCorr
			k.Corr = slices.Clone(k.Corr)
			f.PadCorr = &k
		}
	}
	for o, yes := range flipped {
		if yes {
			flipFilter(f, enc, o)
		}
	}
	search(f, a.Bits, a.Enc, func(o int) func(int64) int {
		return func(dot int64) int {
			if flipped[o] {
				dot = -dot
			}
			return QuantizeLevel(a, ApplySteps(steps, o, float32(dot)))
		}
	})
}

// monotone reports whether the steps never turn around in any channel: a prelu of negative slope does.
func monotone(steps []graph.FloatStep) bool {
	return !slices.ContainsFunc(steps, func(s graph.FloatStep) bool {
		return s.Kind == "prelu" && slices.ContainsFunc(s.A, func(v float32) bool { return v < 0 })
	})
}

// search sets f's epilogue to the thresholds of level(o), a function of the dot product that never decreases:
// level >= j iff P <= Thresholds[j-1][o], where the dot product is DotBase - DotMul*P.
func search(f *graph.FusedConv, bits int, enc ir.EncodingKind, level func(o int) func(a int64) int) {
	maxP := f.MaxP()
	t := make([][]int32, 1<<bits-1)
	for j := range t {
		t[j] = make([]int32, f.Out)
	}
	for o := range f.Out {
		lv, base, mul := level(o), int64(f.DotBase[o]), int64(f.DotMul)
		for j := range t {
			// The first popcount at which the level falls below j+1; levels fall as P grows.
			n := sort.Search(int(maxP)+1, func(p int) bool { return lv(base-mul*int64(p)) < j+1 })
			t[j][o] = int32(n) - 1
		}
	}
	f.Epilogue = graph.Epilogue{OutBits: bits, OutEnc: enc, Thresholds: t}
}

// ApplySteps computes the float steps of channel o, each rounded to f32 with subnormals flushed.
func ApplySteps(steps []graph.FloatStep, o int, x float32) float32 {
	for _, s := range steps {
		switch s.Kind {
		case "mul":
			x = f32.Mul(x, s.A[o])
		case "fma":
			x = f32.Fma(x, s.A[o], s.B[o])
		case "relu":
			x = f32.Max(x, 0)
		case "relu6":
			x = f32.Min(f32.Max(x, 0), 6)
		case "hard_tanh":
			x = f32.Min(f32.Max(x, -1), 1)
		case "prelu":
			x = f32.Fma(f32.Min(x, 0), s.A[o], f32.Max(x, 0))
		}
	}
	return x
}

// QuantizeLevel is graph.QuantizeAttrs' formula (for bipolar_inv, the level that bipolar has) in the arithmetic of ir
// (ops.QuantizeLevel computes the same).
func QuantizeLevel(a *graph.QuantizeAttrs, x float32) int {
	m := float32(int(1)<<a.Bits - 1)
	clip := func(v, lo, hi float32) float32 { return f32.Min(f32.Max(v, lo), hi) }
	var v float32
	switch scale := float32(a.Scale); {
	case a.Unit && a.Enc == ir.Unipolar:
		v = f32.Mul(clip(x, 0, 1), m)
	case a.Unit:
		v = f32.Mul(f32.Mul(f32.Add(clip(x, -1, 1), 1), m), 0.5)
	case a.Enc == ir.Unipolar:
		v = clip(f32.Div(x, scale), -float32(a.Zero), m-float32(a.Zero))
	default:
		v = f32.Mul(f32.Add(clip(f32.Div(x, scale), -m, m), m), 0.5)
	}
	return a.Zero + int(f32.Round(a.Rounding, v))
}

// floatLevels gives, for j = 1..2^Bits-1, the smallest f32 whose level is at least j.
func floatLevels(a *graph.QuantizeAttrs) []float32 {
	lo, hi := f32.Order(float32(math.Inf(-1))), f32.Order(float32(math.Inf(1)))
	out := make([]float32, 1<<a.Bits-1)
	for j := range out {
		n := sort.Search(int(hi-lo)+1, func(i int) bool { return QuantizeLevel(a, f32.FromOrder(lo+int64(i))) >= j+1 })
		out[j] = f32.FromOrder(lo + int64(n))
	}
	return out
}
