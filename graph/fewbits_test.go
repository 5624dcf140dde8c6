package graph

import (
	"math"
	"slices"
	"testing"
)

func TestDecomposeRefuses(t *testing.T) {
	var wide []float32
	for q := -511; q < 512; q++ {
		wide = append(wide, float32(q)*0.01)
	}
	tooWide := func(bits int) Verdict {
		v := Verdict{Reason: WhyWideWeights}
		v.Args.WeightBits, v.Args.Most = bits, MaxWeightBits
		return v
	}
	for _, c := range []struct {
		data []float32
		want Verdict
	}{
		{wide, tooWide(10)},
		{[]float32{1, 2, 4, 8, 256, 5}, tooWide(9)},
		{[]float32{1, -0.7071, 0.1, 3.14159}, Verdict{Reason: WhyRealWeights}},
		{[]float32{1, -1, float32(math.NaN()), 1}, Verdict{Reason: WhyWeightsNaN}},
		{[]float32{1, float32(math.Inf(1)), 1, 1}, Verdict{Reason: WhyWeightsNaN}},
	} {
		few, why := Decompose(&Tensor{Shape: []int{len(c.data), 1}, Data: NumbersOf(c.data)})
		if few != nil || why != c.want {
			t.Errorf("%v: %+v, %+v, want %+v", c.data[:4], few, why, c.want)
		}
	}
	few, _ := Decompose(&Tensor{Shape: []int{3, 2}, Data: NumbersOf([]float32{1, 0.5, 2, 0.25, 1, 0.5})}) // blurs
	if few == nil || few.Trained() || !slices.Equal(few.Ints, []int16{-1, 1, 1, -1, -1, 1}) || !slices.Equal(few.Offset, []float32{1.5, 0.375}) {
		t.Errorf("%+v", few)
	}
}

// TestDecomposeWide: integers of 5 to 8 bits are weights as those of fewer bits are, but no few ones.
func TestDecomposeWide(t *testing.T) {
	for _, c := range []struct {
		lo, hi, step int
		bits         int
		enc          WeightEncoding
	}{
		{-127, 127, 1, 8, AffineWeights}, {-128, 127, 1, 8, AffineWeights}, {-16, 15, 1, 5, AffineWeights}, {0, 255, 1, 8, AffineWeights},
		{-255, 255, 2, 8, BipolarWeights}, {-31, 31, 2, 5, BipolarWeights},
	} {
		for _, near := range []float32{0, 0x1p-24} { // -0.99999994 for -1, as 2*x - 1 may have it
			w := &Tensor{Shape: []int{(c.hi-c.lo)/c.step + 1, 1}}
			for q := c.lo; q <= c.hi; q += c.step {
				v := float32(q) * 0.01
				if q&2 != 0 {
					v += near * float32(c.hi) * 0.01
				}
				w.Data = NumbersOf(append(w.Data.Floats(), v))
			}
			few, why := Decompose(w)
			if few == nil || int(few.Ints[0]) != c.lo || few.Attrs.Bits != c.bits || few.Attrs.Enc != c.enc {
				t.Errorf("%+v, %g: %+v, %+v", c, near, few, why)
			}
			if few, _ := DecomposeFew(w); few != nil {
				t.Errorf("%+v, %g: few are %+v", c, near, few)
			}
		}
	}
}

// TestDecomposeTwoValues: two values in each output channel are one bit and an offset, unless they are few bits without one.
func TestDecomposeTwoValues(t *testing.T) {
	for _, c := range []struct {
		data   []float32 // of two filters
		ints   []int16
		offset []float32
		bits   int
		signs  bool
	}{
		{[]float32{0.75, -1, -0.5, 3, 0.75, 3}, []int16{1, -1, -1, 1, 1, 1}, []float32{0.125, 1}, 0, true},
		{[]float32{2, -1, 4, -1, 2, -1}, []int16{-1, -1, 1, -1, -1, -1}, []float32{3, 0}, 0, true},
		{[]float32{2, 0, 4, 0, 2, 0}, []int16{-1, 1, 1, 1, -1, 1}, []float32{3, 0}, 0, false},
		{[]float32{2, -1, 0, 1, 2, -1}, []int16{1, -1, 0, 1, 1, -1}, nil, 1, true},
		{[]float32{2, -1, -2, 1, 2, -1}, []int16{1, -1, -1, 1, 1, -1}, nil, 0, true},
	} {
		few, why := Decompose(&Tensor{Shape: []int{3, 2}, Data: NumbersOf(c.data)})
		if few == nil || !slices.Equal(few.Ints, c.ints) || !slices.Equal(few.Offset, c.offset) || few.Attrs.Bits != c.bits || few.Attrs.Offset != (c.offset != nil) || few.Trained() != c.signs {
			t.Errorf("%v: %+v, %+v", c.data, few, why)
		}
	}
}

// TestDecomposeNearly: weights that roundings have moved away from the multiples of a scale are these, if they are not far away.
func TestDecomposeNearly(t *testing.T) {
	third := float32(1) / 3
	dorefa := []float32{-1, 2*third - 1, 2*(2*third) - 1, 1, -1, 1}
	few, why := Decompose(&Tensor{Shape: []int{6, 1}, Data: NumbersOf(dorefa)})
	if few == nil || !slices.Equal(few.Ints, []int16{-3, -1, 1, 3, -3, 3}) || few.Attrs.Bits != 2 || few.Scale[0] != third {
		t.Errorf("%x: %+v, %+v", dorefa, few, why)
	}
	up := math.Nextafter32
	noisy := []float32{0.7, up(0.7, 1), -up(0.7, 0), -0.7, 0.7, 0x1p-30} // signs times a scale, a 0 with roundings
	if few, why = Decompose(&Tensor{Shape: []int{6, 1}, Data: NumbersOf(noisy)}); few == nil || !slices.Equal(few.Ints, []int16{1, 1, -1, -1, 1, 0}) {
		t.Errorf("%x: %+v, %+v", noisy, few, why)
	}
	for _, data := range [][]float32{dorefa, noisy, {0.7, up(0.7, 1), -0.7, -0.7, 0.7, 0.7}} {
		if few := DecomposeExactly(&Tensor{Shape: []int{6, 1}, Data: NumbersOf(data)}); few != nil {
			t.Errorf("%x are exactly %+v", data, few)
		}
	}
	for _, data := range [][]float32{{0.7, -0.7, 0.7, -0.7, 0.7, 0.7}, {-0.25, 0.5, 0.75, 0, 0.25, 0.5}, {0.8, -0.2, 0.8, 0.8, -0.2, -0.2}} {
		if few := DecomposeExactly(&Tensor{Shape: []int{6, 1}, Data: NumbersOf(data)}); few == nil {
			t.Errorf("%x are not exactly few bits", data)
		}
	}
	noisy[1] = 0.7001
	if few, _ = Decompose(&Tensor{Shape: []int{6, 1}, Data: NumbersOf(noisy)}); few != nil {
		t.Errorf("%x: %+v", noisy, few)
	}
}
