package irtext

import (
	"strconv"
	"strings"

	"ripc/ir"
)

// program reads program @p { buffers arena_bytes stages }; funcs follow it.
func (p *parser) program(f *File) (*ir.Program, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	at, err := p.take(global, "the name of the program, such as @p,")
	if err != nil {
		return nil, err
	}
	g := &ir.Program{Name: at.s}
	p.names = map[string]bool{}
	if err := p.expect("{"); err != nil {
		return nil, err
	}
	for !p.is("}") {
		switch {
		case p.tok.kind == comment:
			f.Comments = append(f.Comments, p.tok.s)
			if err := p.advance(); err != nil {
				return nil, err
			}
		case p.is("arena_bytes"):
			if err := p.advance(); err != nil {
				return nil, err
			}
			if g.Arena, err = p.size64("a number of bytes"); err != nil {
				return nil, err
			}
		case p.is("stage"):
			s, err := p.stage(g)
			if err != nil {
				return nil, err
			}
			g.Stages = append(g.Stages, s)
		default:
			b, err := p.buffer(f.ConstHash)
			if err != nil {
				return nil, err
			}
			g.Buffers = append(g.Buffers, b)
		}
	}
	return g, p.advance()
}

// stage parses stage "name" op @f(%a, %b) macs=1 layer="..." note="...", with further facts on the
// layer between the last two.
func (p *parser) stage(g *ir.Program) (ir.Stage, error) {
	s := ir.Stage{}
	err := p.advance()
	if err != nil {
		return s, err
	}
	at := p.tok
	if at.kind != text {
		return s, p.unexpected("the stage's name, a string,")
	}
	if s.Name, err = strconv.Unquote(at.s); err != nil {
		return s, p.fail(at, "", "%s is not a string", at)
	}
	op := p.rest()
	if op.s == "" || op.s[0] == '@' {
		return s, p.fail(op, "", "the op of the stage is missing")
	}
	s.Op = op.s
	if err := p.advance(); err != nil {
		return s, err
	}
	f, err := p.take(global, "the name of a func, such as @f,")
	if err != nil {
		return s, err
	}
	s.Func = f.s
	if err := p.expect("("); err != nil {
		return s, err
	}
	err = p.list(")", func() error {
		a, err := p.take(local, "a buffer, such as %x,")
		if err == nil && g.BufferByName(a.s) == nil {
			err = p.fail(a, "declare it above", "there is no %s", a)
		}
		s.Args = append(s.Args, a.s)
		return err
	})
	if err != nil {
		return s, err
	}
	if err := p.expect("macs", "="); err != nil {
		return s, err
	}
	if s.MACs, err = p.size64("a number of operations"); err != nil {
		return s, err
	}
	if err := p.layer(&s.Layer); err != nil {
		return s, err
	}
	s.Note, err = p.quoted("note")
	return s, err
}

// layer reads the facts of a layer, name=value, in the order of ir.Facts; each may be missing.
func (p *parser) layer(l *ir.Layer) error {
	for _, f := range ir.Facts(l) {
		var err error
		switch v := f.Value.(type) {
		case *string:
			*v, err = p.quoted(f.Name)
		case *[]string:
			var s string
			s, err = p.quoted(f.Name)
			if words := strings.Fields(s); len(words) > 0 {
				*v = words
			}
		case *map[string]int64:
			*v, err = p.counts(f.Name)
		case *int:
			var n int64
			n, err = p.numbered(f.Name)
			*v = int(n)
		case *int64:
			*v, err = p.numbered(f.Name)
		case *bool:
			var n int64
			n, err = p.numbered(f.Name)
			*v = n != 0
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// counts reads name="key number ..." if it is there.
func (p *parser) counts(name string) (map[string]int64, error) {
	at := p.tok
	s, err := p.quoted(name)
	words := strings.Fields(s)
	if err != nil || len(words) == 0 {
		return nil, err
	}
	if len(words)%2 != 0 {
		return nil, p.fail(at, "", "%s=%q has no number for each name", name, s)
	}
	out := map[string]int64{}
	for i := 0; i < len(words); i += 2 {
		if out[words[i]], err = strconv.ParseInt(words[i+1], 10, 64); err != nil {
			return nil, p.fail(at, "", "%s=%q: %q is no number", name, s, words[i+1])
		}
	}
	return out, nil
}

// numbered reads name=number if it is there.
func (p *parser) numbered(name string) (int64, error) {
	if ok, err := p.accept(name); !ok || err != nil {
		return 0, err
	}
	if err := p.expect("="); err != nil {
		return 0, err
	}
	return p.size64("a number")
}

// quoted reads name="text" if it is there.
func (p *parser) quoted(name string) (string, error) {
	if ok, err := p.accept(name); !ok || err != nil {
		return "", err
	}
	if err := p.expect("="); err != nil {
		return "", err
	}
	t, err := p.take(text, "a string")
	if err != nil {
		return "", err
	}
	s, err := strconv.Unquote(t.s)
	if err != nil || s == "" {
		return "", p.fail(t, "", "%s is not a string, or empty", t)
	}
	return s, nil
}
