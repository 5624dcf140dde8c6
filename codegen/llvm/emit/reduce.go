package emit

import (
	"fmt"
	"strings"

	llir "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"ripc/codegen/llvm/isa"
	"ripc/codegen/llvm/rows"
	"ripc/ir"
	"ripc/ir/arith"
)

// reduce emits a combining Store of all lanes to one integer element: the lanes are combined with
// each other first.
func (e *emitter) reduce(s *ir.Store) {
	p := e.place(s.Buf, s.Idx)
	if m, ok := e.bitmask(s); ok {
		e.setBits(s, m, p)
		return
	}
	x := e.evalShared(s.Val)
	if x.t != p.t {
		e.fail("store to %"+s.Buf, "", "the value has type %s, the buffer %s", x.t, p.t)
	}
	at, align := e.address(p), p.alignment()
	switch {
	case !x.wide && s.Op == ir.AddTo:
		e.update(s.Op, p, e.binary(ir.Mul, x, imm(x.t, int64(e.lanes))), at, align)
	case !x.wide:
		e.update(s.Op, p, x, at, align)
	default:
		name := "llvm.vector.reduce." + reduction(s.Op, x.t)
		e.update(s.Op, p, val{v: e.overloaded(name, regType(x.t), x.v), t: x.t}, at, align)
	}
}

func reduction(op ir.StoreOp, t ir.Type) string {
	sign := "u"
	if t.Signed() {
		sign = "s"
	}
	switch op {
	case ir.OrTo:
		return "or"
	case ir.MinTo:
		return sign + "min"
	case ir.MaxTo:
		return sign + "max"
	}
	return "add"
}

// mask is the bools of e.lanes lanes as bits shift, shift+1, ... of an integer. They come in parts
// of lanes bits each, in order.
type mask struct {
	t     ir.Type
	parts []value.Value // integers of lanes bits
	lanes int
	shift arith.Affine
}

// bitmask recognizes a reduction by | or + that puts a bool of each lane at a bit of its own:
//
//	word |= cast<u32>(bool of the lane) << (lane + rest)
//
// The result is the vector of bools, reinterpreted as one integer and shifted by rest. Processors
// have an instruction for that.
func (e *emitter) bitmask(s *ir.Store) (mask, bool) {
	shl, ok := s.Val.(*ir.Binary)
	if s.Op != ir.OrTo && s.Op != ir.AddTo || !ok || shl.Op != ir.Shl {
		return mask{}, false
	}
	bit, ok := shl.A.(*ir.Cast)
	t := shl.Type()
	if !ok || bit.A.Type() != ir.Bool || !e.varies(bit.A) || !t.IsInt() || e.lanes > t.Bits() {
		return mask{}, false
	}
	rest, ok := e.lanePlus(shl.B)
	if !ok {
		return mask{}, false
	}
	m := mask{t: t, lanes: e.lanesPerMask(bit.A), shift: rest}
	x := e.splat(e.evalShared(bit.A))
	for from := 0; from < e.lanes; from += m.lanes {
		v := x.v
		if m.lanes < e.lanes {
			var run []constant.Constant
			for k := range m.lanes {
				run = append(run, constant.NewInt(types.I32, int64(from+k)))
			}
			v = e.b().NewShuffleVector(x.v, constant.NewZeroInitializer(x.v.Type()),
				constant.NewVector(types.NewVector(uint64(m.lanes), types.I32), run...))
		}
		m.parts = append(m.parts, e.maskOf(v, m.lanes))
	}
	return m, true
}

// setBits combines a mask with the element at p. Parts of 16 bits are stored one by one into an
// output's 32-bit word, which saves joining them. An alloc's word is
// stored whole, since the load that soon follows would stall on two partial stores.
func (e *emitter) setBits(s *ir.Store, m mask, p place) {
	const half = 16
	shift := e.sum(m.shift)
	whole := shift.known && shift.k == 0 && e.lanes == m.t.Bits() && len(m.parts) > 1
	if s.Op != ir.OrTo || m.lanes != half || !whole || e.bufs[s.Buf].isAlloc {
		e.update(s.Op, p, e.joinMask(m, shift), e.address(p), p.alignment())
		return
	}
	at := e.address(p)
	for k, part := range m.parts {
		to := e.gep(at, types.I16, imm(ir.I64, int64(k)))
		x := e.binary(ir.Or, e.read(ir.U16, false, to, half/8), val{v: part, t: ir.U16})
		blk := e.b() // volatile: LLVM would make one store of them
		blk.Insts = append(blk.Insts, &llir.InstStore{Src: x.v, Dst: to, Align: half / 8, Volatile: true})
	}
}

// joinMask returns the integer of a mask, joined from its parts.
func (e *emitter) joinMask(m mask, shift val) val {
	all := val{t: m.t}
	for k, v := range m.parts {
		part := val{v: v, t: m.t}
		if m.lanes < m.t.Bits() {
			part.v = e.b().NewZExt(part.v, regType(m.t))
		}
		if len(m.parts) > 1 { // opaque: LLVM would join the vectors
			reg := regType(m.t)
			part.v = e.b().NewCall(llir.NewInlineAsm(types.NewPointer(types.NewFunc(reg, reg)), "", "=r,0"), part.v)
		}
		if all.v == nil {
			all = part
			continue
		}
		all = e.binary(ir.Or, all, e.binary(ir.Shl, part, imm(m.t, int64(k*m.lanes))))
	}
	if shift.known && shift.k == 0 {
		return all
	}
	return e.binary(ir.Shl, all, e.convert(shift, m.t))
}

