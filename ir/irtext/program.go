package irtext

import (
	"slices"
	"strconv"
	"strings"

	"ripc/ir"
)

// program reads program @p { buffers arena_bytes stages }; funcs follow it.
func (p *parser) program(f *File) *ir.Program {
	p.advance()
	g := &ir.Program{Name: p.take(global, "the name of the program, such as @p,").s}
	p.names = map[string]bool{}
	p.expect("{")
	for !p.is("}") {
		switch {
		case p.tok.kind == comment:
			f.Comments = append(f.Comments, p.take(comment, "").s)
		case p.accept("arena_bytes"):
			g.Arena = p.size64("a number of bytes")
		case p.accept("stage"):
			g.Stages = append(g.Stages, p.stage(g))
		default:
			g.Buffers = append(g.Buffers, p.buffer(f.ConstHash))
		}
	}
	p.advance()
	return g
}

// stage parses "name" op @f(%a, %b) macs=1 layer="..." note="...", with further facts on the layer
// between the last two.
func (p *parser) stage(g *ir.Program) (s ir.Stage) {
	at := p.tok
	if at.kind != text {
		panic(p.unexpected("the stage's name, a string,"))
	}
	var err error
	if s.Name, err = strconv.Unquote(at.s); err != nil {
		panic(p.fail(at, "", "%s is not a string", at))
	}
	op := p.takeWord()
	if op.s == "" || op.s[0] == '@' {
		panic(p.fail(op, "", "the op of the stage is missing"))
	}
	s.Op = op.s
	p.advance()
	s.Func = p.take(global, "the name of a func, such as @f,").s
	p.expect("(")
	p.list(")", func() {
		a := p.take(local, "a buffer, such as %x,")
		if g.BufferByName(a.s) == nil {
			panic(p.fail(a, "declare it above", "there is no %s", a))
		}
		s.Args = append(s.Args, a.s)
	})
	p.expect("macs", "=")
	s.MACs = p.size64("a number of operations")
	p.layer(&s.Layer)
	s.Note = p.quoted("note")
	return s
}

// layer reads the facts of a layer, name=value, in the order of ir.Facts; each may be missing.
func (p *parser) layer(l *ir.Layer) {
	for _, f := range ir.Facts(l) {
		switch v := f.Value.(type) {
		case *string:
			*v = p.quoted(f.Name)
		case *[]string:
			if words := strings.Fields(p.quoted(f.Name)); len(words) > 0 {
				*v = words
			}
		case *map[string]int64:
			*v = p.counts(f.Name)
		case *int:
			*v = int(p.numbered(f.Name))
		case *int64:
			*v = p.numbered(f.Name)
		case *bool:
			*v = p.numbered(f.Name) != 0
		}
	}
}

// counts reads name="key number ..." if it is there.
func (p *parser) counts(name string) map[string]int64 {
	at := p.tok
	s := p.quoted(name)
	words := strings.Fields(s)
	if len(words) == 0 {
		return nil
	}
	if len(words)%2 != 0 {
		panic(p.fail(at, "", "%s=%q has no number for each name", name, s))
	}
	out := map[string]int64{}
	for pair := range slices.Chunk(words, 2) {
		var err error
		if out[pair[0]], err = strconv.ParseInt(pair[1], 10, 64); err != nil {
			panic(p.fail(at, "", "%s=%q: %q is no number", name, s, pair[1]))
		}
	}
	return out
}

// numbered reads name=number if it is there.
func (p *parser) numbered(name string) int64 {
	if !p.accept(name) {
		return 0
	}
	p.expect("=")
	return p.size64("a number")
}

// quoted reads name="text" if it is there.
func (p *parser) quoted(name string) string {
	if !p.accept(name) {
		return ""
	}
	p.expect("=")
	t := p.take(text, "a string")
	s, err := strconv.Unquote(t.s)
	if err != nil || s == "" {
		panic(p.fail(t, "", "%s is not a string, or empty", t))
	}
	return s
}
