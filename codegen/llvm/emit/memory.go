package emit

import (
	llir "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"ripc/codegen"
	"ripc/ir"
)

// load reads the element at p, or one per lane.
func (e *emitter) load(p place) val {
	switch {
	case !p.scattered && p.stride == 0:
		return e.read(p.t, false, e.address(p), p.alignment())
	case !p.scattered && p.stride == 1:
		return e.read(p.t, true, e.address(p), p.alignment())
	case !p.scattered && p.stride == 2 && p.t != ir.Bool:
		return e.loadStride2(p)
	}
	e.enter(e.laneVar, "vectorized", e.lanes)
	defer e.leave()
	at := e.addresses(p)
	return e.fromLanes(p.t, func(k int) val { return e.read(p.t, false, at(k), p.elemAlignment()) })
}

// loadStride2 reads lanes that are two elements apart. If all pairs of neighbours may be read, it
// takes the first or second elements of one double vector. If the last pair may end outside of the
// buffer, it reads two vectors that overlap by one element.
func (e *emitter) loadStride2(p place) val {
	if odd, ok := e.pairHalf(p); ok {
		p.index.Const -= odd
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

// halfOfPairs reads one pair of elements per lane, the first one at p, and returns the first (odd
// is 0) or the second elements.
func (e *emitter) halfOfPairs(p place, odd int64) val {
	lanes := e.lanes
	e.lanes = 2 * lanes
	x := e.read(p.t, true, e.address(p), p.elemAlignment())
	e.lanes = lanes
	var from []constant.Constant
	for k := range lanes {
		from = append(from, constant.NewInt(types.I32, 2*int64(k)+odd))
	}
	x.v = e.b().NewShuffleVector(x.v, constant.NewUndef(x.v.Type()),
		constant.NewVector(types.NewVector(uint64(lanes), types.I32), from...))
	return x
}

// pairHalf reports whether the lanes' elements are halves of pairs that may be read: the first
// halves if odd is 0, the second if odd is 1. If the parity of the index is unknown, pairs begin at
// its even constant part. Then neighbouring taps of a row use the same pairs.
func (e *emitter) pairHalf(p place) (odd int64, ok bool) {
	if odd, known := p.parity(); known && p.paired {
		return odd, true
	}
	odd = p.index.Const & 1
	first := p.index
	first.Const -= odd
	in, ok := first.Bounds(e.ranges)
	return odd, ok && in.Lo >= 0 && in.Hi+2*int64(e.lanes) <= p.elems
}

// describe returns x, read at p, with the properties of the buffer's floats.
func (p place) describe(x val) val {
	x.flushed, x.grain = p.flushed || p.grain >= codegen.NormalGrain, p.grain
	return x
}

// parity is the remainder of the index of p's first lane by 2, if it is known.
func (p place) parity() (odd int64, known bool) {
	for _, t := range p.index.Terms {
		if t.Coef%2 != 0 {
			return 0, false
		}
	}
	return p.index.Const & 1, true
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
	if e.lanes > 0 && s.Op != ir.Assign && !e.writesPerLane(s) {
		e.reduce(s)
		return
	}
	x := e.evalShared(s.Val)
	p := e.place(s.Buf, s.Idx)
	if x.t != p.t {
		e.fail("store to %"+s.Buf, "", "the value has type %s, the buffer %s", x.t, p.t)
	}
	if e.compared[s.Buf] {
		x = e.hideZero(x)
	}
	switch {
	case !p.scattered && p.stride == 0:
		e.update(s.Op, p, x, e.address(p), p.alignment())
	case !p.scattered && p.stride == 1:
		e.update(s.Op, p, e.splat(x), e.address(p), p.alignment())
	default:
		e.enter(e.laneVar, "vectorized", e.lanes)
		defer e.leave()
		at := e.addresses(p)
		for k := range e.lanes {
			e.update(s.Op, p, e.lane(x, k), at(k), p.elemAlignment())
		}
	}
}

// writesPerLane reports whether the element that s writes can differ between lanes.
func (e *emitter) writesPerLane(s *ir.Store) bool {
	p := e.place(s.Buf, s.Idx)
	return p.scattered || p.stride != 0
}

// update combines x with an element of p, at an address, by op, and stores the result.
func (e *emitter) update(op ir.StoreOp, p place, x val, at value.Value, align int) {
	if sum, ok := e.popcountAdd(op, x, at, align); ok {
		x = sum
	} else if op != ir.Assign {
		old := e.read(x.t, x.wide, at, align)
		if !e.facts.Flushes {
			old = p.describe(old)
		}
		x = e.binary(op.Operator(), old, x)
	}
	e.write(x, at, align)
}
