package recognize

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// two is an op of two tensors.
func (n *net) two(op, x, y string) string {
	return n.add(op, &graph.BinaryOpAttrs{}, nil, x, y)
}

// from is v op x.
func (n *net) from(op string, v float32, x string) string {
	return n.add(op, &graph.BinaryOpAttrs{Reverse: true}, map[string]*graph.Tensor{"b": {Shape: []int{1}, Data: graph.NumbersOf([]float32{v})}}, x)
}

// greater is 1 where x >= t, else 0.
func (n *net) greater(x string, t float32, notLess bool) string {
	a := &graph.ThresholdAttrs{LevelType: scalar.LevelType{Bits: 1, Enc: ir.Unipolar, Scale: 1}, NotLess: notLess}
	return n.plain("dequantize", n.add("threshold", a, map[string]*graph.Tensor{"thresholds": {Shape: []int{1, 1}, Data: graph.NumbersOf([]float32{t})}}, x))
}

func (n *net) clip(x string, lo, hi float64) string {
	return n.add("clip", &graph.ClipAttrs{Min: lo, Max: hi}, nil, x)
}

func (n *net) round(x string) string {
	return n.add("round", &graph.RoundAttrs{Mode: scalar.HalfEven}, nil, x)
}

// sign is where(x >= 0, 1, -1).
func (n *net) sign(x string) string {
	return n.binary("sub", 1, n.binary("mul", 2, n.greater(x, 0, false)))
}

// soft is the integral of the backward function of Bi-Real-Net and ReActNet, as their code has it.
func (n *net) soft(x string) string {
	mask := func(t float32) string { return n.from("sub", 1, n.greater(x, t, false)) } // x < t
	bow := func(square string) string { return n.two("add", square, n.binary("mul", 2, x)) }
	m1, m2, m3 := mask(-1), mask(0), mask(1)
	y := n.two("add", n.binary("mul", -1, m1), n.two("mul", bow(n.two("mul", x, x)), n.from("sub", 1, m1)))
	y = n.two("add", n.two("mul", y, m2), n.two("mul", bow(n.two("mul", n.binary("mul", -1, x), x)), n.from("sub", 1, m2)))
	return n.two("add", n.two("mul", y, m3), n.binary("mul", 1, n.from("sub", 1, m3)))
}

// ste is (q - y) + y.
func (n *net) ste(q, y string) string { return n.two("add", n.two("sub", q, y), y) }

func dorefa(n *net, x string) string {
	return n.binary("div", 3, n.round(n.binary("mul", 3, n.clip(x, 0, 1))))
}

// spelling is a way to write a quantizer.
type spelling struct {
	name       string
	build      func(n *net, x string) string
	want       string // the type of its levels; "" if it is none
	scale      float64
	thresholds []float32
	nearly     bool // not with ExactFloats
}

