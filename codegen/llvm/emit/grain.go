package emit

import (
	"math"

	llir "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"ripc/codegen"
	"ripc/ir"
)

// Where no instruction flushes, a multiply-add and its flush are several times the work of a
// multiply-add. So a kernel with many of them has two versions. It reads its inputs first. If all
// their floats are 0 or at least leastScanned, products of two of them, and sums of these, are
// never subnormal (see codegen.Grain). Then the kernel takes the version that does not flush them.

// leastScanned makes a product of two floats, of 24 bits each, a multiple of 2^-126.
const leastScanned = 0x1p-40

// scannedGrain is the grain of such floats.
var scannedGrain = codegen.Grain(leastScanned * (1 + 0x1p-23))

// scannedParams returns the inputs that are worth reading: that saves more flushes than they have
// elements.
func (e *emitter) scannedParams() (ps []ir.Param, grains codegen.Grains) {
	if e.facts.Flushes {
		return nil, nil
	}
	scanned := map[string]bool{}
	for _, p := range e.f.Params {
		if p.Type.IsFloat() && !p.Out && e.grains[p.Name] < scannedGrain {
			scanned[p.Name] = true
		}
	}
	find := func() (codegen.Grains, int) {
		g := e.floats.Grains(e.f, scanned, scannedGrain)
		return g, g.Flushes(e.f.Body)
	}
	grains, least := find()
	for _, p := range e.f.Params {
		if !scanned[p.Name] {
			continue
		}
		delete(scanned, p.Name)
		without, flushes := find()
		if flushes-least <= p.Elems() {
			grains, least = without, flushes
			continue
		}
		scanned[p.Name] = true
		ps = append(ps, p)
	}
	return ps, grains
}

// versions emits the body, or both versions of it. The version that flushes has no unrolled loops
// and tests for ties in each step, so that it adds little code, and counts as none.
func (e *emitter) versions(done *llir.Block) {
	e.scanBits()
	ps, grains := e.scannedParams()
	if len(ps) == 0 {
		e.stmt(e.f.Body)
		return
	}
	var bad value.Value = literal{types.I32, "0"}
	for _, p := range ps {
		found := e.scan(p, ir.Or, func(x val) value.Value {
			size := e.binary(ir.And, x, imm(ir.U32, math.MaxInt32))
			small := e.binary(ir.Lt, e.binary(ir.Sub, size, imm(ir.U32, 1)),
				imm(ir.U32, int64(math.Float32bits(leastScanned)-1))) // 0 - 1 is large
			return e.b().NewSExt(small.v, x.v.Type())
		})
		bad = e.b().NewOr(bad, found)
	}
	fast, slow := e.block("fast"), e.block("slow")
	e.b().NewCondBr(e.binary(ir.Eq, val{v: bad, t: ir.U32}, imm(ir.U32, 0)).v, fast, slow)
	flushing := e.grains
	e.start(fast)
	e.grains = grains
	e.stmt(e.f.Body)
	e.b().NewBr(done)
	count := e.count
	e.count = 0
	e.start(slow)
	e.grains, e.seldom = flushing, true
	e.stmt(rolled(e.f.Body))
	e.count, e.seldom = count, false
}

// scan emits a loop over p. It combines the words that f makes of vectors of elements by op, Or or
// Max.
func (e *emitter) scan(p ir.Param, op ir.BinOp, f func(x val) value.Value) value.Value {
	n := 1
	for 2*n <= min(e.target.VectorBits/p.Type.Bits(), p.Elems()) {
		n *= 2
	}
	steps := (p.Elems() + n - 1) / n
	e.lanes = n
	words := e.typeOf(ir.U32, true)
	before, loop, end := e.blk, e.block("scan"), e.block("scanned")
	e.b().NewBr(loop)
	e.start(loop)
	step := e.b().NewPhi(llir.NewIncoming(imm(ir.I64, 0).v, before))
	found := e.b().NewPhi(llir.NewIncoming(literal{words, "zeroinitializer"}, before))
	i := e.b().NewMul(step, indexOf(int64(n)))
	// The last vector may overlap the one before.
	at := e.overloaded("llvm.umin", types.I64, i, indexOf(int64(p.Elems()-n)))
	x := e.read(ir.U32, true, e.gep(e.bufs[p.Name].base, types.Float, val{v: at, t: ir.I64}), p.Type.Bytes())
	word := func(v value.Value) val { return val{v: v, t: ir.I32, wide: true} }
	all := e.binary(op, word(found), word(f(x))).v
	next := e.b().NewAdd(step, indexOf(1))
	step.Incs = append(step.Incs, llir.NewIncoming(next, e.blk))
	found.Incs = append(found.Incs, llir.NewIncoming(all, e.blk))
	e.b().NewCondBr(e.binary(ir.Lt, val{v: next, t: ir.U64}, imm(ir.U64, int64(steps))).v, loop, end)
	e.start(end)
	e.lanes = 0
	reduce := map[ir.BinOp]string{ir.Or: "or", ir.Max: "smax"}[op]
	return e.overloaded("llvm.vector.reduce."+reduce, types.I32, all)
}
