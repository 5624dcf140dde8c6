package ir

import (
	"cmp"
	"iter"
)

// Walk calls f on s and, while f returns true, on the statements below it, in program order.
func Walk(s Stmt, f func(Stmt) bool) {
	if s == nil || !f(s) {
		return
	}
	var room [2]Stmt
	for _, t := range children(s, &room) {
		Walk(t, f)
	}
}

// Children lists the statements right below s.
func Children(s Stmt) []Stmt {
	var room [2]Stmt
	return children(s, &room)
}

// children is Children, in room except for those of a Block.
func children(s Stmt, room *[2]Stmt) []Stmt {
	switch s := s.(type) {
	case *For:
		return append(room[:0], s.Body)
	case *If:
		if s.Else != nil {
			return append(room[:0], s.Then, s.Else)
		}
		return append(room[:0], s.Then)
	case *Block:
		return s.Stmts
	case *Alloc:
		return append(room[:0], s.Body)
	}
	return nil
}

// WalkExpr calls f on e and, while f returns true, on its operands.
func WalkExpr(e Expr, f func(Expr) bool) {
	if e == nil || !f(e) {
		return
	}
	var room [3]Expr
	for _, x := range operands(e, &room) {
		WalkExpr(x, f)
	}
}

// Exprs iterates over the expressions of s itself, not of statements below it.
func Exprs(s Stmt) iter.Seq[Expr] {
	return func(yield func(Expr) bool) { exprs(s, yield) }
}

func exprs(s Stmt, yield func(Expr) bool) {
	each := func(idx []Expr) bool {
		for _, e := range idx {
			if !yield(e) {
				return false
			}
		}
		return true
	}
	switch s := s.(type) {
	case *Store:
		if each(s.Idx) {
			yield(s.Val)
		}
	case *If:
		yield(s.Cond)
	case *Call:
		for _, w := range s.Args {
			if !each(w.Idx) {
				return
			}
		}
	}
}

// Stmts iterates over s and the statements below it, in program order.
func Stmts(s Stmt) iter.Seq[Stmt] {
	return func(yield func(Stmt) bool) {
		goesOn := true
		Walk(s, func(t Stmt) bool {
			goesOn = goesOn && yield(t)
			return goesOn
		})
	}
}

// StmtsOf is Stmts of one type.
func StmtsOf[T Stmt](s Stmt) iter.Seq[T] { return ofType[T](Stmts(s)) }

// NodesOf is Nodes of one type.
func NodesOf[T Expr](s Stmt) iter.Seq[T] { return ofType[T](Nodes(s)) }

// ExprsOf iterates over the expressions of one type in e, e included.
func ExprsOf[T Expr](e Expr) iter.Seq[T] { return ofType[T](exprsIn(e)) }

// exprsIn iterates over e and the expressions in it.
func exprsIn(e Expr) iter.Seq[Expr] {
	return func(yield func(Expr) bool) {
		goesOn := true
		WalkExpr(e, func(x Expr) bool {
			goesOn = goesOn && yield(x)
			return goesOn
		})
	}
}

// ofType iterates over the elements of one type.
func ofType[T, E any](all iter.Seq[E]) iter.Seq[T] {
	return func(yield func(T) bool) {
		for e := range all {
			if t, ok := any(e).(T); ok && !yield(t) {
				return
			}
		}
	}
}

// Nodes iterates over the expressions of s and of the statements below it, with all their operands.
func Nodes(s Stmt) iter.Seq[Expr] {
	return func(yield func(Expr) bool) {
		for t := range Stmts(s) {
			for e := range Exprs(t) {
				for x := range exprsIn(e) {
					if !yield(x) {
						return
					}
				}
			}
		}
	}
}

// Contains reports whether f holds for e or for an expression in it.
func Contains(e Expr, f func(Expr) bool) bool {
	found := false
	WalkExpr(e, func(x Expr) bool {
		found = found || f(x)
		return !found
	})
	return found
}

