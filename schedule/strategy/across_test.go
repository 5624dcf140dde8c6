package strategy_test

import (
	"slices"
	"testing"

	"ripc/internal/testlayer"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/targets"
)

// TestAcrossShares: threads share blocks of rows where there are as many of these as threads, and filters elsewhere, in all that makes sums of them.
func TestAcrossShares(t *testing.T) {
	m, err := targets.Lookup("rpi4")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		size, channels int
		parallel       []ir.Axis
	}{
		{56, 64, []ir.Axis{ir.Row}},
		{7, 256, []ir.Axis{ir.Channel, ir.Channel, ir.Word}}, // sums, sums of a position, words
	} {
		a := pointwise(c.channels, c.channels, 2)
		a.KH, a.KW = 3, 3
		a.Pad.Top, a.Pad.Bottom, a.Pad.Left, a.Pad.Right = 1, 1, 1, 1
		choice := byDefault(t, testlayer.Integers(a, m, layout.Table8Across, ir.Unipolar, 2, 1, c.size, c.size, ops.Slice{}), m)
		var parallel []ir.Axis
		ir.Walk(choice.Func.Body, func(s ir.Stmt) bool {
			if l, ok := s.(*ir.For); ok && l.Kind == ir.Parallel {
				parallel = append(parallel, l.Axis)
			}
			return true
		})
		if !slices.Equal(parallel, c.parallel) {
			t.Errorf("%dx%dx%d: threads share %v, want %v; %v", c.size, c.size, c.channels, parallel, c.parallel, choice.LeftOut)
		}
	}
}

// TestAcrossInRegisters: what is looked up is added in bytes, and, where these hold the sum of a row of taps alone, in 16 bits around that, so that sums in memory are added to once for each group.
func TestAcrossInRegisters(t *testing.T) {
	m, err := targets.Lookup("rpi4")
	if err != nil {
		t.Fatal(err)
	}
	a := pointwise(128, 128, 1)
	a.KH, a.KW = 3, 3
	for planes, want := range map[int][]ir.Type{2: {ir.U8}, 3: {ir.U16, ir.U8}, 4: {ir.U16}} {
		f := testlayer.Integers(a, m, layout.Table8Across, ir.Unipolar, planes, 1, 14, 14, ops.Slice{})
		var own []ir.Type
		ir.Walk(byDefault(t, f, m).Func.Body, func(s ir.Stmt) bool {
			if b, ok := s.(*ir.Alloc); ok && !slices.Contains([]string{"acc", "found", "xf", "th", "tb"}, b.Buf.Name) {
				own = append(own, b.Buf.Type)
			}
			return true
		})
		if !slices.Equal(own, want) {
			t.Errorf("%d bits: sums in registers are of %v, want %v", planes, own, want)
		}
	}
}
