package irtext

import (
	"fmt"
	"strings"

	"ripc/ir"
)

// body reads { ... }.
func (p *parser) body() (ir.Stmt, error) {
	done, err := p.deeper()
	if err != nil {
		return nil, err
	}
	defer done()
	if err := p.expect("{"); err != nil {
		return nil, err
	}
	s, err := p.statements()
	if err != nil {
		return nil, err
	}
	return s, p.expect("}")
}

// statements reads up to "}". An alloc contains all later statements.
func (p *parser) statements() (ir.Stmt, error) {
	var out []ir.Stmt
	var allocs []ir.Buffer
	var starts []int
	for !p.is("}") {
		if p.is("alloc") {
			if err := p.advance(); err != nil {
				return nil, err
			}
			b, err := p.declaration()
			if err != nil {
				return nil, err
			}
			if b.Role, err = p.role(); err != nil {
				return nil, err
			}
			p.bufs[b.Name] = b
			allocs, starts = append(allocs, b), append(starts, len(out))
			if len(allocs) > maxNesting {
				return nil, p.fail(p.tok, "", "more than %d allocs in one block", maxNesting)
			}
			continue
		}
		s, err := p.statement()
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	for i := len(allocs) - 1; i >= 0; i-- {
		delete(p.bufs, allocs[i].Name)
		out = append(out[:starts[i]:starts[i]], &ir.Alloc{Buf: allocs[i], Body: ir.Seq(out[starts[i]:]...)})
	}
	return ir.Seq(out...), nil
}

func (p *parser) statement() (ir.Stmt, error) {
	at := p.tok
	switch {
	case at.kind == comment:
		return &ir.Comment{Text: at.s}, p.advance()
	case at.kind == local:
		return p.store()
	case p.is("{"):
		return p.body()
	case p.is("for"):
		return p.loop()
	case p.is("if"):
		return p.branch()
	case p.is("call"):
		return p.instruction()
	}
	return nil, p.unexpected("a statement (for, if, alloc, call, %x[...] = ..., a comment) or \"}\"")
}

func (p *parser) loop() (ir.Stmt, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	v, err := p.fresh("a loop variable, such as %i,")
	if err != nil {
		return nil, err
	}
	if err := p.expect("in"); err != nil {
		return nil, err
	}
	at := p.tok
	if n, err := p.size64("0"); err != nil || n != 0 {
		return nil, p.fail(at, "loops start at 0: for %i in 0:8", "%s where 0 should be", at)
	}
	if err := p.expect(":"); err != nil {
		return nil, err
	}
	n, err := p.size64("an extent")
	if err != nil {
		return nil, err
	}
	l := &ir.For{Var: v.s, Extent: int(n)}
	for k := ir.Parallel; k <= ir.Unroll; k++ {
		if ok, err := p.accept(k.String()); err != nil {
			return nil, err
		} else if ok {
			l.Kind = k
			break
		}
	}
	if l.Axis, err = p.axis(); err != nil {
		return nil, err
	}
	if !p.is("{") {
		return nil, p.unexpected("\"{\", or parallel, vectorize, unroll or axis=,")
	}
	p.vars[v.s] = true
	l.Body, err = p.body()
	delete(p.vars, v.s)
	return l, err
}

// axis reads axis=word, if it is there.
func (p *parser) axis() (ir.Axis, error) {
	if ok, err := p.accept("axis"); !ok || err != nil {
		return ir.NoAxis, err
	}
	if err := p.expect("="); err != nil {
		return ir.NoAxis, err
	}
	at := p.tok
	a, err := ir.ParseAxis(at.s)
	if err != nil || a == ir.NoAxis {
		var all []string
		for a := ir.Batch; a <= ir.Copy; a++ {
			all = append(all, a.String())
		}
		return ir.NoAxis, p.fail(at, "axes: "+strings.Join(all, ", "), "%s is not an axis", at)
	}
	return a, p.advance()
}

// role reads role=sum, if it is there.
func (p *parser) role() (ir.Role, error) {
	if ok, err := p.accept("role"); !ok || err != nil {
		return ir.NoRole, err
	}
	if err := p.expect("="); err != nil {
		return ir.NoRole, err
	}
	at := p.tok
	r, err := ir.ParseRole(at.s)
	if err != nil {
		return ir.NoRole, p.fail(at, "roles: pad, table, sum, window, value, position, mean", "%s is not a role", at)
	}
	return r, p.advance()
}

func (p *parser) branch() (ir.Stmt, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	at := p.tok
	cond, err := p.expression()
	if err != nil {
		return nil, err
	}
	if cond.Type() != ir.Bool {
		return nil, p.fail(at, "compare it, e.g. with != 0", "a condition is bool, and this is %s", cond.Type())
	}
	s := &ir.If{Cond: cond}
	if s.Then, err = p.body(); err != nil {
		return nil, err
	}
	ok, err := p.accept("else")
	if ok && err == nil {
		s.Else, err = p.body()
	}
	return s, err
}

// target reads %x or %x[i, j] where a buffer is meant.
func (p *parser) target() (ir.Buffer, []ir.Expr, error) {
	at, err := p.take(local, "a buffer, such as %x,")
	if err != nil {
		return ir.Buffer{}, nil, err
	}
	b, ok := p.bufs[at.s]
	if !ok {
		return b, nil, p.unknown(at)
	}
	p.size = 0
	idx, err := p.indices(at, b)
	return b, idx, err
}

func (p *parser) store() (ir.Stmt, error) {
	b, idx, err := p.target()
	if err != nil {
		return nil, err
	}
	s := &ir.Store{Buf: b.Name, Idx: idx}
	at := p.tok
	op := at.s
	if (p.is("min") || p.is("max")) && p.off < len(p.src) && p.src[p.off] == '=' {
		if err := p.advance(); err != nil {
			return nil, err
		}
		if p.is("=") {
			op += "="
		}
	}
	for op != s.Op.String() {
		if s.Op++; s.Op > ir.MaxTo {
			return nil, p.fail(at, "", "%s where =, +=, |=, min= or max= should be", at)
		}
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	at = p.tok
	if s.Val, err = p.expression(); err != nil {
		return nil, err
	}
	if t := s.Val.Type(); t != b.Type {
		return nil, p.fail(at, fmt.Sprintf("use cast<%s>(...)", b.Type), "the value is %s, but %s", t, ir.BufferString(b))
	}
	return s, nil
}

func (p *parser) instruction() (ir.Stmt, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	at, err := p.take(global, "the name of an instruction, such as @f,")
	if err != nil {
		return nil, err
	}
	c := &ir.Call{Fn: p.funcs[at.s]}
	if c.Fn == nil {
		return nil, p.fail(at, "an instruction is defined before it is called", "there is no %s", at)
	}
	p.called[c.Fn] = true
	if err := p.expect("("); err != nil {
		return nil, err
	}
	err = p.list(")", func() error {
		b, idx, err := p.target()
		c.Args = append(c.Args, ir.Window{Buf: b.Name, Idx: idx})
		return err
	})
	if err == nil && len(c.Args) != len(c.Fn.Params) {
		err = p.fail(at, "", "%s takes %s, not %d", at, plural(len(c.Fn.Params), "operand"), len(c.Args))
	}
	return c, err
}
