package schedule

import (
	"fmt"
	"maps"
	"slices"

	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/deps"
)

// unifier matches an instruction's body with a part of a func. Matching binds the instruction's
// loops to loops of the func and its parameters to windows of buffers.
type unifier struct {
	instr  *ir.Func
	sc     deps.Scope
	given  []ir.Expr            // conditions around the part
	writes ir.Changes           // the writes of the part
	bufs   map[string]ir.Buffer // of the func
	params map[string]ir.Param  // of the instruction
	loops  map[string]string    // instruction loop -> func loop
	wins   map[string]ir.Window // parameter -> window
}

// mismatch is the first place where the two differ.
type mismatch struct{ where, instr, fn string }

func (m *mismatch) Error() string {
	return fmt.Sprintf("%s: the instruction has %s, the func %s", m.where, m.instr, m.fn)
}

func (u *unifier) stmt(where string, p, s ir.Stmt) *mismatch {
	if ss := doing(s); len(ss) == 1 {
		s = ss[0]
	}
	differ := func() *mismatch { return &mismatch{where, describe(p), describe(s)} }
	switch p := p.(type) {
	case *ir.For:
		l, ok := s.(*ir.For)
		if !ok || l.Extent != p.Extent {
			return differ()
		}
		u.loops[p.Var] = l.Var
		return u.stmt(fmt.Sprintf("%s/for %%%s", where, l.Var), p.Body, l.Body)
	case *ir.Block:
		ps, ss := doing(p), doing(s)
		if len(ps) != len(ss) {
			return &mismatch{where, fmt.Sprintf("%d statements", len(ps)), fmt.Sprintf("%d", len(ss))}
		}
		for i := range ps {
			if m := u.stmt(fmt.Sprintf("%s/%d", where, i), ps[i], ss[i]); m != nil {
				return m
			}
		}
		return nil
	case *ir.Store:
		st, ok := s.(*ir.Store)
		if !ok || st.Op != p.Op {
			return differ()
		}
		where = fmt.Sprintf("%s/store to %%%s", where, st.Buf)
		if m := u.expr(where, p.Val, st.Val); m != nil {
			return m
		}
		return u.element(where, p.Buf, p.Idx, st.Buf, st.Idx)
	case *ir.If:
		i, ok := s.(*ir.If)
		if !ok || (p.Else == nil) != (i.Else == nil) {
			return differ()
		}
		if m := u.expr(where+"/if", p.Cond, i.Cond); m != nil {
			return m
		}
		if m := u.stmt(where+"/then", p.Then, i.Then); m != nil || p.Else == nil {
			return m
		}
		return u.stmt(where+"/else", p.Else, i.Else)
	}
	return differ()
}

// doing lists statements without comments.
func doing(s ir.Stmt) []ir.Stmt {
	return slices.DeleteFunc(slices.Clone(stmts(s)), func(t ir.Stmt) bool { return !doesSomething([]ir.Stmt{t}) })
}

func (u *unifier) expr(where string, p, e ir.Expr) *mismatch {
	differ := &mismatch{where, ir.ExprString(p), ir.ExprString(e)}
	if p.Type() != e.Type() {
		differ.instr += " of type " + p.Type().String()
		differ.fn += " of type " + e.Type().String()
		return differ
	}
	if p.Type() == ir.I64 && !ir.ReadsMemory(p) { // made of loops: equal as a sum
		if affineKey(u.toFunc(p)) != affineKey(arith.ToAffine(e)) {
			return differ
		}
		return nil
	}
	if l, ok := p.(*ir.Load); ok {
		if x, ok := e.(*ir.Load); ok {
			return u.element(where, l.Buf, l.Idx, x.Buf, x.Idx)
		}
	}
	if !ir.SameNode(p, e) {
		return differ
	}
	ps, es := slices.Collect(ir.Operands(p)), slices.Collect(ir.Operands(e))
	b, ok := p.(*ir.Binary)
	commutes := ok && !b.A.Type().IsFloat() && commutative(b.Op)
	saved := maps.Clone(u.wins)
	m := u.all(where, ps, es)
	if m != nil && commutes {
		u.wins = saved
		if u.all(where, ps, []ir.Expr{es[1], es[0]}) == nil {
			return nil
		}
	}
	return m
}

func (u *unifier) all(where string, ps, es []ir.Expr) *mismatch {
	for i := range ps {
		if m := u.expr(where, ps[i], es[i]); m != nil {
			return m
		}
	}
	return nil
}

func commutative(op ir.BinOp) bool {
	switch op {
	case ir.Add, ir.Mul, ir.And, ir.Or, ir.Xor, ir.Min, ir.Max, ir.Eq, ir.Ne:
		return true
	}
	return false
}

