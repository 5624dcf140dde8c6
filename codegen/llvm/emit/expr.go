package emit

import (
	"maps"
	"math"

	llir "github.com/llir/llvm/ir"

	"ripc/ir"
)

// evalShared emits the expression of a statement, and each common subexpression once.
func (e *emitter) evalShared(x ir.Expr) val {
	e.parts = map[ir.Expr]val{}
	defer func() { e.parts = nil }()
	return e.eval(ir.Share(x))
}

// eval emits an expression, or returns the value of a shared subexpression emitted before. The
// result is wide if it can differ between the lanes of the enclosing vectorized loop.
func (e *emitter) eval(x ir.Expr) val {
	if v, ok := e.parts[x]; ok {
		return v
	}
	v := e.compute(x)
	if e.parts != nil {
		e.parts[x] = v
	}
	return v
}

// withParts calls emit with other values of shared subexpressions: those of another block or
// another lane.
func (e *emitter) withParts(parts map[ir.Expr]val, emit func()) {
	rest := e.parts
	e.parts = parts
	emit()
	e.parts = rest
}

// compute emits an expression.
func (e *emitter) compute(x ir.Expr) val {
	switch x := x.(type) {
	case *ir.IntImm:
		return imm(x.T, x.V)
	case *ir.FloatImm:
		return floatConst(x.V)
	case *ir.Var:
		v, ok := e.vars[x.Name]
		if !ok {
			e.fail("", "", "%%%s is not a loop variable in scope", x.Name)
		}
		return v
	case *ir.Load:
		p := e.place(x.Buf, x.Idx)
		return p.describe(e.load(p))
	case *ir.Binary:
		if x.Op == ir.Div || x.Op == ir.Mod {
			if !x.Type().IsFloat() {
				return e.divmod(x)
			}
		}
		if v, ok := e.laneBits(x); ok {
			return v
		}
		if x.Op.IsCompare() {
			a, aOK := e.eval32(x.A, math.MinInt32)
			b, bOK := e.eval32(x.B, math.MinInt32)
			if aOK && bOK {
				return e.binary(x.Op, a, b)
			}
		}
		a := e.eval(x.A)
		b := e.eval(x.B)
		if a.t != b.t {
			e.fail("", "", "%s: the operands are %s and %s", ir.ExprString(x), a.t, b.t)
		}
		return e.binary(x.Op, a, b)
	case *ir.Unary:
		return e.unary(x.Op, e.eval(x.A))
	case *ir.Select:
		return e.choose(x)
	case *ir.Cast:
		if v, ok := e.emitHighProduct(x); ok {
			return v
		}
		if v, ok := e.partOfWord(x); ok {
			return v
		}
		if a, ok := e.eval32(x.A, math.MinInt32); ok {
			return e.convert(a, x.T)
		}
		around := e.toBytes
		e.toBytes = around || x.T.Bits() == 8
		a := e.eval(x.A)
		e.toBytes = around
		return e.convert(a, x.T)
	case *ir.Bitcast:
		return e.reinterpret(e.eval(x.A), x.T)
	case *ir.Fma:
		a, b, c := e.eval(x.A), e.eval(x.B), e.eval(x.C)
		if a.wide || b.wide || c.wide {
			a, b, c = e.splat(a), e.splat(b), e.splat(c)
		}
		e.operands(&a, &b, &c)
		return e.fma(a, b, c)
	}
	e.fail("", "", "unknown expression %s", ir.ExprString(x))
	return val{}
}

// choose emits a Select. It evaluates both sides if they are safe, and otherwise only the chosen
// one.
func (e *emitter) choose(x *ir.Select) val {
	wide := e.varies(x.Cond)
	safe := e.isSafe(x.A) && e.isSafe(x.B)
	if wide && !safe {
		e.enter(e.laneVar, "vectorized", e.lanes)
		defer e.leave()
		return e.fromLanes(x.Type(), func(k int) (out val) {
			e.atLane(k, func() { out = e.choose(x) })
			return out
		})
	}
	c := e.condition(x)
	switch {
	case c.known && c.k != 0:
		return e.eval(x.A)
	case c.known:
		return e.eval(x.B)
	case !safe:
		return e.branch(c, x)
	}
	return e.pick(c, e.eval(x.A), e.eval(x.B))
}

// pick returns a where c holds, else b; both are evaluated already.
func (e *emitter) pick(c, a, b val) val {
	a, b = e.match(a, b)
	if c.wide {
		a, b = e.splat(a), e.splat(b)
	}
	if by := e.facts.SelectBy; by != "" && c.wide && a.t.IsFloat() {
		mask := e.b().NewBitCast(e.b().NewSExt(c.v, e.typeOf(ir.I32, true)), a.v.Type())
		a.v = e.callInFours("ripc_select", by, a, b, val{v: mask, t: a.t, wide: true})
	} else {
		a.v = e.b().NewSelect(c.v, a.v, b.v)
	}
	a.known, a.constant, a.neutral, a.zero = false, false, false, false
	a.flushed, a.positive = a.flushed && b.flushed, a.positive && b.positive
	a.grain = min(a.grain, b.grain)
	return a
}

// branch emits a Select as control flow, because one side is unsafe to evaluate if not chosen.
func (e *emitter) branch(c val, x *ir.Select) val {
	yes, no, join := e.block("select.a"), e.block("select.b"), e.block("select.end")
	e.b().NewCondBr(c.v, yes, no)
	wide := e.varies(x.A) || e.varies(x.B)
	side := func(blk *llir.Block, y ir.Expr) (val, *llir.Incoming) {
		e.start(blk)
		var v val
		e.withParts(maps.Clone(e.parts), func() { v = e.eval(y) })
		if wide {
			v = e.splat(v)
		}
		from := e.blk
		e.b().NewBr(join)
		return v, llir.NewIncoming(v.v, from)
	}
	a, fromA := side(yes, x.A)
	b, fromB := side(no, x.B)
	e.start(join)
	return val{v: e.b().NewPhi(fromA, fromB), t: a.t, wide: wide, flushed: a.flushed && b.flushed}
}
