package irtext

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"ripc/ir"
)

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
	if l.Scale, err = p.real("scale"); err != nil {
		return l, err
	}
	if p.is("zero") {
		if t, err = p.option("zero"); err != nil {
			return l, err
		}
		if l.Zero, err = strconv.Atoi(t.s); err != nil {
			return l, p.fail(t, "", "%s is not an integer", t)
		}
	}
	if p.is("offset") {
		if l.Offset, err = p.real("offset"); err != nil {
			return l, err
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

// real reads name=value, where the value is a finite number.
func (p *parser) real(name string) (float64, error) {
	t, err := p.option(name)
	if err != nil {
		return 0, err
	}
	v, err := strconv.ParseFloat(t.s, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, p.fail(t, "", "%s is not a number", t)
	}
	return v, nil
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
