package codegen

import "ripc/ir"

// mostUnits is the number of units of a thread's part of a stage. Other threads take over the units
// that a thread has not begun.
const mostUnits = 4

// Units returns the number of units into which each thread's part of f is cut. A kernel runs a unit
// if it is called as one of that many threads, which deps.Check has proved legal for any number. It
// is 0 for a Func that one thread runs, because no parallel loop has several iterations. It is 1 if
// code outside of the parallel loops stores something, since each unit would repeat it.
func Units(f *ir.Func) int {
	extent, repeated := 0, false
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.For:
			if s.Kind == ir.Parallel {
				extent = max(extent, s.Extent)
				return false
			}
		case *ir.Store, *ir.Call:
			repeated = true
		}
		return true
	})
	switch {
	case extent <= 1:
		return 0
	case repeated:
		return 1
	}
	return min(mostUnits, extent)
}
