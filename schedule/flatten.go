package schedule

import (
	"fmt"
	"slices"

	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/deps"
)

// flatten views two neighbouring dimensions of a buffer as one, as they lie in memory, so that a
// vector may run on from one row into the next. Other systems: TVM transform_layout, Exo's windows,
// MLIR memref.collapse_shape.
//
//	@f(%x: f32[224, 224, 3], ...) { ... for %w in 0:9 { for %c in 0:3 { %t[%w, %c] = %x[%h, %w, %c] } } ... }
//	=> flatten x 1
//	@f(%x: f32[224, 672], ...) { ... %t[%w, %c] = %x[%h, %w * 3 + %c] ... }
//	=> flatten t 0; fuse w c -> i
//	... for %i in 0:27 { %t[%i] = %x[%h, %i] } ...
//
// The dimension that is named and the one behind it become one. A parameter stays the same bytes:
// no pack is made, the caller's buffer is viewed (ApplyAll tells). It is refused if there is no
// dimension behind the named one, for outputs, and if a call takes the buffer.
func flatten(f *ir.Func, buffer string, dim int) (*ir.Func, *Pack) {
	b := findBuffer(f, buffer)
	switch {
	case len(b.Shape) < 2:
		refuse("", "%%%s has no two dimensions", buffer)
	case dim < 0 || dim+1 >= len(b.Shape):
		refuse(fmt.Sprintf("name one of dimensions 0 to %d", len(b.Shape)-2), "%%%s has no dimensions %d and %d",
			buffer, dim, dim+1)
	}
	noCalls(f, buffer, "flatten")
	inner, ranges, to := b.Shape[dim+1], deps.ScopeOf(f.Body).Ranges, b
	to.Enc = ir.Encoding{}
	to.Shape = slices.Concat(b.Shape[:dim], []int{b.Shape[dim] * inner}, b.Shape[dim+2:])
	at := func(idx []ir.Expr) []ir.Expr {
		flat := ir.Bin(ir.Add, ir.Bin(ir.Mul, idx[dim], ir.Int(inner)), idx[dim+1])
		return slices.Concat(idx[:dim], []ir.Expr{arith.Simplify(flat, ranges)}, idx[dim+2:])
	}
	param := parameter(f, buffer)
	g := withBuffer(f.WithBody(ir.Reindex(f.Body, buffer, buffer, at)), param, to)
	var view *Pack
	if param >= 0 {
		view = &Pack{Param: buffer, View: true, Func: relayoutFunc("view", b, to, b.Shape,
			func(from ir.Buffer, i []ir.Expr) ([]ir.Expr, ir.Expr) {
				return at(i), ir.At(from, i...)
			})}
	}
	return g, view
}
