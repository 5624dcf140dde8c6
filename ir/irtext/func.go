package irtext

import (
	"strconv"

	"ripc/ir"
)

// function reads func @f(...) { ... } or instr @f(...) { ... }.
func (p *parser) function() (*ir.Func, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	at, err := p.take(global, "the name of a func, such as @f,")
	if err != nil {
		return nil, err
	}
	if p.funcs[at.s] != nil {
		return nil, p.fail(at, "", "%s is defined twice", at)
	}
	p.fn, p.bufs, p.vars, p.names = at.s, map[string]ir.Buffer{}, map[string]bool{}, map[string]bool{}
	f := &ir.Func{Name: at.s}
	if err := p.expect("("); err != nil {
		return nil, err
	}
	err = p.list(")", func() error {
		out := p.is("out")
		if out {
			if err := p.advance(); err != nil {
				return err
			}
		}
		b, err := p.declaration()
		if err != nil {
			return err
		}
		q := ir.Param{Buffer: b, Out: out}
		if p.is("over") {
			if err := p.advance(); err != nil {
				return err
			}
			at, err := p.take(local, "the input in whose place the output may lie, such as %x,")
			if err != nil {
				return err
			}
			q.Over = at.s
		}
		f.Params = append(f.Params, q)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if f.Body, err = p.body(); err != nil {
		return nil, err
	}
	p.fn, p.bufs, p.vars = "", nil, nil
	p.funcs[f.Name] = f
	return f, nil
}

// declaration reads %x: u32[2, 8] unipolar c=64, or %w: i8[8, 4] from -127 to 127, and brings it
// into scope.
func (p *parser) declaration() (ir.Buffer, error) {
	b := ir.Buffer{}
	at, err := p.fresh("a buffer, such as %x,")
	if err != nil {
		return b, err
	}
	b.Name = at.s
	if err := p.expect(":"); err != nil {
		return b, err
	}
	if b.Type, err = p.typeName(); err != nil {
		return b, err
	}
	if ok, err := p.accept("["); err != nil {
		return b, err
	} else if ok {
		err := p.list("]", func() error {
			n, err := p.size64("a dimension")
			b.Shape = append(b.Shape, int(n))
			return err
		})
		if err != nil {
			return b, err
		}
	}
	if p.tok.kind == word {
		if k, err := ir.ParseEncodingKind(p.tok.s); err == nil && k != ir.NoEncoding {
			b.Enc.Kind = k
			if err := p.advance(); err != nil {
				return b, err
			}
			if err := p.expect("c", "="); err != nil {
				return b, err
			}
			n, err := p.size64("a number of channels")
			if err != nil {
				return b, err
			}
			b.Enc.Channels = int(n)
		}
	}
	if b.Range, err = p.numbers(); err != nil {
		return b, err
	}
	if err := ir.CheckBuffer(b); err != nil {
		return b, p.wrap(at, err)
	}
	if p.bufs != nil {
		p.bufs[b.Name] = b
	}
	return b, nil
}

// numbers reads from -127 to 127, if it is there.
func (p *parser) numbers() (r ir.Range, err error) {
	at := p.tok
	if ok, err := p.accept("from"); !ok || err != nil {
		return r, err
	}
	if r.From, err = p.integer(); err != nil {
		return r, err
	}
	if err := p.expect("to"); err != nil {
		return r, err
	}
	if r.To, err = p.integer(); err == nil && r.Any() {
		err = p.fail(at, "leave it out", "from 0 to 0 stands for all numbers")
	}
	return r, err
}

// integer reads a number without type.
func (p *parser) integer() (int64, error) {
	sign := ""
	if p.is("-") {
		sign = "-"
		if err := p.advance(); err != nil {
			return 0, err
		}
	}
	at, err := p.take(number, "a number")
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(sign+at.s, 10, 64)
	if err != nil {
		return 0, p.fail(at, "", "%s is no integer", at)
	}
	return n, nil
}

// fresh takes a name that is not in use yet.
func (p *parser) fresh(want string) (token, error) {
	at, err := p.take(local, want)
	if err == nil && p.names[at.s] {
		err = p.fail(at, "loop variables and buffers have names of their own", "%s is declared twice", at)
	}
	if err == nil {
		p.names[at.s] = true
	}
	return at, err
}

// size64 reads a number without type or sign.
func (p *parser) size64(want string) (int64, error) {
	at, err := p.take(number, want)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(at.s, 10, 64)
	if err != nil || n > 1<<56 {
		return 0, p.fail(at, "", "%q is not %s", at.s, want)
	}
	return n, nil
}
