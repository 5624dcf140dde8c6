package irtext

import (
	"maps"
	"slices"
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
