package strategy

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/size"
	"ripc/schedule"
	"ripc/schedule/steps"
)

// builder writes a trace and applies it step by step. After a required step was refused it ignores
// all others.
type builder struct {
	*Layer
	draft
	left []LeftOut
	// most is the estimated code size above which optional steps that grow the code are left out; 0
	// means no limit.
	most int

	err    error
	failed string // the step that err is about
}

// draft is a trace and its result: the Func and the packs.
type draft struct {
	trace schedule.Trace
	f     *ir.Func
	packs []schedule.Pack
}

func newBuilder(l *Layer) *builder { return &builder{Layer: l, draft: draft{f: l.Func}} }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// try applies a step if it is legal.
func (b *builder) try(s schedule.Step) error {
	r := b.known.apply(b.f, s)
	if r.err != nil {
		return r.err
	}
	b.draft = draft{append(b.trace, s), r.Func, append(b.packs, r.Packs...)}
	return nil
}

// must appends a step that the strategy needs.
func (b *builder) must(s schedule.Step) {
	if b.err != nil {
		return
	}
	if err := b.try(s); err != nil {
		b.fail(s.String(), err)
	}
}

// fail ends the trace.
func (b *builder) fail(step string, err error) {
	if b.err == nil {
		b.failed, b.err = step, err
	}
}

// errorf refuses the point.
func (b *builder) errorf(format string, args ...any) { b.fail("", fmt.Errorf(format, args...)) }

// may appends an optional step, or notes why it is refused, and reports which.
func (b *builder) may(s schedule.Step) bool {
	if b.err != nil {
		return false
	}
	before := b.draft
	if err := b.try(s); err != nil {
		b.left = append(b.left, LeftOut{s.String(), reason(err)})
		return false
	}
	if b.most > 0 {
		if n := b.known.size(b.f); n > b.most && n > b.known.size(before.f) {
			b.draft = before
			b.left = append(b.left, LeftOut{s.String(), tooLarge})
			return false
		}
	}
	return true
}

// tooLarge is the reason for leaving out a step that copies code.
const tooLarge = "the code would be too large"

// reason returns the message of a refusal, in a line.
func reason(err error) string {
	var e *ir.Error
	if errors.As(err, &e) && e.Msg != "" {
		return e.Msg
	}
	return err.Error()
}

// find returns a loop of the current Func, or nil.
func (b *builder) find(name string) *ir.For {
	if name == "" {
		return nil
	}
	return ir.FindLoop(b.f.Body, name)
}

// extent returns the extent of a loop of the current Func, or 0.
func (b *builder) extent(name string) int {
	if l := b.find(name); l != nil {
		return l.Extent
	}
	return 0
}

// reorder orders the loops that still exist: steps remove loops of one iteration.
func (b *builder) reorder(loops ...string) {
	loops = slices.DeleteFunc(loops, func(l string) bool { return b.find(l) == nil })
	if len(loops) > 1 {
		b.must(steps.Reorder(loops...))
	}
}

// split splits a loop into a loop over tiles and a loop within a tile.
func (b *builder) split(loop string, size int, tail schedule.Tail) (outer, inner string) {
	s, outer, inner := steps.Split(loop, size, tail)
	b.must(s)
	return outer, inner
}

// divide is split without a remainder.
func (b *builder) divide(loop string, size int) (outer, inner string) {
	return b.split(loop, size, schedule.TailPerfect)
}

// divideUnnamed is divide by a step that leaves the names of the loops to the primitive.
func (b *builder) divideUnnamed(loop string, size int) (outer, inner string) {
	s, outer, inner := steps.Split(loop, size, schedule.TailPerfect)
	s.Results = nil
	b.must(s)
	return outer, inner
}

// maySplit is split as an optional step.
func (b *builder) maySplit(loop string, size int, tail schedule.Tail) (outer, inner string, ok bool) {
	s, outer, inner := steps.Split(loop, size, tail)
	return outer, inner, b.may(s)
}

// splitLonger splits a loop into tiles of at most its own extent. Tiles of one iteration are no
// split: it returns the loop, and "" as inner.
func (b *builder) splitLonger(loop string, size int, tail schedule.Tail) (outer, inner string) {
	if size = min(size, b.extent(loop)); size <= 1 {
		return loop, ""
	}
	return b.split(loop, size, tail)
}

// mayUnrollTiles splits a loop into tiles that are unrolled, and reports whether that is legal.
func (b *builder) mayUnrollTiles(loop string, size int, tail schedule.Tail) bool {
	_, inner, ok := b.maySplit(loop, size, tail)
	if ok {
		b.unroll(b.find(inner))
	}
	return ok
}

// wrapLoop puts a loop of one iteration around a loop, and returns its name.
func (b *builder) wrapLoop(loop string) string {
	one := loop + ".one"
	b.must(steps.SplitAs(loop, b.extent(loop), schedule.TailPerfect, one, loop))
	return one
}

// fuse fuses two nested loops, and returns the name of the result.
func (b *builder) fuse(outer, inner, name string) string {
	b.must(steps.Fuse(outer, inner, name))
	return name
}

