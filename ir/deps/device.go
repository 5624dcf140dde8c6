package deps

import (
	"fmt"

	"ripc/ir"
	"ripc/runtime/describe"
)

// Device is a Func as a device runs it: kernels, one after the other. All blocks of a kernel see
// the parameters and Scratch as the kernel before left them.
type Device struct {
	Kernels []Kernel
	Scratch []ir.Buffer // allocs around kernels, which lie in the device's memory
}

// Kernel is one launch: a grid of blocks with as many threads each. Its blocks run the phases of
// Body in order. Loops and ifs may stand around phases, and all threads of a block take the same
// way through them.
type Kernel struct {
	Blocks  []*ir.For // outermost first
	Body    ir.Stmt
	Threads int // of the largest phase
	Shared  int // bytes of shared allocs that live at once
}

// Launch describes k as a kernel called symbol.
func (k Kernel) Launch(symbol string) describe.Launch {
	l := describe.Launch{Kernel: symbol, Blocks: 1, Threads: k.Threads, Shared: k.Shared}
	for _, b := range k.Blocks {
		l.Blocks *= b.Extent
	}
	return l
}

// Phase is the work between two points where threads may wait for each other: a nest of loops of
// threads, or code that one thread runs.
type Phase struct {
	Loops []*ir.For // of threads, outermost first; they number the threads of a block from 0
	Body  ir.Stmt   // of a thread
	// Together is the number of threads that an iteration of Loops takes: 1, or ir.Func.Threads of
	// the instructions, which are then all that Body does.
	Together int
	whole    ir.Stmt // the phase where it stands in the Func
}

// Threads is the number of threads that have work.
func (p Phase) Threads() int {
	n := p.Together
	for _, l := range p.Loops {
		n *= l.Extent
	}
	return n
}

// IsDevice reports whether f has loops of blocks or threads.
func IsDevice(f *ir.Func) bool { return ir.HasLoop(f.Body, onDevice) }

func onDevice(l *ir.For) bool { return l.Kind == ir.Blocks || l.Kind == ir.Threads }

// DeviceOf divides f into kernels: the statements of its body, within allocs. It fails *ir.Error
// if loops do not stand as Device, Kernel and Phase say.
func DeviceOf(f *ir.Func) (d Device, err error) {
	err = ir.Try(func() { d.kernels(f.Body) })
	if e, ok := err.(*ir.Error); ok {
		e.Node = "@" + f.Name
	}
	return d, err
}

func misplaced(op, help, format string, args ...any) {
	panic(&ir.Error{Op: op, Msg: fmt.Sprintf(format, args...), Help: help})
}

func (d *Device) kernels(s ir.Stmt) {
	switch s := s.(type) {
	case *ir.Block:
		for _, t := range s.Stmts {
			d.kernels(t)
		}
	case *ir.Alloc:
		if s.Buf.Space == ir.Shared {
			misplaced("alloc %"+s.Buf.Name, "compute it at a loop of blocks", "it is shared, but lies in no block")
		}
		d.Scratch = append(d.Scratch, s.Buf)
		d.kernels(s.Body)
	case *ir.Comment, *ir.Barrier: // kernels wait for each other anyway
	default:
		k := Kernel{Threads: 1}
		k.Blocks, k.Body = nest(s, ir.Blocks)
		k.Shared = sharedBytes(k.Body)
		k.Phases(func(p Phase) { k.Threads = max(k.Threads, p.Threads()) })
		d.Kernels = append(d.Kernels, k)
	}
}

// nest returns the loops of one kind that s begins with, and their body. Loops of one iteration and
// ifs may stand between them; the ifs come to stand inside.
func nest(s ir.Stmt, kind ir.LoopKind) (loops []*ir.For, body ir.Stmt) {
	switch s := s.(type) {
	case *ir.For:
		if s.Kind == kind || s.Kind == ir.Serial && s.Extent == 1 && begins(s.Body, kind) {
			loops, body = nest(s.Body, kind)
			return append([]*ir.For{s}, loops...), body
		}
	case *ir.If:
		if s.Else == nil && !ir.ReadsMemory(s.Cond) && begins(s.Then, kind) {
			loops, body = nest(s.Then, kind)
			return loops, &ir.If{Cond: s.Cond, Then: body}
		}
	}
	return nil, s
}

// begins reports whether s is a loop of a kind, behind loops of one iteration and ifs.
func begins(s ir.Stmt, kind ir.LoopKind) bool {
	switch s := s.(type) {
	case *ir.For:
		return s.Kind == kind || s.Kind == ir.Serial && s.Extent == 1 && begins(s.Body, kind)
	case *ir.If:
		return s.Else == nil && !ir.ReadsMemory(s.Cond) && begins(s.Then, kind)
	}
	return false
}

// sharedAlign is the alignment of shared allocs in bytes.
const sharedAlign = 16

func sharedBytes(s ir.Stmt) int {
	n := 0
	switch s := s.(type) {
	case *ir.Alloc:
		n = sharedBytes(s.Body)
		if s.Buf.Space == ir.Shared {
			n += (s.Buf.Bytes() + sharedAlign - 1) / sharedAlign * sharedAlign
		}
	case *ir.For:
		n = sharedBytes(s.Body)
	case *ir.If:
		n = sharedBytes(s.Then)
		if s.Else != nil {
			n = max(n, sharedBytes(s.Else))
		}
	case *ir.Block: // compilers may lay neighbours side by side
		for _, t := range s.Stmts {
			n += sharedBytes(t)
		}
	}
	return n
}

