package features

import (
	"slices"

	"ripc/ir"
)

// mostCases is the most iterations that shareOf looks at.
const mostCases = 4096

// shareOf is the share of the iterations of the loops around a condition in which it holds. It looks at all of them, or at mostCases that
// lie evenly among them. The share is not known of a condition that depends on more than loops.
func shareOf(cond ir.Expr, path []*node) (share float64, known bool) {
	var loops []*node
	total := 1
	known = true
	ir.WalkExpr(cond, func(e ir.Expr) bool {
		switch e := e.(type) {
		case *ir.Load:
			known = false
		case *ir.Var:
			at := slices.IndexFunc(path, func(n *node) bool { return n.loop.Var == e.Name })
			if at < 0 {
				known = false
			} else if n := path[at]; !slices.Contains(loops, n) {
				loops = append(loops, n)
				total *= n.loop.Extent
			}
		}
		return known
	})
	if !known || total <= 0 {
		return 0, false
	}
	holds, cases := 0, min(total, mostCases)
	at := map[string]int64{}
	for i := range cases {
		k := int(float64(total) / float64(cases) * float64(i))
		for _, n := range loops {
			at[n.loop.Var] = int64(k % n.loop.Extent)
			k /= n.loop.Extent
		}
		v, ok := integer(cond, at)
		if !ok {
			return 0, false
		}
		holds += int(min(v, 1))
	}
	return float64(holds) / float64(cases), true
}

// integer is the value of an expression of loop variables. ok is false for operations that no condition of a schedule has.
func integer(e ir.Expr, at map[string]int64) (v int64, ok bool) {
	switch e := e.(type) {
	case *ir.IntImm:
		return e.V, true
	case *ir.Var:
		v, ok = at[e.Name]
		return v, ok
	case *ir.Cast:
		return integer(e.A, at)
	case *ir.Binary:
		a, okA := integer(e.A, at)
		b, okB := integer(e.B, at)
		if !okA || !okB {
			return 0, false
		}
		return operation(e.Op, a, b)
	}
	return 0, false
}

func operation(op ir.BinOp, a, b int64) (v int64, ok bool) {
	holds := func(is bool) (int64, bool) { return int64(truth(is)), true }
	switch op {
	case ir.Add:
		return a + b, true
	case ir.Sub:
		return a - b, true
	case ir.Mul:
		return a * b, true
	case ir.Min:
		return min(a, b), true
	case ir.Max:
		return max(a, b), true
	case ir.And:
		return a & b, true
	case ir.Or:
		return a | b, true
	case ir.Lt:
		return holds(a < b)
	case ir.Le:
		return holds(a <= b)
	case ir.Gt:
		return holds(a > b)
	case ir.Ge:
		return holds(a >= b)
	case ir.Eq:
		return holds(a == b)
	case ir.Ne:
		return holds(a != b)
	case ir.Div, ir.Mod: // they round down
		if b <= 0 {
			return 0, false
		}
		quotient, rest := a/b, a%b
		if rest < 0 {
			quotient, rest = quotient-1, rest+b
		}
		if op == ir.Div {
			return quotient, true
		}
		return rest, true
	}
	return 0, false
}
