package emit

import (
	"fmt"

	"ripc/ir"
	"ripc/ir/arith"
)

// access is one load or store of a buffer inside a vectorized loop.
type access struct {
	buf    string
	idx    []ir.Expr
	store  *ir.Store // nil for a load
	inLoop bool      // runs more than once per lane
}

// conflict says why emitting the body of s statement by statement, all lanes at a time, could differ from emitting it
// lane by lane: one lane may touch an element that another one writes. It is "" if it cannot.
func (e *emitter) conflict(s *ir.For) string {
	inner := arith.Ranges{}
	var all []access
	var call *ir.Call
	own := map[string]bool{} // allocs inside: each lane has its own
	var walk func(t ir.Stmt, inLoop bool)
	walk = func(t ir.Stmt, inLoop bool) {
		for _, x := range ir.Exprs(t) {
			ir.WalkExpr(x, func(y ir.Expr) bool {
				if l, ok := y.(*ir.Load); ok {
					all = append(all, access{buf: l.Buf, idx: l.Idx, inLoop: inLoop})
				}
				return true
			})
		}
		switch t := t.(type) {
		case *ir.For:
			inner[t.Var] = arith.Interval{Lo: 0, Hi: max(int64(t.Extent)-1, 0)}
			walk(t.Body, true)
		case *ir.Block:
			for _, u := range t.Stmts {
				walk(u, inLoop)
			}
		case *ir.If:
			walk(t.Then, inLoop)
			if t.Else != nil {
				walk(t.Else, inLoop)
			}
		case *ir.Alloc:
			own[t.Buf.Name] = true
			walk(t.Body, inLoop)
		case *ir.Store:
			all = append(all, access{buf: t.Buf, idx: t.Idx, store: t, inLoop: inLoop})
		case *ir.Call:
			call = t
		}
	}
	walk(s.Body, false)
	if call != nil {
		return fmt.Sprintf("it calls @%s", call.Fn.Name)
	}
	written := map[string]bool{}
	for _, a := range all {
		written[a.buf] = written[a.buf] || a.store != nil || own[a.buf]
	}
	d := dependence{e: e, s: s, inner: inner, written: written}
	for name, r := range inner {
		e.ranges[name] = r
		defer delete(e.ranges, name)
	}
	for i, a := range all {
		if a.store == nil || own[a.buf] {
			continue
		}
		for j, b := range all {
			if b.buf == a.buf && (b.store == nil || j >= i) && !d.independent(a, b, i == j) {
				return fmt.Sprintf("lanes may meet in %%%s (%s)", a.buf, describe(a, b))
			}
		}
	}
	return ""
}

func describe(as ...access) string {
	s := ""
	for i, a := range as {
		if i > 0 {
			s += " and "
		}
		s += ir.ExprString(&ir.Load{Buf: a.buf, Idx: a.idx})
	}
	return s
}

// dependence decides about pairs of accesses in the body of loop s.
type dependence struct {
	e       *emitter
	s       *ir.For
	inner   arith.Ranges    // loops inside s
	written map[string]bool // buffers that change inside, or that each lane has of its own
}

// independent reports whether store a and access b may go in any order between different lanes.
func (d *dependence) independent(a, b access, same bool) bool {
	if b.store != nil && a.store.Op == b.store.Op && a.store.Op != ir.Assign && !a.store.Val.Type().IsFloat() {
		return true // an integer reduction: any order gives the same
	}
	if same && !a.inLoop {
		return true // one statement, once per lane: emitted in the order of the lanes
	}
	for i := range min(len(a.idx), len(b.idx)) {
		if d.apart(a.idx[i], b.idx[i]) {
			return true
		}
	}
	return false
}

// apart reports whether x in one lane never equals y in another. With x = c*lane + x', y = c*lane + y' and g dividing
// every multiple of a variable that changes inside the loop, they could be equal only if g divides c*k + x' - y' for some
// k that two lanes are apart.
func (d *dependence) apart(x, y ir.Expr) bool {
	ax, ay := d.e.affine(x), d.e.affine(y)
	if bx, ok := ax.Bounds(d.ranges()); ok {
		if by, ok := ay.Bounds(d.ranges()); ok && (bx.Hi < by.Lo || by.Hi < bx.Lo) {
			return true
		}
	}
	cx, ok1 := ax.Coef(d.s.Var)
	cy, ok2 := ay.Coef(d.s.Var)
	if !ok1 || !ok2 || cx != cy {
		return false
	}
	lane := arith.Affine{Terms: []arith.Term{{Coef: 1, Atom: ir.V(d.s.Var)}}}
	ax, ay = ax.Plus(-cx, lane), ay.Plus(-cy, lane)
	g := int64(0)
	changing := func(a arith.Affine) (fixed arith.Affine, ok bool) {
		fixed.Const = a.Const
		for _, t := range a.Terms {
			switch d.kind(t.Atom) {
			case perLane:
				return fixed, false
			case perIteration:
				g = gcd(g, t.Coef)
			default:
				fixed.Terms = append(fixed.Terms, t)
			}
		}
		return fixed, true
	}
	ax, ok1 = changing(ax)
	ay, ok2 = changing(ay)
	diff := ax.Plus(-1, ay)
	if !ok1 || !ok2 || len(diff.Terms) > 0 {
		return false
	}
	for k := -int64(d.s.Extent) + 1; k < int64(d.s.Extent); k++ {
		v := cx*k + diff.Const
		if k != 0 && (g == 0 && v == 0 || g != 0 && v%g == 0) {
			return false
		}
	}
	return true
}

// ranges are those in scope inside the loop, its own variable included.
func (d *dependence) ranges() arith.Ranges { return d.e.ranges.With(d.s.Var, d.s.Extent) }

// variance says when an index term changes.
type variance int

const (
	fixed        variance = iota // not inside the loop
	perIteration                 // with a loop inside
	perLane
)

func (d *dependence) kind(x ir.Expr) variance {
	out := fixed
	ir.WalkExpr(x, func(y ir.Expr) bool {
		switch y := y.(type) {
		case *ir.Var:
			if _, ok := d.inner[y.Name]; ok {
				out = max(out, perIteration)
			}
			if y.Name == d.s.Var {
				out = perLane
			}
		case *ir.Load:
			if d.written[y.Buf] {
				out = perLane
			}
		}
		return true
	})
	return out
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	if a < 0 {
		return -a
	}
	return a
}
