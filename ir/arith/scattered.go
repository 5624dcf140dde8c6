package arith

import (
	"slices"

	"ripc/ir"
)

// Scattered reports whether some address in l's body is not an affine function of l's variable.
// Then there are no vectors of neighbours, and the lanes run one by one.
func Scattered(l *ir.For) bool {
	affine := func(idx []ir.Expr) bool {
		return !slices.ContainsFunc(idx, func(x ir.Expr) bool {
			_, hasFactor := ToAffine(x).Coef(l.Var)
			return !hasFactor
		})
	}
	for s := range ir.Stmts(l.Body) {
		if st, ok := s.(*ir.Store); ok && !affine(st.Idx) {
			return true
		}
	}
	for x := range ir.Nodes(l.Body) {
		if ld, ok := x.(*ir.Load); ok && !affine(ld.Idx) {
			return true
		}
	}
	return false
}

// Neighbours reports whether l's iterations store elements that are adjacent in memory, and load
// adjacent elements, every other one, or the same one. bufs are the buffers that its body names.
func Neighbours(l *ir.For, bufs map[string]ir.Buffer) bool {
	side := true
	at := func(buf string, idx []ir.Expr, most int64) {
		// step: elements from one iteration to the next. size: elements per index of the dimension.
		step, size := int64(0), int64(1)
		shape := bufs[buf].Shape
		for d := len(idx) - 1; d >= 0; d-- {
			c, factor := ToAffine(idx[d]).Coef(l.Var)
			step += c * size
			side = side && factor
			size *= int64(shape[d])
		}
		side = side && step >= 0 && step <= most
	}
	for s := range ir.Stmts(l.Body) {
		switch s := s.(type) {
		case *ir.Store:
			at(s.Buf, s.Idx, 1)
		case *ir.Call:
			return false
		}
	}
	for ld := range ir.NodesOf[*ir.Load](l.Body) {
		at(ld.Buf, ld.Idx, 2)
	}
	return side
}

// Mentions reports whether a variable occurs in e.
func Mentions(e ir.Expr, name string) bool { return ir.Mentions(e, name) }