// Mentions reports whether a variable occurs in e.
func Mentions(e Expr, name string) bool {
	return Contains(e, func(x Expr) bool {
		v, ok := x.(*Var)
		return ok && v.Name == name
	})
}

// HasLoop reports whether f holds for a loop in s.
func HasLoop(s Stmt, f func(*For) bool) bool {
	for l := range StmtsOf[*For](s) {
		if f(l) {
			return true
		}
	}
	return false
}

// Operands iterates over the operands of e; those of a Load are its indices.
func Operands(e Expr) iter.Seq[Expr] {
	return func(yield func(Expr) bool) {
		var room [3]Expr
		for _, x := range operands(e, &room) {
			if !yield(x) {
				return
			}
		}
	}
}

// operands lists the operands of e, in room except for those of a Load.
func operands(e Expr, room *[3]Expr) []Expr {
	switch e := e.(type) {
	case *Load:
		return e.Idx
	case *Binary:
		return append(room[:0], e.A, e.B)
	case *Unary:
		return append(room[:0], e.A)
	case *Select:
		return append(room[:0], e.Cond, e.A, e.B)
	case *Cast:
		return append(room[:0], e.A)
	case *Bitcast:
		return append(room[:0], e.A)
	case *Fma:
		return append(room[:0], e.A, e.B, e.C)
	}
	return nil
}

// withOperands returns e, which is no Load, on other operands.
func withOperands(e Expr, x [3]Expr) Expr {
	switch e := e.(type) {
	case *Binary:
		return &Binary{e.Op, x[0], x[1]}
	case *Unary:
		return &Unary{e.Op, x[0]}
	case *Select:
		return &Select{x[0], x[1], x[2]}
	case *Cast:
		return &Cast{e.T, x[0]}
	case *Bitcast:
		return &Bitcast{e.T, x[0]}
	case *Fma:
		return &Fma{x[0], x[1], x[2]}
	}
	return e
}

// MapExpr rebuilds e bottom-up: f sees each node with its operands already mapped.
func MapExpr(e Expr, f func(Expr) Expr) Expr {
	m := func(x Expr) Expr { return MapExpr(x, f) }
	if x, ok := e.(*Load); ok {
		return f(&Load{x.Buf, x.T, mapAll(x.Idx, m)})
	}
	var room [3]Expr
	for i, x := range operands(e, &room) {
		room[i] = m(x)
	}
	return f(withOperands(e, room))
}

func mapAll(es []Expr, f func(Expr) Expr) []Expr {
	out := make([]Expr, len(es))
	for i, e := range es {
		out[i] = f(e)
	}
	return out
}

// MapStmt rebuilds s bottom-up. fs sees each statement with its children already mapped, and may
// return nil to drop it. fe rebuilds every expression. Either may be nil.
func MapStmt(s Stmt, fs func(Stmt) Stmt, fe func(Expr) Expr) Stmt {
	if fs == nil {
		fs = func(s Stmt) Stmt { return s }
	}
	if fe == nil {
		fe = func(e Expr) Expr { return e }
	}
	return mapStmt(s, fs, fe)
}

func mapStmt(s Stmt, fs func(Stmt) Stmt, fe func(Expr) Expr) Stmt {
	switch x := s.(type) {
	case *For:
		return fs(x.WithBody(orEmpty(mapStmt(x.Body, fs, fe))))
	case *Store:
		return fs(&Store{x.Buf, mapAll(x.Idx, fe), x.Op, fe(x.Val)})
	case *If:
		var els Stmt
		if x.Else != nil {
			els = mapStmt(x.Else, fs, fe)
		}
		return fs(&If{fe(x.Cond), orEmpty(mapStmt(x.Then, fs, fe)), els})
	case *Block:
		out := make([]Stmt, 0, len(x.Stmts))
		for _, t := range x.Stmts {
			if t = mapStmt(t, fs, fe); t != nil {
				out = append(out, t)
			}
		}
		return fs(Seq(out...))
	case *Alloc:
		return fs(&Alloc{x.Buf, orEmpty(mapStmt(x.Body, fs, fe))})
	case *Call:
		args := make([]Window, len(x.Args))
		for i, w := range x.Args {
			args[i] = Window{w.Buf, mapAll(w.Idx, fe)}
		}
		return fs(&Call{x.Fn, args})
	case *Comment, *Barrier:
		return fs(x)
	}
	return nil
}