func spellings() []spelling {
	third := float32(1) / 3
	return []spelling{
		{"sign", func(n *net, x string) string { return n.plain("sign", x) }, "affine2(zero=1)", 1, []float32{0, 0x1p-126}, false},
		{"where", (*net).sign, "bipolar1", 1, []float32{0}, false},
		{"where scaled", func(n *net, x string) string { return n.binary("mul", 0.37, n.sign(x)) }, "bipolar1", float64(float32(0.37)), []float32{0}, false},
		{"cast", func(n *net, x string) string {
			return n.binary("sub", 1, n.binary("mul", 2, n.greater(x, 0x1p-126, false)))
		}, "bipolar1", 1, []float32{0x1p-126}, false},
		{"ste_sign", func(n *net, x string) string { return n.plain("sign", n.binary("add", 0.1, n.plain("sign", x))) }, "bipolar1", 1, []float32{0}, false},
		{"signs of levels", func(n *net, x string) string { return n.plain("sign", n.binary("sub", 0.5, n.plain("sign", x))) }, "bipolar1", 1, []float32{0x1p-126}, false},
		{"quantizer of a sign", func(n *net, x string) string { return n.greater(n.binary("add", 0.5, n.plain("sign", x)), 0, false) }, "unipolar1", 1, []float32{0}, false},
		{"DoReFa", dorefa, "unipolar2", 1.0 / 3, []float32{0x1.555558p-3, 0.5, 0x1.aaaaaep-1}, false},
		{"DoReFa of 4 bits", func(n *net, x string) string {
			return n.binary("div", 15, n.round(n.binary("mul", 15, n.clip(x, 0, 1))))
		}, "unipolar4", float64(float32(1) / 15), nil, false},
		{"PACT", func(n *net, x string) string { // 0.5*(|x| - |x-a| + a)
			abs := func(x string) string {
				return n.add("prelu", &graph.PReluAttrs{}, map[string]*graph.Tensor{"alpha": {Shape: []int{8}, Data: graph.NumbersOf(slices.Repeat([]float32{-1}, 8))}}, x)
			}
			y := n.binary("mul", 0.5, n.binary("add", 1.5, n.two("sub", abs(x), abs(n.binary("sub", 1.5, x)))))
			return n.binary("mul", 0.5, n.round(n.binary("mul", 2, y)))
		}, "unipolar2", 0.5, nil, true},
		{"LSQ", func(n *net, x string) string {
			y := n.clip(n.binary("div", 0.3, x), -4, 3)
			return n.binary("mul", 0.3, n.ste(n.round(y), y))
		}, "affine3(zero=4)", float64(float32(0.3)), nil, false},
		{"8 bits", func(n *net, x string) string {
			return n.binary("mul", 0.1, n.round(n.clip(n.binary("div", 0.1, x), -128, 127)))
		}, "affine8(zero=128)", float64(float32(0.1)), nil, false},
		{"DoReFa of 8 bits", func(n *net, x string) string {
			return n.binary("div", 255, n.round(n.binary("mul", 255, n.clip(x, 0, 1))))
		}, "unipolar8", 1.0 / 255, nil, false},
		{"LSQ of 8 bits", func(n *net, x string) string {
			y := n.clip(n.binary("div", 0.0137, x), -128, 127)
			return n.binary("mul", 0.0137, n.ste(n.round(y), y))
		}, "affine8(zero=128)", float64(float32(0.0137)), nil, false},
		{"falling", func(n *net, x string) string { return n.binary("mul", -1, n.sign(x)) }, "bipolar1", 1, []float32{0x1p-126}, false},
		{"1 - level", func(n *net, x string) string { return n.from("sub", 1, n.greater(x, 0.5, false)) }, "unipolar1", 1, []float32{-0.49999997}, false},
		{"nested where", func(n *net, x string) string { // HWGQ
			y := n.two("add", n.binary("mul", 0.538, n.greater(x, 0.269, false)), n.binary("mul", 0.538, n.greater(x, 0.807, false)))
			return n.two("add", y, n.binary("mul", 0.538, n.greater(x, 1.345, false)))
		}, "unipolar2", float64(float32(0.538)), []float32{0.269, 0.807, 1.345}, false},
		{"uneven levels", func(n *net, x string) string {
			return n.two("add", n.greater(x, 0, false), n.binary("mul", 2, n.greater(x, 1, false)))
		}, "unipolar2", 1, []float32{0, 1, 1}, false},
		{"two real levels", func(n *net, x string) string { return n.binary("sub", 0.2, n.greater(x, 0, false)) }, "unipolar1", 1, []float32{0}, false},
		{"three real levels", func(n *net, x string) string { return n.binary("add", 0.3, n.plain("sign", x)) }, "unipolar2", 1, []float32{0, 0x1p-126}, false},
		{"detach", func(n *net, x string) string { return n.ste(n.sign(x), n.clip(x, -1, 1)) }, "bipolar1", 1, []float32{0}, false},
		{"detach, clipped twice", func(n *net, x string) string {
			return n.two("add", n.two("sub", n.sign(x), n.clip(x, -1, 1)), n.clip(x, -1, 1))
		}, "bipolar1", 1, []float32{0}, false},
		{"detach, the other way", func(n *net, x string) string {
			y := n.clip(x, -1, 1)
			return n.two("add", y, n.two("sub", n.sign(x), y))
		}, "bipolar1", 1, []float32{0}, false},
		{"detach of levels", func(n *net, x string) string {
			return n.ste(dorefa(n, x), n.clip(x, 0, 1))
		}, "unipolar2", float64(third), nil, false},
		{"detach of x", func(n *net, x string) string { return n.ste(n.sign(x), x) }, "bipolar1", 1, []float32{0}, true},
		{"detach of x, before it", func(n *net, x string) string { return n.two("add", x, n.two("sub", n.sign(x), x)) }, "bipolar1", 1, []float32{0}, true},
		{"detach of x, added first", func(n *net, x string) string { return n.two("sub", n.two("add", n.sign(x), x), x) }, "bipolar1", 1, []float32{0}, true},
		{"detach of x, added to it", func(n *net, x string) string { return n.two("sub", n.two("add", x, n.sign(x)), x) }, "bipolar1", 1, []float32{0}, true},
		{"detach of x, as what is lost", func(n *net, x string) string { return n.two("sub", x, n.two("sub", x, n.sign(x))) }, "bipolar1", 1, []float32{0}, true},
		{"detach of x, negated", func(n *net, x string) string {
			return n.two("add", n.two("add", n.binary("mul", -1, x), n.sign(x)), x)
		}, "bipolar1", 1, []float32{0}, true},
		{"detach of x, by itself", func(n *net, x string) string { return n.two("add", n.sign(x), n.two("sub", x, x)) }, "bipolar1", 1, []float32{0}, false},
		{"detach of x, scaled", func(n *net, x string) string {
			return n.ste(n.binary("mul", 0.37, n.sign(x)), x)
		}, "bipolar1", float64(float32(0.37)), []float32{0}, true},
		{"detach of clip, added first", func(n *net, x string) string {
			y := n.clip(x, -1, 1)
			return n.two("sub", n.two("add", n.sign(x), y), y)
		}, "bipolar1", 1, []float32{0}, true},
		{"detach of clip, as what is lost", func(n *net, x string) string {
			y := n.clip(x, -1, 1)
			return n.two("sub", y, n.two("sub", y, n.sign(x)))
		}, "bipolar1", 1, []float32{0}, false},
		{"detach of a wide clip", func(n *net, x string) string { return n.ste(n.sign(x), n.clip(x, -1.5, 1.5)) }, "bipolar1", 1, []float32{0}, false},
		{"detach of tanh", func(n *net, x string) string { return n.ste(n.sign(x), n.plain("tanh", x)) }, "bipolar1", 1, []float32{0}, false},
		{"detach of DoReFa and x", func(n *net, x string) string { return n.ste(dorefa(n, x), x) }, "unipolar2", float64(third), nil, true},
		{"detach of ternary", func(n *net, x string) string {
			return n.two("add", x, n.two("sub", n.binary("sub", 1, n.two("add", n.greater(x, -0.5, true), n.greater(x, 0.5, false))), x))
		}, "affine2(zero=1)", 1, nil, true},
		{"tanh-like", func(n *net, x string) string { return n.ste(n.sign(x), n.binary("mul", 0.3, x)) }, "bipolar1", 1, []float32{0}, true},
		{"soft sign", func(n *net, x string) string { return n.ste(n.sign(x), n.soft(x)) }, "bipolar1", 1, []float32{0}, false},
		{"interval", func(n *net, x string) string {
			return n.two("mul", n.plain("sign", n.binary("sub", 1, x)), n.plain("sign", n.binary("add", 1, x)))
		}, "", 0, nil, false},
		{"relu", func(n *net, x string) string { return n.plain("relu", x) }, "", 0, nil, false},
		{"round", func(n *net, x string) string { return n.round(x) }, "", 0, nil, false},
		{"sawtooth", func(n *net, x string) string { return n.two("sub", x, n.round(x)) }, "", 0, nil, false},
	}
}

