package graph

import (
	"math"
	"slices"
	"testing"
)

func TestDecomposeRefuses(t *testing.T) {
	var bytes []float32
	for q := -127; q < 128; q++ {
		bytes = append(bytes, float32(q)*0.01)
	}
	for _, c := range []struct {
		data []float32
		want Verdict
	}{
		{bytes, tooWide(8)},
		{[]float32{1, 2, 4, 8, 16, 5}, tooWide(5)},
		{[]float32{1, -0.7071, 0.1, 3.14159}, Verdict{Reason: WhyRealWeights}},
		{[]float32{1, -1, float32(math.NaN()), 1}, Verdict{Reason: WhyWeightsNaN}},
		{[]float32{1, float32(math.Inf(1)), 1, 1}, Verdict{Reason: WhyWeightsNaN}},
	} {
		few, why := Decompose(&Tensor{Shape: []int{len(c.data), 1}, Data: c.data})
		if few != nil || why != c.want {
			t.Errorf("%v: %+v, %+v, want %+v", c.data[:4], few, why, c.want)
		}
	}
	few, _ := Decompose(&Tensor{Shape: []int{3, 2}, Data: []float32{1, 0.5, 2, 0.25, 1, 0.5}}) // blurs
	if few == nil || few.Trained() || !slices.Equal(few.Ints, []int{-1, 1, 1, -1, -1, 1}) || !slices.Equal(few.Offset, []float32{1.5, 0.375}) {
		t.Errorf("%+v", few)
	}
}

// TestDecomposeTwoValues: two values in each output channel are one bit and an offset, unless they are few bits without one.
func TestDecomposeTwoValues(t *testing.T) {
	for _, c := range []struct {
		data   []float32 // of two filters
		ints   []int
		offset []float32
		bits   int
		signs  bool
	}{
		{[]float32{0.75, -1, -0.5, 3, 0.75, 3}, []int{1, -1, -1, 1, 1, 1}, []float32{0.125, 1}, 0, true},
		{[]float32{2, -1, 4, -1, 2, -1}, []int{-1, -1, 1, -1, -1, -1}, []float32{3, 0}, 0, true},
		{[]float32{2, 0, 4, 0, 2, 0}, []int{-1, 1, 1, 1, -1, 1}, []float32{3, 0}, 0, false},
		{[]float32{2, -1, 0, 1, 2, -1}, []int{1, -1, 0, 1, 1, -1}, nil, 1, true},
		{[]float32{2, -1, -2, 1, 2, -1}, []int{1, -1, -1, 1, 1, -1}, nil, 0, true},
	} {
		few, why := Decompose(&Tensor{Shape: []int{3, 2}, Data: c.data})
		if few == nil || !slices.Equal(few.Ints, c.ints) || !slices.Equal(few.Offset, c.offset) || few.Attrs.Bits != c.bits || few.Attrs.Offset != (c.offset != nil) || few.Trained() != c.signs {
			t.Errorf("%v: %+v, %+v", c.data, few, why)
		}
	}
}

// TestDecomposeNearly: weights that roundings have moved away from the multiples of a scale are these, if they are not far away.
func TestDecomposeNearly(t *testing.T) {
	third := float32(1) / 3
	dorefa := []float32{-1, 2*third - 1, 2*(2*third) - 1, 1, -1, 1}
	few, why := Decompose(&Tensor{Shape: []int{6, 1}, Data: dorefa})
	if few == nil || !slices.Equal(few.Ints, []int{-3, -1, 1, 3, -3, 3}) || few.Attrs.Bits != 2 || few.Scale[0] != third {
		t.Errorf("%x: %+v, %+v", dorefa, few, why)
	}
	up := math.Nextafter32
	noisy := []float32{0.7, up(0.7, 1), -up(0.7, 0), -0.7, 0.7, 0x1p-30} // signs times a scale, a 0 with roundings
	if few, why = Decompose(&Tensor{Shape: []int{6, 1}, Data: noisy}); few == nil || !slices.Equal(few.Ints, []int{1, 1, -1, -1, 1, 0}) {
		t.Errorf("%x: %+v, %+v", noisy, few, why)
	}
	for _, data := range [][]float32{dorefa, noisy, {0.7, up(0.7, 1), -0.7, -0.7, 0.7, 0.7}} {
		if few := DecomposeExactly(&Tensor{Shape: []int{6, 1}, Data: data}); few != nil {
			t.Errorf("%x are exactly %+v", data, few)
		}
	}
	for _, data := range [][]float32{{0.7, -0.7, 0.7, -0.7, 0.7, 0.7}, {-0.25, 0.5, 0.75, 0, 0.25, 0.5}, {0.8, -0.2, 0.8, 0.8, -0.2, -0.2}} {
		if few := DecomposeExactly(&Tensor{Shape: []int{6, 1}, Data: data}); few == nil {
			t.Errorf("%x are not exactly few bits", data)
		}
	}
	noisy[1] = 0.7001
	if few, _ = Decompose(&Tensor{Shape: []int{6, 1}, Data: noisy}); few != nil {
		t.Errorf("%x: %+v", noisy, few)
	}
}
