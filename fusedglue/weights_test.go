package fusedglue

import (
	"testing"

	"ripc/graph"
)

// TestZeroFilter: bipolar weights have no 0, but a filter of zeros makes zeros: its scale is 0.
func TestZeroFilter(t *testing.T) {
	for _, scale := range []graph.WeightScale{graph.ScaleMax, graph.ScaleAP2} {
		n := &graph.Node{Weights: map[string]*graph.Tensor{"w": {Shape: []int{1, 1, 2, 2}, Data: graph.NumbersOf([]float32{0, 0.5, 0, -1.5})}}}
		f, b := &graph.FusedConv{Out: 2}, &graph.BinaryAttrs{Bits: 2, WeightScale: scale}
		bindIntegers(n, f, b, true)
		if f.Alpha[0] != 0 || f.Alpha[1] != 0.5 || !f.Ints.Equal(graph.NumbersOf([]float32{1, 1, 1, -3})) {
			t.Errorf("%v: integers %v times %v", scale, f.Ints.Floats(), f.Alpha)
		}
		all := &graph.Node{Weights: map[string]*graph.Tensor{"w": {Shape: []int{1, 2}, Data: graph.NumbersOf([]float32{0, 0})}}}
		if bindIntegers(all, f, b, false); f.Alpha[0] != 0 || f.Alpha[1] != 0 {
			t.Errorf("%v: a dense layer of zeros has the scales %v", scale, f.Alpha)
		}
	}
}
