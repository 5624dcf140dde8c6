package emit

import (
	llir "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"

	"ripc/codegen"
	"ripc/ir"
)

// kernel emits the whole function. Without a parallel loop the body runs on thread 0 alone. With
// one, all threads run it, each with its own allocs, and share the iterations of that loop.
func (e *emitter) kernel() {
	done := e.block("done")
	parallel, err := codegen.CheckLoops(e.f)
	if err != nil {
		panic(abort{err})
	}
	if !parallel {
		run := e.block("run")
		first := e.b().NewICmp(enum.IPredEQ, e.tid, literal{types.I32, "0"})
		e.b().NewCondBr(first, run, done)
		e.start(run)
	}
	e.versions(done)
	e.b().NewBr(done)
	e.start(done)
	done.NewRet(nil)
}

// stmt emits a statement.
func (e *emitter) stmt(s ir.Stmt) {
	if e.visits++; e.visits > maxVisits {
		e.failTooLarge()
	}
	if e.device != nil && e.deviceStmt(s) {
		return
	}
	switch s := s.(type) {
	case nil, *ir.Comment:
	case *ir.Block:
		for _, t := range s.Stmts {
			e.stmt(t)
		}
	case *ir.For:
		e.loop(s)
	case *ir.Store:
		e.store(s)
	case *ir.If:
		e.conditional(s)
	case *ir.Alloc:
		e.alloc(s)
		if e.redoes(s) {
			e.redo(s.Body)
		} else {
			e.stmt(s.Body)
		}
	case *ir.Call:
		e.call(s)
	}
}

// alloc declares a buffer. Its address is computed once, in the entry block, however often its
// scope is entered.
func (e *emitter) alloc(s *ir.Alloc) {
	if e.bufs[s.Buf.Name] != nil {
		return // another copy of the same scope
	}
	sl := e.frame.Slots[s.Buf.Name]
	b := &buffer{Buffer: s.Buf, copies: sl.Copies, lane: sl.Lane, flushed: e.flushedAllocs[s.Buf.Name], isAlloc: true}
	entry := e.fn.Blocks[0]
	if sl.OnStack {
		n := uint64(s.Buf.Elems() * max(sl.Copies, 1))
		a := &llir.InstAlloca{ElemType: types.NewArray(n, memType(s.Buf.Type)), Align: 64,
			Typ: types.NewPointer(types.I8)}
		a.SetName(e.name(s.Buf.Name))
		entry.Insts = append([]llir.Instruction{a}, entry.Insts...)
		b.base = local{a}
	} else {
		g := &llir.InstGetElementPtr{ElemType: types.I8, Src: e.scratch, InBounds: true, Typ: opaquePtr{}}
		g.Indices = append(g.Indices, indexOf(sl.Offset))
		g.SetName(e.name(s.Buf.Name))
		entry.Insts = append([]llir.Instruction{g}, entry.Insts...)
		b.base = g
	}
	e.count++
	e.bufs[s.Buf.Name] = b
}

// local is an alloca as an operand: llir would print its type as a typed pointer.
type local struct{ *llir.InstAlloca }

func (l local) String() string   { return "ptr " + l.Ident() }
func (l local) Type() types.Type { return opaquePtr{} }

// conditional emits an If; lanes that may differ in the condition go one by one.
func (e *emitter) conditional(s *ir.If) {
	if e.varies(s.Cond) {
		e.eachLane(s)
		return
	}
	c := e.evalShared(s.Cond)
	switch {
	case c.known && c.k != 0:
		e.stmt(s.Then)
		return
	case c.known:
		e.stmt(s.Else)
		return
	}
	yes, end := e.block("if"), e.block("endif")
	no := end
	if s.Else != nil {
		no = e.block("else")
	}
	e.b().NewCondBr(c.v, yes, no)
	e.start(yes)
	around := len(e.conditions)
	e.conditions = append(e.conditions, e.f.Lasting(s.Cond, s.Then)...)
	e.stmt(s.Then)
	e.conditions = e.conditions[:around]
	e.b().NewBr(end)
	if s.Else != nil {
		e.start(no)
		e.stmt(s.Else)
		e.b().NewBr(end)
	}
	e.start(end)
}
