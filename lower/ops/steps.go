package ops

import (
	"fmt"
	"slices"

	"ripc/graph/scalar"
	"ripc/internal/lists"
	"ripc/ir"
)

// maxCopies is the largest number of copies of a value in an expression of steps.
const maxCopies = 8

// link is a step of a float, or a join with another tensor. apply repeats its operand `copies`
// times.
type link struct {
	copies int
	apply  func(v ir.Expr) ir.Expr
}

// stepLinks returns the links of steps; vec returns their operands, in order.
func stepLinks(steps []scalar.Step, vec func() ir.Expr) []link {
	return lists.Map(steps, func(s scalar.Step) link {
		return link{s.Copies(), func(v ir.Expr) ir.Expr { return s.Expr(v, vec) }}
	})
}

// vectorsOf lists the operands of steps, in order.
func vectorsOf(steps []scalar.Step) (all [][]float32) {
	for _, s := range steps {
		all = append(all, s.Vectors()...)
	}
	return all
}

// large reports whether the composed links repeat their first operand more than maxCopies times.
func large(links []link) bool {
	n := 1
	for _, l := range links {
		if n *= l.copies; n > maxCopies {
			return true
		}
	}
	return false
}

// storeLinks stores v after the links at position at of y. Values in between are stored there too,
// where the expression would become large.
func storeLinks(y ir.Buffer, links []link, v ir.Expr, at []ir.Expr) ir.Stmt {
	var body []ir.Stmt
	n := 1
	for _, l := range links {
		if n *= l.copies; n > maxCopies {
			body = append(body, set(y, v, at...))
			v, n = ir.At(y, at...), l.copies
		}
		v = l.apply(v)
	}
	return ir.Seq(append(body, set(y, v, at...))...)
}

// pixelSteps returns the floats of a pixel of x, at position i, after steps. Without steps at reads
// x itself; else it reads a buffer that fill writes by loop "s". Operands become parameters of f.
func pixelSteps(f *ir.Func, x ir.Buffer, i []ir.Expr,
	steps []scalar.Step) (at func(o ir.Expr) ir.Expr, bufs []ir.Buffer, fill []ir.Stmt) {
	from := func(o ir.Expr) ir.Expr { return number(ir.At(x, append(slices.Clone(i), o)...)) }
	if len(steps) == 0 {
		return from, nil, nil
	}
	channels := x.Shape[len(x.Shape)-1]
	v, o := buf("v", ir.F32, channels), ir.V("s")
	store := storeLinks(v, stepLinks(steps, operands(f, steps, channels, o)), from(o), []ir.Expr{o})
	return func(o ir.Expr) ir.Expr {
		return ir.At(v, o)
	}, []ir.Buffer{v}, []ir.Stmt{ir.Nest(loops("", loop(ir.Channel, "s", channels)), store)}
}

// stepsName is the beginning of the name of a Func that takes steps first.
func stepsName(steps []scalar.Step) string {
	name := ""
	if len(steps) > 8 {
		return fmt.Sprintf("steps%d_", len(steps))
	}
	for _, s := range steps {
		name += s.Kind.String() + "_"
	}
	return name
}

// operands returns the operands of steps in channel o, in order, as parameters s0, s1, ... of f.
func operands(f *ir.Func, steps []scalar.Step, channels int, o ir.Expr) func() ir.Expr {
	all, n := vectorsOf(steps), -1
	return func() ir.Expr {
		n++
		b, at := buf(fmt.Sprintf("s%d", n), ir.F32, channels), o
		if len(all[n]) == 1 {
			b.Shape, at = []int{1}, ir.Int(0)
		}
		f.Params = append(f.Params, inParam(b))
		return ir.At(b, at)
	}
}
