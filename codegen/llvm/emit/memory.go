package emit

import (
	llir "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"ripc/ir"
)

// load reads the element at p, or one a lane.
func (e *emitter) load(p place) val {
	switch {
	case !p.scattered && p.stride == 0:
		return e.read(p.t, false, e.address(p), p.alignment())
	case !p.scattered && p.stride == 1:
		return e.read(p.t, true, e.address(p), p.alignment())
	case !p.scattered && p.stride == 2 && p.t != ir.Bool:
		return e.everyOther(p)
	}
	e.enter(e.laneVar, "vectorized", e.lanes)
	defer e.leave()
	at := e.addresses(p)
	return e.fromLanes(p.t, func(k int) val { return e.read(p.t, false, at(k), p.elemAlignment()) })
}

// everyOther reads lanes that are two elements apart: the first or the second ones of as many
// pairs, in one vector, or, where the last pair may lie outside of the buffer, what lies between
// the first and the last of them, in two vectors that overlap by one element.
func (e *emitter) everyOther(p place) val {
	if odd, ok := e.inPair(p); ok {
		p.at.Const -= odd
		return e.halfOfPairs(p, odd)
	}
	first := e.address(p)
	a := e.read(p.t, true, first, p.alignment())
	b := e.read(p.t, true, e.gep(first, p.elem, imm(ir.I64, int64(e.lanes-1))), p.elemAlignment())
	var from []constant.Constant
	for k := range e.lanes {
		at := 2 * k
		if at >= e.lanes {
			at++ // b begins with the last element of a
		}
		from = append(from, constant.NewInt(types.I32, int64(at)))
	}
	a.v = e.b().NewShuffleVector(a.v, b.v, constant.NewVector(types.NewVector(uint64(e.lanes), types.I32), from...))
	return a
}

// halfOfPairs reads the first (odd is 0) or the second element of as many pairs as there are lanes,
// of which p is the first.
func (e *emitter) halfOfPairs(p place, odd int64) val {
	lanes := e.lanes
	e.lanes = 2 * lanes
	x := e.read(p.t, true, e.address(p), p.elemAlignment())
	e.lanes = lanes
	var from []constant.Constant
	for k := range lanes {
		from = append(from, constant.NewInt(types.I32, 2*int64(k)+odd))
	}
	x.v = e.b().NewShuffleVector(x.v, constant.NewUndef(x.v.Type()), constant.NewVector(types.NewVector(uint64(lanes), types.I32), from...))
	return x
}

// inPair says that each lane's element is the first of a pair of neighbours that may be read, or,
// where odd is 1, the second. Where it is not known whether the index is even, pairs begin at its
// even constant part: so elements that lie one apart, as those of a row's taps do, are halves of
// the same pairs.
func (e *emitter) inPair(p place) (odd int64, ok bool) {
	if odd, known := p.parity(); known && p.paired {
		return odd, true
	}
	odd = p.at.Const & 1
	first := p.at
	first.Const -= odd
	in, ok := first.Bounds(e.ranges)
	return odd, ok && in.Lo >= 0 && in.Hi+2*int64(e.lanes) <= p.elems
}

// parity is the remainder of the index of p's first lane by 2, if it is known.
func (p place) parity() (odd int64, known bool) {
	for _, t := range p.at.Terms {
		if t.Coef%2 != 0 {
			return 0, false
		}
	}
	return p.at.Const & 1, true
}

// read loads one element or, if wide, the e.lanes elements that start there.
func (e *emitter) read(t ir.Type, wide bool, at value.Value, align int) val {
	mt := memType(t)
	if wide {
		mt = vectorOf(e.lanes, mt)
	}
	l := e.b().NewLoad(mt, at)
	l.Align = llir.Align(align)
	x := val{v: l, t: t, wide: wide}
	if t == ir.Bool {
		x.v = e.b().NewTrunc(l, e.typeOf(t, wide))
	}
	return x
}

// write stores one element or, if x is wide, the elements that start there.
func (e *emitter) write(x val, at value.Value, align int) {
	v := x.v
	if x.t == ir.Bool {
		var mt types.Type = types.I8
		if x.wide {
			mt = vectorOf(e.lanes, mt)
		}
		v = e.b().NewZExt(v, mt)
	}
	blk := e.b()
	blk.Insts = append(blk.Insts, &llir.InstStore{Src: v, Dst: at, Align: llir.Align(align)})
}

// store carries out a Store.
func (e *emitter) store(s *ir.Store) {
	if e.lanes > 0 && s.Op != ir.Assign && !e.moves(s) {
		e.reduce(s)
		return
	}
	x := e.once(s.Val)
	p := e.place(s.Buf, s.Idx)
	if x.t != p.t {
		e.fail("store to %"+s.Buf, "", "the value has type %s, the buffer %s", x.t, p.t)
	}
	if e.compared[s.Buf] {
		x = e.hideZero(x)
	}
	switch {
	case !p.scattered && p.stride == 0:
		e.update(s.Op, x, e.address(p), p.alignment())
	case !p.scattered && p.stride == 1:
		e.update(s.Op, e.splat(x), e.address(p), p.alignment())
	default:
		e.enter(e.laneVar, "vectorized", e.lanes)
		defer e.leave()
		at := e.addresses(p)
		for k := range e.lanes {
			e.update(s.Op, e.lane(x, k), at(k), p.elemAlignment())
		}
	}
}

// moves reports whether the element that s writes can differ between lanes.
func (e *emitter) moves(s *ir.Store) bool {
	p := e.place(s.Buf, s.Idx)
	return p.scattered || p.stride != 0
}

// update combines x with what is at an address, by op.
func (e *emitter) update(op ir.StoreOp, x val, at value.Value, align int) {
	if sum, ok := e.popcountAdd(op, x, at, align); ok {
		x = sum
	} else if op != ir.Assign {
		x = e.binary(combiner(op), e.read(x.t, x.wide, at, align), x)
	}
	e.write(x, at, align)
}

// combiner is the operator of a combining store.
func combiner(op ir.StoreOp) ir.BinOp {
	switch op {
	case ir.OrTo:
		return ir.Or
	case ir.MinTo:
		return ir.Min
	case ir.MaxTo:
		return ir.Max
	}
	return ir.Add
}
