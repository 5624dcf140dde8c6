package space

import (
	"fmt"
	"math/rand/v2"

	"ripc/ir"
	"ripc/ir/size"
	"ripc/schedule"
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
	step := func(op string, args ...string) schedule.Step { return schedule.Step{Op: op, Args: args} }
	switch r.IntN(3) { // strategies make vectors of whatever can be one
	case 0:
		return schedule.Trace{step("unroll", l.Var)}
	case 1:
		if in, ok := l.Body.(*ir.For); ok {
			return schedule.Trace{step("reorder", in.Var, l.Var)}
		}
	}
	n := 2 << r.IntN(3)
	split := step("split", l.Var, fmt.Sprint(n))
	split.KV = []schedule.Option{{Key: "tail", Value: schedule.TailCut.String()}}
	split.Results = []string{l.Var + ".x", l.Var + ".y"}
	return schedule.Trace{split, step("unroll", l.Var+".y")}
}
