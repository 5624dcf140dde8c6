package inline

import (
	"slices"

	"ripc/ir"
	"ripc/ir/arith"
)

// move describes a Func that only moves elements of x to y: a change of axes, a part of a tensor,
// or both.
type move struct {
	x, y ir.Buffer
	// from says, for each dimension of x, where in it an element of y lies.
	from []place
}

// place is an index of x: begin, and stride times dimension dim of y; dim is -1 where it is begin
// alone.
type place struct{ dim, stride, begin int }

// moveOf looks at f; ok is false where it does more than to move elements that are not packed, or
// makes only a part of y.
func moveOf(f *ir.Func) (m move, ok bool) {
	if len(f.Params) != 2 || f.Params[0].Out || !f.Params[1].Out {
		return move{}, false
	}
	m = move{x: f.Params[0].Buffer, y: f.Params[1].Buffer}
	loops, s := nestOf(f.Body)
	extents := map[string]int{}
	for _, l := range loops {
		extents[l.Var] = l.Extent
	}
	st, ok := s.(*ir.Store)
	if !ok || st.Op != ir.Assign || st.Buf != m.y.Name || m.x.Type != m.y.Type || m.x.Enc.Kind != ir.NoEncoding ||
		m.y.Enc.Kind != ir.NoEncoding {
		return move{}, false
	}
	ld, ok := st.Val.(*ir.Load)
	if !ok || ld.Buf != m.x.Name {
		return move{}, false
	}
	dims := map[string]int{} // of y, by loop
	for d, e := range st.Idx {
		v, isVar := e.(*ir.Var)
		if k, isConst := e.(*ir.IntImm); isConst && k.V == 0 && m.y.Shape[d] == 1 {
			continue
		}
		if !isVar || extents[v.Name] != m.y.Shape[d] {
			return move{}, false
		}
		if _, twice := dims[v.Name]; twice {
			return move{}, false
		}
		dims[v.Name] = d
	}
	for _, e := range ld.Idx {
		a := arith.ToAffine(e)
		p := place{dim: -1, begin: int(a.Const)}
		switch len(a.Terms) {
		case 0:
		case 1:
			v, isVar := a.Terms[0].Atom.(*ir.Var)
			if !isVar {
				return move{}, false
			}
			d, has := dims[v.Name]
			if !has {
				if extents[v.Name] != 1 {
					return move{}, false
				}
				break
			}
			p.dim, p.stride = d, int(a.Terms[0].Coef)
		default:
			return move{}, false
		}
		m.from = append(m.from, p)
	}
	return m, true
}

// source is where in x element i of y lies.
func (m move) source(i []ir.Expr) []ir.Expr {
	out := make([]ir.Expr, len(m.from))
	for d, p := range m.from {
		out[d] = ir.Int(p.begin)
		if p.dim >= 0 {
			out[d] = ir.Bin(ir.Add, ir.Bin(ir.Mul, i[p.dim], ir.Int(p.stride)), ir.Int(p.begin))
		}
	}
	return out
}

// bijective reports whether y has each element of x exactly once.
func (m move) bijective() bool {
	var dims []int
	for d, p := range m.from {
		if p.dim >= 0 {
			dims = append(dims, p.dim)
		}
		if p.begin != 0 || p.dim < 0 && m.x.Shape[d] != 1 || p.dim >= 0 &&
			(p.stride != 1 || m.x.Shape[d] != m.y.Shape[p.dim]) {
			return false
		}
	}
	for d, n := range m.y.Shape {
		if n > 1 && !slices.Contains(dims, d) {
			return false
		}
	}
	return true
}

// permutes reports whether m is bijective and each dimension of x is one of y.
func (m move) permutes() bool {
	return m.bijective() && len(m.x.Shape) == len(m.y.Shape) && !slices.ContainsFunc(m.from, func(p place) bool {
		return p.dim < 0
	})
}

// target is where in y element i of x lies, of a move that is bijective.
func (m move) target(i []ir.Expr) []ir.Expr {
	out := make([]ir.Expr, len(m.y.Shape))
	for d := range out {
		out[d] = ir.Int(0)
	}
	for d, p := range m.from {
		if p.dim >= 0 {
			out[p.dim] = i[d]
		}
	}
	return out
}

// keepsRows reports whether elements that lie side by side in y do so in x.
func (m move) keepsRows() bool {
	last := m.from[len(m.from)-1]
	return last.dim == len(m.y.Shape)-1 && last.stride == 1
}

// strideBytes is how many bytes lie in y between elements that are neighbours in x, of a move that
// is bijective.
func (m move) strideBytes() int {
	last := m.from[len(m.from)-1].dim
	n := m.y.Type.Bits() / 8
	if last >= 0 {
		for _, k := range m.y.Shape[last+1:] {
			n *= k
		}
	}
	return n
}

// axes names x's axes as they are called in y: "bchw" where y's are batch, rows, columns and
// channels.
func (m move) axes() string {
	names := "bhwc"
	if len(m.y.Shape) != len(names) {
		return "moved"
	}
	out := ""
	for _, p := range m.from {
		if p.dim >= 0 {
			out += names[p.dim : p.dim+1]
		}
	}
	if !m.bijective() {
		out += "_part"
	}
	return out
}
