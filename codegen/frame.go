package codegen

import (
	"fmt"

	"ripc/internal/abi"
	"ripc/ir"
	"ripc/ir/deps"
)

// Limits of a kernel's stack: with the driver's own frame, it stays below 16 KiB.
const (
	MaxOnStack  = 4 << 10  // bytes of one buffer
	maxStackSum = 12 << 10 // bytes of all of them
)

// Slot is where an alloc goes: on the stack, or at an offset of the thread's scratch block.
type Slot struct {
	OnStack bool
	Offset  int64
	Copies  int    // lanes of the vectorized loop around it, 0 if there is none
	Lane    string // that loop
}

// Frame places every alloc of a Func. Small ones go on the stack, in program order until it is
// full, so that a compiler can keep them in registers; the others share the scratch block, those of
// disjoint scopes the same bytes. There is room for a copy per lane of a vectorized loop, whether
// the back end needs it or not, so that all agree on the size.
type Frame struct {
	Slots   map[string]Slot
	Stack   int64
	Scratch int64
}

// Layout is f's Frame. Of a device, it has the scratch memory that all kernels share.
func Layout(f *ir.Func) Frame {
	if d, err := deps.DeviceOf(f); deps.IsDevice(f) && err == nil {
		return Frame{Scratch: abi.RoundUp(d.ScratchBytes())}
	}
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
		if s.Kind == ir.Vectorize && s.Extent > 1 && copies == 0 {
			copies, lane = s.Extent, s.Var
		}
		fr.place(s.Body, top, copies, lane)
	case *ir.Alloc:
		n := abi.RoundUp(int64(s.Buf.Bytes()) * max(int64(copies), 1))
		sl := Slot{Copies: copies, Lane: lane}
		if n <= MaxOnStack && fr.Stack+n <= maxStackSum {
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

// CheckLoops fails with *ir.Error unless the kinds of f's loops are legal, and reports whether one
// of them is parallel. With a parallel loop all threads run f, each with its own allocs, and share
// the loop's iterations; they meet only when the kernel ends. Otherwise one thread runs f. Every
// back end calls this before it relies on loop kinds.
func CheckLoops(f *ir.Func) (parallel bool, err error) {
	if deps.IsDevice(f) {
		return false, &ir.Error{Node: "@" + f.Name, Msg: "it has loops of blocks or threads",
			Help: "these are for the targets that are devices"}
	}
	parallel = ir.HasLoop(f.Body, func(l *ir.For) bool { return l.Kind == ir.Parallel })
	return parallel, deps.Check(f)
}

// Contiguous fails unless a window of b suits parameter p of an instruction: it must have the
// parameter's type, and contiguous elements, since a pointer has no strides.
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
