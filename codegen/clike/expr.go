package clike

import (
	"fmt"
	"math"

	"ripc/codegen"
	"ripc/ir"
	"ripc/ir/arith"
)

// expr is the value of e in C, as text that needs no parentheses around it: of type ctype, or a
// narrower or promoted one of the same value.
func (w *writer) expr(e ir.Expr) string {
	switch t := e.Type(); {
	case t == ir.I64:
		return w.index(e).text64()
	case t.IsFloat():
		return w.float(e)
	}
	t := e.Type()
	switch e := e.(type) {
	case *ir.IntImm:
		return literal(t, e.V)
	case *ir.Load:
		if t == ir.Bool {
			return fmt.Sprintf("(%s != 0)", w.element(e.Buf, e.Idx))
		}
		return w.element(e.Buf, e.Idx)
	case *ir.Binary:
		return w.binary(e)
	case *ir.Unary:
		return w.unary(e.Op, t, w.expr(e.A))
	case *ir.Select:
		return fmt.Sprintf("(%s ? %s : %s)", w.cond(e), w.expr(e.A), w.expr(e.B))
	case *ir.Cast:
		return w.cast(e)
	case *ir.Bitcast:
		return w.bitcast(e)
	}
	w.fail("", "%s is unknown in C", ir.ExprString(e))
	return ""
}

// literal is a constant of an integer type.
func literal(t ir.Type, v int64) string {
	switch t {
	case ir.Bool:
		if v != 0 {
			return "1"
		}
		return "0"
	case ir.U8, ir.U16, ir.U32:
		return fmt.Sprintf("%du", uint64(v)&(1<<t.Bits()-1))
	case ir.U64:
		return fmt.Sprintf("UINT64_C(%d)", uint64(v))
	}
	shift := 64 - t.Bits()
	v = v << shift >> shift
	switch {
	case v == math.MinInt64>>shift:
		return fmt.Sprintf("INT%d_MIN", t.Bits())
	case t == ir.I64:
		return fmt.Sprintf("INT64_C(%d)", v)
	}
	return fmt.Sprint(v)
}

// binary is an operation with a result of an integer type (not i64) or bool.
func (w *writer) binary(e *ir.Binary) string {
	t := e.A.Type()
	switch {
	case e.Op.IsCompare() && t == ir.I64:
		return fmt.Sprintf("(%s %s %s)", w.index(e.A).bracket(sum), e.Op, w.index(e.B).bracket(sum))
	case e.Op.IsCompare() && t.IsFloat():
		a, b := w.operand(e.A), w.operand(e.B)
		if w.chooses && (e.Op == ir.Lt || e.Op == ir.Gt) {
			a, b = w.hideZero(e.A, a), w.hideZero(e.B, b)
		}
		return fmt.Sprintf("(%s %s %s)", a, e.Op, b)
	case e.Op.IsCompare():
		return fmt.Sprintf("(%s %s %s)", w.expr(e.A), e.Op, w.expr(e.B))
	}
	return w.integers(e.Op, t, w.expr(e.A), w.expr(e.B))
}

// integers is an operation on integers of type t, or on bools.
func (w *writer) integers(op ir.BinOp, t ir.Type, a, b string) string {
	c, u := ctype(t), wrappingType(t)
	if t == ir.Bool {
		if o := map[ir.BinOp]string{ir.And: "&&", ir.Or: "||", ir.Xor: "!="}[op]; o != "" {
			return fmt.Sprintf("(%s %s %s)", a, o, b)
		}
	}
	switch op {
	case ir.Add, ir.Sub, ir.Mul:
		if c == u {
			return fmt.Sprintf("(%s %s %s)", a, op, b)
		}
		return fmt.Sprintf("(%s)((%s)%s %s (%s)%s)", c, u, a, op, u, b)
	case ir.And, ir.Or, ir.Xor:
		if t.Bits() >= 32 {
			return fmt.Sprintf("(%s %s %s)", a, op, b)
		}
		return fmt.Sprintf("(%s)(%s %s %s)", c, a, op, b)
	case ir.Min, ir.Max:
		return fmt.Sprintf("%s(%s, %s)", w.u.use("rc_"+op.String()+"_"+t.String()), a, b)
	case ir.Shl:
		return fmt.Sprintf("(%s)((%s)%s << %s)", c, u, a, b)
	}
	name := map[ir.BinOp]string{ir.Div: "div", ir.Mod: "mod", ir.Shr: "shr"}[op]
	switch {
	case name == "":
		w.fail("", "%q does not work on %s", op.String(), t)
	case t.Signed():
		return fmt.Sprintf("%s(%s, %s)", w.u.use("rc_"+name+"_"+t.String()), a, b)
	}
	return fmt.Sprintf("(%s)(%s %s %s)", c, a, op, b)
}

