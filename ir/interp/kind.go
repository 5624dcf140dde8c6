package interp

import (
	"math/bits"

	"ripc/internal/f32"
	"ripc/ir"
)

// kind makes the closures of one integer type (or bool). Methods with an operator return nil if the
// type does not have it.
type kind interface {
	canonical(v int64) int64
	wrap(f intFn) intFn
	truncate(f f32Fn) intFn
	load(a *access) intFn
	store(a *access, op ir.StoreOp, v intFn) stmtFn
	addTo(a *access, v intFn) stmtFn
	unary(op ir.UnOp, a intFn) intFn
	binary(op ir.BinOp, a, b intFn) intFn
	divide(op ir.BinOp, a intFn, by int64) intFn
	shift(e *ir.Binary, a, count intFn, at *site) intFn
	popcountXor(a, b *access) intFn
}

func kindOf(t ir.Type) kind {
	switch t {
	case ir.I8:
		return ints[int8]{t}
	case ir.I16:
		return ints[int16]{t}
	case ir.I32:
		return ints[int32]{t}
	case ir.I64:
		return ints[int64]{t}
	case ir.U8:
		return ints[uint8]{t}
	case ir.U16:
		return ints[uint16]{t}
	case ir.U32:
		return ints[uint32]{t}
	case ir.U64:
		return ints[uint64]{t}
	}
	return bools{ints[uint8]{ir.Bool}}
}

type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

// ints is the kind of integers held in memory as T.
type ints[T integer] struct{ t ir.Type }

func (ints[T]) canonical(v int64) int64 { return int64(T(v)) }

func (ints[T]) wrap(f intFn) intFn {
	return func(fr *frame) int64 { return int64(T(f(fr))) }
}

func (k ints[T]) truncate(f f32Fn) intFn {
	return func(fr *frame) int64 { return f32.Truncate(f(fr), k.t.Bits(), k.t.Signed()) }
}

func (ints[T]) load(a *access) intFn {
	return func(fr *frame) int64 { return int64(*elem[T](fr.mem[a.mem], a.reading(fr))) }
}

func (ints[T]) popcountXor(a, b *access) intFn {
	mask := ^uint64(0) >> (64 - a.Type.Bits())
	return func(fr *frame) int64 {
		x := *elem[T](fr.mem[a.mem], a.reading(fr)) ^ *elem[T](fr.mem[b.mem], b.reading(fr))
		return int64(bits.OnesCount64(uint64(x) & mask))
	}
}

func (k ints[T]) store(a *access, op ir.StoreOp, v intFn) stmtFn {
	switch op {
	case ir.Assign:
		return func(fr *frame) {
			x := T(v(fr))
			*elem[T](fr.mem[a.mem], a.writing(fr)) = x
		}
	case ir.AddTo:
		return func(fr *frame) {
			x := T(v(fr))
			*elem[T](fr.mem[a.mem], a.reading(fr)) += x
		}
	case ir.OrTo:
		return func(fr *frame) {
			x := T(v(fr))
			*elem[T](fr.mem[a.mem], a.reading(fr)) |= x
		}
	case ir.MinTo:
		return func(fr *frame) {
			x := T(v(fr))
			p := elem[T](fr.mem[a.mem], a.reading(fr))
			*p = min(*p, x)
		}
	case ir.MaxTo:
		return func(fr *frame) {
			x := T(v(fr))
			p := elem[T](fr.mem[a.mem], a.reading(fr))
			*p = max(*p, x)
		}
	}
	return nil
}

func (k ints[T]) unary(op ir.UnOp, a intFn) intFn {
	mask := ^uint64(0) >> (64 - k.t.Bits())
	switch op {
	case ir.Neg:
		return func(fr *frame) int64 { return int64(-T(a(fr))) }
	case ir.Not:
		return func(fr *frame) int64 { return int64(^T(a(fr))) }
	case ir.Popcount:
		return func(fr *frame) int64 { return int64(bits.OnesCount64(uint64(a(fr)) & mask)) }
	case ir.Abs:
		return func(fr *frame) int64 {
			x := T(a(fr))
			if x < 0 {
				x = -x // the least value stays itself
			}
			return int64(x)
		}
	}
	return nil
}
