package ir

// Which expressions read memory, and until when two readings of one are equal. Whoever compares
// expressions, by text or node by node, asks here first: an expression without loads is equal
// wherever its loops stand still, one with loads only until one of its buffers is written. Two
// parts of one expression are read at one moment, so equal parts have equal values.

// ReadsMemory reports whether a Load occurs in e.
func ReadsMemory(e Expr) bool { return readsAny(e, func(string) bool { return true }) }

// Reads reports whether e loads from buffer buf.
func Reads(e Expr, buf string) bool { return readsAny(e, func(b string) bool { return b == buf }) }

func readsAny(e Expr, of func(buf string) bool) bool {
	found := false
	WalkExpr(e, func(x Expr) bool {
		l, ok := x.(*Load)
		found = found || ok && of(l.Buf)
		return !found
	})
	return found
}

// Changes is the set of buffers whose elements some statements may change.
type Changes map[string]bool

// Changes lists the buffers that statements of f may change: those that they write, those that lie
// in the same place as one of these, and those that they allocate, of which each entry of the scope
// is another one.
func (f *Func) Changes(ss ...Stmt) Changes {
	c := Changes{}
	for _, s := range ss {
		Walk(s, func(s Stmt) bool {
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
			return true
		})
	}
	for _, p := range f.Params {
		if p.Over != "" && c[p.Name] {
			c[p.Over] = true
		}
	}
	return c
}

// Keep reports whether e has one value before, between and after the changes, as long as its loops
// stand still.
func (c Changes) Keep(e Expr) bool {
	return !readsAny(e, func(buf string) bool { return c[buf] })
}

// Lasting lists the conjuncts of cond that go on to hold all through s, a statement of f at whose
// beginning cond holds.
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

// Conjuncts takes a & b & c apart.
func Conjuncts(e Expr) []Expr {
	if b, ok := e.(*Binary); ok && b.Op == And && b.Type() == Bool {
		return append(Conjuncts(b.A), Conjuncts(b.B)...)
	}
	return []Expr{e}
}

// Accumulates reports whether e, in a value that is stored in buf, goes on with the sum in buf's
// elements: it adds, subtracts, multiplies by a constant or shifts left by one what is read there.
// Such a sum may not leave its type, as a whole: parts of it may, where others bring them back.
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
