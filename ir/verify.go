package ir

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Verify checks that f is well-formed: types, ranks, scopes, unique names, encodings, calls. It
// proves nothing about bounds and widths; package arith does. It fails with an *Error that names
// the func and the loops around the fault.
func Verify(f *Func) error { return verifyFunc(f, map[*Func]bool{}) }

type verifier struct {
	f       *Func
	loops   []*For
	extents map[string]int
	bufs    map[string]Buffer // in scope
	out     map[string]bool   // writable buffers
	names   map[string]bool   // all names seen so far
	checked map[*Func]bool    // instructions; false during the check
}

func verifyFunc(f *Func, checked map[*Func]bool) error {
	return Try(func() { checkFunc(f, checked) })
}

// Try calls f and returns the *Error that it panics with, if it does.
func Try(f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *Error:
			err = r
		default:
			panic(r)
		}
	}()
	f()
	return nil
}

func checkFunc(f *Func, checked map[*Func]bool) {
	v := &verifier{f, nil, map[string]int{}, map[string]Buffer{}, map[string]bool{}, map[string]bool{}, checked}
	checked[f] = false
	if !IsName(f.Name) {
		v.fail("", fmt.Sprintf("%q is not a name for a func", f.Name), nameHelp)
	}
	for _, p := range f.Params {
		if p.Space != Own {
			v.fail(BufferString(p.Buffer), "a parameter lies in no block", "share an alloc")
		}
		v.declare(p.Buffer, p.Out)
	}
	for _, p := range f.Params {
		if p.Over != "" && !f.mayOverlay(p) {
			v.fail(BufferString(p.Buffer), fmt.Sprintf("it cannot lie in the place of %%%s", p.Over),
				"an output may lie over an input of as many elements of the same size, both floats or both integers, "+
					"and no other output over the same")
		}
	}
	v.stmt(f.Body)
	checked[f] = true
}

// mayOverlay reports whether parameter p of f may lie over the input that it names, by their sizes.
func (f *Func) mayOverlay(p Param) bool {
	ok := false
	for _, q := range f.Params {
		if q.Name == p.Over {
			ok = p.Out && !q.Out && SamePlaces(p.Buffer, q.Buffer)
		} else if q.Over == p.Over && q.Name != p.Name {
			return false
		}
	}
	return ok
}

// fail gives up with an *Error. op is the text of the faulty part.
func (v *verifier) fail(op, msg, help string) {
	node := "@" + v.f.Name
	for i, l := range v.loops {
		node += [...]string{", for ", ", "}[min(i, 1)] + loopText(l)
	}
	panic(&Error{Op: op, Node: node, Msg: msg, Help: help})
}

// check fails with err, an *Error without a place, unless it is nil.
func (v *verifier) check(op func() string, err error) {
	if err == nil {
		return
	}
	if e := (*Error)(nil); errors.As(err, &e) {
		v.fail(op(), e.Msg, e.Help)
	}
}

func (v *verifier) stmt(s Stmt) {
	switch s := s.(type) {
	case nil:
		v.fail("", "a statement is missing", "")
	case *For:
		v.loop(s)
	case *Store:
		v.store(s)
	case *If:
		v.expr(s.Cond)
		if t := s.Cond.Type(); t != Bool {
			v.fail("if "+ExprString(s.Cond), fmt.Sprintf("the condition is %s", t),
				"compare it, e.g. with != 0, to get a bool")
		}
		if v.stmt(s.Then); s.Else != nil {
			v.stmt(s.Else)
		}
	case *Block:
		for _, t := range s.Stmts {
			v.stmt(t)
		}
	case *Alloc:
		v.declare(s.Buf, true)
		v.stmt(s.Body)
		delete(v.bufs, s.Buf.Name)
	case *Barrier:
		if i := slices.IndexFunc(v.loops, func(l *For) bool { return l.Kind == Threads }); i >= 0 {
			v.fail("barrier", fmt.Sprintf("it stands in loop %%%s of threads", v.loops[i].Var),
				"barriers stand between loops of threads")
		}
	case *Comment:
		if strings.ContainsAny(s.Text, "\r\n") {
			v.fail("// "+s.Text, "a comment has more than one line", "")
		}
	case *Call:
		v.call(s)
	}
}

func loopText(s *For) string { return fmt.Sprintf("%%%s in 0:%d", s.Var, s.Extent) }

