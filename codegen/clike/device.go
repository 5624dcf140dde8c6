package clike

import (
	"fmt"
	"strings"

	"ripc/ir"
	"ripc/ir/deps"
	"ripc/runtime/describe"
)

// DeviceKernels writes a Func as kernels of OpenCL C, one for each deps.Kernel, with names that
// begin with symbol. A kernel's arguments are a pointer and an offset in bytes for each input of
// the Func, then for each output, then for the scratch memory. It fails with *deps.Race or
// *ir.Error unless the kernels are proved to be free from races.
func (u *Unit) DeviceKernels(f *ir.Func, symbol string) (text string, launches []describe.Launch, err error) {
	defer recoverAbort(f, &err)
	if err := deps.CheckDevice(f); err != nil {
		return "", nil, err
	}
	d, err := deps.DeviceOf(f)
	if err != nil {
		return "", nil, err
	}
	scratch := d.ScratchOffsets()
	var out strings.Builder
	for i, k := range d.Kernels {
		l := k.Launch(fmt.Sprintf("%s_%d", symbol, i))
		w := newWriter(u, f)
		w.kernel = &k
		w.deviceKernel(d, l, scratch)
		out.WriteString(w.String() + "\n")
		launches = append(launches, l)
	}
	return out.String(), launches, nil
}

// deviceKernel writes one kernel.
func (w *writer) deviceKernel(d deps.Device, l describe.Launch, scratch map[string]int64) {
	var params, lines []string
	for i, p := range w.f.InputsFirst() {
		c, qualifier := "const ", ""
		if p.Out {
			c = ""
		}
		if w.f.Apart(p) {
			qualifier = "restrict "
		}
		params = append(params, fmt.Sprintf("__global %suchar *%sp%d, const ulong at%d", c, qualifier, i, i))
		t := fmt.Sprintf("__global %s%s *", c, Memory(p.Type))
		lines = append(lines, fmt.Sprintf("%sconst %s = (%s)(p%d + at%d);", t, w.name(p.Name), t, i, i))
	}
	for _, b := range d.Scratch {
		t := fmt.Sprintf("__global %s *", Memory(b.Type))
		lines = append(lines,
			fmt.Sprintf("%sconst %s = (%s)(scratch + at + %d);", t, w.name(b.Name), t, scratch[b.Name]))
	}
	w.Line("__kernel __attribute__((reqd_work_group_size(%d, 1, 1)))", l.Threads)
	w.Line("void %s(%s, __global uchar *restrict scratch, const ulong at)", l.Kernel, strings.Join(params, ", "))
	w.Open("{")
	for _, text := range lines {
		w.Line("%s", text)
	}
	for s := range ir.Stmts(w.kernel.Body) {
		if a, ok := s.(*ir.Alloc); ok && a.Buf.Space == ir.Shared { // at the top, as the language has it
			w.Line("__local %s %s[%d];", Memory(a.Buf.Type), w.name(a.Buf.Name), max(a.Buf.Elems(), 1))
		}
	}
	w.Line("const int tid = (int)get_local_id(0);")
	w.Line("const uint none = (uint)(at >> 63); /* 0, but no compiler knows */")
	w.positions(w.kernel.Blocks, "(int)get_group_id(0)")
	w.stmt(w.kernel.Body)
	w.Close("}")
}

// positions declares the variables of loops, which number number in row-major order.
func (w *writer) positions(loops []*ir.For, number string) {
	inside := 1
	for _, l := range loops {
		inside *= l.Extent
	}
	for i, l := range loops {
		w.ranges = w.ranges.With(l.Var, l.Extent)
		inside /= l.Extent
		if l.Extent == 1 {
			w.vars[l.Var] = "0"
			continue
		}
		text := number
		if inside > 1 {
			text += fmt.Sprintf(" / %d", inside)
		}
		if i > 0 {
			text += fmt.Sprintf(" %% %d", l.Extent)
		}
		w.Line("const int %s = %s;", w.name(l.Var), text)
	}
}

// deviceStmt writes the statements of a block, and the allocs of a thread. It reports whether s is
// one of these.
func (w *writer) deviceStmt(s ir.Stmt) bool {
	if a, ok := s.(*ir.Alloc); ok {
		if a.Buf.Space == ir.Shared {
			w.stmt(a.Body)
			return true
		}
		if w.inPhase {
			w.Open("{")
			w.Line("%s %s[%d];", Memory(a.Buf.Type), w.name(a.Buf.Name), max(a.Buf.Elems(), 1))
			w.stmt(a.Body)
			w.Close("}")
			delete(w.vars, a.Buf.Name)
			return true
		}
	}
	if w.inPhase {
		return false
	}
	if _, ok := s.(*ir.Barrier); ok {
		w.Line("barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);")
		return true
	}
	p, ok := deps.AsPhase(s)
	if !ok {
		return false
	}
	before := w.ranges
	w.Open("{")
	w.positions(p.Loops, "tid")
	guarded := p.Threads() < w.kernel.Threads
	if guarded {
		w.Open("if (tid < %d) {", p.Threads())
	}
	w.inPhase = true
	w.stmt(p.Body)
	w.inPhase = false
	if guarded {
		w.Close("}")
	}
	w.Close("}")
	w.ranges = before
	for _, l := range p.Loops {
		delete(w.vars, l.Var)
	}
	return true
}

// unrolling is the line in front of a loop to be unrolled, with room for its extent.
func (w *writer) unrolling() string {
	if w.u.device {
		return "#pragma unroll %d"
	}
	return "RIPC_UNROLL(%d)"
}
