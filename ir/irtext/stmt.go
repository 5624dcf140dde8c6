package irtext

import (
	"fmt"
	"strings"

	"ripc/ir"
)

// body reads { ... }.
func (p *parser) body() ir.Stmt {
	defer p.deeper()()
	p.expect("{")
	s := p.statements()
	p.expect("}")
	return s
}

// statements reads up to "}". An alloc contains all later statements.
func (p *parser) statements() ir.Stmt {
	var out []ir.Stmt
	var allocs []ir.Buffer
	var starts []int
	for !p.is("}") {
		if !p.accept("alloc") {
			out = append(out, p.statement())
			continue
		}
		b := p.declaration()
		if p.accept("shared") {
			b.Space = ir.Shared
		}
		b.Role = purpose(p, "role", ir.ParseRole)
		p.bufs[b.Name] = b
		allocs, starts = append(allocs, b), append(starts, len(out))
		if len(allocs) > maxNesting {
			panic(p.fail(p.tok, "", "more than %d allocs in one block", maxNesting))
		}
	}
	for i := len(allocs) - 1; i >= 0; i-- {
		delete(p.bufs, allocs[i].Name)
		out = append(out[:starts[i]:starts[i]], &ir.Alloc{Buf: allocs[i], Body: ir.Seq(out[starts[i]:]...)})
	}
	return ir.Seq(out...)
}

func (p *parser) statement() ir.Stmt {
	switch {
	case p.tok.kind == comment:
		return &ir.Comment{Text: p.take(comment, "").s}
	case p.tok.kind == local:
		return p.store()
	case p.is("{"):
		return p.body()
	case p.accept("barrier"):
		return &ir.Barrier{}
	case p.accept("for"):
		return p.loop()
	case p.accept("if"):
		return p.branch()
	case p.accept("call"):
		return p.instruction()
	}
	panic(p.unexpected("a statement (for, if, alloc, call, barrier, %x[...] = ..., a comment) or \"}\""))
}

func (p *parser) loop() ir.Stmt {
	v := p.fresh("a loop variable, such as %i,")
	p.expect("in")
	if at := p.tok; at.kind != number || strings.Trim(at.s, "0") != "" {
		panic(p.fail(at, "loops start at 0: for %i in 0:8", "%s where 0 should be", at))
	}
	p.advance()
	p.expect(":")
	l := &ir.For{Var: v.s, Extent: int(p.size64("an extent"))}
	for k := ir.Parallel; k <= ir.Threads; k++ {
		if p.accept(k.String()) {
			l.Kind = k
			break
		}
	}
	l.Axis = purpose(p, "axis", ir.ParseAxis)
	if !p.is("{") {
		panic(p.unexpected("\"{\", or parallel, vectorize, unroll, block, thread or axis=,"))
	}
	p.vars[v.s] = true
	l.Body = p.body()
	delete(p.vars, v.s)
	return l
}

// purpose reads word=text, if it is there, such as axis=row or role=sum.
func purpose[E any](p *parser, word string, parse func(string) (E, error)) (e E) {
	if !p.accept(word) {
		return e
	}
	p.expect("=")
	e, err := parse(p.tok.s)
	p.check(p.tok, err)
	p.advance()
	return e
}

func (p *parser) branch() ir.Stmt {
	at := p.tok
	s := &ir.If{Cond: p.expression()}
	if t := s.Cond.Type(); t != ir.Bool {
		panic(p.fail(at, "compare it, e.g. with != 0", "a condition is bool, and this is %s", t))
	}
	s.Then = p.body()
	if p.accept("else") {
		s.Else = p.body()
	}
	return s
}

// target reads %x or %x[i, j] where a buffer is meant.
func (p *parser) target() (ir.Buffer, []ir.Expr) {
	at := p.take(local, "a buffer, such as %x,")
	b, ok := p.bufs[at.s]
	if !ok {
		panic(p.unknown(at))
	}
	p.size = 0
	return b, p.indices(at, b)
}

func (p *parser) store() ir.Stmt {
	b, idx := p.target()
	s := &ir.Store{Buf: b.Name, Idx: idx}
	at := p.tok
	op := at.s
	if (p.is("min") || p.is("max")) && p.off < len(p.src) && p.src[p.off] == '=' {
		if p.advance(); p.is("=") {
			op += "="
		}
	}
	for op != s.Op.String() {
		if s.Op++; s.Op > ir.MaxTo {
			panic(p.fail(at, "", "%s where =, +=, |=, min= or max= should be", at))
		}
	}
	p.advance()
	at = p.tok
	s.Val = p.expression()
	if t := s.Val.Type(); t != b.Type {
		panic(p.fail(at, fmt.Sprintf("use cast<%s>(...)", b.Type), "the value is %s, but %s", t, ir.BufferString(b)))
	}
	return s
}

func (p *parser) instruction() ir.Stmt {
	at := p.take(global, "the name of an instruction, such as @f,")
	c := &ir.Call{Fn: p.funcs[at.s]}
	if c.Fn == nil {
		panic(p.fail(at, "an instruction is defined before it is called", "there is no %s", at))
	}
	p.called[c.Fn] = true
	p.expect("(")
	p.list(")", func() {
		b, idx := p.target()
		c.Args = append(c.Args, ir.Window{Buf: b.Name, Idx: idx})
	})
	if len(c.Args) != len(c.Fn.Params) {
		panic(p.fail(at, "", "%s takes %s, not %d", at, plural(len(c.Fn.Params), "operand"), len(c.Args)))
	}
	return c
}
