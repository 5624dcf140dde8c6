// Package emit turns one scheduled ir.Func into LLVM text. The schedule says which loops it writes:
// a serial loop becomes a loop, an unrolled one copies, a vectorized one is emitted once on vectors
// (parts of it lane by lane where an if goes either way for each lane, which Module.ByLane names),
// a parallel one runs this thread's share; where codegen.CheckLoops cannot show that this is legal,
// it fails. Where ir's meaning and LLVM's differ (float to int, floor division, bool in memory),
// this package spells the meaning out. It knows types, loops and expressions, and nothing of what a
// kernel computes.
//
// The text is deterministic and is meant for opt at O2: index arithmetic is left for it to hoist,
// and small buffers for it to turn into registers.
package emit

import (
	"fmt"

	"ripc/ir"
	"ripc/targets"
)

// maxVisits is how many statements may be visited, copies included. The code is limited by
// size.Max; this limits the time spent on copies that emit nothing.
const maxVisits = 200_000

// Module is the LLVM text of one kernel.
//
//	void symbol(ptr noalias p0, ..., ptr noalias scratch, i32 tid, i32 nthreads)
//
// has one pointer per parameter of the Func. All pointers are 64-byte aligned, and no two overlap,
// but that an output may lie over an input if the Func says so: these two are not noalias.
type Module struct {
	Symbol  string
	LL      []byte
	Scratch int64 // bytes that scratch must point to, for each thread its own; a multiple of 64
	Stack   int64 // bytes of buffers on the stack, before LLVM turns them into registers
	// ByLane names vectorized loops of which a part runs lane by lane: an If that goes either way
	// for each of them.
	ByLane []string
}

// Limit fails as Kernel does, and writes no text.
func Limit(f *ir.Func, t targets.Target) error {
	_, err := emitted(f, f.Name, t)
	return err
}

// Kernel emits f as a function called symbol, for target t. It fails with *ir.Error if f breaks a
// rule of code generation: a parallel or vectorized loop that codegen.CheckLoops does not accept,
// or unrolling past the limit of instructions.
func Kernel(f *ir.Func, symbol string, t targets.Target) (Module, error) {
	e, err := emitted(f, symbol, t)
	if err != nil {
		return Module{}, err
	}
	return Module{Symbol: symbol, LL: e.print(), Scratch: e.frame.Scratch, Stack: e.frame.Stack, ByLane: e.byLane}, nil
}

// emitted has made the instructions of f.
func emitted(f *ir.Func, symbol string, t targets.Target) (e *emitter, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case abort:
			err = r.err
		default:
			err = fmt.Errorf("internal error: code generation of %s for %s: %v\n%s", f.Name, t.Name, r, f)
		}
	}()
	e = newEmitter(f, symbol, t)
	if t.PointerBits() == 32 {
		e.checkSizes()
	}
	e.kernel()
	e.alignStack()
	return e, nil
}

// SizeError says that a Func needs more than size.Max instructions, which a schedule can only
// estimate.
type SizeError struct{ Err *ir.Error }

func (e *SizeError) Error() string { return e.Err.Error() }

// Unwrap gives the error in the terms of the IR.
func (e *SizeError) Unwrap() error { return e.Err }

// abort carries an error through the emitter's recursion to Kernel.
type abort struct{ err error }

// fail gives up with an error in the terms of the IR. Op is a loop or a statement.
func (e *emitter) fail(op, help, format string, args ...any) {
	panic(abort{e.error(op, help, format, args...)})
}

func (e *emitter) error(op, help, format string, args ...any) *ir.Error {
	return &ir.Error{Op: op, Node: "@" + e.f.Name, Msg: fmt.Sprintf(format, args...), Help: help}
}
