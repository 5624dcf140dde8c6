package fusedglue

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// TestFormulaOf: the quotient in the place of evenly spaced thresholds has their levels for any f32, and is found where they are spaced by
// a power of two, wherever they begin.
func TestFormulaOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bits := between(t, 5, 8, "bits")
		a := &graph.ThresholdAttrs{LevelType: scalar.LevelType{Bits: bits, Enc: pick(t, "enc", ir.Unipolar, ir.Bipolar, ir.BipolarInv), Scale: 0.7, Zero: 3, Offset: 0.1}}
		rows := pick(t, "rows", 1<<bits-1, 1<<bits-2, 2)
		exponent := between(t, -20, 10, "exponent")
		part := pick(t, "part", 0, 0.5)
		first := float64(between(t, -300, 300, "first")) + part
		gap := pick(t, "gap", 1, 1, 1.0/3, 0.7)
		w := &graph.Tensor{Shape: []int{rows, pick(t, "columns", 1, 3)}}
		for j := range rows {
			for range w.Shape[1] {
				w.Data = graph.NumbersOf(append(w.Data.Floats(), float32(math.Ldexp((first+float64(j))*gap, exponent))))
			}
		}
		q := formulaOf(a, w)
		if q == nil {
			if gap == 1 && (part != 0 || exponent <= 0) { // 2 or more in the place of a 0: quotients near it are subnormal
				t.Fatal("no formula")
			}
			return
		}
		same := func(x float32) {
			if got, want := q.Eval(x), a.Level(w, 0, x); got != want {
				t.Fatalf("%+v: level(%g) = %d, want %d", q, x, got, want)
			}
		}
		for range 200 {
			same(math.Float32frombits(rapid.Uint32().Draw(t, "x")))
			same(float32(math.Ldexp(first+float64(rows)*rapid.Float64Range(-0.1, 1.1).Draw(t, "near"), exponent)))
		}
		for _, v := range w.Data.All() {
			same(v)
			same(math.Nextafter32(v, float32(math.Inf(-1))))
		}
		for _, v := range []float64{0, math.Copysign(0, -1), 1e-40, -1e-40, math.Inf(1), math.Inf(-1), math.NaN()} {
			same(float32(v))
		}
	})
}

// TestEvenAlone: evenly spaced thresholds on the caller's numbers, and behind a float layer, are computed by their formula.
func TestEvenAlone(t *testing.T) {
	for _, scale := range []float64{1.0 / 64, 0.5, 0.3} { // that of the levels' real values
		for _, conv := range []bool{false, true} {
			n := newNet(t.Fatal, func() float64 { return 0.01 })
			x := n.input(1, 4, 4, 3)
			if conv {
				x = n.conv(x, 3, 5, graph.PadSame)
			}
			w := &graph.Tensor{Shape: []int{255, 1}}
			for j := range 255 {
				w.Data = graph.NumbersOf(append(w.Data.Floats(), (float32(j)-127.5)/64))
			}
			n.Outputs = []string{n.add("threshold", &graph.ThresholdAttrs{LevelType: scalar.LevelType{Bits: 8, Enc: ir.Unipolar, Scale: scale, Zero: 128}}, map[string]*graph.Tensor{"thresholds": w}, x)}
			g, err := Fuse(t.Context(), n.Graph, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			last := g.Nodes[len(g.Nodes)-1]
			want := "threshold" // whose levels stand for something else than what the formula makes
			switch {
			case conv:
				want = "fconv2d"
			case scale == 1.0/64:
				want = "quantize"
			}
			if len(g.Nodes) != 1 || last.Op != want {
				t.Errorf("scale %g: %s", scale, g)
			}
		}
	}
}
