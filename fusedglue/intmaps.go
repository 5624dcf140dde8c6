package fusedglue

import (
	"ripc/graph"
	"ripc/graph/scalar"
)

// intMaps folds an int_map into the integer layer before it, if nothing else reads the layer's
// levels. The quantizer's integers stay unpacked numbers, to which the formula of the table
// applies.
func intMaps(r *rewriter, n *graph.Node) {
	a, ok := n.Attrs.(*graph.IntMapAttrs)
	if !ok {
		return
	}
	p := r.soleProducer(n)
	if p == nil {
		return
	}
	f, ok := p.Attrs.(*graph.FusedConv)
	if !ok || f.Pool != nil || f.Epilogue.Quantizer == nil {
		return
	}
	x := r.g.Value(n.Inputs[0]).LevelType
	integers, ok := integerSteps(f.Epilogue.Quantizer)
	steps, q, linear := a.Formula(x, f.Out)
	if !ok || !linear {
		return
	}
	// Numbers beyond the first quantizer's levels are clipped, unless the second quantizer maps
	// them and the outermost levels to the same level.
	clip := integers[0]
	all := append(integers, steps...)
	if level := func(v float32) int { return q.Eval(scalar.EvalSteps(steps, 0, v)) }; level(clip.Lo) == 0 &&
		level(clip.Hi) == q.Top() {
		all = all[1:]
	}
	for i := range all {
		all[i].From = n.Name
	}
	f.Epilogue.AddSteps(all)
	f.Epilogue.OutBits, f.Epilogue.OutEnc, f.Epilogue.Quantizer = a.Bits, a.Enc, q
	r.absorb(p, n)
}

// integerSteps returns the steps, a clip and a rounding, that map a number to the integer of q's
// level for it. ok is false if q is not the quantizer of an integer layer.
func integerSteps(q *scalar.Quantizer) (steps []scalar.Step, ok bool) {
	if q.Unit || q.Range != nil || q.Scale != 1 || q.Offset != 0 {
		return nil, false
	}
	low, high := q.LevelType.Range()
	return []scalar.Step{{Kind: scalar.Clip, Lo: float32(low), Hi: float32(high)},
		{Kind: scalar.Round, Mode: q.Rounding}}, true
}
