package wgsl

import (
	"fmt"
	"math"

	"ripc/codegen"
	"ripc/ir"
	"ripc/ir/arith"
)

// valueType is the type of values of type t. Narrow integers are kept in range.
func (w *writer) valueType(t ir.Type) string {
	switch {
	case t.Bits() == 64:
		w.failWide()
	case t == ir.Bool:
		return "bool"
	case t == ir.F32:
		return "f32"
	case t.Signed():
		return "i32"
	}
	return "u32"
}

func (w *writer) failWide() {
	w.fail("compile for another target", "it takes integers of 64 bits, and WGSL has 32")
}

// expr is the value of e, as an operand of anything.
func (w *writer) expr(e ir.Expr) string {
	switch t := e.Type(); {
	case t == ir.I64:
		return w.index(e)
	case t.IsFloat():
		return w.float(e)
	case t.Bits() == 64:
		w.failWide()
	}
	switch e := e.(type) {
	case *ir.IntImm:
		return w.literal(e)
	case *ir.Load:
		return w.load(e.Buf, e.Idx)
	case *ir.Binary:
		return w.binary(e)
	case *ir.Unary:
		return w.unary(e)
	case *ir.Select:
		return w.choice(e)
	case *ir.Cast:
		return w.cast(e)
	case *ir.Bitcast:
		if e.A.Type().IsFloat() {
			return fmt.Sprintf("bitcast<%s>(%s)", w.valueType(e.T), w.float(e.A))
		}
		return w.wrap(e.T, w.expr(e.A), e.A.Type())
	}
	w.fail("", "%s is unknown in WGSL", ir.ExprString(e))
	return ""
}

func (w *writer) literal(e *ir.IntImm) string {
	switch {
	case e.T == ir.Bool:
		return fmt.Sprint(e.V != 0)
	case !e.T.Signed():
		return fmt.Sprintf("%du", uint32(e.V))
	case e.V < math.MinInt32 || e.V > math.MaxInt32:
		w.failWide()
	case e.V < 0:
		return fmt.Sprintf("i32(%d)", e.V)
	}
	return fmt.Sprint(e.V)
}

// choice evaluates both sides. Where one would read outside of a buffer, WebGPU reads another
// element.
func (w *writer) choice(e *ir.Select) string {
	return fmt.Sprintf("select(%s, %s, %s)", w.expr(e.B), w.expr(e.A), w.expr(e.Cond))
}

// wrap converts an integer of type from to t, modulo 2^bits.
func (w *writer) wrap(t ir.Type, text string, from ir.Type) string {
	if c := w.valueType(t); c != w.valueType(from) {
		text = c + "(" + text + ")"
	}
	if limits := t.Limits(); t.Bits() == 32 || limits.Has(from.Limits()) {
		return text
	}
	return fmt.Sprintf("extractBits(%s, 0u, %du)", text, t.Bits())
}

// wrapped is the result of an operation in words on values of an integer type t.
func (w *writer) wrapped(t ir.Type, text string) string {
	if t.Signed() {
		return w.wrap(t, text, ir.I32)
	}
	return w.wrap(t, text, ir.U32)
}

// binary is an operation with a result of an integer type (not i64) or bool.
func (w *writer) binary(e *ir.Binary) string {
	t := e.A.Type()
	a, b := w.expr(e.A), w.expr(e.B)
	if t.IsFloat() {
		a, b = w.operand(e.A), w.operand(e.B)
		if e.Op == ir.Ne {
			return fmt.Sprintf("rc_fne(%s, %s)", a, b)
		}
	}
	if e.Op.IsCompare() {
		return fmt.Sprintf("(%s %s %s)", a, e.Op, b)
	}
	if t == ir.Bool {
		return fmt.Sprintf("(%s %s %s)", a, map[ir.BinOp]string{ir.And: "&&", ir.Or: "||", ir.Xor: "!="}[e.Op], b)
	}
	return w.wrapped(t, operation(e.Op, a, b, t.Signed()))
}

// operation is op on words a and b. Signed quotients are rounded down.
func operation(op ir.BinOp, a, b string, signed bool) string {
	switch op {
	case ir.Min, ir.Max:
		return fmt.Sprintf("%s(%s, %s)", op, a, b)
	case ir.Shl, ir.Shr:
		return fmt.Sprintf("(%s %s u32(%s))", a, op, b)
	case ir.Div, ir.Mod:
		if signed {
			return fmt.Sprintf("%s(%s, %s)", map[ir.BinOp]string{ir.Div: "rc_div", ir.Mod: "rc_mod"}[op], a, b)
		}
	}
	return fmt.Sprintf("(%s %s %s)", a, op, b)
}

