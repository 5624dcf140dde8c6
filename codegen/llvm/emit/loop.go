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
		lo, hi := e.threadShare(s.Extent)
		e.countedLoop(s.Var, s.Extent, lo, hi, body)
	case s.Extent == 1:
		e.bind(s.Var, imm(ir.I64, 0), arith.Interval{}, body)
	case s.Kind == ir.Unroll:
		e.copies(s.Var, "unrolled", s.Extent, body)
	case s.Kind == ir.Vectorize:
		e.vectorize(s)
	default:
		e.countedLoop(s.Var, s.Extent, nil, nil, func() {
			body()
			e.keepSums(s.Body)
		})
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

// countedLoop emits a loop from lo to hi, which lie in 0..extent and have the counter's type. nil
// stands for the whole range, which is not empty.
func (e *emitter) countedLoop(name string, extent int, lo, hi value.Value, body func()) {
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

// threadShare returns this thread's part of 0..extent-1. Parts are contiguous, and their sizes
// differ by at most one.
func (e *emitter) threadShare(extent int) (lo, hi value.Value) {
	if e.indexType() == ir.I32 {
		return e.threadShare32(extent)
	}
	n := e.b().NewZExt(e.nthreads, types.I64)
	t := e.b().NewZExt(e.tid, types.I64)
	lo = e.b().NewUDiv(e.b().NewMul(t, indexOf(int64(extent))), n)
	hi = e.b().NewUDiv(e.b().NewMul(e.b().NewAdd(t, indexOf(1)), indexOf(int64(extent))), n)
	return lo, hi
}

// vectorize emits the body once, with one element per lane in each value. A statement runs for all
// lanes before the next statement starts; deps.Check has proved that this gives the same results.
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
	if hasLoops(s) {
		e.countedLoop(e.laneVar, lanes, nil, nil, body)
		return
	}
	e.copies(e.laneVar, "vectorized", lanes, body)
}

// hasLoops reports whether s contains loops, so that copies of it would be large.
func hasLoops(s ir.Stmt) bool {
	return ir.HasLoop(s, func(*ir.For) bool { return true })
}

// atLane calls emit with the lane variable bound to k.
func (e *emitter) atLane(k int, emit func()) {
	lanes := e.lanes
	e.lanes = 0
	e.bind(e.laneVar, imm(ir.I64, int64(k)), arith.Interval{Lo: int64(k), Hi: int64(k)},
		func() { e.withParts(map[ir.Expr]val{}, emit) })
	e.lanes = lanes
}
