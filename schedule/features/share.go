package features

import (
	"slices"

	"ripc/ir"
	"ripc/ir/arith"
)

// mostCases is the most iterations that shareOf looks at.
const mostCases = 4096

// shareOf is the share of the iterations of the loops around a condition in which it holds. It
// looks at all of them, or at mostCases that lie evenly among them. The share is not known of a
// condition that depends on more than loops.
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
	at := arith.Ranges{}
	for i := range cases {
		k := int(float64(total) / float64(cases) * float64(i))
		for _, n := range loops {
			v := int64(k % n.loop.Extent)
			at[n.loop.Var] = arith.Interval{Lo: v, Hi: v}
			k /= n.loop.Extent
		}
		truth, ok := arith.Bounds(cond, at)
		if !ok || truth.Lo != truth.Hi {
			return 0, false
		}
		holds += int(truth.Lo)
	}
	return float64(holds) / float64(cases), true
}
