package emit

import (
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"

	llir "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"ripc/codegen"
	"ripc/codegen/llvm/isa"
	"ripc/ir"
)

// Where no instruction fuses, a test and a branch in each step take time, and keep operands alive.
// So a tile of sums only notes ties (see fusedSum.text). If there was one, the tile is computed
// again with a test in each step.

// notedLanes is the number of words that note ties. One of them is negative then.
const notedLanes = 4

// redoes reports whether the scope of s is a tile that may be computed twice: it has multiply-adds,
// most of them in no such scope inside. No sum decides whether or where it stores. It reads nothing
// that it leaves but words that it sets before it puts bits in.
func (e *emitter) redoes(s *ir.Alloc) bool {
	if e.facts.Fuses || e.ties != nil || e.seldom || e.lanes > 0 || !s.Buf.Type.IsFloat() {
		return false
	}
	own, changes := map[string]bool{}, e.f.Changes(s)
	readsSum := func(x ir.Expr) bool {
		for load := range ir.ExprsOf[*ir.Load](x) {
			if own[load.Buf] {
				return true
			}
		}
		return false
	}
	for t := range ir.Stmts(s) { // an Alloc before those that it holds
		switch t := t.(type) {
		case *ir.Alloc:
			own[t.Buf.Name] = true
		case *ir.Call:
			return false
		case *ir.For:
			if t.Kind == ir.Parallel {
				return false
			}
		case *ir.If: // a sum that was rounded twice would choose otherwise
			if readsSum(t.Cond) {
				return false
			}
		case *ir.Store:
			if slices.ContainsFunc(t.Idx, readsSum) {
				return false
			}
		}
	}
	for x := range ir.NodesOf[*ir.Load](s) {
		if changes[x.Buf] && !own[x.Buf] {
			return false
		}
	}
	all := countFused(s.Body, func(*ir.Alloc) bool { return false })
	return 2*countFused(s.Body, e.redoes) > all && setsFirst(s, own, map[string]bool{})
}

// countFused counts the multiply-adds of s, one for each iteration, but of scopes that it skips.
func countFused(s ir.Stmt, skips func(*ir.Alloc) bool) (n int) {
	switch s := s.(type) {
	case *ir.Block:
		for _, t := range s.Stmts {
			n += countFused(t, skips)
		}
	case *ir.For:
		return s.Extent * countFused(s.Body, skips)
	case *ir.If:
		return countFused(s.Then, skips) + countFused(s.Else, skips)
	case *ir.Alloc:
		if !skips(s) {
			return countFused(s.Body, skips)
		}
	case *ir.Store:
		for range ir.NodesOf[*ir.Fma](s) {
			n++
		}
	}
	return n
}

// setsFirst reports whether s sets each element, but of its own buffers, before it changes it: set
// has those that are set. A loop or a condition sets elements for its own body alone.
func setsFirst(s ir.Stmt, own, set map[string]bool) bool {
	switch s := s.(type) {
	case *ir.Block:
		return !slices.ContainsFunc(s.Stmts, func(t ir.Stmt) bool { return !setsFirst(t, own, set) })
	case *ir.For:
		return setsFirst(s.Body, own, maps.Clone(set))
	case *ir.If:
		return setsFirst(s.Then, own, maps.Clone(set)) && (s.Else == nil || setsFirst(s.Else, own, maps.Clone(set)))
	case *ir.Alloc:
		return setsFirst(s.Body, own, set)
	case *ir.Store:
		if s.Op == ir.Assign {
			set[element(s)] = true
		}
		return own[s.Buf] || set[element(s)]
	}
	return true
}

// element is the element that s writes.
func element(s *ir.Store) string {
	var b strings.Builder
	for _, x := range s.Idx {
		b.WriteString(ir.ExprString(x) + ", ")
	}
	return s.Buf + " " + b.String()
}

// scanBits emits code that finds whether all sums are exact in double since an input has few bits:
// then ties need no second look.
func (e *emitter) scanBits() {
	tiles := false
	for s := range ir.StmtsOf[*ir.Alloc](e.f.Body) {
		tiles = tiles || e.redoes(s)
	}
	if !tiles {
		return
	}
	const scans = 2
	p, n := e.floats.FewBits(e.f)
	if n < 1 || (codegen.Grains{}).Flushes(e.f.Body) <= scans*p.Elems() { // there is less to compute than to read
		return
	}
	most := val{t: ir.U32, v: e.scan(p, ir.Max, func(x val) value.Value {
		return e.binary(ir.And, x, imm(ir.U32, math.MaxInt32)).v
	})}
	// unit is the middle of the floats with a last bit of 2^-n of the power of two above most. With
	// n at most 22, unit plus and minus most are among them.
	const mantissa = 23
	n = min(n, mantissa-1)
	exponent := e.binary(ir.Add, e.binary(ir.Shr, most, imm(ir.U32, mantissa)), imm(ir.U32, int64(mantissa+1-n)))
	unit := e.binary(ir.Or, e.binary(ir.Shl, exponent, imm(ir.U32, mantissa)), imm(ir.U32, 1<<(mantissa-1)))
	unit = e.reinterpret(unit, ir.F32)
	more := e.scan(p, ir.Or, func(x val) value.Value {
		unit, y := e.splat(unit).v, e.reinterpret(x, ir.F32).v
		whole := e.b().NewFSub(e.b().NewFAdd(y, unit), unit)
		return e.b().NewSExt(e.b().NewFCmp(enum.FPredUNE, whole, y), x.v.Type())
	})
	// Between them, unit is a normal float.
	const least, limit = 0x1p-40, 0x1p40
	low := int64(math.Float32bits(least))
	huge := e.binary(ir.Ge, e.binary(ir.Sub, most, imm(ir.U32, low)), imm(ir.U32, int64(math.Float32bits(limit))-low))
	e.inexact = e.b().NewOr(e.binary(ir.Ne, val{v: more, t: ir.U32}, imm(ir.U32, 0)).v, huge.v)
}

