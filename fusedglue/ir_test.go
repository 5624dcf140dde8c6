package fusedglue

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
	"ripc/ir/interp"
	"ripc/lower"
)

// hard are values at which float formulas go wrong: halves, zeros, huge and tiny ones, and what is no number.
func hard(t *rapid.T, r *rand.Rand) float32 {
	switch v := between(t, 0, 5, "kind"); v {
	case 0:
		return pick(t, "value", 0, float32(math.Copysign(0, -1)), 0x1p-126, -0x1p-126, 0x1p-140, -0x1p-149, math.MaxFloat32, -math.MaxFloat32,
			float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 0.49999997, -0.49999997, 8388607.5, 8388609, -16777217)
	case 1:
		return float32(between(t, -20, 20, "halves")) / 2
	case 2:
		return math.Float32frombits(rapid.Uint32().Draw(t, "bits"))
	case 3:
		return math.Nextafter32(float32(between(t, -9, 9, "halves"))/2, float32(math.Inf(between(t, 0, 1, "side")*2-1)))
	}
	return float32(4 * r.NormFloat64())
}

// TestStepsAreTheIR: the steps that thresholds are searched on, and the quantizers, are what the Program computes, to the bit.
func TestStepsAreTheIR(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const c = 4
		r := random(t, "numbers")
		n := newNet(func(args ...any) { t.Fatal(args...) }, r.NormFloat64)
		x := n.input(1, 2, 3, c)
		vec := func(size int, positive bool) *graph.Tensor {
			w := &graph.Tensor{Shape: []int{size}}
			for range size {
				v := hard(t, r)
				if positive && !(v >= 1e-18 && v <= 1e18) {
					v = 0.3
				}
				w.Data = graph.NumbersOf(append(w.Data.Floats(), v))
			}
			return w
		}
		mode, size := pick(t, "rounding", scalar.Roundings()...), pick(t, "size", 1, c)
		switch op := pick(t, "op", append(graph.PlainOps(), "add", "sub", "mul", "div", "clip", "round", "fake_quant", "prelu", "batch_norm", "quantizer")...); op {
		case "add", "sub", "mul", "div":
			n.add(op, &graph.BinaryOpAttrs{Reverse: op == "sub" && rapid.Bool().Draw(t, "reverse")}, map[string]*graph.Tensor{"b": vec(size, false)}, x)
		case "clip":
			n.add(op, &graph.ClipAttrs{Min: pick(t, "min", math.Inf(-1), -1, 0, 0.3), Max: pick(t, "max", math.Inf(1), 0.5, 6)}, nil, x)
		case "round":
			n.add(op, &graph.RoundAttrs{Mode: mode}, nil, x)
		case "fake_quant":
			w := map[string]*graph.Tensor{"scale": vec(size, true)}
			if rapid.Bool().Draw(t, "zero point") {
				w["zero_point"] = &graph.Tensor{Shape: []int{1}, Data: graph.NumbersOf([]float32{float32(between(t, -3, 3, "zero"))})}
			}
			n.add(op, &graph.FakeQuantAttrs{Min: -4, Max: float64(between(t, -4, 20, "max")), Rounding: mode}, w, x)
		case "prelu":
			n.add(op, &graph.PReluAttrs{}, map[string]*graph.Tensor{"alpha": vec(c, false)}, x)
		case "batch_norm":
			n.bn(x, 0)
		case "quantizer":
			node, _ := drawQuantizer(t, r, c)
			op := "quantize"
			if _, ok := node.Attrs.(*graph.ThresholdAttrs); ok {
				op = "threshold"
			}
			n.add(op, node.Attrs, node.Weights, x)
		default:
			n.plain(op, x)
		}
		node := *n.Nodes[0]
		n.Outputs = []string{node.Output}
		data, input := make([]float32, 2*3*c), []byte{}
		for i := range data {
			data[i] = hard(t, r)
			input = binary.LittleEndian.AppendUint32(input, math.Float32bits(data[i]))
		}
		g, err := Fuse(t.Context(), n.Graph, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := lower.Program(t.Context(), g, lower.Options{})
		if err != nil {
			t.Fatal(err)
		}
		out, err := interp.RunProgram(t.Context(), p, [][]byte{input}, interp.Options{Checks: interp.All()})
		if err != nil {
			t.Fatal(err)
		}
		if q, ok := quantizerOf(&node); ok {
			for i, x := range data {
				want := q.level(i%c, x)
				if q.enc == ir.BipolarInv {
					want = 1<<q.bits - 1 - want
				}
				if got := int(out[0][i]); got != want {
					t.Fatalf("%s of %g (%+v): level %d, want %d\n%s", node.Op, x, node.Attrs, got, want, p)
				}
			}
			return
		}
		steps := graph.Steps(n.Graph, &node)
		for i, x := range data {
			got, want := math.Float32frombits(binary.LittleEndian.Uint32(out[0][4*i:])), scalar.EvalSteps(steps, i%c, x)
			if math.Float32bits(got) != math.Float32bits(want) && (got == got || want == want) {
				t.Fatalf("%s of %g in channel %d is %g, want %g: %+v\n%s", node.Op, x, i%c, got, want, steps, p)
			}
		}
	})
}
