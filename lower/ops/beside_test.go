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
		ints := a.Ints.Floats()
		a.Out = rapid.SampledFrom([]int{1, 2, 8, 16, 32, 64, 96}).Draw(t, "outputs")
		if a.Out%a.GroupCount() != 0 {
			a.Groups = 0
		}
		a.Ints = graph.IntNumbers(c.kh*c.kw*a.GroupIn()*a.Out, func(i int) int { return int(ints[i%len(ints)]) })
		scale := drawFloats(t, a.Out, "scale")
		a.Epilogue.Steps = []scalar.Step{{Kind: scalar.Mul, A: scale}}
		var nodes []*graph.Node
		var before []*graph.Elementwise
		for range between(t, 1, 3, "quantizers") {
			nodes, before = append(nodes, drawQuantizer(t, a.Out)), append(before, drawSteps(t, a.Out))
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
			for k, n := range nodes {
				b, ok := layout.BesideOf(a, n)
				if !ok {
					t.Fatalf("%d channels are refused", a.Out)
				}
				b.Steps = before[k]
				l.Beside = append(l.Beside, b)
			}
			f, consts := ops.Conv(l, s)
			contents, err := binary.Append(nil, binary.LittleEndian, y)
			if err != nil {
				t.Fatal(err)
			}
			got := runAll(t, f, contents, c.inputs(t, l, consts)...)
			wantFloats(t, f, floats(got[0]), whole)
			for k, n := range nodes {
				lt, level := levelsOf(n)
				levels := make([]int, len(want))
				for i, v := range want {
					if before[k] != nil {
						v = scalar.EvalSteps(before[k].Steps, i%a.Out, v)
					}
					levels[i] = lt.StoredLevel(level(i%a.Out, v))
				}
				wantWords(t, f, words(got[1+k]), pack(levels, lt.Bits, a.Out))
			}
		}
	})
}

// TestStepsBefore: a quantizer of what steps make of floats gives the levels of just that.
func TestStepsBefore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, pixels := drawShape(t)
		channels := s[len(s)-1]
		n, steps := drawQuantizer(t, channels), drawSteps(t, channels)
		if steps == nil {
			return
		}
		x := drawFloats(t, pixels*channels, "x")
		lt, level := levelsOf(n)
		levels := make([]int, len(x))
		for i, v := range x {
			levels[i] = lt.StoredLevel(level(i%channels, scalar.EvalSteps(steps.Steps, i%channels, v)))
		}
		inputs := []any{x}
		for _, step := range steps.Steps {
			for _, v := range step.Vectors() {
				inputs = append(inputs, v)
			}
		}
		var f *ir.Func
		switch a := n.Attrs.(type) {
		case *graph.QuantizeAttrs:
			f = ops.Quantize(a, steps.Steps, ir.F32, s, layout.Planes, ops.Slice{})
		case *graph.ThresholdAttrs:
			rows := n.Weights["thresholds"]
			f, inputs = ops.Threshold(a, rows.Shape[0], rows.Shape[1], steps.Steps, ir.F32, s, layout.Planes, ops.Slice{}), append(inputs, rows.Data.Floats())
		}
		wantWords(t, f, words(run(t, f, inputs...)), pack(levels, lt.Bits, channels))
	})
}

// drawSteps draws float steps before a quantizer, or nil.
func drawSteps(t *rapid.T, channels int) *graph.Elementwise {
	if rapid.Bool().Draw(t, "no steps") {
		return nil
	}
	steps := []scalar.Step{{Kind: scalar.Fma, A: drawFloats(t, channels, "factors"), B: drawFloats(t, channels, "addends")}, {Kind: scalar.PRelu, A: []float32{-0.5}}, {Kind: scalar.Clip, Lo: -3, Hi: 4}}
	return &graph.Elementwise{Steps: steps[:between(t, 1, 3, "steps")]}
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
			th.Data = graph.NumbersOf(append(th.Data.Floats(), float32(j)-float32(o%5)/2))
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
	sign := &graph.Node{Op: "threshold", Attrs: &graph.ThresholdAttrs{LevelType: scalar.LevelType{Enc: ir.Bipolar, Bits: 1}}, Weights: map[string]*graph.Tensor{"thresholds": {Shape: []int{1, 1}, Data: graph.NumbersOf([]float32{0})}}}
	wide := &graph.Node{Op: "threshold", Attrs: &graph.ThresholdAttrs{LevelType: scalar.LevelType{Enc: ir.Bipolar, Bits: 4}}, Weights: map[string]*graph.Tensor{"thresholds": {Shape: []int{15, 1}, Data: graph.NumbersOf(make([]float32, 15))}}}
	for _, c := range []struct {
		n    *graph.Node
		out  int
		pool bool
		want bool
	}{{sign, 1, false, true}, {sign, 16, false, true}, {sign, 20, false, false}, {sign, 32, false, true}, {sign, 64, false, true}, {sign, 33, false, false}, {sign, 100, false, false}, {wide, 32, false, false}, {sign, 32, true, false}} {
		f := &graph.FusedConv{Out: c.out}
		if c.pool {
			f.Pool = &graph.PoolAttrs{}
		}
		if _, ok := layout.BesideOf(f, c.n); ok != c.want {
			t.Errorf("%d channels, %d bits, pool %v: %v", c.out, c.n.Weights["thresholds"].Data.Len(), c.pool, ok)
		}
	}
}
