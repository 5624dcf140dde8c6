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
func (p *parser) buffer(hashes map[string]string) ir.ProgBuf {
	b := ir.ProgBuf{}
	for !p.is(b.Kind.String()) {
		if b.Kind++; b.Kind > ir.ArenaBuf {
			panic(p.unexpected("input, output, const, arena, arena_bytes, stage or \"}\""))
		}
	}
	p.advance()
	b.Buffer = p.declaration()
	switch b.Kind {
	case ir.ConstBuf:
		hash := p.option("sha256")
		if raw, err := hex.DecodeString(hash.s); err != nil || len(raw) != sha256.Size ||
			hex.EncodeToString(raw) != hash.s {
			panic(p.fail(hash, "", "%s is not a sha256 in hexadecimal", hash))
		}
		hashes[b.Name] = hash.s
	case ir.ArenaBuf:
		p.expect("at")
		b.Offset = p.size64("an offset")
	}
	if p.is("layout") {
		b.Layout = p.option("layout").s
	}
	if p.is("levels") {
		b.Levels = p.levels()
	}
	b.Label = p.quoted("label")
	return b
}

// levels reads levels=unipolar2 scale=0.5.
func (p *parser) levels() (l ir.Levels) {
	t := p.option("levels")
	kind := strings.TrimRight(t.s, "0123456789")
	var err error
	if l.Kind, err = ir.ParseEncodingKind(kind); err == nil {
		l.Bits, err = strconv.Atoi(t.s[len(kind):])
	}
	if err != nil {
		panic(p.fail(t, "write an encoding and a number of bits, such as unipolar2", "%s are no levels", t))
	}
	l.Scale = p.real("scale")
	if p.is("zero") {
		t := p.option("zero")
		if l.Zero, err = strconv.Atoi(t.s); err != nil {
			panic(p.fail(t, "", "%s is not an integer", t))
		}
	}
	if p.is("offset") {
		l.Offset = p.real("offset")
	}
	if p.is("channels") {
		t := p.option("channels")
		if l.Channels, err = strconv.Atoi(t.s); err != nil || l.Channels == 0 {
			panic(p.fail(t, "", "%s is no number of channels", t))
		}
	}
	return l
}

// real reads name=value, where the value is a finite number.
func (p *parser) real(name string) float64 {
	t := p.option(name)
	v, err := strconv.ParseFloat(t.s, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		panic(p.fail(t, "", "%s is not a number", t))
	}
	return v
}

// option reads name=value, where the value ends at the next blank.
func (p *parser) option(name string) token {
	if !p.accept(name) {
		panic(p.unexpected(fmt.Sprintf("%q", name+"=")))
	}
	if !p.is("=") {
		panic(p.unexpected("\"=\""))
	}
	t := p.takeWord()
	if t.s == "" {
		panic(p.fail(t, "", "nothing after %s=", name))
	}
	p.advance()
	return t
}
