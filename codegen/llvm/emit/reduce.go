package emit

import (
	"github.com/llir/llvm/ir/types"

	"ripc/ir"
	"ripc/ir/arith"
)

// reduce carries out a combining Store of all lanes to one element, which is an integer: the lanes are combined with each
// other first.
func (e *emitter) reduce(s *ir.Store) {
	p := e.place(s.Buf, s.Idx)
	if bits, ok := e.bitmask(s); ok {
		e.update(s.Op, bits, e.address(p), p.alignment())
		return
	}
	x := e.once(s.Val)
	if x.t != p.t {
		e.fail("store to %"+s.Buf, "", "the value has type %s, the buffer %s", x.t, p.t)
	}
	at, align := e.address(p), p.alignment()
	switch {
	case !x.wide && s.Op == ir.AddTo:
		e.update(s.Op, e.binary(ir.Mul, x, imm(x.t, int64(e.lanes))), at, align)
	case !x.wide:
		e.update(s.Op, x, at, align)
	default:
		name := "llvm.vector.reduce." + reduction(s.Op, x.t)
		e.update(s.Op, val{v: e.overloaded(name, regType(x.t), x.v), t: x.t}, at, align)
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

// bitmask recognizes a reduction by | or + that puts a bool of each lane at a bit of its own,
//
//	word |= cast<u32>(bool of the lane) << (lane + rest)
//
// which is the vector of bools seen as one integer, shifted by rest. Processors have an instruction for that.
func (e *emitter) bitmask(s *ir.Store) (val, bool) {
	shl, ok := s.Val.(*ir.Binary)
	if s.Op != ir.OrTo && s.Op != ir.AddTo || !ok || shl.Op != ir.Shl {
		return val{}, false
	}
	bit, ok := shl.A.(*ir.Cast)
	t := shl.Type()
	if !ok || bit.A.Type() != ir.Bool || !e.varies(bit.A) || !t.IsInt() || e.lanes > t.Bits() {
		return val{}, false
	}
	rest, ok := e.lanePlus(shl.B)
	if !ok {
		return val{}, false
	}
	x := e.splat(e.once(bit.A))
	var mask val
	mask.t = t
	mask.v = e.b().NewBitCast(x.v, types.NewInt(uint64(e.lanes)))
	if e.lanes < t.Bits() {
		mask.v = e.b().NewZExt(mask.v, regType(t))
	}
	count := e.convert(e.sum(rest), t)
	if count.known && count.k == 0 {
		return mask, true
	}
	return e.binary(ir.Shl, mask, count), true
}

// lanePlus matches x, of any integer type, as the lane's number plus something that is the same for all lanes.
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
