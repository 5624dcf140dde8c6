package irtext

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"ripc/ir"
)

// literal reads a number: 3 is i64, 3u8 is u8, 3.0 is f32.
func (p *parser) literal(sign string) (ir.Expr, error) {
	at := p.tok
	if err := p.advance(); err != nil {
		return nil, err
	}
	if at.s == "inf" {
		return ir.Float(float32(math.Inf(-1))), nil
	}
	if strings.ContainsAny(at.s, ".e") {
		v, err := strconv.ParseFloat(sign+at.s, 32)
		if err != nil {
			return nil, p.fail(at, "", "%s is not a number that f32 can hold", sign+at.s)
		}
		return ir.Float(float32(v)), nil
	}
	n := 0
	for n < len(at.s) && isDigit(at.s[n]) {
		n++
	}
	t := ir.I64
	if n < len(at.s) {
		var err error
		if t, err = ir.ParseType(at.s[n:]); err != nil || !t.IsInt() {
			return nil, p.fail(at, "integers end in their type, i8 to u64, or in nothing for i64; f32 has a point: 1.0", "%q is not a number", at.s)
		}
	}
	var v int64
	var err error
	if t.Signed() {
		v, err = strconv.ParseInt(sign+at.s[:n], 10, t.Bits())
	} else {
		var u uint64
		u, err = strconv.ParseUint(sign+at.s[:n], 10, t.Bits())
		v = int64(u)
	}
	if err != nil {
		return nil, p.fail(at, "", "%s does not fit in %s", sign+at.s[:n], t)
	}
	return ir.Const(t, v), nil
}

// call reads what begins with a word: constants such as true, and functions.
func (p *parser) call() (ir.Expr, error) {
	at := p.tok
	if err := p.advance(); err != nil {
		return nil, err
	}
	switch at.s {
	case "true":
		return ir.Const(ir.Bool, 1), nil
	case "false":
		return ir.Const(ir.Bool, 0), nil
	case "inf":
		return ir.Float(float32(math.Inf(1))), nil
	case "nan":
		return ir.Float(float32(math.NaN())), nil
	case "cast", "bitcast":
		t, err := p.typeArgument()
		if err != nil {
			return nil, err
		}
		a, err := p.arguments(at, 1)
		if err != nil {
			return nil, err
		}
		if at.s == "cast" {
			return p.checked(at, &ir.Cast{T: t, A: a[0]})
		}
		return p.checked(at, &ir.Bitcast{T: t, A: a[0]})
	case "min", "max":
		a, err := p.arguments(at, 2)
		if err != nil {
			return nil, err
		}
		op := ir.Min
		if at.s == "max" {
			op = ir.Max
		}
		return p.checked(at, &ir.Binary{Op: op, A: a[0], B: a[1]})
	case "select", "fma":
		a, err := p.arguments(at, 3)
		if err != nil {
			return nil, err
		}
		if at.s == "fma" {
			return p.checked(at, &ir.Fma{A: a[0], B: a[1], C: a[2]})
		}
		return p.checked(at, &ir.Select{Cond: a[0], A: a[1], B: a[2]})
	}
	for op := ir.Neg; op <= ir.Abs; op++ {
		if at.s == op.String() || op == ir.Neg && at.s == "neg" {
			a, err := p.arguments(at, 1)
			if err != nil {
				return nil, err
			}
			return p.checked(at, ir.Un(op, a[0]))
		}
	}
	return nil, p.fail(at, "true false inf nan min max select neg abs popcount sqrt floor round_even fma cast<type> bitcast<type>", "%s is not a function or constant", at)
}

func (p *parser) typeArgument() (ir.Type, error) {
	if err := p.expect("<"); err != nil {
		return 0, err
	}
	t, err := p.typeName()
	if err != nil {
		return 0, err
	}
	return t, p.expect(">")
}

func (p *parser) typeName() (ir.Type, error) {
	at, err := p.take(word, "a type")
	if err != nil {
		return 0, err
	}
	t, err := ir.ParseType(at.s)
	if err != nil {
		return 0, p.fail(at, "", "%v", err)
	}
	return t, nil
}

func (p *parser) arguments(at token, n int) ([]ir.Expr, error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	var out []ir.Expr
	err := p.list(")", func() error {
		e, err := p.infix(1)
		out = append(out, e)
		return err
	})
	if err == nil && len(out) != n {
		err = p.fail(at, "", "%s takes %s, not %d", at.s, plural(n, "operand"), len(out))
	}
	return out, err
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
