package emit

import (
	"slices"

	llir "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"ripc/ir"
	"ripc/ir/arith"
)

// loop emits a For by its kind.
func (e *emitter) loop(s *ir.For) {
	body := func() { e.stmt(s.Body) }
	switch {
	case s.Extent <= 0:
	case s.Kind == ir.Parallel:
		lo, hi := e.share(s.Extent)
		e.counted(s.Var, s.Extent, lo, hi, body)
	case s.Extent == 1:
		e.bind(s.Var, imm(ir.I64, 0), arith.Interval{}, body)
	case s.Kind == ir.Unroll:
		e.copies(s.Var, "unrolled", s.Extent, body)
	case s.Kind == ir.Vectorize:
		e.vectorize(s)
	default:
		e.counted(s.Var, s.Extent, nil, nil, body)
	}
}

// bind emits body with a loop variable in scope.
func (e *emitter) bind(name string, v val, r arith.Interval, body func()) {
	old, had := e.vars[name]
	oldRange := e.ranges[name]
	e.vars[name], e.ranges[name] = v, r
	body()
	delete(e.vars, name)
	delete(e.ranges, name)
	if had {
		e.vars[name], e.ranges[name] = old, oldRange
	}
}

// copies emits body once for each value of the variable.
func (e *emitter) copies(name, how string, extent int, body func()) {
	e.enter(name, how, extent)
	defer e.leave()
	for k := range int64(extent) {
		e.bind(name, imm(ir.I64, k), arith.Interval{Lo: k, Hi: k}, body)
	}
}

// counted emits a loop from lo to hi, which lie in 0..extent and are of the counter's type; nil for
// the whole range, which is not empty.
func (e *emitter) counted(name string, extent int, lo, hi value.Value, body func()) {
	before, loop, end := e.blk, e.block("for."+name), e.block("end."+name)
	t := e.counterType(extent)
	if lo == nil {
		lo, hi = imm(t, 0).v, imm(t, int64(extent)).v
		e.b().NewBr(loop)
	} else {
		some := e.b().NewICmp(enum.IPredULT, lo, hi)
		e.b().NewCondBr(some, loop, end)
	}
	e.start(loop)
	i := e.b().NewPhi(llir.NewIncoming(lo, before))
	i.SetName(e.name(name))
	e.bind(name, e.widen(val{v: i, t: t}), arith.Interval{Lo: 0, Hi: int64(extent) - 1}, body)
	next := e.b().NewAdd(i, imm(t, 1).v)
	next.OverflowFlags = []enum.OverflowFlag{enum.OverflowFlagNUW, enum.OverflowFlagNSW}
	more := e.b().NewICmp(enum.IPredULT, next, hi)
	i.Incs = append(i.Incs, llir.NewIncoming(next, e.blk))
	br := e.b().NewCondBr(more, loop, end)
	br.Metadata = append(br.Metadata, e.loopMetadata())
	e.start(end)
}

// share is this thread's part of 0..extent-1: contiguous, and within one of those of the others in
// size.
func (e *emitter) share(extent int) (lo, hi value.Value) {
	if e.indexType() == ir.I32 {
		return e.share32(extent)
	}
	n := e.b().NewZExt(e.nthreads, types.I64)
	t := e.b().NewZExt(e.tid, types.I64)
	lo = e.b().NewUDiv(e.b().NewMul(t, indexOf(int64(extent))), n)
	hi = e.b().NewUDiv(e.b().NewMul(e.b().NewAdd(t, indexOf(1)), indexOf(int64(extent))), n)
	return lo, hi
}

// vectorize emits the body once, each value holding one element per lane. It does each statement
// for all lanes before the next statement, which deps.Check has shown to give the same.
func (e *emitter) vectorize(s *ir.For) {
	e.laneVar, e.lanes = s.Var, s.Extent
	e.bind(s.Var, e.laneNumbers(), arith.Interval{Lo: 0, Hi: int64(s.Extent) - 1}, func() { e.stmt(s.Body) })
	e.laneVar, e.lanes = "", 0
}

// eachLane emits s for one lane after the other.
func (e *emitter) eachLane(s ir.Stmt) {
	if !slices.Contains(e.byLane, e.laneVar) {
		e.byLane = append(e.byLane, e.laneVar)
	}
	lanes := e.lanes
	body := func() {
		e.lanes = 0
		e.stmt(s)
		e.lanes = lanes
	}
	if heavy(s) {
		e.counted(e.laneVar, lanes, nil, nil, body)
		return
	}
	e.copies(e.laneVar, "vectorized", lanes, body)
}

// heavy reports whether copies of s would be large: it has loops.
func heavy(s ir.Stmt) bool {
	found := false
	ir.Walk(s, func(t ir.Stmt) bool {
		_, isLoop := t.(*ir.For)
		found = found || isLoop
		return !found
	})
	return found
}

// atLane calls emit with the lane variable bound to k.
func (e *emitter) atLane(k int, emit func()) {
	lanes := e.lanes
	e.lanes = 0
	e.bind(e.laneVar, imm(ir.I64, int64(k)), arith.Interval{Lo: int64(k), Hi: int64(k)}, func() { e.apart(map[ir.Expr]val{}, emit) })
	e.lanes = lanes
}
