package fusedglue

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// quantized is a quantizer by its formula, on a float32 and rounded after each operation.
func quantized(a *graph.QuantizeAttrs, x float32) int {
	m := float32(int(1)<<a.Bits - 1)
	u := x / float32(a.Scale)
	switch {
	case a.Unit && a.Enc == ir.Unipolar:
		u = min(max(x, 0), 1) * m
	case a.Unit:
		u = float32((min(max(x, -1), 1)+1)*m) / 2
	case a.Enc == ir.Unipolar:
		u = min(max(u, 0), m)
	default:
		u = (min(max(u, -m), m) + m) / 2
	}
	return int(rounded(a.Rounding, u))
}

// rounded is x to an integer.
func rounded(mode scalar.Rounding, x float32) float32 {
	v := float64(x)
	switch mode {
	case scalar.HalfUp:
		v = math.Floor(v + 0.5)
	case scalar.HalfDown:
		v = math.Ceil(v - 0.5)
	case scalar.HalfAway:
		v = math.Round(v)
	case scalar.Floor:
		v = math.Floor(v)
	case scalar.Ceil:
		v = math.Ceil(v)
	case scalar.Trunc:
		v = math.Trunc(v)
	case scalar.Away:
		v = math.Copysign(math.Ceil(math.Abs(v)), v)
	default:
		v = math.RoundToEven(v)
	}
	return float32(v)
}

// drawQuantizer is a quantize or threshold node for out channels, and what it computes.
func drawQuantizer(t *rapid.T, r *rand.Rand, out int) (*graph.Node, func(o int, x float32) int) {
	switch between(t, 0, 2, "quantizer") {
	case 0: // a range of integers
		a := &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: between(t, 1, 3, "bits"), Enc: ir.Unipolar, Scale: pick(t, "scale", 1, 0.25, 1.0/3, 3)}, Rounding: pick(t, "rounding", scalar.Roundings()...)}
		a.Range = &scalar.Range{Min: between(t, -5, 3, "min")}
		a.Range.Max = a.Range.Min + between(t, 0, 1<<a.Bits-1, "span")
		a.Zero = between(t, 0, 1<<a.Bits-1, "zero")
		zp := float32(a.Zero + a.Range.Min)
		return &graph.Node{Attrs: a}, func(_ int, x float32) int {
			v := x/float32(a.Scale) + zp
			return int(rounded(a.Rounding, min(max(v, float32(a.Range.Min)), float32(a.Range.Max)))) - a.Range.Min
		}
	case 1:
		a := &graph.ThresholdAttrs{LevelType: scalar.LevelType{Bits: between(t, 1, 3, "bits"), Enc: pick(t, "enc", ir.Unipolar, ir.Bipolar, ir.BipolarInv), Scale: 1}, NotLess: rapid.Bool().Draw(t, "not less")}
		rows, cols := between(t, 1, 1<<a.Bits-1, "thresholds"), pick(t, "columns", 1, out)
		w := &graph.Tensor{Shape: []int{rows, cols}, Data: graph.NumbersOf(make([]float32, rows*cols))}
		for c := range cols {
			row := make([]float32, rows)
			for i := range row {
				row[i] = float32(pick(t, "threshold", math.Inf(-1), math.Inf(1), 0, r.NormFloat64(), math.Round(2*r.NormFloat64())))
			}
			slices.Sort(row)
			for i, v := range row {
				w.Data.Floats()[i*cols+c] = v
			}
		}
		return &graph.Node{Attrs: a, Weights: map[string]*graph.Tensor{"thresholds": w}}, func(o int, x float32) int {
			n := 0
			for i := range rows {
				if x >= w.Data.At(i*cols+o%cols) {
					n++
				}
			}
			return n
		}
	}
	a := drawQuantize(t, 3)
	return &graph.Node{Attrs: a}, func(_ int, x float32) int { return quantized(a, x) }
}

func nonzero(v []float32) []float32 {
	for i := range v {
		if v[i] == 0 {
			v[i] = 1
		}
	}
	return v
}

func drawQuantize(t *rapid.T, bits int) *graph.QuantizeAttrs {
	return &graph.QuantizeAttrs{Unit: rapid.Bool().Draw(t, "unit"), LevelType: scalar.LevelType{Bits: between(t, 1, bits, "bits"), Enc: encoding(t), Scale: pick(t, "scale", 1, 0.25, 1.0/3, 1.0/7, 3)}, Rounding: pick(t, "rounding", scalar.HalfEven, scalar.HalfUp, scalar.Floor)}
}

func TestFloatLevels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawQuantize(t, 8)
		q, _ := quantizerOf(&graph.Node{Attrs: a})
		for i, v := range floatLevels(q, 0) {
			below := math.Nextafter32(v, float32(math.Inf(-1)))
			if quantized(a, v) != i+1 || quantized(a, below) != i {
				t.Fatalf("%+v: level(%g) = %d and level(%g) = %d, want %d and one less", a, v, quantized(a, v), below, quantized(a, below), i+1)
			}
		}
	})
}

// TestUnitQuantizer: without a scale of its own a quantizer is round((2^N-1) clip(x, 0, 1)); dividing by the
// rounded 1/(2^N-1) would tip these ties.
func TestUnitQuantizer(t *testing.T) {
	for _, c := range []struct {
		bits  int
		x     float32
		level int
	}{{3, 0.5, 4}, {4, 0.5, 8}, {4, 0.9, 14}, {6, 0.5, 32}, {8, 0.5, 128}, {8, 0.1, 26}, {1, 0.5, 0}, {2, 0.5, 2}} {
		a := &graph.QuantizeAttrs{Unit: true, LevelType: scalar.LevelType{Bits: c.bits, Enc: ir.Unipolar, Scale: 1 / float64(int(1)<<c.bits-1)}, Rounding: scalar.HalfEven}
		if got := a.Eval(c.x); got != c.level {
			t.Errorf("%d bits: level of %g is %d, want %d", c.bits, c.x, got, c.level)
		}
	}
}
