package npy

import (
	"fmt"
	"strconv"
	"strings"
)

// parser walks over the header's text, a Python dictionary of literals.
type parser struct {
	text string
	pos  int
}

// parseHeader reads the dictionary; the three keys must be there once each, and no other.
func parseHeader(text string) (header, error) {
	p := &parser{text: text}
	var h header
	seen := map[string]bool{}
	if err := p.expect('{'); err != nil {
		return h, err
	}
	for !p.accept('}') {
		key, err := p.str()
		if err != nil {
			return h, err
		}
		if seen[key] {
			return h, p.fail("key %q occurs twice", key)
		}
		seen[key] = true
		if err := p.expect(':'); err != nil {
			return h, err
		}
		switch key {
		case "descr":
			h.dtype, err = p.descr()
		case "fortran_order":
			h.fortran, err = p.boolean()
		case "shape":
			h.shape, err = p.tuple()
		default:
			err = p.fail("unknown key %q", key)
		}
		if err != nil {
			return h, err
		}
		if !p.accept(',') {
			if err := p.expect('}'); err != nil {
				return h, err
			}
			break
		}
	}
	p.space()
	if p.pos != len(p.text) {
		return h, p.fail("text follows the dictionary")
	}
	for _, key := range []string{"descr", "fortran_order", "shape"} {
		if !seen[key] {
			return h, p.fail("key %q is missing", key)
		}
	}
	return h, nil
}

// fail makes an error that says where in the header it is.
func (p *parser) fail(format string, args ...any) error {
	return &Error{Msg: fmt.Sprintf("header, byte %d: ", p.pos) + fmt.Sprintf(format, args...),
		Help: "expected {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"}
}

// space skips blanks.
func (p *parser) space() {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
}

// accept consumes c if it is next.
func (p *parser) accept(c byte) bool {
	p.space()
	if p.pos < len(p.text) && p.text[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

// expect consumes c or fails.
func (p *parser) expect(c byte) error {
	if !p.accept(c) {
		return p.fail("%q expected", c)
	}
	return nil
}

// str reads a quoted string without escapes.
func (p *parser) str() (string, error) {
	p.space()
	if p.pos >= len(p.text) || (p.text[p.pos] != '\'' && p.text[p.pos] != '"') {
		return "", p.fail("a quoted string expected")
	}
	quote := p.text[p.pos]
	end := strings.IndexByte(p.text[p.pos+1:], quote)
	if end < 0 {
		return "", p.fail("the string does not end")
	}
	s := p.text[p.pos+1 : p.pos+1+end]
	p.pos += end + 2
	return s, nil
}

// descr reads the element type and translates it.
func (p *parser) descr() (string, error) {
	p.space()
	if p.pos < len(p.text) && p.text[p.pos] == '[' {
		return "", p.fail("structured element types are not supported")
	}
	s, err := p.str()
	if err != nil {
		return "", err
	}
	names := make([]string, 0, 9)
	for _, d := range descrs() {
		if s == d[0] || (len(s) == 3 && d[0][0] == '|' && s[0] == '<' && s[1:] == d[0][1:]) {
			return d[1], nil
		}
		names = append(names, d[0])
	}
	return "", &Error{Msg: fmt.Sprintf("element type %q is not supported", s),
		Help: "use " + strings.Join(names, ", ") + " (astype before save)"}
}

// boolean reads True or False.
func (p *parser) boolean() (bool, error) {
	p.space()
	for _, c := range []struct {
		word  string
		value bool
	}{{"True", true}, {"False", false}} {
		if strings.HasPrefix(p.text[p.pos:], c.word) {
			p.pos += len(c.word)
			return c.value, nil
		}
	}
	return false, p.fail("True or False expected")
}

// tuple reads (), (a,) or (a, b, ...).
func (p *parser) tuple() ([]int, error) {
	if err := p.expect('('); err != nil {
		return nil, err
	}
	shape := []int{}
	for !p.accept(')') {
		p.space()
		start := p.pos
		for p.pos < len(p.text) && (p.text[p.pos] >= '0' && p.text[p.pos] <= '9') {
			p.pos++
		}
		v, err := strconv.ParseInt(p.text[start:p.pos], 10, 32)
		if err != nil {
			return nil, p.fail("an extent from 0 to %d expected", int64(maxBytes))
		}
		p.accept('L') // Python 2 wrote long integers this way
		if shape = append(shape, int(v)); len(shape) > maxRank {
			return nil, p.fail("more than %d axes", maxRank)
		}
		if !p.accept(',') {
			if err := p.expect(')'); err != nil {
				return nil, err
			}
			break
		}
	}
	return shape, nil
}
