package irtext

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"ripc/ir"
)

// expression reads a whole expression.
func (p *parser) expression() (ir.Expr, error) {
	p.size = 0
	return p.infix(1)
}

// infix reads operands joined by operators that bind as strongly as min or more.
func (p *parser) infix(min int) (ir.Expr, error) {
	done, err := p.deeper()
	if err != nil {
		return nil, err
	}
	defer done()
	a, err := p.operand()
	for err == nil {
		op, ok := p.operator()
		if !ok || op.Precedence() < min {
			return a, nil
		}
		at := p.tok
		if p.size++; p.size > maxOperands {
			return nil, p.fail(at, "", "more than %d operators in one expression", maxOperands)
		}
		if err = p.advance(); err != nil {
			break
		}
		var b ir.Expr
		if b, err = p.infix(op.Precedence() + 1); err != nil {
			break
		}
		a, err = p.checked(at, &ir.Binary{Op: op, A: a, B: b})
	}
	return nil, err
}

func (p *parser) operator() (ir.BinOp, bool) {
	if p.tok.kind == symbol {
		for op := ir.Add; op <= ir.Ge; op++ {
			if op.Precedence() > 0 && op.String() == p.tok.s {
				return op, true
			}
		}
	}
	return 0, false
}

// checked is e if its operands have the right types.
func (p *parser) checked(at token, e ir.Expr) (ir.Expr, error) {
	if err := ir.CheckExpr(e); err != nil {
		return nil, p.wrap(at, err)
	}
	return e, nil
}

func (p *parser) operand() (ir.Expr, error) {
	at := p.tok
	switch at.kind {
	case number:
		return p.literal("")
	case local:
		return p.element()
	case word:
		return p.call()
	case symbol:
		switch at.s {
		case "-":
			if err := p.advance(); err != nil {
				return nil, err
			}
			if p.tok.kind != number && !p.is("inf") {
				return nil, p.fail(at, "write neg(x) or 0 - x", "\"-\" without a number")
			}
			return p.literal("-")
		case "~":
			done, err := p.deeper()
			if err != nil {
				return nil, err
			}
			defer done()
			if err := p.advance(); err != nil {
				return nil, err
			}
			a, err := p.operand()
			if err != nil {
				return nil, err
			}
			return p.checked(at, ir.Un(ir.Not, a))
		case "(":
			if err := p.advance(); err != nil {
				return nil, err
			}
			e, err := p.infix(1)
			if err != nil {
				return nil, err
			}
			return e, p.expect(")")
		}
	}
	return nil, p.unexpected("an expression")
}

// element reads %x or %x[i, j].
func (p *parser) element() (ir.Expr, error) {
	at := p.tok
	if err := p.advance(); err != nil {
		return nil, err
	}
	b, ok := p.bufs[at.s]
	if !ok {
		if !p.vars[at.s] && !p.loose {
			return nil, p.unknown(at)
		}
		if p.is("[") {
			return nil, p.fail(at, "", "%s is a loop variable, not a buffer", at)
		}
		return ir.V(at.s), nil
	}
	idx, err := p.indices(at, b)
	if err != nil {
		return nil, err
	}
	return &ir.Load{Buf: b.Name, T: b.Type, Idx: idx}, nil
}

func (p *parser) unknown(at token) error {
	return p.fail(at, "in scope: "+strings.Join(append(sorted(p.bufs), sorted(p.vars)...), " "), "there is no %s", at)
}

func sorted[V any](m map[string]V) []string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, "%"+k)
	}
	return out
}

// indices reads [i, j] after the name of b; a scalar has none.
func (p *parser) indices(at token, b ir.Buffer) ([]ir.Expr, error) {
	var idx []ir.Expr
	if ok, err := p.accept("["); err != nil {
		return nil, err
	} else if ok {
		err := p.list("]", func() error {
			here := p.tok
			e, err := p.infix(1)
			if err == nil && e.Type() != ir.I64 {
				err = p.fail(here, "use cast<i64>(...)", "an index is i64, and this is %s", e.Type())
			}
			idx = append(idx, e)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if len(idx) != len(b.Shape) {
		return nil, p.fail(at, "", "%d indices for %s", len(idx), ir.BufferString(b))
	}
	return idx, nil
}

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
			return nil, p.fail(at, "integers end in their type, i8 to u64, or in nothing for i64; f32 has a point: 1.0",
				"%q is not a number", at.s)
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

// call parses an operand that begins with a word: a constant such as true, or a function call.
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