// unary is an operation on an integer or a bool.
func (w *writer) unary(op ir.UnOp, t ir.Type, a string) string {
	c, u := ctype(t), wrappingType(t)
	switch op {
	case ir.Not:
		if t == ir.Bool {
			return "(!" + a + ")"
		}
		return fmt.Sprintf("(%s)~%s", c, a)
	case ir.Neg:
		return fmt.Sprintf("(%s)(0u - (%s)%s)", c, u, a)
	case ir.Abs:
		if !t.Signed() {
			return a
		}
		return fmt.Sprintf("%s(%s)", w.u.use("rc_abs_"+t.String()), a)
	case ir.Popcount:
		bits := max(t.Bits(), 32)
		if t.Bits() == 8 {
			bits = 8
		}
		return fmt.Sprintf("(%s)%s((uint%d_t)%s)", c, w.u.use(fmt.Sprintf("rc_popcount%d", bits)), t.Bits(), a)
	}
	w.fail("", "%q does not work on %s", op.String(), t)
	return ""
}

// cast is a conversion to an integer.
func (w *writer) cast(e *ir.Cast) string {
	from := e.A.Type()
	switch {
	case from.IsFloat():
		return fmt.Sprintf("%s(%s)", w.u.use("rc_trunc_"+e.T.String()), w.float(e.A))
	case from == ir.I64:
		return fmt.Sprintf("(%s)%s", ctype(e.T), w.index(e.A).text())
	}
	return fmt.Sprintf("(%s)%s", ctype(e.T), w.expr(e.A))
}

func (w *writer) bitcast(e *ir.Bitcast) string {
	if e.A.Type().IsFloat() {
		return fmt.Sprintf("(%s)%s(%s)", ctype(e.T), w.u.use("rc_bits"), w.float(e.A))
	}
	return fmt.Sprintf("(%s)%s", ctype(e.T), w.expr(e.A))
}

// operand is a float as an operand of the float unit: of +, -, *, /, fma and comparisons.
func (w *writer) operand(e ir.Expr) string { return w.clean(e, "rc_operand") }

// flush is a float without subnormals, whatever the float unit does.
func (w *writer) flush(e ir.Expr) string { return w.clean(e, "rc_flush") }

// clean passes e to the helper that flushes, unless e is flushed.
func (w *writer) clean(e ir.Expr, helper string) string {
	if codegen.Flushed(e, w.flushed) {
		return w.float(e)
	}
	return w.u.use(helper) + "(" + w.float(e) + ")"
}

// hideZero hides text, the float e, from compilers if they might find out that it is 0.
func (w *writer) hideZero(e ir.Expr, text string) string {
	switch e := e.(type) {
	case *ir.Load: // an element of an alloc or of a table
	case *ir.FloatImm:
		if e.V != 0 || w.u.device { // a literal is hidden
			return text
		}
	default:
		return text
	}
	return w.unseen(text)
}

// unseen is text, a float, that compilers know nothing of.
func (w *writer) unseen(text string) string { return fmt.Sprintf("%s(%s)", w.u.use("rc_unseen"), text) }

// extreme is op, min or max, of a and b. Where b is a zero that is the result if a is 0, too, the
// instructions that compilers choose are right.
func (w *writer) extreme(op ir.BinOp, a string, b ir.Expr) string {
	y := w.flush(b)
	if k, ok := b.(*ir.FloatImm); !ok || math.Signbit(float64(k.V)) != (op == ir.Min) {
		y = w.hideZero(b, y)
	}
	return w.floats(op, a, y)
}

