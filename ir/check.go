package ir

import (
	"fmt"
	"math"
)

// CheckExpr checks one node of an expression, without its operands' own subexpressions: that
// operands exist and have types that the operator takes. The error is an *Error without a place.
func CheckExpr(e Expr) error {
	for o := range Operands(e) {
		if o == nil {
			return mistake("an operand is missing", "")
		}
	}
	switch e := e.(type) {
	case nil:
		return mistake("the expression is missing", "")
	case *IntImm:
		return checkInt(e)
	case *FloatImm, *Var:
		return nil
	case *Load:
		return checkIndices(e.Idx)
	case *Binary:
		return checkBinary(e)
	case *Unary:
		return checkUnary(e)
	case *Select:
		if t := e.Cond.Type(); t != Bool {
			return mistake(fmt.Sprintf("the condition of select is %s", t), "compare it, e.g. with != 0, to get a bool")
		}
		return sameType("the sides of select", e.A, e.B)
	case *Cast:
		return checkCast(e)
	case *Bitcast:
		from := e.A.Type()
		if from == Bool || e.T == Bool || from.Bits() != e.T.Bits() || from.Bits() == 0 {
			return mistake(fmt.Sprintf("cannot bitcast %s to %s", from, e.T),
				"bitcast is between types of equal width, not bool")
		}
	case *Fma:
		for _, o := range []Expr{e.A, e.B, e.C} {
			if o.Type() != F32 {
				return mistake(fmt.Sprintf("an operand of fma is %s", o.Type()), "fma takes three f32")
			}
		}
	}
	return nil
}

func checkInt(e *IntImm) error {
	ok := false
	switch {
	case e.T == I64 || e.T == U64:
		ok = true
	case e.T == Bool:
		ok = e.V == 0 || e.V == 1
	case e.T.Signed() && e.T.IsInt():
		ok = e.V >= math.MinInt64>>(64-e.T.Bits()) && e.V <= math.MaxInt64>>(64-e.T.Bits())
	case e.T.IsInt():
		ok = e.V >= 0 && e.V < 1<<e.T.Bits()
	default:
		return mistake(fmt.Sprintf("an integer constant has type %s", e.T), "use an integer type or bool")
	}
	if !ok {
		return mistake(fmt.Sprintf("constant %d does not fit in %s", e.V, e.T), "")
	}
	return nil
}

func checkIndices(idx []Expr) error {
	for _, i := range idx {
		if i == nil {
			return mistake("an index is missing", "")
		}
		if i.Type() != I64 {
			return mistake(fmt.Sprintf("index %s is %s", ExprString(i), i.Type()),
				"indices are i64: use cast<i64>(...)")
		}
	}
	return nil
}

func sameType(what string, a, b Expr) error {
	if a.Type() != b.Type() {
		return mistake(fmt.Sprintf("%s have types %s and %s", what, a.Type(), b.Type()), "cast one of them")
	}
	return nil
}

func checkBinary(e *Binary) error {
	what := func() string { return fmt.Sprintf("the operands of %q", e.Op.String()) }
	t := e.A.Type()
	if t != e.B.Type() {
		return sameType(what(), e.A, e.B)
	}
	ok, takes := t.IsInt() || t.IsFloat(), "integers or f32"
	switch e.Op {
	case And, Or, Xor:
		ok, takes = t.IsInt() || t == Bool, "integers or bool"
	case Mod, Shl, Shr:
		ok, takes = t.IsInt(), "integers"
	case Eq, Ne:
		ok, takes = ok || t == Bool, "integers, f32 or bool"
	}
	if !ok {
		return mistake(fmt.Sprintf("%s have type %s", what(), t), fmt.Sprintf("%q takes %s", e.Op.String(), takes))
	}
	k, isConst := e.B.(*IntImm)
	switch {
	case (e.Op == Div || e.Op == Mod) && t.IsInt():
		if !isConst || k.V == 0 || k.V < 0 && t != U64 {
			return mistake(fmt.Sprintf("the divisor %s is not a positive constant", ExprString(e.B)),
				"divide by a constant of 1 or more")
		}
	case (e.Op == Shl || e.Op == Shr) && isConst && (k.V < 0 || k.V >= int64(t.Bits())):
		return mistake(fmt.Sprintf("%s is shifted by %d", t, k.V), fmt.Sprintf("shift by 0..%d", t.Bits()-1))
	}
	return nil
}

func checkUnary(e *Unary) error {
	t := e.A.Type()
	ok, takes := t.IsInt() || t.IsFloat(), "integers or f32"
	switch e.Op {
	case Not:
		ok, takes = t.IsInt() || t == Bool, "integers or bool"
	case Popcount:
		ok, takes = t.IsInt(), "integers"
	case Sqrt, Floor, RoundEven:
		ok, takes = t.IsFloat(), "f32"
	}
	if !ok {
		return mistake(fmt.Sprintf("the operand of %q is %s", e.Op.String(), t),
			fmt.Sprintf("%q takes %s", e.Op.String(), takes))
	}
	return nil
}

func checkCast(e *Cast) error {
	from := e.A.Type()
	switch {
	case from == e.T && from != Invalid:
	case e.T.IsInt() && (from.IsInt() || from == Bool || from.IsFloat()):
	case e.T.IsFloat() && from.IsInt():
	case e.T == Bool:
		return mistake(fmt.Sprintf("cannot cast %s to bool", from), "compare it, e.g. with != 0")
	default:
		return mistake(fmt.Sprintf("cannot cast %s to %s", from, e.T),
			"cast between integers and f32, or from bool to an integer")
	}
	return nil
}
