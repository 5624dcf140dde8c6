package judge

import (
	"bytes"
	"fmt"

	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/interp"
)

// items is the number of expressions judged in one run.
const items = 6

// sheet is a Func that computes expressions for all iterations of its loops, each into an output of
// its own. It has the claims about these outputs.
type sheet struct {
	f      *ir.Func
	stores []ir.Stmt
	idx    []ir.Expr
	shape  []int
	checks []func(out func(name string) []byte) (claim, msg string) // msg "": holds
}

// put adds e to the outputs.
func (s *sheet) put(e ir.Expr) ir.Buffer {
	b := ir.Buffer{Name: fmt.Sprintf("y%d", len(s.stores)), Type: e.Type(), Shape: s.shape}
	s.f.Params = append(s.f.Params, ir.Param{Buffer: b, Out: true})
	s.stores = append(s.stores, &ir.Store{Buf: b.Name, Idx: s.idx, Val: e})
	return b
}

// expressions judges claims about expressions: intervals, simplified forms, and consequences of
// conditions.
func (j *judge) expressions() {
	d := j.draw
	s := &sheet{f: &ir.Func{Name: "f"}}
	for range d.count(1, 3) {
		b := ir.Buffer{Name: d.name("b"), Type: pickOne(d, ints()...), Shape: []int{d.count(1, 2)}}
		s.f.Params = append(s.f.Params, ir.Param{Buffer: b})
		d.bufs = append(d.bufs, b)
	}
	for range d.count(1, 3) {
		d.vars = append(d.vars, ir.Loop{Var: d.name("i"), Extent: d.count(1, 5)})
	}
	r := arith.Ranges{}
	for _, l := range d.vars {
		r = r.With(l.Var, l.Extent)
		s.idx, s.shape = append(s.idx, ir.V(l.Var)), append(s.shape, l.Extent)
	}
	for range items {
		switch d.IntN(3) {
		case 0:
			j.value(s, r, d.expr(pickOne(d, ints()...), 3))
		case 1:
			j.value(s, r, d.expr(ir.I64, 3))
		case 2:
			j.condition(s, r)
		}
	}
	if len(s.checks) == 0 {
		return
	}
	s.f.Body = ir.Nest(d.vars, ir.Seq(s.stores...))
	if err := ir.Verify(s.f); err != nil {
		j.fail("the judge itself", s.f, "%v", err)
		return
	}
	for range inputs {
		in := d.contents(s.f)
		out, err := j.run(s.f, in, interp.Checks{})
		if err != nil {
			j.fail("simplify", s.f, "inputs %v: %v", in, err)
			return
		}
		at := func(name string) []byte {
			for i, p := range s.f.Params {
				if p.Name == name {
					return out[i]
				}
			}
			return nil
		}
		for _, check := range s.checks {
			if claim, msg := check(at); msg != "" {
				j.fail(claim, s.f, "%s: inputs %v", msg, in)
			}
		}
	}
}

// value judges e, an integer.
func (j *judge) value(s *sheet, r arith.Ranges, e ir.Expr) {
	iv, known := arith.Bounds(e, r)
	simple := arith.Simplify(e, r)
	changed := !ir.Equal(e, simple)
	if !known && !changed {
		return
	}
	y := s.put(e)
	if known {
		j.claims["interval"]++
		s.checks = append(s.checks, func(out func(string) []byte) (string, string) {
			data := out(y.Name)
			for i := range y.Elems() {
				if v, above := element(y.Type, data, i); above || v < iv.Lo || v > iv.Hi {
					return "interval", fmt.Sprintf("%s is said to be in %d..%d, and element %d of %%%s is %d",
						ir.ExprString(e), iv.Lo, iv.Hi, i, y.Name, v)
				}
			}
			return "", ""
		})
	}
	if changed {
		j.simplify(s, y, e, simple)
	}
}

func (j *judge) simplify(s *sheet, y ir.Buffer, e, simple ir.Expr) {
	j.claims["simplify"]++
	z := s.put(simple)
	s.checks = append(s.checks, func(out func(string) []byte) (string, string) {
		if !bytes.Equal(out(y.Name), out(z.Name)) {
			return "simplify", fmt.Sprintf("%s is not %s: %%%s and %%%s", ir.ExprString(e),
				ir.ExprString(simple), y.Name, z.Name)
		}
		return "", ""
	})
}

// claimNever adds the claim that cond is false in all iterations.
func (j *judge) claimNever(s *sheet, claim, what string, cond ir.Expr) {
	j.claims[claim]++
	y := s.put(cond)
	s.checks = append(s.checks, func(out func(string) []byte) (string, string) {
		if bytes.ContainsFunc(out(y.Name), func(r rune) bool { return r != 0 }) {
			return claim, fmt.Sprintf("%s: %%%s", what, y.Name)
		}
		return "", ""
	})
}

// condition judges claims about conditions: that one holds, or that one follows from another.
func (j *judge) condition(s *sheet, r arith.Ranges) {
	d := j.draw
	given := d.expr(ir.Bool, 3)
	if d.chance(2) {
		given = d.compare(2)
	}
	cond := d.expr(ir.Bool, 3)
	if g, ok := given.(*ir.Binary); ok && g.Op.IsCompare() && g.A.Type().IsInt() && d.chance(2) { // something near
		cond = bin(ir.BinOp(d.count(int(ir.Eq), int(ir.Ge))), g.A, g.B)
		if d.chance(2) {
			cond = bin(pickOne(d, ir.Lt, ir.Le, ir.Gt, ir.Ge, ir.Ne), g.A,
				bin(pickOne(d, ir.Add, ir.Sub), g.B, ir.Const(g.B.Type(), int64(d.count(0, 3)))))
		}
	}
	not := func(e ir.Expr) ir.Expr { return ir.Un(ir.Not, e) }
	but := func(e ir.Expr) ir.Expr { return bin(ir.And, given, e) }
	if arith.CanProve(given, r) {
		j.claimNever(s, "proved", ir.ExprString(given), not(given))
	}
	if arith.CanProve(not(given), r) {
		j.claimNever(s, "proved", "not "+ir.ExprString(given), given)
	}
	if arith.Follows(cond, r, given) {
		j.claimNever(s, "follows", fmt.Sprintf("from %s: %s", ir.ExprString(given), ir.ExprString(cond)),
			but(not(cond)))
	}
	if arith.Follows(not(cond), r, given) {
		j.claimNever(s, "follows", fmt.Sprintf("from %s: not %s", ir.ExprString(given), ir.ExprString(cond)), but(cond))
	}
	narrow := r.Assume(given)
	for _, l := range d.vars {
		if iv := narrow[l.Var]; iv != r[l.Var] {
			v := ir.V(l.Var)
			outside := bin(ir.Or, bin(ir.Lt, v, ir.Const(ir.I64, iv.Lo)), bin(ir.Gt, v, ir.Const(ir.I64, iv.Hi)))
			j.claimNever(s, "assumed",
				fmt.Sprintf("from %s: %%%s in %d..%d", ir.ExprString(given), l.Var, iv.Lo, iv.Hi), but(outside))
		}
	}
	if simple := arith.Simplify(given, r); !ir.Equal(given, simple) {
		j.simplify(s, s.put(given), given, simple)
	}
}