func (v *verifier) loop(s *For) {
	op := func() string { return "for " + loopText(s) }
	v.check(op, v.name(s.Var))
	if s.Extent < 1 {
		v.fail(op(), fmt.Sprintf("the extent is %d", s.Extent), "a loop runs at least once")
	}
	if s.Kind > Threads {
		v.fail(op(), "the kind of loop is invalid", "")
	}
	v.extents[s.Var] = s.Extent
	v.loops = append(v.loops, s)
	v.stmt(s.Body)
	v.loops = v.loops[:len(v.loops)-1]
	delete(v.extents, s.Var)
}

// access checks an element or window of a buffer. The indices themselves were checked before. op
// returns the text for an error message, and is rarely called.
func (v *verifier) access(op func() string, name string, idx []Expr, write bool) Buffer {
	b, ok := v.bufs[name]
	switch {
	case !ok:
		v.fail(op(), fmt.Sprintf("there is no buffer %%%s in scope", name), "")
	case len(idx) != len(b.Shape):
		v.fail(op(), fmt.Sprintf("%d indices for %s", len(idx), BufferString(b)),
			fmt.Sprintf("%%%s has %d dimensions", name, len(b.Shape)))
	case write && !v.out[name]:
		v.fail(op(), fmt.Sprintf("%%%s is only read", name), "write to an out parameter or an alloc")
	}
	v.check(op, checkIndices(idx))
	return b
}

func (v *verifier) store(s *Store) {
	v.exprs(s.Idx)
	v.expr(s.Val)
	op := func() string { return fmt.Sprintf("%s %s %s", element(s.Buf, s.Idx), s.Op, ExprString(s.Val)) }
	b := v.access(op, s.Buf, s.Idx, true)
	if t := s.Val.Type(); t != b.Type {
		v.fail(op(), fmt.Sprintf("the value is %s, but elements of %%%s are %s", t, b.Name, b.Type), "cast the value")
	}
	if b.Type == Bool && s.Op != Assign && s.Op != OrTo || b.Type.IsFloat() && s.Op == OrTo {
		v.fail(op(), fmt.Sprintf("%q does not work on %s", s.Op.String(), b.Type), "")
	}
}

func (v *verifier) exprs(es []Expr) {
	for _, e := range es {
		v.expr(e)
	}
}

func (v *verifier) expr(e Expr) {
	if e == nil {
		v.fail("", "an expression is missing", "")
	}
	for o := range Operands(e) {
		v.expr(o)
	}
	op := func() string { return ExprString(e) }
	v.check(op, CheckExpr(e))
	switch e := e.(type) {
	case *Var:
		if _, ok := v.extents[e.Name]; !ok {
			v.fail("%"+e.Name, fmt.Sprintf("no loop over %%%s is around this", e.Name), "")
		}
	case *Load:
		if b := v.access(op, e.Buf, e.Idx, false); e.T != b.Type {
			v.fail(op(), fmt.Sprintf("loaded as %s, but elements of %%%s are %s", e.T, b.Name, b.Type), "")
		}
	case *Binary:
		if n, ok := upperBound(e.B, v.extents); ok && (e.Op == Shl || e.Op == Shr) && n >= int64(e.A.Type().Bits()) {
			v.fail(op(), fmt.Sprintf("the count can be %d", n),
				fmt.Sprintf("shift %s by 0..%d", e.A.Type(), e.A.Type().Bits()-1))
		}
	}
}

func mistake(msg, help string) error { return &Error{Msg: msg, Help: help} }

// upperBound returns an upper bound of an expression of constants and loop variables, given their
// extents.
func upperBound(e Expr, extent map[string]int) (int64, bool) {
	const limit = 1 << 31
	switch e := e.(type) {
	case *IntImm:
		return e.V, e.V >= 0 && e.V < limit
	case *Var:
		n, ok := extent[e.Name]
		return int64(n) - 1, ok && int64(n) < limit
	case *Cast:
		return upperBound(e.A, extent)
	case *Binary:
		a, okA := upperBound(e.A, extent)
		b, okB := upperBound(e.B, extent)
		switch e.Op {
		case Add:
			return a + b, okA && okB && a+b < limit
		case Mul:
			return a * b, okA && okB && a*b < limit
		case Div:
			if okA && okB && b > 0 {
				return a / b, true
			}
		case Mod:
			if okA {
				return min(a, b-1), okB
			}
			return b - 1, okB
		case And, Min:
			if okA && okB {
				return min(a, b), true
			}
		}
	}
	return 0, false
}

// Names and declarations: legal names, and legal buffers.

const nameHelp = "names are letters, digits, \"_\" and \".\", and do not start with a digit or \".\""

