package difftest

import "ripc/ir"

// Races lists f, a Func for a device, with one fault each: a barrier dropped, or a shared buffer
// made each thread's own. If each barrier of f is needed, each mutant has a race or another form
// than devices take.
func Races(f *ir.Func) (all []*ir.Func) {
	barriers := 0
	for s := range ir.Stmts(f.Body) {
		switch s := s.(type) {
		case *ir.Barrier:
			at, n := 0, barriers
			barriers++
			all = append(all, f.WithBody(ir.MapStmt(f.Body, func(t ir.Stmt) ir.Stmt {
				if _, ok := t.(*ir.Barrier); ok {
					if at++; at == n+1 {
						return nil
					}
				}
				return t
			}, nil)))
		case *ir.Alloc:
			if s.Buf.Space != ir.Shared {
				continue
			}
			all = append(all, f.WithBody(ir.MapStmt(f.Body, func(t ir.Stmt) ir.Stmt {
				if o, ok := t.(*ir.Alloc); ok && o.Buf.Name == s.Buf.Name {
					own := o.Buf
					own.Space = ir.Own
					return &ir.Alloc{Buf: own, Body: o.Body}
				}
				return t
			}, nil)))
		}
	}
	return all
}
