package irtext

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"ripc/ir"
)

// kind of token.
type kind uint8

const (
	end     kind = iota
	word         // func, for, i32, min
	number       // 3, 255u8, 1.5e-07
	local        // %x
	global       // @f
	text         // "..."
	comment      // // ...
	symbol       // { += <<
)

type token struct {
	kind kind
	s    string // names without their sign, comments without "// ", text still quoted
	at   int    // offset in the source
}

// String names the token in error messages.
func (t token) String() string {
	switch t.kind {
	case end:
		return "the end of the file"
	case local:
		return "%" + t.s
	case global:
		return "@" + t.s
	case comment:
		return "a comment"
	case text:
		return t.s
	}
	return fmt.Sprintf("%q", t.s)
}

// lexer cuts src into tokens, from off on.
type lexer struct {
	file string
	src  string
	off  int
	fn   string // that the text is in, "" outside of all
}

func (l *lexer) pos(at int) ir.Pos {
	before := l.src[:at]
	return ir.Pos{
		File: l.file,
		Line: strings.Count(before, "\n") + 1,
		Col:  utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1,
	}
}

func (l *lexer) errorAt(at int, help, format string, args ...any) *ir.Error {
	return l.nameFunc(&ir.Error{Pos: l.pos(at), Msg: fmt.Sprintf(format, args...), Help: help})
}

// nameFunc names the func that an error is in.
func (l *lexer) nameFunc(e *ir.Error) *ir.Error {
	if l.fn != "" && e.Node == "" {
		e.Node = "@" + l.fn
	}
	return e
}

func isLetter(c byte) bool { return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }

// name is the length of the name that s starts with.
func name(s string) int {
	n := 0
	for n < len(s) && (isLetter(s[n]) || n > 0 && (isDigit(s[n]) || s[n] == '.')) {
		n++
	}
	return n
}

func (l *lexer) next() token {
	for l.off < len(l.src) && strings.IndexByte(" \t\r\n", l.src[l.off]) >= 0 {
		l.off++
	}
	at, s := l.off, l.src[l.off:]
	take := func(k kind, skip, n int) token {
		l.off += n
		return token{k, s[skip:n], at}
	}
	if s == "" {
		return token{end, "", at}
	}
	c := s[0]
	switch {
	case strings.HasPrefix(s, "//"):
		n := strings.IndexByte(s, '\n')
		if n < 0 {
			n = len(s)
		}
		l.off += n
		line := strings.TrimSuffix(s[2:n], "\r")
		return token{comment, strings.TrimPrefix(line, " "), at}
	case c == '%' && name(s[1:]) > 0:
		return take(local, 1, 1+name(s[1:]))
	case c == '@':
		if n := name(s[1:]); n > 0 {
			return take(global, 1, 1+n)
		}
		panic(l.errorAt(at, "names are letters, digits, \"_\" and \".\"", "a name should follow @"))
	case isLetter(c):
		return take(word, 0, name(s))
	case isDigit(c):
		return take(number, 0, numberLen(s))
	case c == '"':
		for n := 1; n < len(s) && s[n] != '\n'; n++ {
			if s[n] == '"' {
				return take(text, 0, n+1)
			}
			if s[n] == '\\' {
				n++
			}
		}
		panic(l.errorAt(at, "", "the string does not end on its line"))
	}
	if len(s) >= 2 {
		switch s[:2] { // ("min=" and "max=" are put together by the parser)
		case "+=", "|=", "==", "!=", "<=", ">=", "<<", ">>":
			return take(symbol, 0, 2)
		}
	}
	if strings.IndexByte("+-*/%&|^~<>=(){}[],:", c) >= 0 {
		return take(symbol, 0, 1)
	}
	r, _ := utf8.DecodeRuneInString(s)
	panic(l.errorAt(at, "", "unexpected character %q", r))
}

// numberLen is the length of digits, fraction, exponent and type: 3, 255u8, 1.5e-07.
func numberLen(s string) int {
	n := 0
	digits := func() {
		for n < len(s) && isDigit(s[n]) {
			n++
		}
	}
	digits()
	if n < len(s) && s[n] == '.' {
		n++
		digits()
	}
	if n < len(s) && s[n] == 'e' {
		n++
		if n < len(s) && (s[n] == '+' || s[n] == '-') {
			n++
		}
	}
	for n < len(s) && (isDigit(s[n]) || isLetter(s[n])) {
		n++
	}
	return n
}

// takeWord takes all text up to the next blank, for the user's own words such as layouts.
func (l *lexer) takeWord() token {
	for l.off < len(l.src) && l.src[l.off] == ' ' {
		l.off++
	}
	at := l.off
	n := strings.IndexAny(l.src[at:], " \t\r\n")
	if n < 0 {
		n = len(l.src) - at
	}
	l.off += n
	return token{word, l.src[at:l.off], at}
}
