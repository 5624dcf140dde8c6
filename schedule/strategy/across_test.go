package strategy_test

import (
	"slices"
	"testing"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/testlayer"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/schedule/strategy"
	"ripc/targets"
)

// TestAcrossShares: threads share blocks of rows, or filters, in all that makes sums of them.
func TestAcrossShares(t *testing.T) {
	m, err := targets.Lookup("rpi4")
	if err != nil {
		t.Fatal(err)
	}
	sums, both := []ir.Axis{ir.Channel, ir.Channel}, &graph.Node{Attrs: &graph.ThresholdAttrs{LevelType: scalar.LevelType{Enc: ir.Unipolar, Bits: 1}}, Weights: map[string]*graph.Tensor{"thresholds": {Shape: []int{1, 256}}}}
	for _, c := range []struct {
		size, channels, filters, bits int
		beside                        []*graph.Node
		share                         int
		parallel                      []ir.Axis
	}{
		{56, 64, 64, 1, nil, 0, []ir.Axis{ir.Row}},
		{7, 256, 256, 1, nil, 1, append(sums[:2:2], ir.Word)}, // sums, those of a position, words
		{7, 256, 256, 0, nil, 1, append(sums[:2:2], ir.Channel)},
		{7, 256, 256, 0, []*graph.Node{both}, 1, append(sums[:2:2], ir.Word)},
		{28, 128, 32, 1, nil, 0, []ir.Axis{ir.Row}},             // one word, few blocks
		{7, 256, 48, 0, nil, 1, append(sums[:2:2], ir.Channel)}, // vectors of 16
	} {
		a := pointwise(c.channels, c.filters, c.bits)
		if c.bits == 0 {
			a.Epilogue = graph.Epilogue{Steps: []scalar.Step{{Kind: scalar.Mul, A: make([]float32, c.filters)}}}
		}
		a.KH, a.KW = 3, 3
		a.Pad.Top, a.Pad.Bottom, a.Pad.Left, a.Pad.Right = 1, 1, 1, 1
		point := strategy.Values{"share": c.share}
		if c.channels == 128 {
			point = nil
		}
		choice := at(t, testlayer.Integers(a, m, layout.Table8Across, ir.Unipolar, 2, 1, c.size, c.size, ops.Slice{}, c.beside...), m, "across", point)
		var parallel []ir.Axis
		ir.Walk(choice.Func.Body, func(s ir.Stmt) bool {
			if l, ok := s.(*ir.For); ok && l.Kind == ir.Parallel {
				parallel = append(parallel, l.Axis)
			}
			return true
		})
		if !slices.Equal(parallel, c.parallel) {
			t.Errorf("%+v: threads share %v; %v", c, parallel, choice.LeftOut)
		}
	}
}

// TestAcrossInRegisters: what is looked up is added in bytes, and, where these hold the sum of a row of taps alone, in 16 bits around that, so that sums in memory are added to once for each group.
func TestAcrossInRegisters(t *testing.T) {
	m, err := targets.Lookup("rpi4")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		planes, channels int
		want             []ir.Type
	}{{2, 128, []ir.Type{ir.U8}}, {3, 128, []ir.Type{ir.U16, ir.U8}}, {4, 128, []ir.Type{ir.U16}}, {4, 512, []ir.Type{ir.U16}}} {
		planes, want, a := c.planes, c.want, pointwise(c.channels, 128, 1)
		a.KH, a.KW = 3, 3
		f := testlayer.Integers(a, m, layout.Table8Across, ir.Unipolar, planes, 1, 14, 14, ops.Slice{})
		var own []ir.Type
		ir.Walk(plainest(t, f, m).Func.Body, func(s ir.Stmt) bool {
			if b, ok := s.(*ir.Alloc); ok && !slices.Contains([]string{"acc", "found", "xf", "th", "tb"}, b.Buf.Name) {
				own = append(own, b.Buf.Type)
			}
			return true
		})
		if !slices.Equal(own, want) {
			t.Errorf("%d bits of %d channels: sums in registers are of %v, want %v", planes, c.channels, own, want)
		}
	}
}
