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

// partOf returns the structure of e without its operands.
func partOf(e Expr) part {
	switch x := e.(type) {
	case *IntImm:
		return part{kind: 'i', t: x.T, bits: x.V}
	case *FloatImm:
		return part{kind: 'f', bits: int64(math.Float32bits(x.V))}
	case *Var:
		return part{kind: 'v', name: x.Name}
	case *Load:
		return part{kind: 'l', t: x.T, name: x.Buf}
	case *Binary:
		return part{kind: 'b', bits: int64(x.Op)}
	case *Unary:
		return part{kind: 'u', bits: int64(x.Op)}
	case *Select:
		return part{kind: 's'}
	case *Cast:
		return part{kind: 'c', t: x.T}
	case *Bitcast:
		return part{kind: 'r', t: x.T}
	case *Fma:
		return part{kind: 'm'}
	}
	return part{}
}

// intern returns the known node with structure p, or adds e.
func (s sharing) intern(p part, e Expr) shared {
	n, ok := s[p]
	if !ok {
		n = shared{e, int32(len(s) + 1)}
		s[p] = n
	}
	return n
}

// share returns e with its parts shared. A node with unchanged operands is returned itself.
func (s sharing) share(e Expr) shared {
	p := partOf(e)
	if x, ok := e.(*Load); ok {
		return s.load(x, p)
	}
	var room [3]Expr
	stays := true
	for i, x := range operands(e, &room) {
		n := s.share(x)
		room[i], p.operands[i], stays = n.node, n.number, stays && n.node == x
	}
	if !stays {
		e = withOperands(e, room)
	}
	return s.intern(p, e)
}

// load is share for loads, p being the structure. Any number of indices is coded as a list: each
// index is a part together with its predecessors.
func (s sharing) load(x *Load, p part) shared {
	idx, list, stays := slices.Clone(x.Idx), shared{}, true
	for i, y := range x.Idx {
		n := s.share(y)
		idx[i], stays = n.node, stays && n.node == y
		list = s.intern(part{kind: ',', operands: [3]int32{list.number, n.number}}, nil)
	}
	p.operands[0] = list.number
	if !stays {
		x = &Load{x.Buf, x.T, idx}
	}
	return s.intern(p, x)
}

// SameNode reports whether a and b differ in their operands at most; loads, in their indices.
func SameNode(a, b Expr) bool { return partOf(a) == partOf(b) }

// Equal reports whether Share would merge a and b.
func Equal(a, b Expr) bool {
	var left, right [3]Expr
	return SameNode(a, b) && slices.EqualFunc(operands(a, &left), operands(b, &right), Equal)
}
