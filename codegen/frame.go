package codegen

import (
	"fmt"

	"ripc/internal/abi"
	"ripc/ir"
)

// What a kernel may put on the stack: with the driver's own frame, less than 16 KiB.
const (
	maxOnStack  = 4 << 10  // bytes of one buffer
	maxStackSum = 12 << 10 // bytes of all of them
)

// Slot is where an alloc goes: on the stack, or at an offset of the thread's scratch block.
type Slot struct {
	OnStack bool
	Offset  int64
	Copies  int    // lanes of the vectorized loop around it, 0 if there is none
	Lane    string // that loop
}

// Frame places every alloc of a Func. Small ones go on the stack, in program order until it is full, so that a compiler can
// keep them in registers; the others share the scratch block, those of disjoint scopes the same bytes. There is room for
// a copy per lane of a vectorized loop, whether the back end needs it or not, so that all agree on the size.
type Frame struct {
	Slots   map[string]Slot
	Stack   int64
	Scratch int64
}

// Layout is f's Frame.
func Layout(f *ir.Func) Frame {
	fr := Frame{Slots: map[string]Slot{}}
	fr.place(f.Body, 0, 0, "")
	return fr
}

// place walks s; top is the number of scratch bytes in use around it.
func (fr *Frame) place(s ir.Stmt, top int64, copies int, lane string) {
	switch s := s.(type) {
	case *ir.Block:
		for _, t := range s.Stmts {
			fr.place(t, top, copies, lane)
		}
	case *ir.If:
		fr.place(s.Then, top, copies, lane)
		fr.place(s.Else, top, copies, lane)
	case *ir.For:
		if s.Kind == ir.Vectorize && s.Extent > 1 && copies == 0 && !calls(s) {
			copies, lane = s.Extent, s.Var
		}
		fr.place(s.Body, top, copies, lane)
	case *ir.Alloc:
		n := abi.RoundUp(int64(s.Buf.Bytes()) * max(int64(copies), 1))
		sl := Slot{Copies: copies, Lane: lane}
		if n <= maxOnStack && fr.Stack+n <= maxStackSum {
			sl.OnStack = true
			fr.Stack += n
		} else {
			sl.Offset = top
			top += n
			fr.Scratch = max(fr.Scratch, top)
		}
		fr.Slots[s.Buf.Name] = sl
		fr.place(s.Body, top, copies, lane)
	}
}

// calls reports whether s calls instructions. Then no loop around them is emitted on vectors, and an instruction's
// operand must be contiguous.
func calls(s ir.Stmt) bool {
	found := false
	ir.Walk(s, func(t ir.Stmt) bool {
		_, isCall := t.(*ir.Call)
		found = found || isCall
		return !found
	})
	return found
}

// CheckParallel fails with *ir.Error unless f has at most one parallel loop, and nothing beside it but comments and allocs
// around it; the loop is nil if there is none. Threads share the iterations, and meet only when the kernel ends.
func CheckParallel(f *ir.Func) (*ir.For, error) {
	loop := outermost(f.Body)
	var err error
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		if l, ok := s.(*ir.For); ok && l.Kind == ir.Parallel && l != loop && err == nil {
			err = &ir.Error{Op: "parallel %" + l.Var, Node: "@" + f.Name,
				Msg:  fmt.Sprintf("loop %%%s is not the outermost loop, alone but for allocs around it", l.Var),
				Help: "make the outermost loop parallel, and put statements beside it into kernels of their own"}
		}
		return true
	})
	return loop, err
}

// outermost is the parallel loop at the top of s.
func outermost(s ir.Stmt) *ir.For {
	for {
		var inner ir.Stmt
		switch t := s.(type) {
		case *ir.Alloc:
			inner = t.Body
		case *ir.Block:
			for _, u := range t.Stmts {
				if _, ok := u.(*ir.Comment); ok {
					continue
				}
				if inner != nil {
					return nil
				}
				inner = u
			}
		case *ir.For:
			if t.Kind == ir.Parallel {
				return t
			}
		}
		if inner == nil {
			return nil
		}
		s = inner
	}
}

// Contiguous fails unless a window of b for parameter p of an instruction has the parameter's type, and elements that
// follow each other in memory, which is all that a pointer to it says.
func Contiguous(p ir.Param, b ir.Buffer) error {
	switch {
	case b.Type != p.Type:
		return fmt.Errorf("the element types differ")
	case len(p.Shape) > len(b.Shape):
		return fmt.Errorf("it has too few dimensions")
	}
	trail := b.Shape[len(b.Shape)-len(p.Shape):]
	outer := true // all dimensions so far have extent 1 in the window
	for d, n := range p.Shape {
		if !outer && n != trail[d] {
			return fmt.Errorf("the window is not contiguous")
		}
		outer = outer && n == 1
	}
	return nil
}
