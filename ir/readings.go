package ir

// This file decides which expressions read memory, and how long they keep their values. An
// expression without loads is constant while its loops stand still. One with loads may change when
// one of its buffers is written. Comparisons of expressions, by text or node by node, must ask here
// first. Equal parts of one expression are read at the same moment, so they have equal values.

// ReadsMemory reports whether a Load occurs in e.
func ReadsMemory(e Expr) bool { return readsAny(e, func(string) bool { return true }) }

// Reads reports whether e loads from buffer buf.
func Reads(e Expr, buf string) bool { return readsAny(e, func(b string) bool { return b == buf }) }

func readsAny(e Expr, of func(buf string) bool) bool {
	return Contains(e, func(x Expr) bool {
		l, ok := x.(*Load)
		return ok && of(l.Buf)
	})
}

// Changes is the set of buffers that some statements may change.
type Changes map[string]bool

// Changes lists the buffers that statements of f may change: those that they write, those at the
// same address as a written one, and those that they allocate, since each entry of a scope makes a
// new buffer.
func (f *Func) Changes(ss ...Stmt) Changes {
	c := Changes{}
	for _, s := range ss {
		for s := range Stmts(s) {
			switch s := s.(type) {
			case *Alloc:
				c[s.Buf.Name] = true
			case *Store:
				c[s.Buf] = true
			case *Call:
				for i, w := range s.Args {
					if i >= len(s.Fn.Params) || s.Fn.Params[i].Out {
						c[w.Buf] = true
					}
				}
			}
		}
	}
	for _, p := range f.Params {
		if p.Over != "" && c[p.Name] {
			c[p.Over] = true
		}
	}
	return c
}

// Keep reports whether the changes leave e's value alone, as long as its loops stand still.
func (c Changes) Keep(e Expr) bool {
	return !readsAny(e, func(buf string) bool { return c[buf] })
}

// Lasting lists the conjuncts of cond that hold throughout s, given that cond holds at its
// beginning. s is a statement of f.
func (f *Func) Lasting(cond Expr, s Stmt) []Expr {
	var out []Expr
	var changes Changes // made when it is needed: conditions seldom read memory
	for _, c := range Conjuncts(cond) {
		if ReadsMemory(c) {
			if changes == nil {
				changes = f.Changes(s)
			}
			if !changes.Keep(c) {
				continue
			}
		}
		out = append(out, c)
	}
	return out
}

// Conjuncts splits a & b & c into its operands.
func Conjuncts(e Expr) []Expr {
	if b, ok := e.(*Binary); ok && b.Op == And && b.Type() == Bool {
		return append(Conjuncts(b.A), Conjuncts(b.B)...)
	}
	return []Expr{e}
}

// Accumulates reports whether e, in a value that is stored in buf, continues the sum in buf's
// elements. It then adds to, subtracts from, multiplies by a constant or shifts left by one a value
// loaded from buf. The complete sum may not leave its type; intermediate values may.
func Accumulates(e *Binary, buf string) bool {
	t := e.A.Type()
	if !t.IsInt() {
		return false
	}
	k, constant := e.B.(*IntImm)
	switch e.Op {
	case Add, Sub:
	case Mul:
		if _, ok := e.A.(*IntImm); !ok && !constant {
			return false
		}
	case Shl:
		if !constant || k.V < 0 || k.V >= int64(t.Bits()) {
			return false
		}
	default:
		return false
	}
	return Reads(e, buf)
}

// CountLoads returns how often s loads elements of a buffer, where all conditions hold. Stores to
// the buffer, which add up, do not count.
func CountLoads(s Stmt, buf string) (n int) {
	Walk(s, func(s Stmt) bool {
		if l, ok := s.(*For); ok {
			n += l.Extent * CountLoads(l.Body, buf)
			return false
		}
		if st, ok := s.(*Store); ok && st.Buf == buf {
			return false
		}
		for e := range Exprs(s) {
			for ld := range ExprsOf[*Load](e) {
				if ld.Buf == buf {
					n++
				}
			}
		}
		return true
	})
	return n
}
