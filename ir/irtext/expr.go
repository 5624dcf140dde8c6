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
func (p *parser) expression() ir.Expr {
	p.size = 0
	return p.infix(1)
}

// infix reads operands joined by operators that bind as strongly as min or more.
func (p *parser) infix(min int) ir.Expr {
	defer p.deeper()()
	a := p.operand()
	for {
		op, ok := p.operator()
		if !ok || op.Precedence() < min {
			return a
		}
		at := p.tok
		if p.size++; p.size > maxOperands {
			panic(p.fail(at, "", "more than %d operators in one expression", maxOperands))
		}
		p.advance()
		a = p.checked(at, &ir.Binary{Op: op, A: a, B: p.infix(op.Precedence() + 1)})
	}
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

// checked is e, with operands that must have the right types.
func (p *parser) checked(at token, e ir.Expr) ir.Expr {
	p.check(at, ir.CheckExpr(e))
	return e
}

func (p *parser) operand() ir.Expr {
	at := p.tok
	switch at.kind {
	case number:
		return p.literal("")
	case local:
		return p.element()
	case word:
		return p.call()
	}
	switch {
	case p.accept("-"):
		if p.tok.kind != number && !p.is("inf") {
			panic(p.fail(at, "write neg(x) or 0 - x", "\"-\" without a number"))
		}
		return p.literal("-")
	case p.is("~"):
		defer p.deeper()()
		p.advance()
		return p.checked(at, ir.Un(ir.Not, p.operand()))
	case p.accept("("):
		e := p.infix(1)
		p.expect(")")
		return e
	}
	panic(p.unexpected("an expression"))
}

// element reads %x or %x[i, j].
func (p *parser) element() ir.Expr {
	at := p.take(local, "")
	b, ok := p.bufs[at.s]
	if ok {
		return &ir.Load{Buf: b.Name, T: b.Type, Idx: p.indices(at, b)}
	}
	if !p.vars[at.s] && !p.loose {
		panic(p.unknown(at))
	}
	if p.is("[") {
		panic(p.fail(at, "", "%s is a loop variable, not a buffer", at))
	}
	return ir.V(at.s)
}

func (p *parser) unknown(at token) *ir.Error {
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
func (p *parser) indices(at token, b ir.Buffer) (idx []ir.Expr) {
	if p.accept("[") {
		p.list("]", func() {
			here := p.tok
			e := p.infix(1)
			if e.Type() != ir.I64 {
				panic(p.fail(here, "use cast<i64>(...)", "an index is i64, and this is %s", e.Type()))
			}
			idx = append(idx, e)
		})
	}
	if len(idx) != len(b.Shape) {
		panic(p.fail(at, "", "%d indices for %s", len(idx), ir.BufferString(b)))
	}
	return idx
}

// literal reads a number: 3 is i64, 3u8 is u8, 3.0 is f32.
func (p *parser) literal(sign string) ir.Expr {
	at := p.tok
	p.advance()
	if at.s == "inf" {
		return ir.Float(float32(math.Inf(-1)))
	}
	if strings.ContainsAny(at.s, ".e") {
		v, err := strconv.ParseFloat(sign+at.s, 32)
		if err != nil {
			panic(p.fail(at, "", "%s is not a number that f32 can hold", sign+at.s))
		}
		return ir.Float(float32(v))
	}
	n := 0
	for n < len(at.s) && isDigit(at.s[n]) {
		n++
	}
	t := ir.I64
	var err error
	if n < len(at.s) {
		if t, err = ir.ParseType(at.s[n:]); err != nil || !t.IsInt() {
			panic(p.fail(at, "integers end in their type, i8 to u64, or in nothing for i64; f32 has a point: 1.0",
				"%q is not a number", at.s))
		}
	}
	var v int64
	if t.Signed() {
		v, err = strconv.ParseInt(sign+at.s[:n], 10, t.Bits())
	} else {
		var u uint64
		u, err = strconv.ParseUint(sign+at.s[:n], 10, t.Bits())
		v = int64(u)
	}
	if err != nil {
		panic(p.fail(at, "", "%s does not fit in %s", sign+at.s[:n], t))
	}
	return ir.Const(t, v)
}

// call parses an operand that begins with a word: a constant such as true, or a function call.
func (p *parser) call() ir.Expr {
	at := p.take(word, "")
	switch at.s {
	case "true":
		return ir.Const(ir.Bool, 1)
	case "false":
		return ir.Const(ir.Bool, 0)
	case "inf":
		return ir.Float(float32(math.Inf(1)))
	case "nan":
		return ir.Float(float32(math.NaN()))
	case "cast":
		t := p.typeArgument()
		return p.checked(at, &ir.Cast{T: t, A: p.arguments(at, 1)[0]})
	case "bitcast":
		t := p.typeArgument()
		return p.checked(at, &ir.Bitcast{T: t, A: p.arguments(at, 1)[0]})
	case "min", "max":
		a := p.arguments(at, 2)
		op := ir.Min
		if at.s == "max" {
			op = ir.Max
		}
		return p.checked(at, &ir.Binary{Op: op, A: a[0], B: a[1]})
	case "select":
		a := p.arguments(at, 3)
		return p.checked(at, &ir.Select{Cond: a[0], A: a[1], B: a[2]})
	case "fma":
		a := p.arguments(at, 3)
		return p.checked(at, &ir.Fma{A: a[0], B: a[1], C: a[2]})
	}
	for op := ir.Neg; op <= ir.Abs; op++ {
		if at.s == op.String() || op == ir.Neg && at.s == "neg" {
			return p.checked(at, ir.Un(op, p.arguments(at, 1)[0]))
		}
	}
	const known = "true false inf nan min max select neg abs popcount sqrt floor round_even fma cast<type> " +
		"bitcast<type>"
	panic(p.fail(at, known, "%s is not a function or constant", at))
}

func (p *parser) typeArgument() ir.Type {
	p.expect("<")
	t := p.typeName()
	p.expect(">")
	return t
}

func (p *parser) typeName() ir.Type {
	at := p.take(word, "a type")
	t, err := ir.ParseType(at.s)
	if err != nil {
		panic(p.fail(at, "", "%v", err))
	}
	return t
}

func (p *parser) arguments(at token, n int) (out []ir.Expr) {
	p.expect("(")
	p.list(")", func() { out = append(out, p.infix(1)) })
	if len(out) != n {
		panic(p.fail(at, "", "%s takes %s, not %d", at.s, plural(n, "operand"), len(out)))
	}
	return out
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
