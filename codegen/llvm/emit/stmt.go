package emit

import (
	llir "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"

	"ripc/ir"
)

// kernel emits the whole function. The body runs on thread 0 alone unless its outermost loop is parallel.
func (e *emitter) kernel() {
	done := e.block("done")
	body, parallel := e.outermost()
	if parallel == nil {
		run := e.block("run")
		first := e.b().NewICmp(enum.IPredEQ, e.tid, literal{types.I32, "0"})
		e.b().NewCondBr(first, run, done)
		e.start(run)
	}
	e.stmt(body)
	e.b().NewBr(done)
	e.start(done)
	done.NewRet(nil)
}

// outermost checks where parallel loops are: at most one, and nothing beside it but comments and allocs around it.
func (e *emitter) outermost() (body ir.Stmt, loop *ir.For) {
	s := e.f.Body
	for loop == nil {
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
					inner = nil
					break
				}
				inner = u
			}
		case *ir.For:
			if t.Kind == ir.Parallel {
				loop = t
			}
		}
		if inner == nil {
			break
		}
		s = inner
	}
	ir.Walk(e.f.Body, func(s ir.Stmt) bool {
		if l, ok := s.(*ir.For); ok && l.Kind == ir.Parallel && l != loop {
			e.fail("parallel %"+l.Var, "make the outermost loop parallel, and put statements beside it into kernels of their own",
				"loop %%%s is not the outermost loop, alone but for allocs around it", l.Var)
		}
		return true
	})
	return e.f.Body, loop
}

// stmt emits a statement.
func (e *emitter) stmt(s ir.Stmt) {
	if e.visits++; e.visits > maxVisits {
		e.tooLarge()
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
		e.stmt(s.Body)
	case *ir.Call:
		e.call(s)
	}
}

// alloc makes a buffer known. Its address is computed once, in the entry block, however often its scope is entered.
func (e *emitter) alloc(s *ir.Alloc) {
	if e.bufs[s.Buf.Name] != nil {
		return // another copy of the same scope
	}
	sl := e.frame.slots[s.Buf.Name]
	b := &buffer{Buffer: s.Buf, copies: sl.copies, lane: sl.lane, flushed: e.clean[s.Buf.Name]}
	entry := e.fn.Blocks[0]
	if sl.onStack {
		n := uint64(s.Buf.Elems() * max(sl.copies, 1))
		a := &llir.InstAlloca{ElemType: types.NewArray(n, memType(s.Buf.Type)), Align: 64, Typ: types.NewPointer(types.I8)}
		a.SetName(e.name(s.Buf.Name))
		entry.Insts = append([]llir.Instruction{a}, entry.Insts...)
		b.base = local{a}
	} else {
		g := &llir.InstGetElementPtr{ElemType: types.I8, Src: e.scratch, InBounds: true, Typ: opaquePtr{}}
		g.Indices = append(g.Indices, indexOf(sl.offset))
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
	c := e.eval(s.Cond)
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
	e.stmt(s.Then)
	e.b().NewBr(end)
	if s.Else != nil {
		e.start(no)
		e.stmt(s.Else)
		e.b().NewBr(end)
	}
	e.start(end)
}
