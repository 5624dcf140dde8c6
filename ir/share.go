package ir

import (
	"math"
	"slices"
)

// Share returns e with equal parts merged into one node, so that a walk by node meets each part
// once. Parts are equal if they print equal and have the same types; NaNs and the signs of zeros
// are distinguished.
func Share(e Expr) Expr {
	return sharing{}.share(e).node
}

// sharing maps the structure of a node to the node.
type sharing map[part]shared

// shared is a node with its number, from 1.
type shared struct {
	node   Expr
	number int32
}

// part is the structure by which nodes are compared. Operands are numbers, 0 is none.
type part struct {
	kind     byte
	t        Type
	operands [3]int32
	bits     int64
	name     string
}

// intern returns the known node with structure p, or adds the one that make returns.
func (s sharing) intern(p part, node func() Expr) shared {
	n, ok := s[p]
	if !ok {
		n = shared{node(), int32(len(s) + 1)}
		s[p] = n
	}
	return n
}

// share returns e with its parts shared. A node with unchanged operands is returned itself.
func (s sharing) share(e Expr) shared {
	as := func() Expr { return e }
	switch x := e.(type) {
	case *IntImm:
		return s.intern(part{kind: 'i', t: x.T, bits: x.V}, as)
	case *FloatImm:
		return s.intern(part{kind: 'f', bits: int64(math.Float32bits(x.V))}, as)
	case *Var:
		return s.intern(part{kind: 'v', name: x.Name}, as)
	case *Load:
		return s.load(x)
	case *Binary:
		a, b := s.share(x.A), s.share(x.B)
		if a.node != x.A || b.node != x.B {
			as = func() Expr { return &Binary{x.Op, a.node, b.node} }
		}
		return s.intern(part{kind: 'b', bits: int64(x.Op), operands: [3]int32{a.number, b.number}}, as)
	case *Unary:
		a := s.share(x.A)
		if a.node != x.A {
			as = func() Expr { return &Unary{x.Op, a.node} }
		}
		return s.intern(part{kind: 'u', bits: int64(x.Op), operands: [3]int32{a.number}}, as)
	case *Select:
		c, a, b := s.share(x.Cond), s.share(x.A), s.share(x.B)
		if c.node != x.Cond || a.node != x.A || b.node != x.B {
			as = func() Expr { return &Select{c.node, a.node, b.node} }
		}
		return s.intern(part{kind: 's', operands: [3]int32{c.number, a.number, b.number}}, as)
	case *Cast:
		a := s.share(x.A)
		if a.node != x.A {
			as = func() Expr { return &Cast{x.T, a.node} }
		}
		return s.intern(part{kind: 'c', t: x.T, operands: [3]int32{a.number}}, as)
	case *Bitcast:
		a := s.share(x.A)
		if a.node != x.A {
			as = func() Expr { return &Bitcast{x.T, a.node} }
		}
		return s.intern(part{kind: 'r', t: x.T, operands: [3]int32{a.number}}, as)
	case *Fma:
		a, b, c := s.share(x.A), s.share(x.B), s.share(x.C)
		if a.node != x.A || b.node != x.B || c.node != x.C {
			as = func() Expr { return &Fma{a.node, b.node, c.node} }
		}
		return s.intern(part{kind: 'm', operands: [3]int32{a.number, b.number, c.number}}, as)
	}
	return shared{e, 0}
}

// load is share for loads. Any number of indices is coded as a list: each index is a part together
// with its predecessors.
func (s sharing) load(x *Load) shared {
	idx, list, stays := x.Idx, shared{}, true
	for i, y := range x.Idx {
		n := s.share(y)
		if n.node != y && stays {
			idx, stays = append(make([]Expr, 0, len(x.Idx)), x.Idx...), false
		}
		if !stays {
			idx[i] = n.node
		}
		list = s.intern(part{kind: ',', operands: [3]int32{list.number, n.number}}, func() Expr { return nil })
	}
	return s.intern(part{kind: 'l', t: x.T, name: x.Buf, operands: [3]int32{list.number}}, func() Expr {
		if stays {
			return x
		}
		return &Load{x.Buf, x.T, idx}
	})
}

// Equal reports whether Share would merge a and b.
func Equal(a, b Expr) bool {
	switch a := a.(type) {
	case *IntImm:
		b, ok := b.(*IntImm)
		return ok && *a == *b
	case *FloatImm:
		b, ok := b.(*FloatImm)
		return ok && math.Float32bits(a.V) == math.Float32bits(b.V)
	case *Var:
		b, ok := b.(*Var)
		return ok && a.Name == b.Name
	case *Load:
		b, ok := b.(*Load)
		return ok && a.Buf == b.Buf && a.T == b.T && slices.EqualFunc(a.Idx, b.Idx, Equal)
	case *Binary:
		b, ok := b.(*Binary)
		return ok && a.Op == b.Op && Equal(a.A, b.A) && Equal(a.B, b.B)
	case *Unary:
		b, ok := b.(*Unary)
		return ok && a.Op == b.Op && Equal(a.A, b.A)
	case *Select:
		b, ok := b.(*Select)
		return ok && Equal(a.Cond, b.Cond) && Equal(a.A, b.A) && Equal(a.B, b.B)
	case *Cast:
		b, ok := b.(*Cast)
		return ok && a.T == b.T && Equal(a.A, b.A)
	case *Bitcast:
		b, ok := b.(*Bitcast)
		return ok && a.T == b.T && Equal(a.A, b.A)
	case *Fma:
		b, ok := b.(*Fma)
		return ok && Equal(a.A, b.A) && Equal(a.B, b.B) && Equal(a.C, b.C)
	}
	return false
}