// toFunc writes an index of the instruction in terms of the func's loops.
func (u *unifier) toFunc(e ir.Expr) arith.Affine {
	m := map[string]ir.Expr{}
	for p, l := range u.loops {
		m[p] = ir.V(l)
	}
	return arith.ToAffine(ir.Subst(e, m))
}

// element binds parameter p to the window of buffer b in which element pi of p is element bi of b.
func (u *unifier) element(where, p string, pi []ir.Expr, b string, bi []ir.Expr) *mismatch {
	param, ok := u.params[p]
	pe, be := elementText(p, pi), elementText(b, bi)
	differ := func(why string) *mismatch { return &mismatch{where, pe, be + why} }
	buf, ok2 := u.bufs[b]
	if !ok || !ok2 || len(bi) != len(buf.Shape) || len(pi) != len(param.Shape) {
		return differ("")
	}
	lead := len(bi) - len(pi)
	if buf.Type != param.Type {
		return differ(" of type " + buf.Type.String())
	}
	if !param.Out && !param.Range.Has(buf.Range) {
		r := buf.ValueRange()
		return &mismatch{where, fmt.Sprintf("%s from %d to %d", pe, param.Range.From, param.Range.To),
			fmt.Sprintf("%s from %d to %d", be, r.From, r.To)}
	}
	if lead < 0 {
		return differ(" of fewer dimensions")
	}
	for d := 1; d < len(pi); d++ {
		if param.Shape[d] != buf.Shape[lead+d] {
			return differ(fmt.Sprintf(", which is not contiguous: dimension %d has %d elements, the instruction's %d",
				lead+d, buf.Shape[lead+d], param.Shape[d]))
		}
	}
	win := ir.Window{Buf: b, Idx: make([]ir.Expr, len(bi))}
	for d, e := range bi {
		base := arith.ToAffine(e)
		n := 1
		switch {
		case d < lead:
		case ir.ReadsMemory(pi[d-lead]): // an index that is read: of the first element on
			if m := u.expr(where, pi[d-lead], e); m != nil {
				return m
			}
			base, n = arith.Affine{}, param.Shape[d-lead]
		default:
			base = base.Plus(-1, u.toFunc(pi[d-lead]))
			n = param.Shape[d-lead]
		}
		base.Terms = slices.DeleteFunc(slices.Clone(base.Terms), u.isZero)
		win.Idx[d] = base.Expr()
		for _, l := range u.loops {
			if uses(win.Idx[d], func(v string) bool { return v == l }) {
				return differ(fmt.Sprintf(", where index %d runs otherwise along %%%s", d, l))
			}
		}
		if !u.writes.Keep(win.Idx[d]) {
			return differ(fmt.Sprintf(", where index %d reads elements that the loop writes", d))
		}
		inside := ir.Bin(ir.And, ir.Bin(ir.Ge, win.Idx[d], ir.Int(0)),
			ir.Bin(ir.Le, win.Idx[d], ir.Int(buf.Shape[d]-n)))
		if !arith.Follows(inside, u.sc.Ranges, u.given...) {
			return differ(fmt.Sprintf(", and the window %s of %d elements may leave dimension %d",
				ir.ExprString(win.Idx[d]), n, d))
		}
	}
	if old, seen := u.wins[p]; seen && elementText(old.Buf, old.Idx) != elementText(win.Buf, win.Idx) {
		return differ(fmt.Sprintf(" at %s, but %%%s is %s already", elementText(win.Buf, win.Idx), p,
			elementText(old.Buf, old.Idx)))
	}
	u.wins[p] = win
	return nil
}

func elementText(b string, idx []ir.Expr) string {
	return ir.ExprString(&ir.Load{Buf: b, Idx: idx})
}

func describe(s ir.Stmt) string {
	switch s := s.(type) {
	case *ir.For:
		return fmt.Sprintf("a loop of extent %d", s.Extent)
	case *ir.Store:
		return fmt.Sprintf("a store with %s", s.Op)
	case *ir.If:
		return "an if"
	case *ir.Alloc:
		return fmt.Sprintf("the alloc of %%%s", s.Buf.Name)
	case *ir.Call:
		return fmt.Sprintf("a call of @%s", s.Fn.Name)
	case *ir.Block:
		return fmt.Sprintf("%d statements", len(s.Stmts))
	}
	return "a comment"
}

// isZero reports whether t is of a loop of one iteration, which the call takes the place of,
// whatever it is multiplied by.
func (u *unifier) isZero(t arith.Term) bool {
	v, ok := t.Atom.(*ir.Var)
	if !ok || !slices.Contains(slices.Collect(maps.Values(u.loops)), v.Name) {
		return false
	}
	iv, ok := u.sc.Ranges[v.Name]
	return ok && iv.Lo == 0 && iv.Hi == 0
}