// float is the value of a float expression.
func (w *writer) float(e ir.Expr) string {
	switch e := e.(type) {
	case *ir.FloatImm:
		return w.floatLiteral(e.V)
	case *ir.Load:
		return w.element(e.Buf, e.Idx)
	case *ir.Binary:
		if e.Op == ir.Min || e.Op == ir.Max {
			return w.extreme(e.Op, w.hideZero(e.A, w.flush(e.A)), e.B)
		}
		return w.floats(e.Op, w.operand(e.A), w.operand(e.B))
	case *ir.Unary:
		return w.floatUnary(e)
	case *ir.Fma:
		return fmt.Sprintf("%s(%s, %s, %s)", w.u.use("rc_fma"), w.operand(e.A), w.operand(e.B), w.operand(e.C))
	case *ir.Select:
		return fmt.Sprintf("(%s ? %s : %s)", w.cond(e), w.float(e.A), w.float(e.B))
	case *ir.Cast:
		switch from := e.A.Type(); {
		case isZero(e.A):
			return w.floatLiteral(0)
		case from.IsFloat():
			return w.float(e.A)
		case from == ir.I64:
			return "(float)" + w.index(e.A).text()
		}
		return "(float)" + w.expr(e.A)
	case *ir.Bitcast:
		switch {
		case isZero(e.A):
			return w.floatLiteral(0)
		case e.A.Type().IsFloat():
			return w.float(e.A)
		}
		return fmt.Sprintf("%s((uint32_t)%s)", w.u.use("rc_float"), w.expr(e.A))
	}
	w.fail("", "%s is unknown in C", ir.ExprString(e))
	return ""
}

// isZero reports whether e is the integer 0.
func isZero(e ir.Expr) bool {
	i, ok := e.(*ir.IntImm)
	return ok && i.V == 0
}

// floats is an operation on flushed floats.
func (w *writer) floats(op ir.BinOp, a, b string) string {
	name := map[ir.BinOp]string{ir.Add: "rc_fadd", ir.Sub: "rc_fsub", ir.Mul: "rc_fmul", ir.Div: "rc_fdiv",
		ir.Min: "rc_fmin", ir.Max: "rc_fmax"}[op]
	if name == "" {
		w.fail("", "%q does not work on f32", op.String())
	}
	return fmt.Sprintf("%s(%s, %s)", w.u.use(name), a, b)
}

func (w *writer) floatUnary(e *ir.Unary) string {
	switch e.Op {
	case ir.Neg:
		return fmt.Sprintf("%s(%s(%s) ^ 0x80000000u)", w.u.use("rc_float"), w.u.use("rc_bits"), w.float(e.A))
	case ir.Abs:
		return fmt.Sprintf("%s(%s(%s) & 0x7fffffffu)", w.u.use("rc_float"), w.u.use("rc_bits"), w.float(e.A))
	case ir.Sqrt, ir.Floor, ir.RoundEven:
		return fmt.Sprintf("%s(%s)", w.u.use("rc_"+e.Op.String()), w.flush(e.A))
	}
	w.fail("", "%q does not work on f32", e.Op.String())
	return ""
}

// floatLiteral is a constant: C's hexadecimal numbers are exact. A device's compiler does not see
// that it is 0, since Mesa's takes x + 0 for x, and c ? -1 : 0 for -(float)c.
func (w *writer) floatLiteral(v float32) string {
	b := math.Float32bits(v)
	if e := b >> 23 & 0xff; e == 0xff || e == 0 && b<<1 != 0 {
		return fmt.Sprintf("%s(0x%08xu)", w.u.use("rc_float"), b)
	}
	text := fmt.Sprintf("%xf", v)
	switch {
	case b == 0:
		text = "0.0f"
	case math.Signbit(float64(v)):
		text = fmt.Sprintf("(-%xf)", -v)
	}
	if v == 0 && w.u.device {
		return w.unseen(text)
	}
	return text
}

// index is an i64 value: of type int32_t where that is proved to hold it, which is most of the time
// and spares small machines arithmetic on pairs of registers.
type index struct {
	bare    string
	form    form
	isInt32 bool
}

// form is the precedence of the text of an index.
type form uint8

const (
	atom form = iota
	product
	sum
)

// text can be an operand of anything.
func (x index) text() string { return x.bracket(atom) }