// TestScales: a scale of each channel goes into weights that have few bits with it, and is named where they have not.
func TestScales(t *testing.T) {
	scales := []float32{0.5, 2, 0.37, 1, 3, 0.1, 0.7, 9}
	by := func(n *net, op, x string) string {
		return n.add(op, &graph.BinaryOpAttrs{}, map[string]*graph.Tensor{"b": {Shape: []int{8}, Data: graph.NumbersOf(scales)}}, x)
	}
	depthwise := func(n *net, x string) string {
		w := map[string]*graph.Tensor{"w": n.few([]int{-1, 1}, 3, 3, 1, 8)}
		return n.add("conv2d", &graph.Conv2DAttrs{Strides: [2]int{1, 1}, Pad: same, Groups: 8}, w, x)
	}
	undone := func(n *net, rows int) *graph.Tensor {
		w := n.ones(8*rows, 3)
		for i := range w.Data.Len() {
			w.Data.Floats()[i] /= 1 / scales[i/3%8]
		}
		return w
	}
	for _, c := range []struct {
		name  string
		build func(n *net, x string) string
		want  graph.Reason
	}{
		{"depthwise", func(n *net, x string) string { return depthwise(n, by(n, "mul", x)) }, graph.NoReason},
		{"depthwise, divided", func(n *net, x string) string { return depthwise(n, by(n, "div", x)) }, graph.NoReason},
		{"undone", func(n *net, x string) string {
			y := n.plain("flatten", by(n, "div", x))
			return n.add("dense", &graph.DenseAttrs{}, map[string]*graph.Tensor{"w": undone(n, 16)}, y)
		}, graph.NoReason},
		{"others", func(n *net, x string) string {
			return n.conv(by(n, "mul", x), n.few([]int{-1, 1}, 1, 1, 8, 4), same, true)
		}, graph.WhyScaledLevels},
		{"an offset for each channel", func(n *net, x string) string { return depthwise(n, by(n, "add", x)) }, graph.WhyScaledLevels},
		{"uneven", func(n *net, x string) string {
			return depthwise(n, n.two("mul", n.binary("add", 0.1, x), n.binary("add", 0.1, x)))
		}, graph.WhyUnevenLevels},
		{"uneven, of one", func(n *net, x string) string { return depthwise(n, n.from("div", 1, n.binary("add", 0.3, x))) }, graph.WhyUnevenLevels},
	} {
		n := newNet(t.Fatal, 4)
		levels := u2()
		if c.want == graph.WhyUnevenLevels {
			levels.Bits = 3 // of 2 bits they are three planes
		}
		g := n.run(c.build(n, n.quant(levels, n.input(1, 4, 4, 8))))
		last := g.Nodes[len(g.Nodes)-1]
		for last.Op == "add" {
			last = g.Nodes[len(g.Nodes)-2]
		}
		if b, _ := binaryAttrs(last); (b != nil) != (c.want == graph.NoReason) || last.Verdict.Reason != c.want {
			t.Errorf("%s: %+v\n%s", c.name, last.Verdict, g)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := newNet(func(args ...any) { t.Fatal(args...) }, rapid.Uint64().Draw(t, "seed"))
		x := by(n, pick(t, "op", "mul", "div"), n.quant(u2(), n.input(1, 4, 4, 8)))
		n.compare(t, 1e-5, depthwise(n, x))
	})
}

