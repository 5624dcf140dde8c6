package schedule

import (
	"fmt"

	"ripc/ir"
	"ripc/ir/deps"
)

// Replicate keeps every element of an alloc as often as a loop has iterations: the buffer gets an
// innermost dimension, and each iteration reads a copy of its own. A vector with the same element
// in all lanes then takes one load, instead of a load and a broadcast. Other systems: none.
//
//	for %k in 0:9 { %xp[%k] = %x[%k] }
//	for %o in 0:64 { for %l in 0:4 { ... %acc[%o, %l] += %xp[%k] * %w[%k, %o, %l] ... } }
//	=> replicate xp l
//	for %k in 0:9 { for %xp.r in 0:4 { %xp[%k, %xp.r] = %x[%k] } }
//	for %o in 0:64 { for %l in 0:4 { ... %acc[%o, %l] += %xp[%k, %l] * %w[%k, %o, %l] ... } }
//
// Reads outside of the loop take the first copy. The result names the loop over copies; the default
// is the name of the buffer and .r. It is refused if the buffer is no alloc, and if a vectorize
// loop writes it or a call takes it. It is refused if the loop writes the buffer or does not read
// it.
func Replicate(f *ir.Func, buffer, loop, name string) (*ir.Func, error) {
	refuse := func(help, format string, args ...any) (*ir.Func, error) {
		return nil, &ir.Error{Msg: fmt.Sprintf(format, args...), Help: help}
	}
	l, err := findLoop(f, loop)
	if err != nil {
		return nil, err
	}
	alloc := ir.FindAlloc(f.Body, buffer)
	inside := deps.Accesses(l.Body)[buffer]
	switch {
	case alloc == nil:
		return nil, noAlloc(f, buffer)
	case callsWith(f.Body, buffer):
		return refuse("replicate before tensorize", "%%%s is an operand of a call", buffer)
	case deps.Written(inside):
		return refuse("", "loop %%%s writes %%%s in %s", loop, buffer, storeText(inside))
	case len(inside) == 0:
		return refuse("", "loop %%%s does not read %%%s", loop, buffer)
	}
	r := &replicas{buf: alloc.Buf, loop: l, names: namesOf(f), name: name}
	r.buf.Shape = append(append([]int{}, alloc.Buf.Shape...), l.Extent)
	r.buf.Enc = ir.Encoding{}
	body := r.stmt(f.Body, ir.Int(0), false)
	if r.err != nil {
		return nil, r.err
	}
	return f.WithBody(body), nil
}

// replicas rewrites a Func for a buffer with copies.
type replicas struct {
	buf   ir.Buffer // the new one
	loop  *ir.For   // each iteration reads a copy of its own
	names used
	name  string // of the next loop over copies
	err   error
}

// stmt rewrites s, in which copy is read; lanes says whether it is in a vectorize loop.
func (r *replicas) stmt(s ir.Stmt, copy ir.Expr, lanes bool) ir.Stmt {
	switch x := s.(type) {
	case *ir.For:
		if x.Var == r.loop.Var {
			copy = ir.V(x.Var)
		}
		return x.WithBody(r.stmt(x.Body, copy, lanes || x.Kind == ir.Vectorize))
	case *ir.Block:
		out := make([]ir.Stmt, len(x.Stmts))
		for i, t := range x.Stmts {
			out[i] = r.stmt(t, copy, lanes)
		}
		return ir.Seq(out...)
	case *ir.If:
		out := &ir.If{Cond: r.read(x.Cond, copy), Then: r.stmt(x.Then, copy, lanes)}
		if x.Else != nil {
			out.Else = r.stmt(x.Else, copy, lanes)
		}
		return out
	case *ir.Alloc:
		buf := x.Buf
		if buf.Name == r.buf.Name {
			buf = r.buf
		}
		return &ir.Alloc{Buf: buf, Body: r.stmt(x.Body, copy, lanes)}
	case *ir.Store:
		if x.Buf == r.buf.Name {
			return r.store(x, lanes)
		}
	}
	return ir.MapStmt(s, nil, func(e ir.Expr) ir.Expr { return r.read(e, copy) })
}

// store sets all copies. Reads of the buffer in s become reads of the same copy.
func (r *replicas) store(s *ir.Store, lanes bool) ir.Stmt {
	if lanes && r.err == nil {
		r.err = &ir.Error{Msg: fmt.Sprintf("the copies of %%%s would be a loop inside a vectorize loop, in %s", s.Buf,
			storeText([]deps.Access{{Store: s}})), Help: "replicate before vectorize"}
	}
	name := r.name
	if name == "" {
		name = s.Buf + ".r"
	}
	if r.names[name] && r.name == "" {
		name = r.names.copyOf(name)
	} else if err := r.names.take(name); err != nil && r.err == nil {
		r.err = err
	}
	v := ir.V(name)
	r.name = ""
	idx := make([]ir.Expr, len(s.Idx), len(s.Idx)+1)
	for i, x := range s.Idx {
		idx[i] = r.read(x, v)
	}
	return &ir.For{Var: name, Extent: r.loop.Extent, Axis: ir.Copy,
		Body: &ir.Store{Buf: s.Buf, Idx: append(idx, v), Op: s.Op, Val: r.read(s.Val, v)}}
}

// read takes elements of the buffer from a copy.
func (r *replicas) read(e, copy ir.Expr) ir.Expr {
	return ir.MapExpr(e, func(e ir.Expr) ir.Expr {
		l, ok := e.(*ir.Load)
		if !ok || l.Buf != r.buf.Name {
			return e
		}
		return &ir.Load{Buf: l.Buf, T: l.T, Idx: append(append([]ir.Expr{}, l.Idx...), copy)}
	})
}
