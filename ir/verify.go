package ir

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Verify checks that f is well-formed: types, ranks, scopes, unique names, encodings, calls. It proves nothing about
// bounds and widths; package arith does. It fails with *Error naming the func and the loops around what is wrong.
func Verify(f *Func) error { return verifyFunc(f, map[*Func]bool{}) }

type verifier struct {
	f       *Func
	loops   []string
	extents map[string]int
	bufs    map[string]Buffer // in scope
	out     map[string]bool   // those that may be written
	names   map[string]bool   // all seen so far
	checked map[*Func]bool    // instructions; false while at it
}

func verifyFunc(f *Func, checked map[*Func]bool) error {
	v := &verifier{f, nil, map[string]int{}, map[string]Buffer{}, map[string]bool{}, map[string]bool{}, checked}
	checked[f] = false
	if !IsName(f.Name) {
		return v.fail("", wrong(fmt.Sprintf("%q is not a name for a func", f.Name), nameHelp))
	}
	for _, p := range f.Params {
		if err := v.declare(p.Buffer, p.Out); err != nil {
			return err
		}
	}
	if err := v.stmt(f.Body); err != nil {
		return err
	}
	checked[f] = true
	return nil
}

// fail adds the place to err: op is the text of what is wrong.
func (v *verifier) fail(op string, err error) error {
	out := Error{}
	if e := (*Error)(nil); errors.As(err, &e) {
		out = *e
	}
	out.Op, out.Node = op, "@"+v.f.Name
	if len(v.loops) > 0 {
		out.Node += ", for " + strings.Join(v.loops, ", ")
	}
	return &out
}

func (v *verifier) stmt(s Stmt) error {
	switch s := s.(type) {
	case nil:
		return v.fail("", wrong("a statement is missing", ""))
	case *For:
		return v.loop(s)
	case *Store:
		return v.store(s)
	case *If:
		if err := v.expr(s.Cond); err != nil {
			return err
		}
		if t := s.Cond.Type(); t != Bool {
			return v.fail("if "+ExprString(s.Cond), wrong(fmt.Sprintf("the condition is %s", t), "compare it, e.g. with != 0, to get a bool"))
		}
		if err := v.stmt(s.Then); err != nil || s.Else == nil {
			return err
		}
		return v.stmt(s.Else)
	case *Block:
		for _, t := range s.Stmts {
			if err := v.stmt(t); err != nil {
				return err
			}
		}
	case *Alloc:
		if err := v.declare(s.Buf, true); err != nil {
			return err
		}
		err := v.stmt(s.Body)
		delete(v.bufs, s.Buf.Name)
		return err
	case *Comment:
		if strings.ContainsAny(s.Text, "\r\n") {
			return v.fail("// "+s.Text, wrong("a comment has more than one line", ""))
		}
	case *Call:
		return v.call(s)
	}
	return nil
}

func (v *verifier) loop(s *For) error {
	op := fmt.Sprintf("for %%%s in 0:%d", s.Var, s.Extent)
	if err := v.name(s.Var); err != nil {
		return v.fail(op, err)
	}
	if s.Extent < 1 {
		return v.fail(op, wrong(fmt.Sprintf("the extent is %d", s.Extent), "a loop runs at least once"))
	}
	if s.Kind > Unroll {
		return v.fail(op, wrong("the kind of loop is invalid", ""))
	}
	v.extents[s.Var] = s.Extent
	v.loops = append(v.loops, op[len("for "):])
	err := v.stmt(s.Body)
	v.loops = v.loops[:len(v.loops)-1]
	delete(v.extents, s.Var)
	return err
}

// access checks an element or window of a buffer, of which the indices themselves have been checked.
func (v *verifier) access(op, name string, idx []Expr, write bool) (Buffer, error) {
	b, ok := v.bufs[name]
	switch {
	case !ok:
		return b, v.fail(op, wrong(fmt.Sprintf("there is no buffer %%%s in scope", name), ""))
	case len(idx) != len(b.Shape):
		return b, v.fail(op, wrong(fmt.Sprintf("%d indices for %s", len(idx), BufferString(b)), fmt.Sprintf("%%%s has %d dimensions", name, len(b.Shape))))
	case write && !v.out[name]:
		return b, v.fail(op, wrong(fmt.Sprintf("%%%s is only read", name), "write to an out parameter or an alloc"))
	}
	if err := checkIndices(idx); err != nil {
		return b, v.fail(op, err)
	}
	return b, nil
}

func (v *verifier) store(s *Store) error {
	if err := v.exprs(append(slices.Clone(s.Idx), s.Val)); err != nil {
		return err
	}
	op := fmt.Sprintf("%s %s %s", element(s.Buf, s.Idx), s.Op, ExprString(s.Val))
	b, err := v.access(op, s.Buf, s.Idx, true)
	if err != nil {
		return err
	}
	if t := s.Val.Type(); t != b.Type {
		return v.fail(op, wrong(fmt.Sprintf("the value is %s, but elements of %%%s are %s", t, b.Name, b.Type), "cast the value"))
	}
	if b.Type == Bool && s.Op != Assign && s.Op != OrTo || b.Type.IsFloat() && s.Op == OrTo {
		return v.fail(op, wrong(fmt.Sprintf("%q does not work on %s", s.Op.String(), b.Type), ""))
	}
	return nil
}

func (v *verifier) exprs(es []Expr) error {
	for _, e := range es {
		if err := v.expr(e); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) expr(e Expr) error {
	if e == nil {
		return v.fail("", wrong("an expression is missing", ""))
	}
	if err := v.exprs(operands(e)); err != nil {
		return err
	}
	if err := CheckExpr(e); err != nil {
		return v.fail(ExprString(e), err)
	}
	switch e := e.(type) {
	case *Var:
		if _, ok := v.extents[e.Name]; !ok {
			return v.fail("%"+e.Name, wrong(fmt.Sprintf("no loop over %%%s is around this", e.Name), ""))
		}
	case *Load:
		b, err := v.access(ExprString(e), e.Buf, e.Idx, false)
		if err != nil {
			return err
		}
		if e.T != b.Type {
			return v.fail(ExprString(e), wrong(fmt.Sprintf("loaded as %s, but elements of %%%s are %s", e.T, b.Name, b.Type), ""))
		}
	case *Binary:
		if n, ok := largest(e.B, v.extents); ok && (e.Op == Shl || e.Op == Shr) && n >= int64(e.A.Type().Bits()) {
			return v.fail(ExprString(e), wrong(fmt.Sprintf("the count can be %d", n), fmt.Sprintf("shift %s by 0..%d", e.A.Type(), e.A.Type().Bits()-1)))
		}
	}
	return nil
}
