package irtext

import (
	"strconv"

	"ripc/ir"
)

// function reads func @f(...) { ... } or instr @f(...) { ... }.
func (p *parser) function() *ir.Func {
	p.advance()
	at := p.take(global, "the name of a func, such as @f,")
	if p.funcs[at.s] != nil {
		panic(p.fail(at, "", "%s is defined twice", at))
	}
	p.fn, p.bufs, p.vars, p.names = at.s, map[string]ir.Buffer{}, map[string]bool{}, map[string]bool{}
	f := &ir.Func{Name: at.s}
	p.expect("(")
	p.list(")", func() {
		q := ir.Param{Out: p.accept("out")}
		q.Buffer = p.declaration()
		if p.accept("over") {
			q.Over = p.take(local, "the input that the output may replace, such as %x,").s
		}
		f.Params = append(f.Params, q)
	})
	if p.accept("threads") {
		p.expect("=")
		f.Threads = int(p.size64("a number of threads"))
	}
	f.Body = p.body()
	p.fn, p.bufs, p.vars = "", nil, nil
	p.funcs[f.Name] = f
	return f
}

// declaration reads %x: u32[2, 8] unipolar c=64, or %w: i8[8, 4] from -127 to 127, and brings it
// into scope.
func (p *parser) declaration() (b ir.Buffer) {
	at := p.fresh("a buffer, such as %x,")
	b.Name = at.s
	p.expect(":")
	b.Type = p.typeName()
	if p.accept("[") {
		p.list("]", func() { b.Shape = append(b.Shape, int(p.size64("a dimension"))) })
	}
	if p.tok.kind == word {
		if k, err := ir.ParseEncodingKind(p.tok.s); err == nil {
			p.advance()
			p.expect("c", "=")
			b.Enc = ir.Encoding{Kind: k, Channels: int(p.size64("a number of channels"))}
		}
	}
	b.Range = p.numbers()
	p.check(at, ir.CheckBuffer(b))
	if p.bufs != nil {
		p.bufs[b.Name] = b
	}
	return b
}

// numbers reads from -127 to 127, if it is there.
func (p *parser) numbers() (r ir.Range) {
	at := p.tok
	if !p.accept("from") {
		return r
	}
	r.From = p.integer()
	p.expect("to")
	if r.To = p.integer(); r.Any() {
		panic(p.fail(at, "leave it out", "from 0 to 0 stands for all numbers"))
	}
	return r
}

// integer reads a number without type.
func (p *parser) integer() int64 {
	sign := ""
	if p.accept("-") {
		sign = "-"
	}
	at := p.take(number, "a number")
	n, err := strconv.ParseInt(sign+at.s, 10, 64)
	if err != nil {
		panic(p.fail(at, "", "%s is no integer", at))
	}
	return n
}

// fresh takes a name that is not in use yet.
func (p *parser) fresh(want string) token {
	at := p.take(local, want)
	if p.names[at.s] {
		panic(p.fail(at, "loop variables and buffers have names of their own", "%s is declared twice", at))
	}
	p.names[at.s] = true
	return at
}

// size64 reads a number without type or sign.
func (p *parser) size64(want string) int64 {
	at := p.take(number, want)
	n, err := strconv.ParseInt(at.s, 10, 64)
	if err != nil || n > 1<<56 {
		panic(p.fail(at, "", "%q is not %s", at.s, want))
	}
	return n
}
