package ops

import (
	"fmt"

	"ripc/graph/scalar"
	"ripc/ir"
)

// maxCopies is how often a value may stand in the expression of the steps behind it.
const maxCopies = 8

// large reports whether the steps, one put into the other, have more than maxCopies copies of what they begin with.
func large(steps []scalar.Step) bool {
	n := 1
	for _, s := range steps {
		if n *= s.Copies(); n > maxCopies {
			return true
		}
	}
	return false
}

// storeSteps stores v after the steps at position at of y; vec gives their operands, in order. Values in between are stored
// there too, where the expression would become large.
func storeSteps(y ir.Buffer, steps []scalar.Step, v ir.Expr, vec func() ir.Expr, at []ir.Expr) ir.Stmt {
	var body []ir.Stmt
	n := 1
	for _, s := range steps {
		if n *= s.Copies(); n > maxCopies {
			body = append(body, set(y, v, at...))
			v, n = ir.At(y, at...), s.Copies()
		}
		v = s.Expr(v, vec)
	}
	return ir.Seq(append(body, set(y, v, at...))...)
}

// operands gives those of steps in channel o of so many, in order, as parameters s0, s1, ... of f.
func operands(f *ir.Func, steps []scalar.Step, channels int, o ir.Expr) func() ir.Expr {
	var all [][]float32
	for _, s := range steps {
		all = append(all, s.Vectors()...)
	}
	n := -1
	return func() ir.Expr {
		n++
		b, at := buf(fmt.Sprintf("s%d", n), ir.F32, channels), o
		if len(all[n]) == 1 {
			b.Shape, at = []int{1}, ir.Int(0)
		}
		f.Params = append(f.Params, in(b))
		return ir.At(b, at)
	}
}
