package onnx

import (
	"math"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// truncArgs are Trunc's parameters. The integers x/scale + zero, rounded to even, are divided by shift, a power of two; with
// five inputs (version 1) the result is not clipped and keeps scale and zero point, with six (version 2) it is clipped to a
// width and has a scale of its own.
type truncArgs struct {
	scale, zero, shift, outScale, outZero float32
	clipped                               bool
	lo, hi                                float32
	mode                                  rounding
}

func (n *node) readTrunc() *truncArgs {
	t := &truncArgs{}
	var v [6]float64
	names := []string{"", "scale", "zero point", "input bit width", "output scale", "output bit width"}
	count := 5
	if n.input(5) != nil {
		count = 6
	} else {
		names[4] = "output bit width"
	}
	for i := 1; i < count; i++ {
		v[i] = n.scalarOf(i, names[i], 0)
	}
	t.mode = n.readMode("FLOOR")
	signed, narrow := n.readKind()
	t.scale, t.zero = float32(v[1]), float32(v[2])
	t.outScale, t.outZero = t.scale, t.zero
	if count == 5 {
		t.shift = float32(math.Exp2(v[3] - v[4]))
	} else {
		t.outScale, t.clipped = float32(v[4]), true
		t.shift = float32(math.Exp2(math.RoundToEven(float64(float32(math.Log2(float64(t.outScale / t.scale)))))))
		t.outZero = t.zero / t.shift
		t.lo, t.hi = quantRange(signed, narrow, v[5])
	}
	for _, s := range []float32{t.scale, t.outScale, t.shift} {
		n.failIf(!(s > 0) || math.IsInf(float64(s), 0), "", "scale %g: want positive numbers", s)
	}
	n.failIf(t.zero-t.zero != 0 || t.hi-t.lo > 1<<24 || t.hi < t.lo || t.lo-t.lo != 0 || t.hi-t.hi != 0,
		"", "zero point %g, integers from %g to %g", t.zero, t.lo, t.hi)
	return t
}

// foldTrunc computes Trunc on constants.
func foldTrunc(n *node, in []*array) []*array {
	t := n.readTrunc()
	return n.b.fold3(in[0], in[1], in[1], func(x, _, _ float32) float32 {
		y := float32(math.RoundToEven(float64(float32(x/t.scale)+t.zero))) / t.shift
		if t.clipped {
			y = min(max(y, t.lo), t.hi)
		}
		y = t.mode.eval(y)
		return float32(y-t.outZero) * t.outScale
	})
}

// lowerTrunc makes thresholds of a clipped Trunc of at most 8 bits, and the operations it consists of otherwise.
func lowerTrunc(n *node) *tensor {
	q := n.readTrunc()
	b, t := n.b, n.in[0]
	lo, hi := q.mode.eval(q.lo), q.mode.eval(q.hi)
	if q.clipped && hi-lo <= 255 && hi > lo && q.outZero == float32(math.Trunc(float64(q.outZero))) && q.outZero >= lo && q.outZero <= hi {
		ts := (&quantizer{scale: q.scale, zero: q.zero, lo: q.lo, hi: q.hi, mode: q.mode, shift: q.shift}).thresholds()
		return b.threshold(t, ts, &graph.ThresholdAttrs{LevelType: scalar.LevelType{Bits: bitsFor(len(ts)), Enc: ir.Unipolar, Scale: float64(q.outScale), Zero: int(q.outZero - lo)}})
	}
	t = b.affine(b.divided(t, q.scale), 1, q.zero)
	t = b.divided(b.elementwise(t, "round", &graph.RoundAttrs{Mode: scalar.HalfEven}, nil), q.shift)
	if q.clipped {
		t = b.clip(t, float64(q.lo), float64(q.hi))
	}
	if t = b.rounded(t, q.mode); q.outZero != 0 {
		t = b.scalar("sub", t, q.outZero)
	}
	return b.affine(t, q.outScale, 0)
}

// divided is t / by.
func (b *builder) divided(t *tensor, by float32) *tensor {
	if by == 1 {
		return t
	}
	return b.scalar("div", t, by)
}