// pack splits the dimension of the weights along axis a into groups of n, and moves the groups in
// front of the dimension along axis before. dims holds the axis of each dimension; pack returns the
// new axes, with NoAxis for the groups.
func (b *builder) pack(dims []ir.Axis, a, before ir.Axis, n int) []ir.Axis {
	d, to := slices.Index(dims, a), slices.Index(dims, before)
	if d < 0 || to < 0 {
		b.errorf("the weights have no dimension of %s and %s", a, before)
		return dims
	}
	order := steps.First(len(dims))
	order[d] = steps.Inner(d)
	b.must(steps.Pack(b.weights, n, slices.Insert(order, to, steps.Outer(d))...))
	return slices.Insert(slices.Clone(dims), to, ir.NoAxis)
}

// serial lists the unmarked loops that write the buffers and nothing else, in program order.
func (b *builder) serial(bufs ...string) []*ir.For {
	var out []*ir.For
	for l := range ir.StmtsOf[*ir.For](b.f.Body) {
		some, only := false, l.Kind == ir.Serial
		for buf := range writes(l) {
			some, only = true, only && slices.Contains(bufs, buf)
			if !only {
				break
			}
		}
		if some && only {
			out = append(out, l)
		}
	}
	return out
}

// loopsOf filters loops by axis.
func loopsOf(loops []*ir.For, axes ...ir.Axis) []*ir.For {
	return slices.DeleteFunc(slices.Clone(loops), func(l *ir.For) bool { return !slices.Contains(axes, l.Axis) })
}

// innermost reports whether l holds no instructions, and no loops that are not written out.
func innermost(l *ir.For) bool {
	return !contains(l.Body, func(s ir.Stmt) bool {
		in, isLoop := s.(*ir.For)
		_, isCall := s.(*ir.Call)
		return isCall || isLoop && in.Kind != ir.Unroll
	})
}

// contains reports whether s holds a statement that match accepts.
func contains(s ir.Stmt, found func(ir.Stmt) bool) bool {
	for t := range ir.Stmts(s) {
		if found(t) {
			return true
		}
	}
	return false
}

// calls reports whether s holds an instruction.
func calls(s ir.Stmt) bool {
	return contains(s, func(s ir.Stmt) bool { _, ok := s.(*ir.Call); return ok })
}

// hasLoop reports whether s holds a loop of axis a.
func hasLoop(s ir.Stmt, a ir.Axis) bool {
	return contains(s, func(s ir.Stmt) bool { l, ok := s.(*ir.For); return ok && l.Axis == a })
}

// unroll unrolls loops if the code stays small, and notes them otherwise.
func (b *builder) unroll(loops ...*ir.For) {
	if b.err != nil {
		return
	}
	before := b.draft
	for _, l := range loops {
		b.may(steps.Unroll(l.Var))
	}
	if n := b.known.size(b.f); n > size.Preferred && n > b.known.size(before.f) {
		for _, st := range b.trace[len(before.trace):] {
			b.left = append(b.left, LeftOut{st.String(), tooLarge})
		}
		b.draft = before
	}
}

// judge refuses a result that has no code: one that is too large by estimate, or sums or indices
// that are not proved to fit. A Func that is too large without a schedule is left to the back end,
// which counts exactly.
func (b *builder) judge() {
	if b.err != nil {
		return
	}
	if err := b.known.judge(b.Func, b.f); err != nil {
		b.fail("", err)
	} else if b.Target.IsDevice() { // merged stages have indices that are hard to follow
		if err := arith.VerifyBounds(b.f); err != nil {
			b.fail("", err)
		}
	}
}

// maxVector is the length of the longest vectors.
const maxVector = 64

// cut splits a loop into tiles and a remainder, and returns the three loops. tail is "" if nothing
// remains; all are "" if the step is refused.
func (b *builder) cut(loop string, size int) (outer, inner, tail string) {
	before := map[string]bool{}
	all := func(see func(*ir.For)) {
		for l := range ir.StmtsOf[*ir.For](b.f.Body) {
			see(l)
		}
	}
	all(func(l *ir.For) { before[l.Var] = true })
	axis := b.find(loop).Axis
	outer, inner, ok := b.maySplit(loop, size, schedule.TailCut)
	if !ok {
		return "", "", ""
	}
	all(func(l *ir.For) {
		if tail == "" && !before[l.Var] && l.Axis == axis && l.Var != outer && l.Var != inner {
			tail = l.Var // the outermost new loop
		}
	})
	return outer, inner, tail
}

// vectorize vectorizes a loop of any extent by powers of two: the largest vectors that fit, then
// the remainder likewise.
func (b *builder) vectorize(loop string, lanes int) {
	for e := b.extent(loop); e > 1; e = b.extent(loop) {
		n := min(lanes, powerOfTwo(e))
		if n == e {
			b.may(steps.Vectorize(loop))
			return
		}
		_, inner, tail := b.cut(loop, n)
		if inner == "" {
			return
		}
		b.may(steps.Vectorize(inner))
		loop = tail
	}
}
