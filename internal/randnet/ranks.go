package randnet

import "slices"

// transpose reorders the axes from the first-th on.
func (b *modelBuilder) transpose(first int) {
	perm := b.r.Perm(len(b.shape) - first)
	all := make([]int, first)
	for d := range all {
		all[d] = d
	}
	shape := slices.Clone(b.shape)
	for i, p := range perm {
		all = append(all, first+p)
		shape[first+i] = b.shape[first+p]
	}
	b.add("transpose", map[string]any{"perm": all})
	b.shape = shape
}

// ranks adds a transpose; or ops on a tensor of another rank, between two reshapes.
func (b *modelBuilder) ranks() {
	before := b.shape
	n := 1
	for _, d := range before {
		n *= d
	}
	var to []int
	switch last := len(before) - 1; b.r.IntN(5) {
	case 0:
		to = []int{n}
	case 1:
		to = []int{before[0], n / before[0] / before[last], before[last]}
	case 2:
		to = append([]int{1, before[0]}, before[1:]...)
	case 3:
		to = append(append([]int{1, 1}, before[:last]...), before[last])
	default:
		b.transpose(1)
		return
	}
	b.add("reshape", map[string]any{"shape": to})
	b.shape = to
	switch b.r.IntN(3) {
	case 0:
		b.transpose(0)
	case 1:
		if b.bits == 0 {
			b.operand()
		}
	default:
		begin := make([]int, len(to))
		b.add("slice", map[string]any{"begin": begin, "size": to})
	}
	if b.bits == 0 && b.r.IntN(2) == 0 {
		b.quantize()
	}
	b.add("reshape", map[string]any{"shape": before})
	b.shape = before
}

// operand adds an op of the current floats and constants, some of them repeated.
func (b *modelBuilder) operand() {
	if b.r.IntN(2) == 0 {
		op := []string{"add", "sub", "mul", "div", "minimum", "maximum", "greater", "less_equal"}[b.r.IntN(8)]
		cur := b.cur
		b.add(op, map[string]any{"reverse": op != "div" && b.r.IntN(2) == 0})
		b.truth(op, cur)
		return
	}
	cur, shape := b.cur, slices.Clone(b.shape)
	for d := range shape {
		if b.r.IntN(2) == 0 {
			shape[d] = 1
		}
	}
	b.addTo([]string{}, "constant", map[string]any{"shape": shape})
	inputs := []string{cur, b.cur}
	if b.r.IntN(2) == 0 {
		slices.Reverse(inputs)
	}
	b.join(inputs[0], inputs[1])
}

// join adds an op of two tensors of floats, with repetition along extents of 1.
func (b *modelBuilder) join(x, y string) {
	ops := []string{"add", "sub", "mul", "add", "sub", "mul", "minimum", "maximum", "greater", "greater_equal", "less",
		"less_equal", "equal", "not_equal"}
	op := ops[b.r.IntN(len(ops))]
	b.addTo([]string{x, y}, op, nil)
	b.truth(op, b.nodes[len(b.nodes)-1]["inputs"].([]string)...)
}

// truth goes on from truth values, if op has just made such: as levels, as a choice between floats,
// or through ops of logic.
func (b *modelBuilder) truth(op string, floats ...string) {
	if !slices.Contains([]string{"greater", "greater_equal", "less", "less_equal", "equal", "not_equal"}, op) {
		return
	}
	cond := b.cur
	if b.r.IntN(2) == 0 {
		b.add("logical_not", nil)
		b.addTo([]string{cond, b.cur}, []string{"logical_and", "logical_or", "logical_xor"}[b.r.IntN(3)], nil)
	}
	if b.r.IntN(3) == 0 {
		b.bits, b.enc, b.scale, b.zero, b.shift = 1, "unipolar", 0, 0, 0
		return
	}
	inputs, weights := []string{b.cur}, map[string]any{}
	for i, key := range []string{"a", "b"} {
		if b.r.IntN(2) == 0 {
			weights[key] = b.cur + "." + key
		} else {
			inputs = append(inputs, floats[i%len(floats)])
		}
	}
	b.addTo(inputs, "where", nil)
	b.nodes[len(b.nodes)-1]["weights"] = weights
}
