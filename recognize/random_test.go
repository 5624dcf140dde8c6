package recognize

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ripc/fusedglue"
	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
	"ripc/ir/interp"
	"ripc/lower"
)

func between(t *rapid.T, lo, hi int, what string) int { return rapid.IntRange(lo, hi).Draw(t, what) }

func pick[T any](t *rapid.T, what string, of ...T) T { return rapid.SampledFrom(of).Draw(t, what) }

// dyadic makes the scales of few-bit weights powers of two, so that f32 adds up their products exactly.
func (n *net) dyadic(ints []int, shape ...int) *graph.Tensor {
	t := &graph.Tensor{Shape: shape}
	for i := range t.Elems() {
		t.Data = graph.NumbersOf(append(t.Data.Floats(), float32(math.Ldexp(float64(ints[n.r.IntN(len(ints))]), i%shape[len(shape)-1]%3-1))))
	}
	return t
}

func drawInts(t *rapid.T) []int {
	return pick(t, "ints", []int{-1, 1}, []int{-1, 0, 1}, []int{-3, -1, 1, 3}, []int{-2, -1, 0, 1}, []int{-8, -3, 0, 5, 7}, []int{0, 1})
}

// drawQuant puts a quantizer behind x, in one of the ways that files have.
func (n *net) drawQuant(t *rapid.T, x string, scale float64) string {
	rounding := pick(t, "rounding", scalar.Roundings()...)
	switch between(t, 0, 9, "quantizer") {
	case 7:
		return n.ste(n.plain("sign", x), n.clip(x, -1, 1))
	case 8:
		return n.binary("mul", float32(scale), n.sign(x))
	case 9:
		return n.two("add", n.binary("mul", float32(scale), n.greater(x, 0.5, true)), n.binary("mul", float32(scale), n.greater(x, -1, false)))
	case 0:
		return n.quant(&graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 1, Enc: pick(t, "encoding", ir.Bipolar, ir.BipolarInv), Scale: scale}, Rounding: rounding, Unit: scale == 1}, x)
	case 1:
		a := &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: between(t, 2, 4, "bits"), Enc: ir.Unipolar, Scale: scale}, Rounding: rounding, Range: &scalar.Range{Min: between(t, -4, 2, "min")}}
		a.Range.Max = a.Range.Min + between(t, 1, 1<<a.Bits-1, "span")
		a.Zero = between(t, 0, 1<<a.Bits-1, "zero")
		return n.quant(a, x)
	case 2:
		a := &graph.ThresholdAttrs{LevelType: scalar.LevelType{Bits: 2, Enc: pick(t, "encoding", ir.Unipolar, ir.Bipolar, ir.BipolarInv), Scale: scale}, NotLess: rapid.Bool().Draw(t, "not less")}
		w := &graph.Tensor{Shape: []int{2, n.c(x)}, Data: n.real(n.c(x)).Data}
		for _, v := range slices.Clone(w.Data.Floats()) {
			w.Data = graph.NumbersOf(append(w.Data.Floats(), v+1))
		}
		return n.plain("dequantize", n.add("threshold", a, map[string]*graph.Tensor{"thresholds": w}, x))
	case 3:
		return n.plain("sign", x)
	case 4:
		x = n.add("clip", &graph.ClipAttrs{Min: -1, Max: 2}, nil, n.binary("div", float32(scale), x))
		return n.binary("mul", float32(scale), n.add("round", &graph.RoundAttrs{Mode: rounding}, nil, x))
	case 5:
		return n.quant(&graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: 8, Enc: ir.Unipolar, Scale: scale, Zero: between(t, 0, 255, "zero"), Signed: rapid.Bool().Draw(t, "signed")}, Rounding: rounding}, x)
	}
	return n.quant(&graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: between(t, 1, 3, "bits"), Enc: ir.Unipolar, Scale: scale}, Rounding: rounding}, x)
}

// drawView moves elements of x.
func (n *net) drawView(t *rapid.T, x string) string {
	s := n.Value(x).Shape
	switch between(t, 0, 10, "view") {
	case 9:
		return n.add(pick(t, "op", "add", "sub"), &graph.BinaryOpAttrs{}, nil, x, n.pool("max_pool", x, 3, 1))
	case 8:
		return n.binary("mul", 0.5, x)
	case 10:
		return n.binary(pick(t, "shift", "add", "sub"), pick(t, "by", float32(0.5), 1, 0.25), x)
	case 0:
		return n.pool("max_pool", x, 2, between(t, 1, 2, "stride"))
	case 1:
		pad := graph.Padding{Mode: graph.PadExplicit, Top: between(t, 0, 2, "top"), Left: between(t, 0, 1, "left")}
		return n.add("pad", &graph.SpatialPadAttrs{Pad: pad}, nil, x)
	case 2:
		return n.add("concat", &graph.ConcatAttrs{}, nil, x, n.pool("max_pool", x, 3, 1))
	case 3:
		return n.add("transpose", &graph.TransposeAttrs{Perm: pick(t, "perm", []int{0, 2, 1, 3}, []int{0, 3, 1, 2})}, nil, x)
	case 4:
		return n.add("slice", &graph.SliceAttrs{Begin: []int{0, 0, 0, 0}, Size: []int{s[0], s[1], (s[2] + 1) / 2, s[3]}, Stride: []int{1, 1, 2, 1}}, nil, x)
	case 5:
		return n.plain(pick(t, "idle", "relu", "relu6"), x)
	case 6:
		return n.add("reshape", &graph.ReshapeAttrs{Shape: []int{s[0], s[2], s[1], s[3]}}, nil, x)
	}
	return x
}

