package codegen

import (
	"ripc/internal/f32"
	"ripc/ir"
)

// FlushedAllocs finds the allocs of f in which only flushed floats are stored.
func FlushedAllocs(f *ir.Func) map[string]bool {
	clean := map[string]bool{}
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		if a, ok := s.(*ir.Alloc); ok && a.Buf.Type.IsFloat() {
			clean[a.Buf.Name] = true
		}
		return true
	})
	for before := -1; before != len(clean); { // one that is not may have been copied to others
		before = len(clean)
		ir.Walk(f.Body, func(s ir.Stmt) bool {
			switch s := s.(type) {
			case *ir.Store: // what is combined is the result of arithmetic
				if s.Op == ir.Assign && clean[s.Buf] && !Flushed(s.Val, clean) {
					delete(clean, s.Buf)
				}
			case *ir.Call:
				for _, a := range s.Args {
					delete(clean, a.Buf)
				}
			}
			return true
		})
	}
	return clean
}

// Flushed reports whether the float x is flushed, given the buffers that hold nothing else.
func Flushed(x ir.Expr, clean map[string]bool) bool {
	switch x := x.(type) {
	case *ir.FloatImm:
		k := f32.Flush(x.V)
		return k == x.V || x.V != x.V
	case *ir.Binary, *ir.Fma:
		return true
	case *ir.Cast:
		return !x.A.Type().IsFloat() || Flushed(x.A, clean)
	case *ir.Unary:
		return x.Op != ir.Neg && x.Op != ir.Abs || Flushed(x.A, clean)
	case *ir.Select:
		return Flushed(x.A, clean) && Flushed(x.B, clean)
	case *ir.Load:
		return clean[x.Buf]
	}
	return false
}