// bracket returns x as an operand of an operator that binds weaker than forms up to f.
func (x index) bracket(f form) string {
	if x.form > f {
		return "(" + x.bare + ")"
	}
	return x.bare
}

func (x index) text64() string {
	if x.isInt32 {
		return "(int64_t)" + x.text()
	}
	return x.text()
}

func narrowIndex(format string, args ...any) index {
	return index{fmt.Sprintf(format, args...), atom, true}
}
func wideIndex(text string) index { return index{text, atom, false} }

// index writes an i64 expression.
func (w *writer) index(e ir.Expr) index {
	switch e := e.(type) {
	case *ir.IntImm:
		switch {
		case e.V <= math.MinInt32 || e.V > math.MaxInt32:
			return wideIndex(literal(ir.I64, e.V))
		case e.V < 0:
			return narrowIndex("(%d)", e.V)
		}
		return narrowIndex("%d", e.V)
	case *ir.Var:
		v, ok := w.vars[e.Name]
		if !ok {
			w.fail("", "there is no loop variable %%%s here", e.Name)
		}
		return narrowIndex("%s", v)
	case *ir.Load:
		return wideIndex(w.element(e.Buf, e.Idx))
	case *ir.Binary:
		return w.indexBinary(e)
	case *ir.Unary:
		return wideIndex(w.unary(e.Op, ir.I64, w.index(e.A).text64()))
	case *ir.Select:
		a, b := w.index(e.A), w.index(e.B)
		if a.isInt32 && b.isInt32 {
			return narrowIndex("(%s ? %s : %s)", w.cond(e), a.text(), b.text())
		}
		return wideIndex(fmt.Sprintf("(%s ? %s : %s)", w.cond(e), a.text64(), b.text64()))
	case *ir.Cast:
		from := e.A.Type()
		switch {
		case from.IsFloat():
			return wideIndex(w.cast(e))
		case from == ir.I64:
			return w.index(e.A)
		case from.Bits() < 32 || from == ir.I32:
			return narrowIndex("(int32_t)%s", w.expr(e.A))
		}
		return wideIndex("(int64_t)" + w.expr(e.A))
	case *ir.Bitcast:
		return wideIndex(w.bitcast(e))
	}
	w.fail("", "%s is unknown in C", ir.ExprString(e))
	return index{}
}

func (w *writer) indexBinary(e *ir.Binary) index {
	a, b := w.index(e.A), w.index(e.B)
	iv, known := arith.Bounds(e, w.ranges)
	if !known || iv.Lo < math.MinInt32 || iv.Hi > math.MaxInt32 || !a.isInt32 || !b.isInt32 {
		return wideIndex(w.integers(e.Op, ir.I64, a.text64(), b.text64()))
	}
	switch e.Op {
	case ir.Add:
		return index{a.bracket(sum) + " + " + b.bracket(product), sum, true}
	case ir.Sub:
		return index{a.bracket(sum) + " - " + b.bracket(product), sum, true}
	case ir.Mul:
		return index{a.bracket(product) + " * " + b.text(), product, true}
	case ir.And, ir.Or, ir.Xor:
		return narrowIndex("(%s %s %s)", a.text(), e.Op, b.text())
	case ir.Div, ir.Mod:
		if iv, ok := arith.Bounds(e.A, w.ranges); ok && iv.Lo >= 0 {
			return narrowIndex("(%s %s %s)", a.text(), e.Op, b.text())
		}
	case ir.Shl, ir.Shr: // by up to 63
		return wideIndex(w.integers(e.Op, ir.I64, a.text64(), b.text64()))
	}
	return narrowIndex("%s", w.integers(e.Op, ir.I32, a.text(), b.text()))
}

// choice is a condition, which may choose between floats.
func (w *writer) choice(cond ir.Expr, floats bool) string {
	around := w.chooses
	w.chooses = floats
	text := w.expr(cond)
	w.chooses = around
	return text
}

// cond is the condition of a Select. One that guards loads is marked: some compilers have to be
// kept from seeing through it.
func (w *writer) cond(e *ir.Select) string {
	cond := w.choice(e.Cond, e.Type().IsFloat())
	if ir.ReadsMemory(e.A) || ir.ReadsMemory(e.B) {
		return "RIPC_COND(" + cond + ")"
	}
	return cond
}