func (n *net) drawLayer(t *rapid.T, x string, weights func(ints []int, shape ...int) *graph.Tensor) string {
	if s := n.Value(x).Shape; between(t, 0, 5, "depthwise") == 0 {
		w := map[string]*graph.Tensor{"w": weights(drawInts(t), 1, 1, 1, s[3])}
		return n.add("conv2d", &graph.Conv2DAttrs{Strides: [2]int{1, 1}, Pad: valid, Groups: s[3]}, w, x)
	}
	k := between(t, 1, 2, "kernel")
	w := weights(drawInts(t), k, k, n.c(x), between(t, 1, 5, "filters"))
	if between(t, 0, 4, "real") == 0 {
		w = n.real(w.Shape...)
	}
	return n.conv(x, w, same, rapid.Bool().Draw(t, "biased"))
}

// results interprets g as the compiler would compile it.
func results(t *rapid.T, g *graph.Graph, inputs [][]byte) [][]byte {
	f, err := fusedglue.Fuse(t.Context(), g, nil, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, g)
	}
	p, err := lower.Program(t.Context(), f, lower.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, f)
	}
	out, err := interp.RunProgram(t.Context(), p, inputs, interp.Options{Checks: interp.All()})
	if err != nil {
		t.Fatalf("%v\n%s", err, f)
	}
	return out
}

func floats(b []byte) []float64 {
	var out []float64
	for i := 0; i < len(b); i += 4 {
		out = append(out, float64(math.Float32frombits(binary.LittleEndian.Uint32(b[i:]))))
	}
	return out
}

// compare runs n before and after recognition. Values may differ by tolerance times the largest of their tensor.
func (n *net) compare(t *rapid.T, tolerance float64, outputs ...string) *graph.Graph {
	g := n.run(outputs...)
	var input []byte
	for range n.Value(n.Inputs[0]).Elems() {
		v := float32(2 * n.r.NormFloat64())
		if n.r.IntN(4) == 0 {
			v = float32(math.Round(4*float64(v)) / 4) // where quantizers have their ties
		}
		input = binary.LittleEndian.AppendUint32(input, math.Float32bits(v))
	}
	want, got := results(t, n.Graph, [][]byte{input}), results(t, g, [][]byte{input})
	for i := range want {
		a, b := floats(want[i]), floats(got[i])
		most := 1.0 // sums of nothing but roundings have no size of their own
		for _, v := range a {
			most = max(most, math.Abs(v))
		}
		for j := range a {
			if d := math.Abs(a[j] - b[j]); !(d <= tolerance*most) {
				t.Fatalf("output %s, element %d: %g before and %g after recognition\n%s\n%s", outputs[i], j, a[j], b[j], dump(n.Graph), dump(g))
			}
		}
	}
	return g
}

// TestSameFunction: where f32 adds up exactly, whole networks give the same numbers before and after recognition.
func TestSameFunction(t *testing.T) {
	bitserial := 0
	rapid.Check(t, func(t *rapid.T) {
		n := newNet(func(args ...any) { t.Fatal(args...) }, rapid.Uint64().Draw(t, "seed"))
		x := n.drawQuant(t, n.input(between(t, 1, 2, "batch"), between(t, 2, 5, "h"), between(t, 2, 5, "w"), pick(t, "c", 1, 3, 8, 33)), 0.5)
		var outputs []string
		for range between(t, 1, 3, "layers") {
			if x = n.drawView(t, x); len(outputs) < 3 && between(t, 0, 4, "output") == 0 {
				outputs = append(outputs, x)
			}
			y := n.drawLayer(t, n.drawView(t, x), n.dyadic)
			switch s, in := n.Value(y).Shape, n.Value(x).Shape; between(t, 0, 3, "glue") {
			case 0:
				y = n.plain("relu", y)
			case 1:
				w := map[string]*graph.Tensor{}
				for _, k := range []string{"gamma", "beta", "mean"} {
					w[k] = n.real(s[3])
				}
				w["var"] = &graph.Tensor{Shape: []int{s[3]}, Data: graph.NumbersOf(slices.Repeat([]float32{2}, s[3]))}
				y = n.add("batch_norm", &graph.BatchNormAttrs{Epsilon: 1e-3}, w, y)
			case 2:
				if slices.Equal(s, in) {
					y = n.add("add", &graph.BinaryOpAttrs{}, nil, y, x)
				}
			}
			x = n.drawQuant(t, y, pick(t, "scale", 0.25, 1, 2))
		}
		if rapid.Bool().Draw(t, "dense") {
			x = n.plain("flatten", x)
			x = n.add("dense", &graph.DenseAttrs{}, map[string]*graph.Tensor{"w": n.dyadic(drawInts(t), n.c(x), 3)}, x)
		}
		outputs = append(outputs, x)
		slices.Sort(outputs)
		g := n.compare(t, 0, slices.Compact(outputs)...)
		bitserial += strings.Count(g.String(), "bitserial_")
	})
	if bitserial == 0 {
		t.Error("no network had a bitserial layer")
	}
}

// TestSums: with scales of any kind sums differ by f32 roundings only.
func TestSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := newNet(func(args ...any) { t.Fatal(args...) }, rapid.Uint64().Draw(t, "seed"))
		x := n.input(1, between(t, 2, 5, "h"), between(t, 2, 5, "w"), pick(t, "c", 1, 3, 8, 33))
		x = n.drawView(t, n.drawQuant(t, x, 0.1+n.r.Float64()))
		n.compare(t, 1e-5, n.drawLayer(t, x, n.few))
	})
}
