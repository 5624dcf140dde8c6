package arith

import (
	"fmt"
	"math/big"

	"ripc/ir"
)

func (w *widths) store(s *ir.Store, r Ranges) *effect {
	b := w.bufs[s.Buf]
	v := env{r: r, load: w.load}
	val := v.linear(s.Val, s)
	out := &effect{at: element(b, s.Idx)}
	switch s.Op {
	case ir.Assign:
		out.end = val
	case ir.AddTo:
		out.end = lines{{new(big.Int).Add(val[0].a, big.NewInt(1)), val[0].lo, val[0].hi}}
	case ir.MinTo, ir.MaxTo: // either the old element or the new one
		out.end = val.or(identityLine())
	default:
		out.end = typeLine(b.Type)
	}
	out.peak = out.end
	return out
}

// linear writes e as a*x + [lo, hi], one line, where x is the element that s stores to.
func (v env) linear(e ir.Expr, s *ir.Store) lines {
	switch x := e.(type) {
	case *ir.Load:
		if x.Buf == s.Buf && len(x.Idx) == len(s.Idx) {
			equal := true
			for i := range x.Idx {
				d := ToAffine(x.Idx[i]).Plus(-1, ToAffine(s.Idx[i]))
				equal = equal && d.Const == 0 && len(d.Terms) == 0
			}
			if equal {
				return identityLine()
			}
		}
	case *ir.Binary:
		if x.Op > ir.Mul && x.Op != ir.Shl || !reads(x, s.Buf) {
			break
		}
		a, b := v.linear(x.A, s), v.linear(x.B, s)
		switch one := big.NewInt(1); x.Op {
		case ir.Add:
			return sumLines(a, b, one)
		case ir.Sub:
			return sumLines(a, b, big.NewInt(-1))
		case ir.Mul:
			if isConst(x.A) {
				a, b = b, a
			}
			if isConst(x.A) || isConst(x.B) {
				if b[0].lo.Cmp(b[0].hi) == 0 { // not so for u64 beyond i64
					return lines{{b[0].lo, new(big.Int), new(big.Int)}}.after(a)
				}
			}
		case ir.Shl:
			if k, ok := x.B.(*ir.IntImm); ok && k.V >= 0 && k.V < 64 {
				return lines{{one.Lsh(one, uint(k.V)), new(big.Int), new(big.Int)}}.after(a)
			}
		}
	}
	lo, hi := limits(e.Type())
	if e.Type().IsInt() {
		if iv, ok := v.bounds(e); ok {
			lo, hi = big.NewInt(iv.Lo), big.NewInt(iv.Hi)
		}
	}
	return constLine(lo, hi)
}

// sumLines is a + k*b for k = 1 or -1.
func sumLines(a, b lines, k *big.Int) lines {
	m := lines{{k, new(big.Int), new(big.Int)}}.after(b)[0]
	add := func(x, y *big.Int) *big.Int { return new(big.Int).Add(x, y) }
	return lines{{add(a[0].a, m.a), add(a[0].lo, m.lo), add(a[0].hi, m.hi)}}
}

func reads(e ir.Expr, buf string) bool {
	found := false
	ir.WalkExpr(e, func(x ir.Expr) bool {
		l, ok := x.(*ir.Load)
		found = found || ok && l.Buf == buf
		return !found
	})
	return found
}

// report turns the effect on b, whose elements start in start (nowhere if nil), into an error if a sum does not fit.
func (w *widths) report(b ir.Buffer, e *effect, start lines) error {
	if e == nil {
		return nil
	}
	fail := func(help, format string, args ...any) error {
		return &ir.Error{Op: ir.BufferString(b), Node: "@" + w.f.Name, Msg: fmt.Sprintf(format, args...), Help: help}
	}
	if e.lost {
		return fail("split what adds to it with tail=cut, shift or perfect: under a condition, or where tiles overlap, too many sums are possible", "cannot bound the sums that %%%s accumulates", b.Name)
	}
	lo, hi := limits(b.Type)
	written := false
	for _, p := range e.peak {
		if p.a.Sign() == 0 {
			written = true
		} else if start == nil || p.a.Cmp(big.NewInt(1)) == 0 && p.lo.Sign() == 0 && p.hi.Sign() == 0 {
			continue
		} else {
			p = lines{p}.after(start)[0]
		}
		worst := p.hi
		if p.lo.Cmp(lo) < 0 {
			worst = p.lo
		} else if p.hi.Cmp(hi) <= 0 {
			continue
		}
		return fail(wider(b.Type, p), "the accumulator can reach %s, but %s holds %s..%s", worst, b.Type, lo, hi)
	}
	if start == nil && !written {
		return fail("", "%%%s is added to before it is given a value", b.Name)
	}
	return nil
}

// wider suggests a type that holds p.
func wider(t ir.Type, p line) string {
	for u := ir.I8; u <= ir.U64; u++ {
		lo, hi := limits(u)
		if u.Signed() == t.Signed() && p.lo.Cmp(lo) >= 0 && p.hi.Cmp(hi) <= 0 {
			return fmt.Sprintf("use %s, or widen the sum after fewer terms", u)
		}
	}
	return "give the accumulator a value before adding to it"
}