// Phases calls see with each phase of the kernel, in order. It panics with *ir.Error if loops do
// not stand as Phase says.
func (k Kernel) Phases(see func(Phase)) { phases(k.Body, see) }

func phases(s ir.Stmt, see func(Phase)) {
	if p, ok := AsPhase(s); ok {
		see(p)
		return
	}
	for _, t := range ir.Children(s) {
		phases(t, see)
	}
}

// AsPhase returns s as a phase. ok is false for statements around or between phases. It panics with
// *ir.Error if s is neither.
func AsPhase(s ir.Stmt) (p Phase, ok bool) {
	if begins(s, ir.Threads) {
		p.whole = s
		p.Loops, p.Body = nest(s, ir.Threads)
		for t := range ir.Stmts(p.Body) {
			switch t := t.(type) {
			case *ir.For:
				if t.Kind != ir.Serial && t.Kind != ir.Unroll {
					misplaced(fmt.Sprintf("%s %%%s", t.Kind, t.Var),
						"leave it serial or unroll it, or reorder the loops",
						"it lies in loop %%%s of threads", p.Loops[0].Var)
				}
			case *ir.Alloc:
				if t.Buf.Space == ir.Shared {
					misplaced("alloc %"+t.Buf.Name, "compute it at a loop of blocks",
						"it is shared, but lies in loop %%%s of threads", p.Loops[0].Var)
				}
			}
		}
		p.Together = threadsOfCall(p.Body)
		return p, true
	}
	if !ir.HasLoop(s, onDevice) && !hasBarrier(s) && !hasShared(s) {
		_, comment := s.(*ir.Comment)
		for t := range ir.Stmts(s) {
			if l, ok := t.(*ir.For); ok && l.Kind != ir.Serial && l.Kind != ir.Unroll {
				misplaced(fmt.Sprintf("%s %%%s", l.Kind, l.Var), "leave it serial or unroll it",
					"a device has no such loops")
			}
		}
		return Phase{Body: s, whole: s, Together: threadsOfCall(s)}, !comment
	}
	switch s := s.(type) {
	case *ir.For:
		if s.Kind != ir.Serial && s.Kind != ir.Unroll {
			misplaced(fmt.Sprintf("%s %%%s", s.Kind, s.Var), "blocks are outermost",
				"it lies around or beside other code of a block")
		}
	case *ir.If:
		if ir.ReadsMemory(s.Cond) {
			misplaced("if "+ir.ExprString(s.Cond), "put it into the loops of threads",
				"threads of a block may differ in the condition")
		}
	case *ir.Alloc:
		if s.Buf.Space != ir.Shared {
			misplaced("alloc %"+s.Buf.Name, "share it, or compute it at a loop of threads",
				"each thread has its own, but it lies outside of the loops of threads")
		}
	}
	return p, false
}

// threadsOfCall is the number of threads that run the instructions of a phase together. The phase
// can do nothing else, as all of them would do it.
func threadsOfCall(s ir.Stmt) int {
	n, other := 0, ""
	for t := range ir.Stmts(s) {
		switch t := t.(type) {
		case *ir.Call:
			switch {
			case t.Fn.Threads == 0:
				other = "@" + t.Fn.Name
			case n > 0 && n != t.Fn.Threads:
				other = fmt.Sprintf("@%s of %d threads", t.Fn.Name, t.Fn.Threads)
				n = max(n, t.Fn.Threads)
			default:
				n = t.Fn.Threads
			}
		case *ir.Store:
			other = "a store to %" + t.Buf
		case *ir.Alloc:
			other = "an alloc of %" + t.Buf.Name
		case *ir.If:
			if ir.ReadsMemory(t.Cond) {
				other = "a condition that reads memory"
			}
		}
	}
	if n > 1 && other != "" {
		misplaced("call", "compute it in a nest of its own",
			"%d threads run an instruction together, and beside it is %s", n, other)
	}
	return max(n, 1)
}

func hasBarrier(s ir.Stmt) bool {
	for t := range ir.Stmts(s) {
		if _, ok := t.(*ir.Barrier); ok {
			return true
		}
	}
	return false
}

func hasShared(s ir.Stmt) bool {
	for t := range ir.Stmts(s) {
		if a, ok := t.(*ir.Alloc); ok && a.Buf.Space == ir.Shared {
			return true
		}
	}
	return false
}

// ScratchOffsets gives each alloc of d.Scratch a place in the device's memory, side by side.
func (d Device) ScratchOffsets() map[string]int64 {
	at, _ := d.scratch()
	return at
}

// ScratchBytes is the size of the memory that ScratchOffsets divides.
func (d Device) ScratchBytes() int64 {
	_, n := d.scratch()
	return n
}

// scratchAlign is the alignment of scratch allocs in bytes, that of cache lines.
const scratchAlign = 128

func (d Device) scratch() (at map[string]int64, size int64) {
	at = map[string]int64{}
	for _, b := range d.Scratch {
		at[b.Name] = size
		size += (int64(b.Bytes()) + scratchAlign - 1) / scratchAlign * scratchAlign
	}
	return at, size
}
