package lce

import (
	"slices"

	"ripc/importer/internal/kit"
	"ripc/importer/lce/internal/flatbuf"
	"ripc/internal/stop"
)

// For an open batch, Keras asks for the shape of a tensor, takes it apart, and joins another one
// for RESHAPE. Here sizes are fixed. So these tensors are lists of whole numbers, and they are
// computed while the file is read.

// maxList is the most numbers of such a list.
const maxList = 64

// computeList reports whether the operator at work makes whole numbers of nothing but such lists,
// shapes and constants. Its result is kept for those that read it; if the operator is none that is
// known here, it counts as made, and who wants its numbers says so.
func (b *builder) computeList() bool {
	if b.op.custom || len(b.op.outputs) != 1 || len(b.op.inputs) == 0 {
		return false
	}
	out := b.op.outputs[0]
	if t := b.file.tensors[out]; t.typ != typeI32 && t.typ != typeI64 || t.data != nil {
		return false
	}
	if b.op.op != "SHAPE" {
		for k, i := range b.op.inputs {
			if _, made := b.lists[i]; i >= 0 && !made && b.input(k).data == nil {
				return false
			}
		}
	}
	list := b.list()
	if len(list) > maxList {
		list = nil
	}
	b.lists[out] = list
	return true
}

// numbersOf are the whole numbers of input k; nil if they are not known.
func (b *builder) numbersOf(k int) []int {
	var v []int
	if stop.Try(func() { v = b.ints(k, "numbers") }) != nil {
		return nil
	}
	return v
}

// list computes the operator at work; nil if it cannot.
func (b *builder) list() []int {
	op, x := b.op, b.numbersOf(0)
	switch op.op {
	case "SHAPE":
		return b.shapeOf(0)
	case "PACK", "CONCATENATION":
		var all []int
		for k := range op.inputs {
			v := b.numbersOf(k)
			if v == nil {
				return nil
			}
			all = append(all, v...)
		}
		return all
	case "STRIDED_SLICE":
		begin, end, step := b.numbersOf(1), b.numbersOf(2), b.numbersOf(3)
		if len(begin) != 1 || len(end) != 1 || len(step) != 1 || x == nil {
			return nil
		}
		s := spanOf(op.options, 0, len(x), begin[0], end[0], step[0])
		if s.Step == 0 || op.options.Int32(2, 0)+op.options.Int32(3, 0) != 0 {
			return nil
		}
		var part []int
		for i := range s.Count {
			part = append(part, x[s.Begin+i*s.Step])
		}
		return part
	case "SLICE":
		if begin, size := b.numbersOf(1), b.numbersOf(2); len(begin) == 1 && len(size) == 1 && begin[0] >= 0 &&
			begin[0] <= len(x) {
			if size[0] == -1 {
				size[0] = len(x) - begin[0]
			}
			if size[0] >= 0 && size[0] <= len(x)-begin[0] {
				return slices.Clone(x[begin[0] : begin[0]+size[0]])
			}
		}
	case "GATHER":
		var part []int
		for _, i := range b.numbersOf(1) {
			if i < 0 || i >= len(x) {
				return nil
			}
			part = append(part, x[i])
		}
		return part
	case "REDUCE_PROD":
		p := 1
		for _, v := range x {
			if p *= v; p < 0 || p > maxElements {
				return nil
			}
		}
		if x != nil {
			return []int{p}
		}
	case "CAST", "EXPAND_DIMS", "SQUEEZE", "RESHAPE":
		return x
	case "ADD", "SUB", "MUL", "DIV", "FLOOR_DIV", "MAXIMUM", "MINIMUM":
		return combine(op.op, x, b.numbersOf(1))
	}
	return nil
}

// maxElements bounds the numbers that are computed, which are positions and sizes.
const maxElements = 1<<31 - 1

// combine returns an operation on two lists. One of them may be a single number.
func combine(op string, x, y []int) []int {
	if len(x) == 0 || len(y) == 0 || len(x) != len(y) && len(x) != 1 && len(y) != 1 {
		return nil
	}
	var out []int
	for i := range max(len(x), len(y)) {
		a, c, v := x[i%len(x)], y[i%len(y)], 0
		switch op {
		case "ADD":
			v = a + c
		case "SUB":
			v = a - c
		case "MUL":
			v = a * c
		case "MAXIMUM":
			v = max(a, c)
		case "MINIMUM":
			v = min(a, c)
		default:
			if c <= 0 || a < 0 {
				return nil
			}
			v = a / c
		}
		if v < -maxElements || v > maxElements {
			return nil
		}
		out = append(out, v)
	}
	return out
}

// shapeOf is the shape of input k; nil if it is not known.
func (b *builder) shapeOf(k int) []int {
	t := b.input(k)
	if t == nil {
		return nil
	}
	if v := b.values[b.op.inputs[k]]; v != nil && t.typ != typeI32 {
		return slices.Clone(v.Shape)
	}
	return slices.Clone(t.shape)
}

// span is the part of an axis that STRIDED_SLICE takes.
type span struct {
	kit.Span
	dropped bool // the axis goes
}

// spanOf is the span of an axis of n by begin, end and step, and by bit d of the masks in options.
// Its step is 0 if step is.
func spanOf(options flatbuf.Table, d, n, begin, end, step int) span {
	has := func(mask int) bool { return options.Int32(mask, 0)>>d&1 != 0 }
	first, last := 0, n // all of the axis
	if step < 0 {
		first, last = n-1, -n-1
	}
	switch {
	case step == 0:
		return span{}
	case has(4): // one position, whatever end and step say
		at := kit.Cut(n, begin, end, step).Begin
		return span{kit.Span{Begin: min(at, n-1), Count: 1, Step: 1}, true}
	}
	if has(0) {
		begin = first
	}
	if has(1) {
		end = last
	}
	return span{Span: kit.Cut(n, begin, end, step)}
}
