package fusedglue

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// spaced are thresholds for levels of so many bits, evenly spaced in each channel over lo to hi or a part of it.
func spaced(t *rapid.T, bits, channels int, lo, hi float64) *graph.Tensor {
	rows := 1<<bits - 1
	if rapid.Bool().Draw(t, "fewer") {
		rows = between(t, 1, rows, "rows")
	}
	whole := rapid.Bool().Draw(t, "whole")
	w := &graph.Tensor{Shape: []int{rows, channels}, Data: graph.NumbersOf(make([]float32, rows*channels))}
	for o := range channels {
		// Multiples of 1/64 are exact, so that these lie on a line before they are rounded to integers.
		unit := func(v float64) float64 { return math.Round(v*64) / 64 }
		gap := unit((hi - lo) * rapid.Float64Range(0.05, 1.5).Draw(t, "span") / float64(rows))
		first := unit(lo + (hi-lo)*rapid.Float64Range(-0.2, 0.8).Draw(t, "first"))
		for j := range rows {
			v := first + gap*float64(j)
			if whole {
				v = math.Ceil(v)
			}
			w.Data.Floats()[j*channels+o] = float32(v)
		}
	}
	return w
}

// TestLineOf: evenly spaced thresholds of many levels on integer sums become a line for each channel, and every sum has the level
// that it had. Channels may fall, and may be constant.
func TestLineOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const out = 6
		f := layer(t, encoding(t), out)
		bits := between(t, 5, 8, "bits")
		lo, hi := f.Sums(0)
		w := spaced(t, bits, out, float64(lo), float64(hi))
		a := &graph.ThresholdAttrs{LevelType: scalar.LevelType{Bits: bits, Enc: pick(t, "enc", ir.Unipolar, ir.Bipolar, ir.BipolarInv), Scale: 1}, NotLess: rapid.Bool().Draw(t, "not less")}
		q, _ := quantizerOf(&graph.Node{Attrs: a, Weights: map[string]*graph.Tensor{"thresholds": w}})
		turn := make([]float32, out)
		for o := range turn {
			turn[o] = pick(t, "turn", float32(1), -1, 0)
		}
		f.Epilogue.Steps = []scalar.Step{{Kind: scalar.Mul, A: turn}}
		if !affineEpilogue(f, q, "q") {
			t.Fatal("no line")
		}
		e := f.Epilogue
		if e.OutBits != bits || e.OutEnc != a.Enc || len(e.Steps) != 1 {
			t.Fatalf("%+v", e)
		}
		for o := range out {
			lo, hi := f.Sums(o)
			for sum := lo; sum <= hi; sum++ {
				want := 0
				for j := range w.Shape[0] {
					if float32(sum)*turn[o] >= w.Data.At(j*out+o) {
						want++
					}
				}
				if got := e.Quantizer.Eval(scalar.EvalSteps(e.Steps, o, float32(sum))); got != want {
					t.Fatalf("channel %d, sum %d: level %d, want %d", o, sum, got, want)
				}
			}
		}
	})
}

// TestNoLine: thresholds that no line equals stay, with the sums, and the layer says why.
func TestNoLine(t *testing.T) {
	for slope, want := range map[float32]graph.Reason{1: graph.WhySumsWide, -1: graph.WhyNotMonotone} {
		n, x := chain(t, ir.Unipolar, 2)
		x = n.bconv(x, 1, 1, graph.PadSame, graph.BinaryAttrs{WeightScale: graph.ScaleNone})
		x = n.add("prelu", &graph.PReluAttrs{}, map[string]*graph.Tensor{"alpha": {Shape: []int{1}, Data: graph.NumbersOf([]float32{slope})}}, x)
		w := &graph.Tensor{Shape: []int{31, 1}}
		for j := range 31 {
			w.Data = graph.NumbersOf(append(w.Data.Floats(), float32(math.Trunc(float64((j-15)*(j-15)*(j-15))/400))))
		}
		n.Outputs = []string{n.add("threshold", &graph.ThresholdAttrs{LevelType: scalar.LevelType{Bits: 5, Enc: ir.Unipolar, Scale: 1}}, map[string]*graph.Tensor{"thresholds": w}, x)}
		g, err := Fuse(t.Context(), n.Graph, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(g.Nodes) != 2 || g.Nodes[0].Verdict.Reason != want {
			t.Errorf("%s: %+v", g, g.Nodes[0].Verdict)
		}
	}
}

// TestLinesInNetworks: a binary layer with glue, and evenly spaced thresholds behind it, makes the levels that its sums and the
// thresholds alone make; where a pool or an op that moves elements stands between, too.
func TestLinesInNetworks(t *testing.T) {
	folded := 0
	rapid.Check(t, func(t *rapid.T) {
		r := random(t, "weights")
		n := newNet(func(args ...any) { t.Fatal(args...) }, r.NormFloat64)
		levels := n.levels(between(t, 1, 3, "levels"), pick(t, "encoding", ir.Unipolar, ir.Bipolar), 1, 4, 6, pick(t, "in", 3, 33))
		x := n.bconv(levels, pick(t, "k", 1, 3), pick(t, "out", 5, 32), graph.PadSame, graph.BinaryAttrs{WeightScale: pick(t, "scale", graph.ScaleMean, graph.ScaleNone), PadValue: graph.PadOnes})
		for range between(t, 0, 2, "glue") {
			switch between(t, 0, 3, "glue") {
			case 0:
				x = n.bn(x, pick(t, "gamma", 0.0, 1.0))
			case 1:
				x = n.pool(x, 2, 2, graph.PadValid)
			case 2:
				x = n.plain("relu", x)
			default:
				x = n.add("transpose", &graph.TransposeAttrs{Perm: []int{0, 2, 1, 3}}, nil, x)
			}
			if s := n.Value(x).Shape; s[1] < 2 || s[2] < 2 {
				break
			}
		}
		bits := between(t, 5, 8, "bits")
		w := spaced(t, bits, pick(t, "columns", 1, n.c(x)), -3, 3)
		raw := x
		x = n.add("threshold", &graph.ThresholdAttrs{LevelType: scalar.LevelType{Bits: bits, Enc: pick(t, "enc", ir.Unipolar, ir.Bipolar, ir.BipolarInv), Scale: 0.3}}, map[string]*graph.Tensor{"thresholds": w}, x)
		n.Outputs = []string{x}
		data := make([]byte, 4*6*n.c(levels))
		for i := range data {
			data[i] = byte(r.IntN(1 << n.Value(levels).Bits))
		}
		got, g := interpret(t, n, nil, [][]byte{data})
		if !slices.ContainsFunc(g.Nodes, func(n *graph.Node) bool { return n.Op == "threshold" }) {
			folded++
		}
		n.Outputs = []string{x, raw} // the caller sees the sums, so that nothing folds
		want, _ := interpret(t, n, nil, [][]byte{data})
		if !bytes.Equal(got[0], want[0]) {
			t.Fatalf("%v, want %v\n%s", got[0], want[0], g)
		}
	})
	if folded == 0 {
		t.Error("no network's thresholds folded")
	}
}
