// Package emit turns one scheduled ir.Func into LLVM text. The schedule selects the form of each
// loop. A serial loop becomes a loop, and an unrolled one copies of its body. A vectorized loop is
// emitted once on vectors. Its parts run lane by lane where lanes diverge in an if (Module.ByLane
// names these loops). A parallel loop runs this thread's share. emit fails if codegen.CheckLoops
// cannot prove a loop legal.
//
// Where ir's semantics differ from LLVM's (float to int, floor division, bool in memory), this
// package emits the difference. It knows types, loops and expressions, but no op of a network.
//
// The text is deterministic and meant for opt at O2, which hoists index arithmetic and promotes
// small buffers to registers.
package emit

import (
	"fmt"

	"ripc/codegen"
	"ripc/codegen/llvm/rows"
	"ripc/ir"
	"ripc/targets"
)

// maxVisits bounds the statements visited, copies included. size.Max bounds the code; this bounds
// the time spent on copies that emit nothing.
const maxVisits = 200_000

// Module is the LLVM text of one kernel.
//
//	void symbol(ptr noalias p0, ..., ptr noalias scratch, i32 tid, i32 nthreads)
//
// has one pointer per parameter of the Func. All pointers are 64-byte aligned. They are noalias,
// except for an output and an input that may overlap by declaration of the Func.
type Module struct {
	Symbol  string
	LL      []byte
	Scratch int64 // bytes of scratch memory per thread; a multiple of 64
	Stack   int64 // bytes of buffers on the stack, before LLVM promotes them to registers
	// ByLane names the vectorized loops with an If that runs lane by lane, because its lanes
	// diverge.
	ByLane []string
}

// Limit fails as Kernel does, and writes no text.
func Limit(f *ir.Func, t targets.Target) error {
	row, _ := rows.Of(t)
	_, err := emitFunc(f, f.Name, t, row, nil)
	return err
}

// Kernel emits f, of the Program that floats describes, as a function called symbol, for target t.
// It fails with *ir.Error if f breaks a rule of code generation: a parallel or vectorized loop that
// codegen.CheckLoops does not accept, or unrolling past the limit of instructions.
func Kernel(f *ir.Func, symbol string, t targets.Target, floats *codegen.Floats) (Module, error) {
	row, _ := rows.Of(t)
	return kernelFor(f, symbol, t, row, floats)
}

// kernelFor is Kernel with t's row.
func kernelFor(f *ir.Func, symbol string, t targets.Target, row rows.Row, floats *codegen.Floats) (Module, error) {
	e, err := emitFunc(f, symbol, t, row, floats)
	if err != nil {
		return Module{}, err
	}
	return Module{Symbol: symbol, LL: e.print(), Scratch: e.frame.Scratch, Stack: e.frame.Stack, ByLane: e.byLane}, nil
}

// emitFunc emits the instructions of f.
func emitFunc(f *ir.Func, symbol string, t targets.Target, row rows.Row, floats *codegen.Floats) (e *emitter,
	err error) {
	defer recoverAbort(f, t, &err)
	e = newEmitter(f, symbol, t, row, floats)
	if e.indexType() == ir.I32 {
		e.checkSizes()
	}
	e.kernel()
	e.alignStack()
	return e, nil
}

// recoverAbort turns the panics of an emitter into errors.
func recoverAbort(f *ir.Func, t targets.Target, err *error) {
	switch r := recover().(type) {
	case nil:
	case abort:
		*err = r.err
	default:
		*err = fmt.Errorf("internal error: code generation of %s for %s: %v\n%s", f.Name, t.Name, r, f)
	}
}

// abort carries an error through the emitter's recursion to Kernel.
type abort struct{ err error }

// fail gives up with an error in terms of the IR. op is a loop or a statement.
func (e *emitter) fail(op, help, format string, args ...any) {
	panic(abort{e.error(op, help, format, args...)})
}

func (e *emitter) error(op, help, format string, args ...any) *ir.Error {
	return &ir.Error{Op: op, Node: "@" + e.f.Name, Msg: fmt.Sprintf(format, args...), Help: help}
}