func orEmpty(s Stmt) Stmt {
	if s == nil {
		return &Block{}
	}
	return s
}

// Subst replaces loop variables in e; Bin's folding keeps the result readable.
func Subst(e Expr, m map[string]Expr) Expr {
	return MapExpr(e, func(x Expr) Expr {
		switch x := x.(type) {
		case *Var:
			if r, ok := m[x.Name]; ok {
				return r
			}
		case *Binary:
			return Bin(x.Op, x.A, x.B)
		}
		return x
	})
}

// SubstStmt replaces loop variables in all expressions below s.
func SubstStmt(s Stmt, m map[string]Expr) Stmt {
	return MapStmt(s, nil, func(e Expr) Expr { return Subst(e, m) })
}

// Reindex redirects stores to and loads from buffer from to buffer to. at translates the indices of
// an element. Allocs, and operands of calls, stay unchanged.
func Reindex(s Stmt, from, to string, at func(idx []Expr) []Expr) Stmt {
	return MapStmt(s, func(s Stmt) Stmt {
		if st, ok := s.(*Store); ok && st.Buf == from {
			return &Store{Buf: to, Idx: at(st.Idx), Op: st.Op, Val: st.Val}
		}
		return s
	}, func(e Expr) Expr {
		return MapExpr(e, func(e Expr) Expr {
			if l, ok := e.(*Load); ok && l.Buf == from {
				return &Load{Buf: to, T: l.T, Idx: at(l.Idx)}
			}
			return e
		})
	})
}

// Rename gives loops and buffers below s new names. A loop and a buffer may share one.
func Rename(s Stmt, loops, bufs map[string]string) Stmt {
	loop := func(n string) string { return cmp.Or(loops[n], n) }
	to := func(n string) string { return cmp.Or(bufs[n], n) }
	fe := func(e Expr) Expr {
		return MapExpr(e, func(e Expr) Expr {
			switch e := e.(type) {
			case *Var:
				return V(loop(e.Name))
			case *Load:
				return &Load{Buf: to(e.Buf), T: e.T, Idx: e.Idx}
			}
			return e
		})
	}
	fs := func(s Stmt) Stmt {
		switch s := s.(type) {
		case *For:
			return &For{Var: loop(s.Var), Extent: s.Extent, Kind: s.Kind, Axis: s.Axis, Body: s.Body}
		case *Store:
			return &Store{Buf: to(s.Buf), Idx: s.Idx, Op: s.Op, Val: s.Val}
		case *Alloc:
			b := s.Buf
			b.Name = to(b.Name)
			return &Alloc{Buf: b, Body: s.Body}
		case *Call:
			args := make([]Window, len(s.Args))
			for i, w := range s.Args {
				args[i] = Window{Buf: to(w.Buf), Idx: w.Idx}
			}
			return &Call{Fn: s.Fn, Args: args}
		}
		return s
	}
	return MapStmt(s, fs, fe)
}

// FindAlloc returns the alloc of the buffer called name, or nil.
func FindAlloc(s Stmt, name string) *Alloc {
	for a := range StmtsOf[*Alloc](s) {
		if a.Buf.Name == name {
			return a
		}
	}
	return nil
}

// FindLoop returns the loop called name, or nil.
func FindLoop(s Stmt, name string) *For {
	for l := range StmtsOf[*For](s) {
		if l.Var == name {
			return l
		}
	}
	return nil
}
