package irtext

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"slices"
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

// buffer reads input %x: f32[1, 8] layout=NHWC and its like.
func (p *parser) buffer(hashes map[string]string) (ir.ProgBuf, error) {
	b := ir.ProgBuf{}
	for !p.is(b.Kind.String()) {
		if b.Kind++; b.Kind > ir.ArenaBuf {
			return b, p.unexpected("input, output, const, arena, arena_bytes, stage or \"}\"")
		}
	}
	if err := p.advance(); err != nil {
		return b, err
	}
	var err error
	if b.Buffer, err = p.declaration(); err != nil {
		return b, err
	}
	switch b.Kind {
	case ir.ConstBuf:
		hash, err := p.option("sha256")
		if err != nil {
			return b, err
		}
		if raw, err := hex.DecodeString(hash.s); err != nil || len(raw) != sha256.Size || hex.EncodeToString(raw) != hash.s {
			return b, p.fail(hash, "", "%s is not a sha256 in hexadecimal", hash)
		}
		hashes[b.Name] = hash.s
	case ir.ArenaBuf:
		if err := p.expect("at"); err != nil {
			return b, err
		}
		if b.Offset, err = p.size64("an offset"); err != nil {
			return b, err
		}
	}
	if p.is("layout") {
		t, err := p.option("layout")
		if err != nil {
			return b, err
		}
		b.Layout = t.s
	}
	if p.is("levels") {
		if b.Levels, err = p.levels(); err != nil {
			return b, err
		}
	}
	b.Label, err = p.quoted("label")
	return b, err
}

// levels reads levels=unipolar2 scale=0.5.
func (p *parser) levels() (ir.Levels, error) {
	l := ir.Levels{}
	t, err := p.option("levels")
	if err != nil {
		return l, err
	}
	kind := strings.TrimRight(t.s, "0123456789")
	if l.Kind, err = ir.ParseEncodingKind(kind); err == nil {
		l.Bits, err = strconv.Atoi(t.s[len(kind):])
	}
	if err != nil || l.Kind == ir.NoEncoding {
		return l, p.fail(t, "write an encoding and a number of bits, such as unipolar2", "%s are no levels", t)
	}
	if t, err = p.option("scale"); err != nil {
		return l, err
	}
	l.Scale, err = strconv.ParseFloat(t.s, 64)
	if err != nil || math.IsNaN(l.Scale) || math.IsInf(l.Scale, 0) {
		return l, p.fail(t, "", "%s is not a number", t)
	}
	if p.is("zero") {
		if t, err = p.option("zero"); err != nil {
			return l, err
		}
		if l.Zero, err = strconv.Atoi(t.s); err != nil {
			return l, p.fail(t, "", "%s is not an integer", t)
		}
	}
	if p.is("channels") {
		if t, err = p.option("channels"); err != nil {
			return l, err
		}
		if l.Channels, err = strconv.Atoi(t.s); err != nil || l.Channels == 0 {
			return l, p.fail(t, "", "%s is no number of channels", t)
		}
	}
	return l, nil
}

// option reads name=value, where the value ends at the next blank.
func (p *parser) option(name string) (token, error) {
	if !p.is(name) {
		return p.tok, p.unexpected(fmt.Sprintf("%q", name+"="))
	}
	if err := p.advance(); err != nil {
		return p.tok, err
	}
	if !p.is("=") {
		return p.tok, p.unexpected("\"=\"")
	}
	t := p.rest()
	if t.s == "" {
		return t, p.fail(t, "", "nothing after %s=", name)
	}
	return t, p.advance()
}

// stage reads stage "name" op @f(%a, %b) macs=1 note="...".
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
	s.Note, err = p.quoted("note")
	return s, err
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

// Bind gives the constants of f.Program their contents, little-endian and by name. It fails with *ir.Error if one is
// missing or is not what the text's hash says; then nothing is changed.
func (f *File) Bind(data map[string][]byte) error {
	if f.Program == nil {
		return &ir.Error{Msg: "there is no program"}
	}
	for _, name := range slices.Sorted(maps.Keys(f.ConstHash)) {
		d, ok := data[name]
		if !ok {
			return &ir.Error{Op: "%" + name, Node: "program @" + f.Program.Name, Msg: "the contents of the constant are missing"}
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(d)); got != f.ConstHash[name] {
			return &ir.Error{Op: "%" + name, Node: "program @" + f.Program.Name,
				Msg: fmt.Sprintf("the contents have sha256 %s, not %s", got, f.ConstHash[name])}
		}
	}
	for i := range f.Program.Buffers {
		if b := &f.Program.Buffers[i]; b.Kind == ir.ConstBuf {
			b.Data = data[b.Name]
		}
	}
	return nil
}
