package onnx

import "slices"

// reshape gives t another shape. Its axes and those of the new shape fall into groups that hold the same elements; a group
// whose axes are stored side by side and in the file's order stays where it is, so that nothing moves in memory. For others
// the axes are brought into order first, except where an image becomes a matrix: then the columns' order is kept pending.
func (b *builder) reshape(t *tensor, shape []int) *tensor {
	if slices.Equal(t.shape, shape) {
		return t
	}
	t = b.plain(t)
	groups := splitAxes(t.shape, shape)
	at := t.order()
	if !t.inPlace(groups) {
		if len(shape) == 2 && shape[0] == t.shape[0] && at[0] == 0 {
			v := b.reshaped(t.value, shape)
			// The file's axis d is where at holds d.
			back := make([]int, len(at))
			for d, p := range at {
				back[p] = d
			}
			return &tensor{shape: slices.Clone(shape), value: v, integers: t.integers, truth: t.truth,
				flat: &flattened{stored: slices.Clone(t.value.Shape), perm: back}}
		}
		var want []int
		for _, g := range storedOrder(groups, t.shape, at) {
			want = append(want, g.in...)
		}
		t = b.stored(t, want)
		at = t.order()
	}
	var stored, perm []int
	for _, g := range storedOrder(groups, t.shape, at) {
		for _, d := range g.out {
			perm = append(perm, d)
			stored = append(stored, shape[d])
		}
	}
	v := b.reshaped(t.value, stored)
	return &tensor{shape: slices.Clone(shape), value: v, perm: perm, integers: t.integers, truth: t.truth}
}

// group is a run of axes that a reshape turns into another run with as many elements.
type group struct{ in, out []int }

// splitAxes finds the smallest groups. Axes of extent 1 join the group before or around them.
func splitAxes(from, to []int) []group {
	var groups []group
	i, j := 0, 0
	for i < len(from) || j < len(to) {
		g := group{}
		x, y := 1, 1
		if i < len(from) {
			x = from[i]
			g.in = append(g.in, i)
			i++
		}
		if j < len(to) {
			y = to[j]
			g.out = append(g.out, j)
			j++
		}
		for x != y {
			if x < y && i < len(from) || j >= len(to) {
				x *= from[i]
				g.in = append(g.in, i)
				i++
			} else {
				y *= to[j]
				g.out = append(g.out, j)
				j++
			}
		}
		groups = append(groups, g)
	}
	return groups
}

// inPlace reports whether the axes of each group, but for those of extent 1, are stored side by side in the file's order.
func (t *tensor) inPlace(groups []group) bool {
	var at []int // stored axes that are longer than 1
	for _, d := range t.order() {
		if t.shape[d] != 1 {
			at = append(at, d)
		}
	}
	for _, g := range groups {
		first := -1
		k := 0
		for _, d := range g.in {
			if t.shape[d] == 1 {
				continue
			}
			if first < 0 {
				first = slices.Index(at, d)
			}
			if first+k >= len(at) || at[first+k] != d {
				return false
			}
			k++
		}
	}
	return true
}

// storedOrder sorts groups by where their first axis that counts is stored; groups without axes stay at the end.
func storedOrder(groups []group, shape, at []int) []group {
	place := func(g group) int {
		if len(g.in) == 0 {
			return len(at)
		}
		for _, d := range g.in {
			if shape[d] != 1 {
				return slices.Index(at, d)
			}
		}
		return slices.Index(at, g.in[0])
	}
	out := slices.Clone(groups)
	slices.SortStableFunc(out, func(a, b group) int { return place(a) - place(b) })
	return out
}
