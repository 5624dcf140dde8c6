package refnet

import (
	"math"

	"ripc/graph"
	"ripc/ir"
)

// nearestPower returns the power of two that is nearest to x in logarithms, 0 for 0.
func nearestPower(x float64) float64 {
	if x == 0 {
		return 0
	}
	return math.Exp2(math.RoundToEven(math.Log2(x)))
}

// sums are the integers that a real tensor is made from. In channel c the integer 1 counts as
// step[c] * nearestPower(alpha[c]), 0 as offset[c].
type sums struct {
	*Tensor
	alpha, step, largest, offset []float64
}

// sumsOf finds those of tensor t.
func (l *layer) sumsOf(t string) *sums {
	g, vals := l.g, l.vals
	v := g.Value(t)
	if v.Encoded() {
		s := &sums{Tensor: vals[t]}
		lo, hi := v.Range()
		for range v.Channels() {
			s.alpha, s.step, s.largest, s.offset = append(s.alpha, 1), append(s.step, v.Scale),
				append(s.largest, float64(max(-lo, hi))), append(s.offset, v.Offset)
		}
		return s
	}
	n := graph.NewIndex(g).Producer(t)
	var binary *graph.BinaryAttrs
	ws := []int(nil)
	switch a := n.Attrs.(type) {
	case *graph.Conv2DAttrs:
		binary, ws = a.Binary, n.Weights["w"].Shape
	case *graph.DenseAttrs:
		binary, ws = a.Binary, append([]int{1, 1}, n.Weights["w"].Shape...)
	}
	if binary != nil {
		x := g.Value(n.Inputs[0])
		_, alpha := Weights(n, binary, ws)
		s := &sums{Tensor: New(v), alpha: alpha}
		lo, hi := x.Range()
		for range alpha {
			s.step, s.largest, s.offset = append(s.step, x.Scale), append(s.largest, float64(max(-lo, hi))),
				append(s.offset, 0)
		}
		s.each(func(b, h, w, c int, e *float32) {
			*e = float32(math.Round(float64(*vals[t].at(b, h, w, c)) / float64(float32(x.Scale*alpha[c]))))
		})
		return s
	}
	out := &sums{Tensor: New(v)}
	inner := map[string]*Tensor{}
	for _, in := range n.Inputs {
		x := l.sumsOf(in)
		inner[in] = x.Tensor
		out.alpha, out.step = append(out.alpha, x.alpha...), append(out.step, x.step...)
		out.largest, out.offset = append(out.largest, x.largest...), append(out.offset, x.offset...)
	}
	if len(n.Inputs) == 2 && (n.Op == "add" || n.Op == "sub") { // of two layers, in one unit
		c := g.Value(t).Channels()
		x, y := inner[n.Inputs[0]], inner[n.Inputs[1]]
		for o := range c {
			out.largest[o] = max(out.largest[o], out.largest[c+o])
		}
		out.each(func(b, h, w, c int, e *float32) {
			if *e = *x.at(b, h, w, c) + *y.at(b, h, w, c); n.Op == "sub" {
				*e = *x.at(b, h, w, c) - *y.at(b, h, w, c)
			}
		})
		return out
	}
	if n.Op == "add" { // a constant, in the same units
		x, b := inner[n.Inputs[0]], n.Weights["b"].Data.Floats()
		out.each(func(i, h, w, c int, e *float32) {
			*e = *x.at(i, h, w, c) +
				float32(math.RoundToEven(float64(b[c%len(b)])/(out.step[c]*nearestPower(out.alpha[c]))))
		})
		return out
	}
	out.Tensor = l.node(g, n, inner) // moves the integers as it does real numbers, or takes the largest
	return out
}

// refShiftNorm applies graph.ShiftNormAttrs' formula to the integers.
func refShiftNorm(l *layer, a *graph.ShiftNormAttrs) {
	s := l.sumsOf(l.n.Inputs[0])
	top := math.Exp2(float64(a.Bits)) - 1
	l.y.each(func(b, h, w, c int, e *float32) {
		wb := -math.Log2(nearestPower(s.alpha[c]))
		levels := 1 / s.step[c]
		if r := math.Round(levels); 1/r == s.step[c] {
			levels = r
		}
		t := wb + math.Log2(nearestPower(math.Sqrt(float64(l.weight("var")[c])+a.Epsilon)*(levels/top)))
		most := (s.largest[c] + 1 - math.Exp2(-wb)) / levels
		mean := math.Max(-most, math.Min(most, float64(l.weight("mean")[c])-s.offset[c]))
		v := float64(*s.at(b, h, w, c)) - math.RoundToEven(mean*levels*math.Exp2(wb))
		level := 0.0
		switch {
		case a.Enc != ir.Unipolar:
			level = math.Floor((v*math.Exp2(-t) + top + 1) / 2)
		case a.Mode == graph.ShiftExactRound:
			level = math.Floor(v*math.Exp2(-t) + map[bool]float64{true: 0.5}[t > 0])
		default:
			level = math.Floor((v + math.Floor(math.Exp2(wb-1))) * math.Exp2(-t))
		}
		level = math.Max(0, math.Min(top, level))
		if *e = float32(level); a.Enc != ir.Unipolar {
			*e = float32(2*level - top)
		}
	})
}
