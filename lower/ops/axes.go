package ops

import "ripc/ir"

// Spatial returns a logical shape of 1 to 6 axes as [batch, h, w, c]: dense tensors are 1x1 images,
// and axes before the last four count as one. The row-major order of elements and the last axis are
// unchanged.
func Spatial(shape []int) []int {
	s := spread(shape, 1)
	lead := len(s) - 4
	out := append([]int{}, s[lead:]...)
	for _, d := range s[:lead] {
		out[0] *= d
	}
	return out
}

// Row is Spatial for the tensors of a layer over single vectors: those of a batch are the pixels of
// one row, which schedules divide into tiles.
func Row(shape []int) []int {
	s := Spatial(shape)
	return []int{1, 1, s[0] * s[1] * s[2], s[3]}
}

// place lists where the axes of a tensor of some rank are among those of spread.
func place(rank int) []int {
	switch rank {
	case 1:
		return []int{3}
	case 2:
		return []int{0, 3}
	case 3:
		return []int{0, 1, 3}
	}
	return []int{0, 1, 2, 3, 4, 5}[:rank]
}

// spread gives a value for each axis as one for each of [batch, h, w, c], or of all axes where
// there are more; fill is for axes that the tensor does not have.
func spread(v []int, fill int) []int {
	out := []int{fill, fill, fill, fill, fill, fill}[:max(4, len(v))]
	for d, at := range place(len(v)) {
		out[at] = v[d]
	}
	return out
}

// coords gives the position [b, h, w, c] of Spatial(shape) as one of spread(shape, 1).
func coords(i []ir.Expr, shape []int) []ir.Expr {
	lead := len(shape) - 4
	if lead <= 0 {
		return i
	}
	out := append(make([]ir.Expr, lead), i...)
	rest := i[0]
	for d := lead; d > 0; d-- {
		out[d] = ir.Bin(ir.Mod, rest, ir.Int(shape[d]))
		rest = ir.Bin(ir.Div, rest, ir.Int(shape[d]))
	}
	out[0] = rest
	return out
}
