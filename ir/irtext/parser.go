// Package irtext parses the text form of package ir (.ripir). It is the inverse of ir.Func.String
// and ir.Program.String: printing the result gives the text again in standard spacing.
//
// Comments on lines of their own inside a body are kept; those outside are only listed in
// File.Comments. A "%" that a letter follows begins a name, so the remainder is written with a
// blank: %i % 4.
package irtext

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ripc/ir"
)

// Limits of the input, so that no text can exhaust the machine.
const (
	maxBytes    = 64 << 20
	maxNesting  = 1000 // of statements and expressions
	maxOperands = 5000 // operators in one expression
)

// File is the contents of a text.
type File struct {
	Program *ir.Program // nil if there is none
	// Funcs lists the funcs, and the instructions that no other func calls, in order. They are
	// Program.Funcs too.
	Funcs     []*ir.Func
	ConstHash map[string]string // sha256 of the Program's constants, in hexadecimal
	Comments  []string          // outside funcs
}

type parser struct {
	lexer
	tok   token
	depth int
	size  int // operators of the expression so far

	funcs  map[string]*ir.Func
	called map[*ir.Func]bool

	// in a func:
	bufs  map[string]ir.Buffer
	vars  map[string]bool
	names map[string]bool // used by now
	loose bool            // unknown names are loop variables
}

func newParser(file, src string) *parser {
	p := &parser{lexer: lexer{file: file, src: src}, funcs: map[string]*ir.Func{}, called: map[*ir.Func]bool{}}
	if len(src) > maxBytes {
		panic(p.errorAt(0, "", "the text has %d bytes; at most %d are read", len(src), maxBytes))
	}
	p.advance()
	return p
}

// try calls parse and returns its result, or the *ir.Error with which it gave up.
func try[T any](parse func() T) (out T, err error) {
	err = ir.Try(func() { out = parse() })
	return out, err
}

// advance moves on to the next token.
func (p *parser) advance() { p.tok = p.next() }

// fail is an error at a token.
func (p *parser) fail(at token, help, format string, args ...any) *ir.Error {
	return p.errorAt(at.at, help, format, args...)
}

// check gives up with an error from package ir, if there is one, which gets its place.
func (p *parser) check(at token, err error) {
	if err == nil {
		return
	}
	e := &ir.Error{Msg: err.Error()}
	if q := (*ir.Error)(nil); errors.As(err, &q) {
		c := *q
		e = &c
	}
	e.Pos = p.pos(at.at)
	panic(p.nameFunc(e))
}

func (p *parser) unexpected(want string) *ir.Error {
	return p.fail(p.tok, "", "%s where %s should be", p.tok, want)
}

func (p *parser) is(s string) bool {
	return (p.tok.kind == symbol || p.tok.kind == word) && p.tok.s == s
}

// accept takes the token if it is s.
func (p *parser) accept(s string) bool {
	ok := p.is(s)
	if ok {
		p.advance()
	}
	return ok
}

func (p *parser) expect(ss ...string) {
	for _, s := range ss {
		if !p.accept(s) {
			panic(p.unexpected(fmt.Sprintf("%q", s)))
		}
	}
}

// take takes a token of kind k, called want in messages.
func (p *parser) take(k kind, want string) token {
	t := p.tok
	if t.kind != k {
		panic(p.unexpected(want))
	}
	p.advance()
	return t
}

// list reads elements divided by commas up to the closing symbol, which it takes.
func (p *parser) list(closing string, element func()) {
	if p.accept(closing) {
		return
	}
	for {
		element()
		if p.accept(closing) {
			return
		}
		if !p.accept(",") {
			panic(p.unexpected(fmt.Sprintf("\",\" or %q", closing)))
		}
	}
}

// deeper counts nesting; the caller calls the function that it returns when done.
func (p *parser) deeper() func() {
	if p.depth++; p.depth > maxNesting {
		panic(p.fail(p.tok, "", "nested more than %d deep", maxNesting))
	}
	return func() { p.depth-- }
}

// Parse reads a Program, or any number of funcs and instructions. It fails with *ir.Error, which
// says where.
//
// Types are checked as far as reading needs them; ir.Verify and ir.VerifyProgram check the rest.
// The contents of constants are not in the text: see File.Bind.
func Parse(file string, src []byte) (*File, error) {
	return try(func() *File { return newParser(file, string(src)).file() })
}

func (p *parser) file() *File {
	f := &File{ConstHash: map[string]string{}}
	var all []*ir.Func
	for p.tok.kind != end {
		switch {
		case p.tok.kind == comment:
			f.Comments = append(f.Comments, p.take(comment, "").s)
		case p.is("program") && f.Program == nil && len(all) == 0:
			f.Program = p.program(f)
		case p.is("func") || p.is("instr"):
			all = append(all, p.function())
		default:
			panic(p.unexpected("func or instr (or, first of all, program)"))
		}
	}
	f.Funcs = slices.DeleteFunc(all, func(fn *ir.Func) bool { return p.called[fn] })
	if f.Program != nil {
		f.Program.Funcs = f.Funcs
	}
	return f
}

// ParseFunc reads one func, with the instructions that it calls before it.
func ParseFunc(file string, src []byte) (*ir.Func, error) {
	f, err := Parse(file, src)
	switch {
	case err != nil:
		return nil, err
	case f.Program != nil || len(f.Funcs) != 1:
		var names []string
		for _, fn := range f.Funcs {
			names = append(names, "@"+fn.Name)
		}
		return nil, &ir.Error{Pos: ir.Pos{File: file}, Msg: fmt.Sprintf("there should be one func, not %d funcs: %s",
			len(f.Funcs), strings.Join(names, " ")),
			Help: "a program is something else, and instructions count as funcs if nothing calls them"}
	}
	return f.Funcs[0], nil
}
