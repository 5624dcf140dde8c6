package emit

import (
	"fmt"

	llir "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"ripc/codegen"
	"ripc/codegen/llvm/rows"
	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/deps"
	"ripc/runtime/describe"
	"ripc/targets"
)

// device is the state of a device's kernel.
type device struct {
	deps.Kernel
	tid     value.Value // i32: the number of the thread in its block
	inPhase bool        // the statements are those of one thread
}

// DeviceKernels emits f as kernels for NVIDIA's GPUs, one module for each deps.Kernel:
//
//	void symbol_i(ptr noalias p0, ..., ptr noalias scratch)
//
// has one pointer per input of the Func, then one per output. It fails with *deps.Race or *ir.Error
// unless the kernels are proved to be free from races.
func DeviceKernels(f *ir.Func, symbol string, t targets.Target, floats *codegen.Floats) (modules []Module,
	launches []describe.Launch, err error) {
	if err := deps.CheckDevice(f); err != nil {
		return nil, nil, err
	}
	d, err := deps.DeviceOf(f)
	if err != nil {
		return nil, nil, err
	}
	row, _ := rows.Of(t)
	for i, k := range d.Kernels {
		l := k.Launch(fmt.Sprintf("%s_%d", symbol, i))
		e, err := emitDevice(f, d, k, l, t, row, floats)
		if err != nil {
			return nil, nil, err
		}
		modules, launches = append(modules, Module{Symbol: l.Kernel, LL: e.print()}), append(launches, l)
	}
	return modules, launches, nil
}

func emitDevice(f *ir.Func, d deps.Device, k deps.Kernel, l describe.Launch, t targets.Target, row rows.Row,
	floats *codegen.Floats) (e *emitter, err error) {
	defer recoverAbort(f, t, &err)
	e = newEmitter(f, l.Kernel, t, row, floats)
	e.device = &device{Kernel: k}
	e.checkSizes()
	byName := map[string]*llir.Param{}
	for i, p := range f.Params {
		byName[p.Name] = e.fn.Params[i]
	}
	scratch := e.fn.Params[len(f.Params)]
	e.fn.Params = nil
	for _, p := range f.InputsFirst() {
		e.fn.Params = append(e.fn.Params, byName[p.Name])
	}
	e.fn.Params = append(e.fn.Params, scratch)
	e.fn.Sig.Params = nil
	for _, p := range e.fn.Params {
		e.fn.Sig.Params = append(e.fn.Sig.Params, p.Typ)
	}
	e.fn.CallingConv, e.fn.Visibility = enum.CallingConvPTXKernel, enum.VisibilityNone
	e.attrs.FuncAttrs = append(e.attrs.FuncAttrs, llir.AttrPair{Key: "nvvm.reqntid", Value: fmt.Sprint(l.Threads)})
	offsets := d.ScratchOffsets()
	for _, b := range d.Scratch {
		at := e.gep(e.scratch, types.I8, imm(ir.I64, offsets[b.Name]))
		e.bufs[b.Name] = &buffer{Buffer: b, base: at, flushed: e.flushedAllocs[b.Name], isAlloc: true}
	}
	e.device.tid = e.intrinsic("llvm.nvvm.read.ptx.sreg.tid.x", types.I32)
	e.positions(k.Blocks, e.intrinsic("llvm.nvvm.read.ptx.sreg.ctaid.x", types.I32))
	e.stmt(k.Body)
	e.b().NewRet(nil)
	return e, nil
}

// positions brings the variables of loops into scope, which number numbers in row-major order.
func (e *emitter) positions(loops []*ir.For, number value.Value) {
	inside := 1
	for _, l := range loops {
		inside *= l.Extent
	}
	for i, l := range loops {
		inside /= l.Extent
		if l.Extent == 1 {
			e.vars[l.Var], e.ranges[l.Var] = imm(ir.I64, 0), arith.Interval{}
			continue
		}
		v := number
		if inside > 1 {
			v = e.b().NewUDiv(v, imm(ir.I32, int64(inside)).v)
		}
		if i > 0 {
			v = e.b().NewURem(v, imm(ir.I32, int64(l.Extent)).v)
		}
		e.vars[l.Var] = e.widen(val{v: v, t: ir.I32})
		e.ranges[l.Var] = arith.Interval{Lo: 0, Hi: int64(l.Extent) - 1}
	}
}

// deviceStmt emits the statements of a block, and the allocs of a thread. It reports whether s is
// one of these.
func (e *emitter) deviceStmt(s ir.Stmt) bool {
	d := e.device
	if a, ok := s.(*ir.Alloc); ok && (d.inPhase || a.Buf.Space == ir.Shared) {
		e.deviceAlloc(a.Buf)
		e.stmt(a.Body)
		return true
	}
	if d.inPhase {
		return false
	}
	if _, ok := s.(*ir.Barrier); ok {
		e.intrinsic("llvm.nvvm.barrier.cta.sync.aligned.all", types.Void, imm(ir.I32, 0).v)
		return true
	}
	p, ok := deps.AsPhase(s)
	if !ok {
		return false
	}
	work, end := e.block("phase"), e.block("endphase")
	e.b().NewCondBr(e.b().NewICmp(enum.IPredULT, d.tid, imm(ir.I32, int64(p.Threads())).v), work, end)
	e.start(work)
	number := d.tid
	if p.Together > 1 {
		number = e.b().NewUDiv(number, imm(ir.I32, int64(p.Together)).v)
	}
	e.positions(p.Loops, number)
	d.inPhase = true
	e.stmt(p.Body)
	d.inPhase = false
	for _, l := range p.Loops {
		delete(e.vars, l.Var)
		delete(e.ranges, l.Var)
	}
	e.b().NewBr(end)
	e.start(end)
	return true
}

// deviceAlloc declares a buffer: a variable of the module that a block shares, or one on a thread's
// stack, which LLVM promotes to registers.
func (e *emitter) deviceAlloc(b ir.Buffer) {
	if e.bufs[b.Name] != nil {
		return // another copy of the same scope
	}
	t := types.NewArray(uint64(max(b.Elems(), 1)), memType(b.Type))
	buf := &buffer{Buffer: b, flushed: e.flushedAllocs[b.Name], isAlloc: true}
	if b.Space == ir.Shared {
		g := e.m.NewGlobalDef(e.fn.Name()+"."+b.Name, constant.NewUndef(t))
		g.Linkage, g.AddrSpace, g.Align = enum.LinkageInternal, 3, 64
		buf.base = literal{opaquePtr{}, "addrspacecast (ptr addrspace(3) " + g.Ident() + " to ptr)"}
	} else {
		a := &llir.InstAlloca{ElemType: t, Align: 64, Typ: types.NewPointer(types.I8)}
		a.SetName(e.name(b.Name))
		entry := e.fn.Blocks[0]
		entry.Insts = append([]llir.Instruction{a}, entry.Insts...)
		buf.base = local{a}
	}
	e.bufs[b.Name] = buf
}