// TestValues: levels that come in another order than the numbers, or are made from two tensors, are made behind what makes them.
func TestValues(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(n *net, x, y string) string
		want  string
	}{
		{"interval", func(n *net, x, _ string) string {
			return n.two("mul", n.plain("sign", n.binary("sub", 1, x)), n.plain("sign", n.binary("add", 1, x)))
		}, "affine2(zero=1)"},
		{"magnitude of levels", func(n *net, x, _ string) string { return n.plain("abs", n.plain("sign", x)) }, "unipolar1"},
		{"product of two signs", func(n *net, x, y string) string { return n.two("mul", n.sign(x), n.sign(y)) }, "bipolar1"},
		{"product of a sign and a scale", func(n *net, x, y string) string { return n.two("mul", n.sign(x), n.pool("max_pool", y, 2, 1)) }, ""},
		{"comparison of two tensors", func(n *net, x, y string) string {
			return n.add("where", &graph.WhereAttrs{}, map[string]*graph.Tensor{"a": {Shape: []int{1}, Data: graph.NumbersOf([]float32{1})}, "b": {Shape: []int{1}, Data: graph.NumbersOf([]float32{-1})}},
				n.two("greater", x, y))
		}, "bipolar1"},
		{"a comparison of two tensors, cast", func(n *net, x, y string) string {
			return n.plain("dequantize", n.two("greater", x, y))
		}, "unipolar1"},
		{"the larger of two levels, scaled", func(n *net, x, y string) string {
			return n.binary("mul", 0.37, n.two("maximum", n.sign(x), n.sign(y)))
		}, "bipolar1"},
		{"levels of two scales", func(n *net, x, y string) string {
			return n.add("concat", &graph.ConcatAttrs{}, nil, n.sign(x), n.binary("mul", 3, n.sign(y)))
		}, "bipolar2"},
		{"pooled levels, scaled and shifted", func(n *net, x, _ string) string {
			return n.binary("add", -1.5, n.binary("mul", 0.5, n.pool("max_pool", n.quant(u2(), x), 2, 2)))
		}, "unipolar2"},
		{"pooled levels, shifted by a level", func(n *net, x, _ string) string {
			return n.binary("sub", 0.25, n.pool("max_pool", n.quant(u2(), x), 2, 2))
		}, "affine2(zero=1)"},
		{"many values", func(n *net, x, y string) string {
			return n.two("mul", n.quant(u2(), x), n.binary("add", 0.1, n.quant(u2(), y)))
		}, ""},
	} {
		n := newNet(t.Fatal, 4)
		y := c.build(n, n.input(1, 4, 4, 8), n.input(1, 4, 4, 8))
		y = n.conv(y, n.few([]int{-1, 1}, 1, 1, n.c(y), 4), same, false)
		g := n.run(y)
		last := g.Nodes[len(g.Nodes)-1]
		if got := g.Value(last.Inputs[0]).LevelType.String(); got != c.want && (c.want != "" || got != "f32") {
			t.Errorf("%s: %s\n%s", c.name, got, g)
		}
	}
}

// TestSpellings: what makes levels of one tensor is found, with the thresholds, however it is written.
func TestSpellings(t *testing.T) {
	for _, s := range spellings() {
		for _, fold := range []bool{false, true} {
			n := newNet(t.Fatal, 4)
			y := s.build(n, n.input(1, 4, 4, 8))
			n.Outputs = []string{y}
			r := newRewriter(n.Graph)
			r.options.ExactFloats = !fold
			q := r.findQuantizer(y)
			if want := s.want != "" && (fold || !s.nearly); (q != nil) != want {
				t.Errorf("%s: found %+v, want %v", s.name, q, want)
				continue
			}
			if q == nil {
				continue
			}
			if got := q.value.LevelType.String(); got != s.want || math.Abs(q.value.Scale-s.scale) > 1e-7*s.scale || q.isNear != s.nearly {
				t.Errorf("%s: %s of scale %g, nearly %v", s.name, got, q.value.Scale, q.isNear)
			}
			if s.thresholds != nil && !slices.Equal(q.thresholds.Data.Floats(), s.thresholds) {
				t.Errorf("%s: thresholds %x, want %x", s.name, q.thresholds.Data.Floats(), s.thresholds)
			}
		}
	}
}