// lanesPerMask returns the number of lanes of x that one comparison writes to a mask register, or
// all lanes where LLVM joins masks well. Moving mask registers out and joining integers is faster
// than LLVM's way.
func (e *emitter) lanesPerMask(x ir.Expr) int {
	if !e.facts.MasksByRegister {
		return e.lanes
	}
	widest := 1
	var look func(x ir.Expr)
	look = func(x ir.Expr) {
		b, ok := x.(*ir.Binary)
		switch {
		case !ok:
		case b.A.Type() == ir.Bool:
			look(b.A)
			look(b.B)
		default:
			widest = max(widest, b.A.Type().Bits())
		}
	}
	look(x)
	return min(e.lanes, e.target.VectorBits/widest)
}

// lanePlus matches x, of any integer type, as the lane's number plus an expression rest that is the
// same for all lanes.
func (e *emitter) lanePlus(x ir.Expr) (rest arith.Affine, ok bool) {
	if b, isBin := x.(*ir.Binary); isBin && b.Op == ir.Add && x.Type() != ir.I64 {
		k, isImm := b.B.(*ir.IntImm)
		if !isImm {
			return rest, false
		}
		rest, ok = e.lanePlus(b.A)
		rest.Const += k.V
		return rest, ok
	}
	if c, isCast := x.(*ir.Cast); isCast {
		x = c.A
	}
	if x.Type() != ir.I64 {
		return rest, false
	}
	a := e.affine(x)
	rest.Const = a.Const
	for _, t := range a.Terms {
		v, isVar := t.Atom.(*ir.Var)
		switch {
		case isVar && v.Name == e.laneVar && t.Coef == 1:
			ok = true
		case e.varies(t.Atom):
			return rest, false
		default:
			rest.Terms = append(rest.Terms, t)
		}
	}
	return rest, ok
}

// maskOf reinterprets a vector of bools as an integer with one bit per lane.
func (e *emitter) maskOf(bools value.Value, lanes int) value.Value {
	word := types.NewInt(uint64(lanes))
	call := func(text func() isa.Function) value.Value {
		e.require(helper{kind: maskHelper, lanes: lanes}, text)
		f := llir.NewFunc(fmt.Sprintf("ripc_mask_x%d", lanes), word, llir.NewParam("", bools.Type()))
		return e.b().NewCall(f, bools)
	}
	if signs := e.facts.ByteSigns; signs != "" && lanes%16 == 0 {
		return call(func() isa.Function { return signsText(signs, lanes) })
	}
	add := e.facts.PairwiseAdd
	if add.Bytes == 0 || lanes%add.Bytes != 0 || 8*add.Bytes%lanes != 0 {
		return e.b().NewBitCast(bools, word)
	}
	return call(func() isa.Function { return maskText(add, lanes) })
}

// signsText is the function of maskOf by an intrinsic that gathers the signs of 16 bytes.
func signsText(signs string, lanes int) isa.Function {
	var b strings.Builder
	p := linesOf(&b)
	p("define internal i%[1]d @ripc_mask_x%[1]d(<%[1]d x i1> %%x) alwaysinline nounwind {", lanes)
	p("  %%all = sext <%[1]d x i1> %%x to <%[1]d x i8>", lanes)
	whole := "zeroinitializer"
	for k := range lanes / 16 {
		p("  %%v%[2]d = shufflevector <%[1]d x i8> %%all, <%[1]d x i8> poison, %[3]s", lanes, k,
			isa.ShuffleRun(16*k, 16, 16))
		p("  %%s%[1]d = call i32 @%[2]s(<16 x i8> %%v%[1]d)", k, signs)
		p("  %%h%[1]d = trunc i32 %%s%[1]d to i16", k)
		p("  %%w%[1]d = insertelement <%[2]d x i16> %[3]s, i16 %%h%[1]d, i32 %[1]d", k, lanes/16, whole)
		whole = fmt.Sprintf("%%w%d", k)
	}
	p("  %%word = bitcast <%[1]d x i16> %[2]s to i%[3]d", lanes/16, whole, lanes)
	p("  ret i%d %%word\n}", lanes)
	return isa.Function{Calls: []isa.Declaration{{Result: "i32", Name: signs, Params: "<16 x i8>"}}, Text: b.String()}
}

// maskText is the function of maskOf by a pairwise addition. Each byte, all ones or zeros, keeps
// one bit. Neighbours are added three times, until a byte holds eight bits.
func maskText(add rows.PairwiseAdd, lanes int) isa.Function {
	var b strings.Builder
	p := linesOf(&b)
	p("define internal i%[1]d @ripc_mask_x%[1]d(<%[1]d x i1> %%x) alwaysinline nounwind {", lanes)
	p("  %%all = sext <%[1]d x i1> %%x to <%[1]d x i8>", lanes)
	p("  %%bits = and <%[1]d x i8> %%all, <%[2]s>", lanes, isa.EachBit(lanes))
	var sums []string
	for at := 0; at < lanes; at += add.Bytes {
		p("  %%v%[2]d = shufflevector <%[1]d x i8> %%bits, <%[1]d x i8> poison, %[3]s", lanes, at,
			isa.ShuffleRun(at, add.Bytes, add.Bytes))
		sums = append(sums, fmt.Sprintf("%%v%d", at))
	}
	p("  %%words = bitcast <%d x i8> %s to <%d x i%d>", add.Bytes, isa.BitsTogether(p, add.Bytes, add.Name, sums),
		8*add.Bytes/lanes, lanes)
	p("  %%word = extractelement <%d x i%d> %%words, i32 0", 8*add.Bytes/lanes, lanes)
	p("  ret i%d %%word\n}", lanes)
	vector := fmt.Sprintf("<%d x i8>", add.Bytes)
	return isa.Function{Calls: []isa.Declaration{{Result: vector, Name: add.Name, Params: vector + ", " + vector}},
		Text: b.String()}
}
