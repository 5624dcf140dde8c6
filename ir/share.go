package ir

import "math"

// Share is e with parts that are equal made one node: whoever goes through it by node meets each part once. Parts are equal if they print
// equal and have the same types, NaN and the signs of zeros told apart.
func Share(e Expr) Expr {
	nodes, number := map[part]Expr{}, map[Expr]int{}
	return MapExpr(e, func(x Expr) Expr {
		p := part{}
		switch x := x.(type) {
		case *IntImm:
			p.kind, p.t, p.bits = 'i', x.T, x.V
		case *FloatImm:
			p.kind, p.bits = 'f', int64(math.Float32bits(x.V))
		case *Var:
			p.kind, p.name = 'v', x.Name
		case *Load:
			p.kind, p.t, p.name = 'l', x.T, x.Buf
		case *Binary:
			p.kind, p.bits = 'b', int64(x.Op)
		case *Unary:
			p.kind, p.bits = 'u', int64(x.Op)
		case *Select:
			p.kind = 's'
		case *Cast:
			p.kind, p.t = 'c', x.T
		case *Bitcast:
			p.kind, p.t = 'r', x.T
		case *Fma:
			p.kind = 'm'
		}
		for i, y := range operands(x) {
			if i < len(p.operands) {
				p.operands[i] = number[y]
			} else { // of a load from a buffer of many dimensions
				p.more += "," + ExprString(y)
			}
		}
		if y, ok := nodes[p]; ok {
			return y
		}
		nodes[p], number[x] = x, len(number)+1
		return x
	})
}

// part is what two nodes are compared by; operands are numbered from 1.
type part struct {
	kind       byte
	t          Type
	bits       int64
	name, more string
	operands   [6]int
}
