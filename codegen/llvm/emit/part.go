package emit

import (
	"github.com/llir/llvm/ir/types"

	"ripc/ir"
	"ripc/ir/arith"
)

// partOfWord emits a byte of a word in memory, the same for all lanes, as a load of that byte.
// Processors broadcast it while loading:
//
//	cast<u8>(%x[%k] >> cast<u32>(%c * 8))
//
// All targets are little-endian, and no shift is as long as the word (ir.Verify).
func (e *emitter) partOfWord(x *ir.Cast) (val, bool) {
	shift, ok := x.A.(*ir.Binary)
	if x.T != ir.U8 || !ok || shift.Op != ir.Shr || e.varies(shift) {
		return val{}, false
	}
	word, isLoad := shift.A.(*ir.Load)
	by, isCast := shift.B.(*ir.Cast)
	if !isLoad || !isCast || by.A.Type() != ir.I64 {
		return val{}, false
	}
	bits := e.affine(by.A)
	bytes := arith.Affine{Const: bits.Const / 8}
	whole := bits.Const%8 == 0
	for _, t := range bits.Terms {
		whole = whole && t.Coef%8 == 0
		bytes.Terms = append(bytes.Terms, arith.Term{Coef: t.Coef / 8, Atom: t.Atom})
	}
	size := int64(word.T.Bits() / 8)
	p := e.place(word.Buf, word.Idx)
	if !whole || isComputed(p.index) {
		return val{}, false
	}
	p.index = bytes.Plus(size, p.index)
	p.t, p.elem = ir.U8, types.I8
	return e.read(p.t, false, e.address(p), 1), true
}
