package ops_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/f32"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/targets"
)

// TestLevelsBeside: a layer writes its floats, where a slice says, and the levels that quantizers make of them.
func TestLevelsBeside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawBinary(t)
		a := c.a
		if a.Out > 32 {
			a.Out = 32 * between(t, 1, 3, "words") * a.GroupCount()
			a.Ints = slices.Repeat(a.Ints, 96)[:c.kh*c.kw*a.GroupIn()*a.Out]
		}
		scale := drawFloats(t, a.Out, "scale")
		a.Epilogue.Steps = []scalar.Step{{Kind: scalar.Mul, A: scale}}
		var nodes []*graph.Node
		for range between(t, 1, 3, "quantizers") {
			nodes = append(nodes, drawQuantizer(t, a.Out))
		}
		s := ops.Slice{}
		if rapid.Bool().Draw(t, "slice") {
			s.Offset = between(t, 0, 3, "offset")
			s.Total = s.Offset + a.Out + between(t, 0, 2, "after")
		}
		total := max(s.Total, a.Out)
		dots := c.dots()
		y, want := drawFloats(t, len(dots)/a.Out*total, "y"), make([]float32, len(dots))
		whole := slices.Clone(y)
		for i, d := range dots {
			want[i] = f32.Mul(float32(d), scale[i%a.Out])
			whole[i/a.Out*total+s.Offset+i%a.Out] = want[i]
		}
		x := c.input()
		for _, by := range layout.Applying(a, &x) {
			l := layout.NewConv(a, x, targets.Target{}, by)
			for _, n := range nodes {
				b, ok := layout.BesideOf(a, n)
				if !ok {
					t.Fatalf("%d channels are refused", a.Out)
				}
				l.Beside = append(l.Beside, b)
			}
			f, consts := ops.Conv(l, s)
			before, err := binary.Append(nil, binary.LittleEndian, y)
			if err != nil {
				t.Fatal(err)
			}
			got := runAll(t, f, before, append([]any{pack(c.x, c.bits, a.In)}, data(consts)...)...)
			wantFloats(t, f, floats(got[0]), whole)
			for k, n := range nodes {
				lt, level := levelsOf(n)
				levels := make([]int, len(want))
				for i, v := range want {
					levels[i] = lt.Stored(level(i%a.Out, v))
				}
				wantWords(t, f, words(got[1+k]), pack(levels, lt.Bits, a.Out))
			}
		}
	})
}

// drawQuantizer draws a quantize, or a threshold whose compares are few.
func drawQuantizer(t *rapid.T, channels int) *graph.Node {
	lt := scalar.LevelType{Enc: rapid.SampledFrom(encodings).Draw(t, "levels"), Scale: 0.5}
	if rapid.Bool().Draw(t, "formula") {
		lt.Bits = between(t, 1, 8, "bits")
		return &graph.Node{Op: "quantize", Attrs: &graph.QuantizeAttrs{LevelType: lt, Rounding: scalar.HalfUp}}
	}
	lt.Bits = between(t, 1, 3, "bits")
	rows := rapid.SampledFrom([]int{1, channels}).Draw(t, "row")
	th := &graph.Tensor{Shape: []int{lt.Top(), rows}}
	for j := range lt.Top() {
		for o := range rows {
			th.Data = append(th.Data, float32(j)-float32(o%5)/2)
		}
	}
	return &graph.Node{Op: "threshold", Attrs: &graph.ThresholdAttrs{LevelType: lt, NotLess: rapid.Bool().Draw(t, "not less")}, Weights: map[string]*graph.Tensor{"thresholds": th}}
}

// levelsOf is n as a function, of the level that bipolar has.
func levelsOf(n *graph.Node) (scalar.LevelType, func(o int, x float32) int) {
	switch a := n.Attrs.(type) {
	case *graph.QuantizeAttrs:
		return a.LevelType, func(_ int, x float32) int { return a.Eval(x) }
	case *graph.ThresholdAttrs:
		return a.LevelType, func(o int, x float32) int { return a.Level(n.Weights["thresholds"], o, x) }
	}
	panic("BUG: no quantizer")
}

// TestNotBeside: levels that do not fill words as the layer's blocks do, or take many compares, are for a stage of their own.
func TestNotBeside(t *testing.T) {
	sign := &graph.Node{Op: "threshold", Attrs: &graph.ThresholdAttrs{LevelType: scalar.LevelType{Enc: ir.Bipolar, Bits: 1}}, Weights: map[string]*graph.Tensor{"thresholds": {Shape: []int{1, 1}, Data: []float32{0}}}}
	wide := &graph.Node{Op: "threshold", Attrs: &graph.ThresholdAttrs{LevelType: scalar.LevelType{Enc: ir.Bipolar, Bits: 4}}, Weights: map[string]*graph.Tensor{"thresholds": {Shape: []int{15, 1}, Data: make([]float32, 15)}}}
	for _, c := range []struct {
		n    *graph.Node
		out  int
		pool bool
		want bool
	}{{sign, 20, false, true}, {sign, 32, false, true}, {sign, 64, false, true}, {sign, 33, false, false}, {sign, 100, false, false}, {wide, 32, false, false}, {sign, 32, true, false}} {
		f := &graph.FusedConv{Out: c.out}
		if c.pool {
			f.Pool = &graph.PoolAttrs{}
		}
		if _, ok := layout.BesideOf(f, c.n); ok != c.want {
			t.Errorf("%d channels, %d bits, pool %v: %v", c.out, len(c.n.Weights["thresholds"].Data), c.pool, ok)
		}
	}
}
