package ops

import (
	"ripc/graph"
	"ripc/ir"
)

// maxCopies is how often a value may stand in the expression of the steps behind it.
const maxCopies = 8

// copies is how often a step's expression has its operand.
func copies(s graph.FloatStep) int {
	switch {
	case s.Kind == "prelu" || s.Kind == "sign" || s.Kind == "round" && (s.Mode == "trunc" || s.Mode == "away"):
		return 2
	case s.Kind == "round" && (s.Mode == "half_up" || s.Mode == "half_down" || s.Mode == "half_away"):
		return 4
	}
	return 1
}

// large reports whether the steps, one put into the other, have more than maxCopies copies of what they begin with.
func large(steps []graph.FloatStep) bool {
	n := 1
	for _, s := range steps {
		if n *= copies(s); n > maxCopies {
			return true
		}
	}
	return false
}

// storeSteps stores v after the steps at position at of y; vec gives their operands, in order. Values in between are stored
// there too, where the expression would become large.
func storeSteps(y ir.Buffer, steps []graph.FloatStep, v ir.Expr, vec func() ir.Expr, at []ir.Expr) ir.Stmt {
	var body []ir.Stmt
	n := 1
	for _, s := range steps {
		if n *= copies(s); n > maxCopies {
			body = append(body, set(y, v, at...))
			v, n = ir.At(y, at...), copies(s)
		}
		v = applyStep(s, v, vec)
	}
	return ir.Seq(append(body, set(y, v, at...))...)
}

// applyStep is one float step on v; vec gives its operands, in order.
func applyStep(s graph.FloatStep, v ir.Expr, vec func() ir.Expr) ir.Expr {
	switch s.Kind {
	case "mul":
		return mul(v, vec())
	case "div":
		return ir.Bin(ir.Div, v, vec())
	case "add":
		return add(v, vec())
	case "fma":
		a := vec()
		return &ir.Fma{A: v, B: a, C: vec()}
	case "relu":
		return ir.Bin(ir.Max, v, ir.Float(0))
	case "relu6":
		return clip(v, 0, 6)
	case "hard_tanh":
		return clip(v, -1, 1)
	case "clip":
		return clip(v, s.Lo, s.Hi)
	case "prelu":
		return &ir.Fma{A: ir.Bin(ir.Min, v, ir.Float(0)), B: vec(), C: ir.Bin(ir.Max, v, ir.Float(0))}
	case "round":
		return round(s.Mode, v)
	case "sign":
		negative := &ir.Select{Cond: ir.Bin(ir.Lt, v, ir.Float(0)), A: ir.Float(-1), B: ir.Float(0)}
		return &ir.Select{Cond: ir.Bin(ir.Gt, v, ir.Float(0)), A: ir.Float(1), B: negative}
	}
	panic("BUG: unknown step " + s.Kind)
}

// clip is min(max(v, lo), hi).
func clip(v ir.Expr, lo, hi float32) ir.Expr {
	return ir.Bin(ir.Min, ir.Bin(ir.Max, v, ir.Float(lo)), ir.Float(hi))
}