// unary is an operation on an integer or a bool.
func (w *writer) unary(e *ir.Unary) string {
	a, t := w.expr(e.A), e.A.Type()
	switch e.Op {
	case ir.Not:
		if t == ir.Bool {
			return "(!" + a + ")"
		}
		return w.wrapped(t, "(~"+a+")")
	case ir.Neg:
		return w.wrapped(t, fmt.Sprintf("(%s(0) - %s)", w.valueType(t), a))
	case ir.Abs:
		return w.wrapped(t, "abs("+a+")")
	case ir.Popcount:
		if t.Signed() && t.Bits() < 32 {
			return fmt.Sprintf("countOneBits(%s & %d)", a, 1<<t.Bits()-1)
		}
		return "countOneBits(" + a + ")"
	}
	w.fail("", "%q does not work on %s", e.Op.String(), t)
	return ""
}

// cast is a conversion to an integer or bool.
func (w *writer) cast(e *ir.Cast) string {
	from := e.A.Type()
	switch bits := e.T.Bits(); {
	case from == ir.Bool:
		c := w.valueType(e.T)
		return fmt.Sprintf("select(%[1]s(0), %[1]s(1), %[2]s)", c, w.expr(e.A))
	case from.IsFloat() && e.T.Signed():
		return fmt.Sprintf("rc_truncs(%s, 0x1p%df, i32(%d), %d)", w.float(e.A), bits-1, math.MinInt64>>(64-bits),
			int64(math.MaxInt64)>>(64-bits))
	case from.IsFloat():
		return fmt.Sprintf("rc_truncu(%s, 0x1p%df, %du)", w.float(e.A), bits, uint64(1)<<bits-1)
	case from == ir.I64:
		from = ir.I32
	}
	return w.wrap(e.T, w.expr(e.A), from)
}

// index is an i64 value, which is proved to fit 32 bits.
func (w *writer) index(e ir.Expr) string {
	if iv, ok := arith.Bounds(e, w.ranges); !ok || iv.Lo < math.MinInt32 || iv.Hi > math.MaxInt32 {
		w.failWide()
	}
	switch e := e.(type) {
	case *ir.IntImm:
		return w.literal(e)
	case *ir.Var:
		return w.vars[e.Name]
	case *ir.Binary:
		signed := true
		if iv, ok := arith.Bounds(e.A, w.ranges); ok && iv.Lo >= 0 {
			signed = false
		}
		return operation(e.Op, w.index(e.A), w.index(e.B), signed)
	case *ir.Select:
		return w.choice(e)
	case *ir.Cast:
		switch from := e.A.Type(); {
		case from == ir.I64:
			return w.index(e.A)
		case from == ir.Bool:
			return "select(0, 1, " + w.expr(e.A) + ")"
		case !from.IsFloat():
			return "i32(" + w.expr(e.A) + ")"
		}
	}
	w.failWide()
	return ""
}

// operand is a float without subnormals.
func (w *writer) operand(e ir.Expr) string {
	if codegen.Flushed(e, w.flushed) {
		return w.float(e)
	}
	return "rc_flush(" + w.float(e) + ")"
}

// float is the value of a float expression.
func (w *writer) float(e ir.Expr) string {
	switch e := e.(type) {
	case *ir.FloatImm:
		b := math.Float32bits(e.V)
		if x := b >> 23; x > 0 && x < 0xff {
			return fmt.Sprintf("%xf", e.V)
		}
		// Of others compilers may lose the sign, or refuse them.
		return fmt.Sprintf("rc_float(0x%08xu)", b)
	case *ir.Load:
		return w.load(e.Buf, e.Idx)
	case *ir.Binary:
		name := map[ir.BinOp]string{ir.Add: "rc_fadd", ir.Sub: "rc_fsub", ir.Mul: "rc_fmul", ir.Div: "rc_fdiv",
			ir.Min: "rc_fmin", ir.Max: "rc_fmax"}[e.Op]
		return fmt.Sprintf("%s(%s, %s)", name, w.operand(e.A), w.operand(e.B))
	case *ir.Unary:
		switch e.Op {
		case ir.Neg, ir.Abs:
			return fmt.Sprintf("rc_%s(%s)", map[ir.UnOp]string{ir.Neg: "neg", ir.Abs: "abs"}[e.Op], w.float(e.A))
		case ir.Sqrt, ir.Floor, ir.RoundEven:
			return fmt.Sprintf("rc_%s(%s)", e.Op, w.operand(e.A))
		}
	case *ir.Fma:
		return fmt.Sprintf("rc_fma(%s, %s, %s)", w.operand(e.A), w.operand(e.B), w.operand(e.C))
	case *ir.Select:
		return w.choice(e)
	case *ir.Cast:
		switch from := e.A.Type(); {
		case from.IsFloat():
			return w.float(e.A)
		case from == ir.Bool:
			return "select(0.0f, 1.0f, " + w.expr(e.A) + ")"
		}
		if e.A.Type().Signed() {
			return "rc_fromi(" + w.expr(e.A) + ")"
		}
		return "rc_fromu(" + w.expr(e.A) + ")"
	case *ir.Bitcast:
		if e.A.Type().IsFloat() {
			return w.float(e.A)
		}
		return "rc_float(bitcast<u32>(" + w.expr(e.A) + "))"
	}
	w.fail("", "%s is unknown in WGSL", ir.ExprString(e))
	return ""
}
