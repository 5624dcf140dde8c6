package onnx

import (
	"math"
	"slices"
	"testing"
)

// Operands that exporters expanded are narrow again, where nothing has to be repeated for them.
func TestNarrowed(t *testing.T) {
	nan := math.Float32frombits(0x7fc00001)
	negZero := float32(math.Copysign(0, -1))
	for _, c := range []struct {
		name        string
		data        []float32
		shape, over []int
		want        []int
		kept        []float32
	}{
		{"one a channel", []float32{1, 1, 2, 2, 3, 3}, []int{3, 1, 2}, []int{1, 3, 5, 2}, []int{3, 1, 1}, []float32{1, 2, 3}},
		{"rows", []float32{1, 2, 1, 2}, []int{2, 2}, []int{2, 2}, []int{1, 2}, []float32{1, 2}},
		{"one number", []float32{nan, nan, nan, nan}, []int{2, 2}, []int{2, 2}, []int{1, 1}, []float32{nan}},
		{"zeros of two signs", []float32{0, negZero}, []int{2}, []int{2}, []int{2}, []float32{0, negZero}},
		{"makes the other wider", []float32{4, 4, 4, 4}, []int{2, 2}, []int{1, 2}, []int{2, 1}, []float32{4, 4}},
		{"more axes", []float32{4, 4}, []int{2, 1}, []int{1}, []int{2, 1}, []float32{4, 4}},
		{"nothing", nil, []int{2, 0}, []int{2, 0}, []int{2, 0}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := (&budget{left: 1 << 20}).narrow(&array{dt: dtFloat, shape: c.shape, f: c.data}, c.over)
			same := func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }
			if !slices.Equal(got.shape, c.want) || !slices.EqualFunc(got.f, c.kept, same) {
				t.Errorf("%v over %v became %v %v, want %v %v", c.shape, c.over, got.shape, got.f, c.want, c.kept)
			}
		})
	}
}
