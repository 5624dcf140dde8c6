package emit

import (
	"fmt"
	"strings"

	llir "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"ripc/codegen/llvm/isa"
	"ripc/ir"
)

// laneBits recognizes an expression that reads one bit of a word for each lane of the vectorized
// loop:
//
//	word >> cast<u32>(lane + rest) & 1
//
// The result is the word, shifted by rest, reinterpreted as a vector of bools. This is the inverse
// of bitmask. LLVM would shift word-wide lanes by 0, 1, 2 and so on: four times the work if
// the lanes end up as bytes, but less work if they stay wide. So it applies only to conversions to
// bytes. The lanes must fill whole bytes, and a word must have a bit for each.
func (e *emitter) laneBits(x *ir.Binary) (val, bool) {
	one, isOne := x.B.(*ir.IntImm)
	shift, isShift := x.A.(*ir.Binary)
	if !e.toBytes || x.Op != ir.And || !isOne || one.V != 1 || !isShift || shift.Op != ir.Shr || e.varies(shift.A) {
		return val{}, false
	}
	t := shift.Type()
	if !t.IsInt() || t.Signed() || e.lanes%8 != 0 || e.lanes == 0 || e.lanes > t.Bits() {
		return val{}, false
	}
	rest, ok := e.lanePlus(shift.B)
	if !ok {
		return val{}, false
	}
	word := e.eval(shift.A)
	if by := e.sum(rest); !by.known || by.k != 0 {
		word = e.binary(ir.Shr, word, e.convert(by, t))
	}
	v := word.v
	if e.lanes < t.Bits() {
		v = e.b().NewTrunc(v, types.NewInt(uint64(e.lanes)))
	}
	return val{v: e.b().NewZExt(e.boolsFromMask(v), e.typeOf(t, true)), t: t, wide: true}, true
}

// boolsFromMask reinterprets an integer with one bit per lane as a vector of bools: the inverse of
// maskOf.
func (e *emitter) boolsFromMask(v value.Value) value.Value {
	bools := vectorOf(e.lanes, types.I1)
	if e.facts.PairwiseAdd.Bytes == 0 {
		return e.b().NewBitCast(v, bools)
	}
	lanes := e.lanes
	e.require(helper{kind: boolsHelper, lanes: lanes}, func() isa.Function { return boolsText(lanes) })
	return e.b().NewCall(llir.NewFunc(boolsName(lanes), bools, llir.NewParam("", v.Type())), v)
}

func boolsName(lanes int) string { return fmt.Sprintf("ripc_bools_x%d", lanes) }

// boolsText is the function of boolsFromMask: each byte is copied to eight lanes, and each lane
// tests its bit. LLVM would move lanes one by one.
func boolsText(lanes int) isa.Function {
	var b strings.Builder
	p := linesOf(&b)
	p("define internal <%[1]d x i1> @%[2]s(i%[1]d %%x) alwaysinline nounwind {", lanes, boolsName(lanes))
	p("  %%bytes = bitcast i%d %%x to <%d x i8>", lanes, lanes/8)
	p("  %%all = shufflevector <%[1]d x i8> %%bytes, <%[1]d x i8> poison, %[2]s", lanes/8,
		isa.Shuffle(lanes, func(i int) int { return i / 8 }))
	p("  %%bits = and <%d x i8> %%all, <%s>", lanes, isa.EachBit(lanes))
	p("  %%bools = icmp ne <%d x i8> %%bits, zeroinitializer", lanes)
	p("  ret <%d x i1> %%bools\n}", lanes)
	return isa.Function{Text: b.String()}
}
