package refnet

import (
	"ripc/graph"
	"ripc/internal/f32"
	"ripc/ir"
)

// refQuantize is the integer that a float becomes.
func refQuantize(a *graph.QuantizeAttrs, out *graph.Value, e float32) int {
	m := float32(int(1)<<a.Bits - 1)
	v := f32.Div(f32.Add(e, -float32(a.Offset)), float32(a.Scale))
	switch {
	case a.Unit && a.Enc == ir.Unipolar:
		v = f32.Mul(min(max(e, 0), 1), m)
	case a.Unit:
		v = f32.Mul(f32.Mul(f32.Add(min(max(e, -1), 1), 1), m), 0.5)
	case a.Range != nil:
		zp := a.Zero + a.Range.Min
		v = f32.Add(v, float32(zp))
		return int(a.Rounding.Eval(min(max(v, float32(a.Range.Min)), float32(a.Range.Max)))) - zp
	case a.Enc == ir.Unipolar:
		v = min(max(v, -float32(a.Zero)), m-float32(a.Zero))
	default:
		v = f32.Mul(f32.Add(min(max(v, -m), m), m), 0.5)
	}
	v = a.Rounding.Eval(v)
	if a.Enc == ir.Unipolar {
		return int(v)
	}
	return 2*int(v) - int(m)
}
