package fusedglue

import (
	"context"

	"ripc/graph"
	"ripc/graph/scalar"
)

// intMaps lets the layer of integers whose levels an int_map reads, and nobody else, make the
// int_map's levels itself: the integers that its quantizer makes go on as numbers, by the formula
// of the table.
func intMaps(ctx context.Context, r *rewriter) error {
	for n := range r.Each(ctx) {
		a, ok := n.Attrs.(*graph.IntMapAttrs)
		if !ok {
			continue
		}
		p := r.only(n)
		if p == nil {
			continue
		}
		f, ok := p.Attrs.(*graph.FusedConv)
		if !ok || f.Pool != nil || f.Epilogue.Quantizer == nil {
			continue
		}
		x := r.g.Value(n.Inputs[0]).LevelType
		integers, ok := integerSteps(f.Epilogue.Quantizer)
		steps, q, linear := a.Formula(x, f.Out)
		if !ok || !linear {
			continue
		}
		// Numbers beyond the first quantizer's levels are clipped, unless the second makes of them
		// what it makes of the outermost of these.
		clip := integers[0]
		all := append(integers, steps...)
		if level := func(v float32) int { return q.Eval(scalar.Through(steps, v)) }; level(clip.Lo) == 0 && level(clip.Hi) == q.Top() {
			all = all[1:]
		}
		for i := range all {
			all[i].From = n.Name
		}
		f.Epilogue.AddSteps(all)
		f.Epilogue.OutBits, f.Epilogue.OutEnc, f.Epilogue.Quantizer = a.Bits, a.Enc, q
		r.absorb(p, n)
	}
	return nil
}

// integerSteps are the steps, a clip and a rounding, that make of a number the integer that q's
// level of it stands for; ok is false where q is none of an integer layer.
func integerSteps(q *scalar.Quantizer) (steps []scalar.Step, ok bool) {
	if q.Unit || q.Range != nil || q.Scale != 1 || q.Offset != 0 {
		return nil, false
	}
	low, high := q.LevelType.Range()
	return []scalar.Step{{Kind: scalar.Clip, Lo: float32(low), Hi: float32(high)}, {Kind: scalar.Round, Mode: q.Rounding}}, true
}
