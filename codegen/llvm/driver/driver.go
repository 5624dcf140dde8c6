// Package driver emits the driver of a Program: the entry that every thread calls, which runs the
// stages one after the other with a barrier between them. It is plain LLVM text: no thread is
// started, no memory is allocated and no library is called.
//
//	i32 NAME_run(ptr in, ptr out, ptr workspace, i32 tid, i32 nthreads, ptr sync)
//	i32 NAME_run_stages(ptr in, ptr out, ptr workspace, i32 tid, i32 nthreads, ptr sync,
//	                    i32 first, i32 last)
//	size_t NAME_workspace_size(i32 nthreads)
//	ptr NAME_describe()
//	i32 NAME_run_HASH(...), which is NAME_run
//
// NAME_cpu_ok, which runs on CPUs that cannot run the rest, is a module of its own (CPU).
//
// in and out are arrays of pointers, in the order of the Program's input and output buffers.
// run_stages runs the stages first..last-1. All threads must call it with the same arguments but
// for their tid.
//
// The result is 0 if all is well. It is 1 if the thread numbers make no sense, or if sync is needed
// and null. It is 2 if a buffer or an array of pointers is null, or a buffer or sync is not 64-byte
// aligned. It is 3 if first is above last or last above the number of stages.
//
// Floats are computed with subnormals flushed to zero, rounding to nearest; the caller's settings
// come back at the end.
package driver

import (
	"fmt"
	"math"
	"strings"

	"ripc/codegen/llvm/rows"
	"ripc/internal/abi"
	"ripc/ir"
	"ripc/targets"
)

// DriverInfo names the symbols that a driver refers to. All are hidden ones of other objects.
type DriverInfo struct {
	Name     string            // NAME, a C identifier
	Run      string            // NAME_run_HASH; may be empty
	Kernels  map[string]string // symbols, by the Func's name
	Weights  string            // symbol of all constants; may be empty if there are none
	Offsets  map[string]int64  // of each constant buffer in Weights, multiples of 64
	Describe string            // symbol that NAME_describe returns; "" for a text of its own, "{}"
	Arena    int64             // bytes of activations
	Scratch  int64             // bytes of each thread
}

// driver is the text in progress, and its inputs.
type driver struct {
	strings.Builder
	p       *ir.Program
	index   ir.Index // of p
	d       DriverInfo
	t       targets.Target
	arch    arch
	arena   int64 // bytes, a multiple of 64
	scratch int64 // bytes of one thread, a multiple of 64
	inputs  map[string]int
	outputs map[string]int
}

// Driver emits the driver of p. It fails if the Program refers to something that it or d does not
// have.
func Driver(p *ir.Program, d DriverInfo, t targets.Target) ([]byte, error) {
	a, ok := archs(t.Arch)
	if !ok {
		return nil, fmt.Errorf("driver of %s: no driver for architecture %q", d.Name, t.Arch)
	}
	w := &driver{p: p, index: p.Index(), d: d, t: t, arch: a, arena: abi.RoundUp(d.Arena),
		scratch: abi.RoundUp(d.Scratch), inputs: map[string]int{}, outputs: map[string]int{}}
	for _, b := range p.Buffers {
		switch b.Kind {
		case ir.InputBuf:
			w.inputs[b.Name] = len(w.inputs)
		case ir.OutputBuf:
			w.outputs[b.Name] = len(w.outputs)
		}
	}
	if t.PointerBits() == 32 && w.arena+w.scratch > math.MaxInt32 {
		return nil, fmt.Errorf("driver of %s: a workspace of %d bytes does not fit the address space of target %s", d.Name,
			w.arena+w.scratch, t.Name)
	}
	row, _ := rows.Of(t)
	w.line("target triple = %q", row.Triple)
	if err := w.declarations(); err != nil {
		return nil, err
	}
	w.entries()
	w.setup()
	if err := w.stages(); err != nil {
		return nil, err
	}
	w.barrier()
	w.line("\nattributes #0 = { nounwind \"no-builtins\" \"target-cpu\"=%q \"target-features\"=%q }", row.CPU, row.Attrs)
	return []byte(w.String()), nil
}

func (w *driver) line(format string, args ...any) {
	fmt.Fprintf(w, format, args...)
	w.WriteByte('\n')
}

// declarations declares symbols that other objects define.
func (w *driver) declarations() error {
	if w.d.Describe != "" {
		w.line("@%s = external hidden global i8", w.d.Describe)
	}
	if w.d.Weights != "" {
		w.line("@%s = external hidden global i8, align 64", w.d.Weights)
	}
	seen := map[string]bool{}
	for _, s := range w.p.Stages {
		symbol, ok := w.d.Kernels[s.Func]
		if !ok {
			return fmt.Errorf("driver of %s: stage %q: no kernel for @%s", w.d.Name, s.Name, s.Func)
		}
		if !seen[symbol] {
			seen[symbol] = true
			w.line("declare hidden void @%s(%sptr, i32, i32)", symbol, strings.Repeat("ptr, ", len(s.Args)))
		}
	}
	w.WriteString(w.arch.declare)
	return nil
}

// entries writes the functions that the outside calls.
func (w *driver) entries() {
	n := w.d.Name
	sizeType, result := "i64", "  ret i64 %size\n"
	if w.t.PointerBits() == 32 {
		sizeType, result = "i32", "  %low = trunc i64 %size to i32\n  ret i32 %low\n"
	}
	w.line(`
define i32 @%[1]s_run(ptr %%in, ptr %%out, ptr %%ws, i32 %%tid, i32 %%n, ptr %%sync) #0 {
  %%r = call i32 @run(ptr %%in, ptr %%out, ptr %%ws, i32 %%tid, i32 %%n, ptr %%sync, i32 0, i32 %[2]d)
  ret i32 %%r
}

define i32 @%[1]s_run_stages(ptr %%in, ptr %%out, ptr %%ws, i32 %%tid, i32 %%n, ptr %%sync, i32 %%first, i32 %%last) #0 {
  %%r = call i32 @run(ptr %%in, ptr %%out, ptr %%ws, i32 %%tid, i32 %%n, ptr %%sync, i32 %%first, i32 %%last)
  ret i32 %%r
}

define %[5]s @%[1]s_workspace_size(i32 %%n) #0 {
  %%wide = zext i32 %%n to i64
  %%scratch = mul i64 %%wide, %[3]d
  %%size = add i64 %%scratch, %[4]d
%[6]s}`, n, len(w.p.Stages), w.scratch, w.arena, sizeType, result)
	text := w.d.Describe
	if text == "" {
		text = "nothing"
		w.line("\n@nothing = internal constant [3 x i8] c\"{}\\00\"")
	}
	w.line("\ndefine ptr @%s_describe() #0 {\n  ret ptr @%s\n}", n, text)
	if w.d.Run != "" {
		w.line("\n@%s = alias i32 (ptr, ptr, ptr, i32, i32, ptr), ptr @%s_run", w.d.Run, n)
	}
}
