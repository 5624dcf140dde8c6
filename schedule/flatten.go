package schedule

import (
	"fmt"

	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/deps"
)

// Flatten views two neighbouring dimensions of a buffer as one, so that a vector may go from one row of the inner one to the
// next, as they lie in memory. Other systems: TVM transform_layout, Exo's windows, MLIR memref.collapse_shape.
//
//	@f(%x: f32[224, 224, 3], ...) { ... for %w in 0:9 { for %c in 0:3 { %t[%w, %c] = %x[%h, %w, %c] } } ... }
//	=> flatten x 1
//	@f(%x: f32[224, 672], ...) { ... %t[%w, %c] = %x[%h, %w * 3 + %c] ... }
//	=> flatten t 0; fuse w c -> i
//	... for %i in 0:27 { %t[%i] = %x[%h, %i] } ...
//
// The dimension that is named and the one behind it become one. A parameter stays the same bytes: no pack is made, the
// caller's buffer is viewed (ApplyAll tells). It is refused if there is no dimension behind the named one, for outputs, and
// if a call takes the buffer.
func Flatten(f *ir.Func, buffer string, dim int) (*ir.Func, *Pack, error) {
	refuse := func(help, format string, args ...any) (*ir.Func, *Pack, error) {
		return nil, nil, &ir.Error{Msg: fmt.Sprintf(format, args...), Help: help}
	}
	b, ok := f.Buffers()[buffer]
	switch {
	case !ok:
		return nil, nil, noBuffer(f, buffer)
	case len(b.Shape) < 2:
		return refuse("", "%%%s has no two dimensions", buffer)
	case dim < 0 || dim+1 >= len(b.Shape):
		return refuse(fmt.Sprintf("name one of dimensions 0 to %d", len(b.Shape)-2), "%%%s has no dimensions %d and %d", buffer, dim, dim+1)
	case callsWith(f.Body, buffer):
		return refuse("flatten before tensorize", "%%%s is an operand of a call", buffer)
	}
	l := &flattened{dim: dim, inner: b.Shape[dim+1], to: b, ranges: deps.ScopeOf(f.Body).Ranges}
	l.to.Enc = ir.Encoding{}
	l.to.Shape = append(append([]int{}, b.Shape[:dim]...), b.Shape[dim]*l.inner)
	l.to.Shape = append(l.to.Shape, b.Shape[dim+2:]...)
	g := f.WithBody(f.Body)
	var view *Pack
	for i, p := range f.Params {
		if p.Name != buffer {
			continue
		}
		if p.Out {
			return refuse("", "%%%s is an output, and its layout is the caller's", buffer)
		}
		g.Params = append([]ir.Param{}, f.Params...)
		g.Params[i].Buffer = l.to
		view = &Pack{Param: buffer, Func: l.viewing(b), View: true}
	}
	g.Body = l.stmt(f.Body)
	if err := stillValid(f, g); err != nil {
		return nil, nil, err
	}
	return g, view, nil
}

// flattened is a buffer two of whose dimensions become one.
type flattened struct {
	dim, inner int
	to         ir.Buffer
	ranges     arith.Ranges
}

// index is where the element at idx is now.
func (l *flattened) index(idx []ir.Expr) []ir.Expr {
	at := ir.Bin(ir.Add, ir.Bin(ir.Mul, idx[l.dim], ir.Int(l.inner)), idx[l.dim+1])
	out := append(append([]ir.Expr{}, idx[:l.dim]...), arith.Simplify(at, l.ranges))
	return append(out, idx[l.dim+2:]...)
}

func (l *flattened) stmt(s ir.Stmt) ir.Stmt {
	one := func(s ir.Stmt) ir.Stmt {
		switch x := s.(type) {
		case *ir.Alloc:
			if x.Buf.Name == l.to.Name {
				return &ir.Alloc{Buf: l.to, Body: x.Body}
			}
		case *ir.Store:
			if x.Buf == l.to.Name {
				return &ir.Store{Buf: x.Buf, Idx: l.index(x.Idx), Op: x.Op, Val: x.Val}
			}
		}
		return s
	}
	return ir.MapStmt(s, one, func(e ir.Expr) ir.Expr {
		return ir.MapExpr(e, func(e ir.Expr) ir.Expr {
			if x, ok := e.(*ir.Load); ok && x.Buf == l.to.Name {
				return &ir.Load{Buf: x.Buf, T: x.T, Idx: l.index(x.Idx)}
			}
			return e
		})
	})
}

// viewing is the Func that makes the buffer out of the one before, which changes no byte.
func (l *flattened) viewing(from ir.Buffer) *ir.Func {
	to := l.to
	name := "view_" + from.Name
	from.Name, to.Name = "from", "to"
	var loops []ir.Loop
	var idx []ir.Expr
	for d, n := range from.Shape {
		v := fmt.Sprintf("i%d", d)
		loops = append(loops, ir.Loop{Var: v, Extent: n})
		idx = append(idx, ir.V(v))
	}
	return &ir.Func{
		Name:   name,
		Params: []ir.Param{{Buffer: from}, {Buffer: to, Out: true}},
		Body:   ir.Nest(loops, &ir.Store{Buf: "to", Idx: l.index(idx), Val: ir.At(from, idx...)}),
	}
}