// redo emits a tile, and the tile again with its loops rolled, which adds little code and counts as
// none.
func (e *emitter) redo(tile ir.Stmt) {
	words := &llir.InstAlloca{ElemType: vectorOf(notedLanes, types.I32), Typ: types.NewPointer(types.I8)}
	words.SetName(e.name("ties"))
	entry := e.fn.Blocks[0]
	entry.Insts = append([]llir.Instruction{words}, entry.Insts...)
	e.ties = local{words}
	blk := e.b()
	blk.Insts = append(blk.Insts, &llir.InstStore{Src: literal{words.ElemType, "zeroinitializer"}, Dst: e.ties,
		Align: 16})
	e.stmt(tile)
	const name = "ripc_tied"
	e.require(helper{kind: fmaHelper, name: name}, func() isa.Function {
		return isa.Function{Text: fmt.Sprintf("define internal i1 @%s(ptr %%noted) alwaysinline nounwind {\n  "+
			"%%words = load <%d x i32>, ptr %%noted\n%s\n  ret i1 %%tie\n}\n", name, notedLanes,
			anyNegative("tie", "%words", notedLanes))}
	})
	var tied value.Value = e.b().NewCall(llir.NewFunc(name, types.I1, llir.NewParam("", opaquePtr{})), e.ties)
	if e.inexact != nil {
		tied = e.b().NewAnd(tied, e.inexact)
	}
	again, end := e.block("again"), e.block("tile")
	e.b().NewCondBr(tied, again, end)
	count := e.count
	e.count, e.ties, e.seldom = 0, nil, true
	e.start(again)
	e.stmt(rolled(tile))
	e.b().NewBr(end)
	e.count, e.seldom = count, false
	e.start(end)
}

// keepSums ends an iteration of a loop in a tile. If it has more sums than registers, they stay in
// memory, where conversions to double take them. LLVM would load, split and spill them.
func (e *emitter) keepSums(body ir.Stmt) {
	sums := map[string]bool{}
	if e.ties == nil || countSums(body, sums)*ir.F32.Bits() <= e.target.Registers*e.target.VectorBits {
		return
	}
	memory := llir.NewInlineAsm(types.NewPointer(types.NewFunc(types.Void, opaquePtr{})), "", "r,~{memory}")
	memory.SideEffect = true
	for _, buf := range slices.Sorted(maps.Keys(sums)) {
		e.b().NewCall(memory, e.bufs[buf].base)
	}
}

// countSums counts the multiply-adds of s in lanes and unrolled loops, and adds their buffers to
// sums.
func countSums(s ir.Stmt, sums map[string]bool) (n int) {
	switch s := s.(type) {
	case *ir.Block:
		for _, t := range s.Stmts {
			n += countSums(t, sums)
		}
	case *ir.For:
		if s.Kind == ir.Unroll || s.Kind == ir.Vectorize {
			n = countSums(s.Body, sums) * s.Extent
		}
	case *ir.Store:
		if _, ok := s.Val.(*ir.Fma); ok {
			sums[s.Buf] = true
			return 1
		}
	}
	return n
}

// rolled is s without unrolled loops.
func rolled(s ir.Stmt) ir.Stmt {
	return ir.MapStmt(s, func(s ir.Stmt) ir.Stmt {
		if l, ok := s.(*ir.For); ok && l.Kind == ir.Unroll {
			rolled := *l
			rolled.Kind = ir.Serial
			return &rolled
		}
		return s
	}, nil)
}

// notesTies reports whether multiply-adds note ties, which those of a power of two of lanes do.
func (e *emitter) notesTies(wide bool) bool {
	return e.ties != nil && wide && e.lanes >= notedLanes && bits.OnesCount(uint(e.lanes)) == 1
}

// noteTies writes text that adds lanes of tieLanes to the noted ones, unless the uniform factor is
// a power of two: two floats with an inexact sum in double are too far apart for a tie.
func (s fusedSum) noteTies(p func(string, ...any)) {
	words, n := foldLanes(p, "%is", s.lanes)
	if s.uniform {
		p("  %%factor = shufflevector <%[1]d x float> %%a, <%[1]d x float> poison, %[2]s", s.lanes,
			isa.ShuffleRun(0, n, n))
		p("  %%bits = bitcast <%d x float> %%factor to <%[1]d x i32>", n)
		p("  %%fraction = shl <%d x i32> %%bits, splat (i32 9)", n)
		p("  %%isPower = icmp eq <%d x i32> %%fraction, zeroinitializer", n)
		p("  %%words = select <%[1]d x i1> %%isPower, <%[1]d x i32> zeroinitializer, <%[1]d x i32> %s", n, words)
		words = "%words"
	}
	p("  %%before = load <%d x i32>, ptr %%noted", n)
	p("  %%noting = or <%d x i32> %%before, %s", n, words)
	p("  store <%d x i32> %%noting, ptr %%noted", n)
}

// isSplat reports whether the lanes of v are copies of one value.
func isSplat(v value.Value) bool {
	s, ok := v.(*llir.InstShuffleVector)
	if !ok {
		return false
	}
	mask, ok := s.Mask.(literal)
	return ok && mask.text == "zeroinitializer"
}
