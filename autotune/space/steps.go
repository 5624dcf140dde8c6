package space

import (
	"math/rand/v2"

	"ripc/ir"
	"ripc/ir/size"
	"ripc/schedule"
	"ripc/schedule/steps"
)

// maxSteps is the most steps that a point may have behind its strategy's, and maxDraws how often Extend draws a legal one.
const (
	maxSteps = 4
	maxDraws = 16
)

// Extend is p with one or two more random steps behind it, which are legal there; false if p cannot be built, has enough of them, or
// none was found.
func (s *Space) Extend(p Point, r *rand.Rand) (Point, bool) {
	if len(p.Steps)+2 > maxSteps {
		return p, false
	}
	c, err := s.Build(p)
	if err != nil {
		return p, false
	}
	var loops []*ir.For
	ir.Walk(c.Func.Body, func(s ir.Stmt) bool {
		if l, ok := s.(*ir.For); ok && l.Kind == ir.Serial && l.Extent > 1 {
			loops = append(loops, l)
		}
		return true
	})
	if len(loops) == 0 {
		return p, false
	}
	for range maxDraws {
		more := draw(loops[r.IntN(len(loops))], r)
		now := c.Result
		for _, st := range more {
			if now, err = s.step(now, st); err != nil {
				break
			}
		}
		if err == nil && size.Of(now.Func.Body) <= size.Preferred {
			p.Steps = append(p.Steps[:len(p.Steps):len(p.Steps)], more...)
			return p, true
		}
	}
	return p, false
}

// draw is a change of one loop, which may not be legal.
func draw(l *ir.For, r *rand.Rand) schedule.Trace {
	switch r.IntN(3) { // strategies make vectors of whatever can be one
	case 0:
		return schedule.Trace{steps.Unroll(l.Var)}
	case 1:
		if in, ok := l.Body.(*ir.For); ok {
			return schedule.Trace{steps.Reorder(in.Var, l.Var)}
		}
	}
	n := 2 << r.IntN(3)
	outer, inner := l.Var+".x", l.Var+".y"
	return schedule.Trace{steps.SplitAs(l.Var, n, schedule.TailCut, outer, inner), steps.Unroll(inner)}
}
