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
	fn    string
	bufs  map[string]ir.Buffer
	vars  map[string]bool
	names map[string]bool // used by now
	loose bool            // unknown names are loop variables
}

func newParser(file, src string) (*parser, error) {
	p := &parser{lexer: lexer{file: file, src: src}, funcs: map[string]*ir.Func{}, called: map[*ir.Func]bool{}}
	if len(src) > maxBytes {
		return nil, p.errorAt(0, "", "the text has %d bytes; at most %d are read", len(src), maxBytes)
	}
	return p, p.advance()
}

// advance moves on to the next token.
func (p *parser) advance() error {
	t, err := p.next()
	if err != nil {
		return p.in(err)
	}
	p.tok = t
	return nil
}

// in names the func that an error is in.
func (p *parser) in(err error) error {
	if e := (*ir.Error)(nil); errors.As(err, &e) && p.fn != "" && e.Node == "" {
		e.Node = "@" + p.fn
	}
	return err
}

func (p *parser) fail(at token, help, format string, args ...any) error {
	return p.in(p.errorAt(at.at, help, format, args...))
}

// wrap gives an error from package ir its place.
func (p *parser) wrap(at token, err error) error {
	e := &ir.Error{Msg: err.Error()}
	if q := (*ir.Error)(nil); errors.As(err, &q) {
		c := *q
		e = &c
	}
	e.Pos = p.pos(at.at)
	return p.in(e)
}

func (p *parser) unexpected(want string) error {
	return p.fail(p.tok, "", "%s where %s should be", p.tok, want)
}

func (p *parser) is(s string) bool {
	return (p.tok.kind == symbol || p.tok.kind == word) && p.tok.s == s
}

// accept takes the token if it is s.
func (p *parser) accept(s string) (bool, error) {
	if !p.is(s) {
		return false, nil
	}
	return true, p.advance()
}

func (p *parser) expect(ss ...string) error {
	for _, s := range ss {
		if !p.is(s) {
			return p.unexpected(fmt.Sprintf("%q", s))
		}
		if err := p.advance(); err != nil {
			return err
		}
	}
	return nil
}

// take takes a token of kind k, called want in messages.
func (p *parser) take(k kind, want string) (token, error) {
	t := p.tok
	if t.kind != k {
		return t, p.unexpected(want)
	}
	return t, p.advance()
}

// list reads elements divided by commas up to the closing symbol, which it takes.
func (p *parser) list(closing string, f func() error) error {
	if ok, err := p.accept(closing); ok || err != nil {
		return err
	}
	for {
		if err := f(); err != nil {
			return err
		}
		if ok, err := p.accept(closing); ok || err != nil {
			return err
		}
		if !p.is(",") {
			return p.unexpected(fmt.Sprintf("\",\" or %q", closing))
		}
		if err := p.advance(); err != nil {
			return err
		}
	}
}

// deeper counts nesting; the caller calls the function that it returns when done.
func (p *parser) deeper() (func(), error) {
	p.depth++
	if p.depth > maxNesting {
		return nil, p.fail(p.tok, "", "nested more than %d deep", maxNesting)
	}
	return func() { p.depth-- }, nil
}

// Parse reads a Program, or any number of funcs and instructions. It fails with *ir.Error, which
// says where.
//
// Types are checked as far as reading needs them; ir.Verify and ir.VerifyProgram check the rest.
// The contents of constants are not in the text: see File.Bind.
func Parse(file string, src []byte) (*File, error) {
	p, err := newParser(file, string(src))
	if err != nil {
		return nil, err
	}
	f := &File{ConstHash: map[string]string{}}
	var all []*ir.Func
	for p.tok.kind != end {
		switch {
		case p.tok.kind == comment:
			f.Comments = append(f.Comments, p.tok.s)
			err = p.advance()
		case p.is("program") && f.Program == nil && len(all) == 0:
			f.Program, err = p.program(f)
		case p.is("func") || p.is("instr"):
			var fn *ir.Func
			fn, err = p.function()
			all = append(all, fn)
		default:
			err = p.unexpected("func or instr (or, first of all, program)")
		}
		if err != nil {
			return nil, err
		}
	}
	f.Funcs = slices.DeleteFunc(all, func(fn *ir.Func) bool { return p.called[fn] })
	if f.Program != nil {
		f.Program.Funcs = f.Funcs
	}
	return f, nil
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

// ParseProgram reads a Program and its funcs. The contents of constants are missing: see File.Bind.
func ParseProgram(file string, src []byte) (*ir.Program, error) {
	f, err := Parse(file, src)
	if err == nil && f.Program == nil {
		err = &ir.Error{Pos: ir.Pos{File: file}, Msg: "there is no program"}
	}
	if err != nil {
		return nil, err
	}
	return f.Program, nil
}

// ParseExpr reads an expression over the given buffers. Other names are loop variables.
func ParseExpr(src string, buffers map[string]ir.Buffer) (ir.Expr, error) {
	p, err := newParser("", src)
	if err != nil {
		return nil, err
	}
	p.bufs, p.loose = buffers, true
	e, err := p.expression()
	if err == nil && p.tok.kind != end {
		err = p.unexpected("an operator or the end")
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}