// IsName reports whether s can be the name of a func, buffer or loop variable.
func IsName(s string) bool {
	for i, c := range []byte(s) {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c != '.' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != ""
}

func (v *verifier) name(s string) error {
	if !IsName(s) {
		return mistake(fmt.Sprintf("%q is not a name", s), nameHelp)
	}
	if v.names[s] {
		return mistake(fmt.Sprintf("%%%s is declared twice", s), "loop variables and buffers have names of their own")
	}
	v.names[s] = true
	return nil
}

func (v *verifier) declare(b Buffer, out bool) {
	err := v.name(b.Name)
	if err == nil {
		err = CheckBuffer(b)
	}
	v.check(func() string { return BufferString(b) }, err)
	v.bufs[b.Name], v.out[b.Name] = b, out
}

// CheckBuffer checks a declaration: element type, dimensions, encoding. The error is an *Error
// without a place.
func CheckBuffer(b Buffer) error {
	const limit = 1 << 40
	if b.Type == Invalid || b.Type > F32 {
		return mistake("the element type is invalid", "")
	}
	if b.Role > RoleMean {
		return mistake("the role is invalid", "")
	}
	n := int64(1)
	for _, d := range b.Shape {
		if d < 1 || int64(d) > limit/n {
			return mistake(fmt.Sprintf("the shape %v is not possible", b.Shape),
				"dimensions are 1 or more, and at most 1<<40 elements in all")
		}
		n *= int64(d)
	}
	if err := checkRange(b); err != nil {
		return err
	}
	if b.Enc.Kind == NoEncoding {
		if b.Enc.Channels != 0 {
			return mistake("there are channels but no encoding", "")
		}
		return nil
	}
	if !b.Type.IsInt() || b.Type.Signed() {
		return mistake(fmt.Sprintf("bit planes cannot be stored in %s", b.Type), "use u8, u16, u32 or u64")
	}
	if len(b.Shape) < 2 {
		return mistake("bit planes need the dimensions [planes, ..., words]", "")
	}
	w := b.Type.Bits()
	if words := b.Shape[len(b.Shape)-1]; b.Enc.Channels < 1 || int64(b.Enc.Channels) > limit ||
		words != (b.Enc.Channels+w-1)/w {
		return mistake(fmt.Sprintf("%d channels do not fill %d words of %d bits", b.Enc.Channels, words, w),
			"the last dimension is the number of channels divided by the width, rounded up")
	}
	return nil
}

// checkRange checks the declared range of b.
func checkRange(b Buffer) error {
	if b.Range.Any() {
		return nil
	}
	if !b.Type.IsInt() || b.Enc.Kind != NoEncoding {
		return mistake("only integers have a range of numbers", "leave it out")
	}
	if l := b.Type.Limits(); b.Range.From >= b.Range.To || !l.Has(b.Range) {
		return mistake(fmt.Sprintf("from %d to %d are no numbers of %s", b.Range.From, b.Range.To, b.Type),
			fmt.Sprintf("numbers rise, from %d to %d at most", l.From, l.To))
	}
	return nil
}

// call checks the operands of an instruction, and the instruction itself at its first call.
func (v *verifier) call(c *Call) {
	if c.Fn == nil {
		v.fail("call", "the instruction is missing", "")
	}
	op := fmt.Sprintf("call @%s", c.Fn.Name)
	done, seen := v.checked[c.Fn]
	if seen && !done {
		v.fail(op, "the instruction calls itself", "")
	}
	if !seen {
		checkFunc(c.Fn, v.checked)
	}
	if len(c.Args) != len(c.Fn.Params) {
		v.fail(op, fmt.Sprintf("%d operands", len(c.Args)), fmt.Sprintf("@%s takes %d", c.Fn.Name, len(c.Fn.Params)))
	}
	for i, w := range c.Args {
		p := c.Fn.Params[i]
		v.exprs(w.Idx)
		arg := func() string { return fmt.Sprintf("%s, operand %s", op, element(w.Buf, w.Idx)) }
		b := v.access(arg, w.Buf, w.Idx, p.Out)
		fail := func(format string, args ...any) {
			v.fail(arg(), fmt.Sprintf(format, args...), "the parameter is "+BufferString(p.Buffer))
		}
		skip := len(b.Shape) - len(p.Shape)
		switch {
		case b.Type != p.Type:
			fail("elements are %s", b.Type)
		case !p.Out && !p.Range.Has(b.Range):
			fail("elements of %s can be others", BufferString(b))
		case skip < 0:
			fail("%s has %d dimensions", BufferString(b), len(b.Shape))
		}
		for d, n := range p.Shape {
			if n > b.Shape[skip+d] {
				fail("dimension %d of %s is too small", skip+d, BufferString(b))
			}
		}
	}
}
