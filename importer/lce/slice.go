package lce

import "ripc/graph"

// slice is SLICE: a size of -1 is all that is left.
func slice(b *builder) (string, error) {
	x, err := b.float(0)
	if err != nil {
		return "", err
	}
	begin, err := b.ints(1, "begin")
	if err != nil {
		return "", err
	}
	size, err := b.ints(2, "size")
	if err != nil {
		return "", err
	}
	shape := b.g.Value(x).Shape
	if len(begin) != len(shape) || len(size) != len(shape) {
		return "", faultf("", "begin %v and size %v for %d axes", begin, size, len(shape))
	}
	stride := make([]int, len(shape))
	if len(shape) > 0 {
		size[0] = b.sizes.Batch().Slice(shape, begin[0], 1, size[0])
	}
	for d := range shape {
		if stride[d] = 1; size[d] == -1 {
			size[d] = shape[d] - begin[d]
		}
	}
	return b.add("slice", &graph.SliceAttrs{Begin: begin, Size: size, Stride: stride}, nil, x)
}

// stridedSlice is STRIDED_SLICE with positive strides; axes that it drops have one position.
func stridedSlice(b *builder) (string, error) {
	t, err := b.builtin(optStridedSlice)
	if err != nil {
		return "", err
	}
	x, err := b.float(0)
	if err != nil {
		return "", err
	}
	shape := b.g.Value(x).Shape
	var list [3][]int
	for k, what := range []string{"begin", "end", "strides"} {
		if list[k], err = b.ints(1+k, what); err != nil {
			return "", err
		}
		if len(list[k]) > len(shape) {
			return "", faultf("", "%s %v for %d axes", what, list[k], len(shape))
		}
	}
	if len(list[0]) != len(list[1]) || len(list[0]) != len(list[2]) {
		return "", faultf("", "begin, end and strides have %d, %d and %d numbers", len(list[0]), len(list[1]), len(list[2]))
	}
	if t.Int32(2, 0) != 0 || t.Int32(3, 0) != 0 {
		return "", faultf("spell the axes out", "has an ellipsis or a new axis")
	}
	beginMask, endMask, shrink := t.Int32(0, 0), t.Int32(1, 0), t.Int32(4, 0)
	a := &graph.SliceAttrs{}
	for d, n := range shape {
		from, to, step := 0, n, 1
		if d < len(list[0]) {
			if step = list[2][d]; step < 1 {
				return "", faultf("use positive strides", "stride %d on axis %d", step, d)
			}
			if beginMask>>d&1 == 0 {
				from = position(list[0][d], n)
			}
			if endMask>>d&1 == 0 {
				to = position(list[1][d], n)
			}
			if shrink>>d&1 != 0 {
				to = from + 1
			}
		}
		if d == 0 && shrink&1 == 0 {
			to = from + b.sizes.Batch().Slice(shape, from, step, to-from)
		}
		if to <= from {
			return "", faultf("", "takes nothing of axis %d: positions %d to %d", d, from, to-1)
		}
		a.Begin, a.Size, a.Stride = append(a.Begin, from), append(a.Size, (to-from+step-1)/step), append(a.Stride, step)
	}
	y, err := b.add("slice", a, nil, x)
	if err != nil {
		return "", err
	}
	return b.likeOutput(y)
}

// position counts from the end where i is negative, and stays within 0..n.
func position(i, n int) int {
	if i < 0 {
		i += n
	}
	return max(0, min(i, n))
}
