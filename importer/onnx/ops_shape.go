package onnx

import (
	"slices"

	"ripc/graph"
	"ripc/importer/internal/kit"
	"ripc/internal/human"
)

// lowerTranspose moves nothing: it changes in which order the stored axes count.
func lowerTranspose(n *node) *tensor {
	return n.b.moved(n.in[0], n.permutation(len(n.in[0].shape)))
}

// permutation is the attribute perm, by default the axes backwards.
func (n *node) permutation(rank int) []int {
	move := n.intsAttr("perm")
	if !n.has("perm") {
		move = kit.Identity(rank)
		slices.Reverse(move)
	}
	sorted := slices.Sorted(slices.Values(move))
	n.failIf(!slices.Equal(sorted, kit.Identity(rank)), "", "perm %v is no permutation of the %d axes", move, rank)
	return move
}

// shapeFor is the shape that Reshape gives a tensor of shape old.
func (n *node) shapeFor(old []int) []int {
	want := n.listOf(1, "shape")
	zero := n.intAttr("allowzero", 0)
	if n.b.sizes != nil { // what the file computed for its own batch
		want = n.b.sizes.Batch().Reshape(old, want)
	}
	shape, open, rest := slices.Clone(want), -1, 1
	for d, v := range want {
		switch {
		case v == 0 && zero == 0:
			n.failIf(d >= len(old),
				"", "shape %v: axis %d is copied from the input %v, which has no such axis", want, d, old)
			shape[d] = old[d]
		case v == -1 && open < 0:
			open = d
			continue
		case v < 0:
			panic(n.fail("", "shape %v: want positive numbers and at most one -1", want))
		}
		n.failIf(shape[d] != 0 && rest > maxElements/shape[d], "", "shape %v has more than 2^31 elements", want)
		rest *= shape[d]
	}
	total := graph.Elems(old)
	if open >= 0 {
		n.failIf(rest == 0 || total%rest != 0,
			"", "shape %v does not fit the %s of %v", want, human.Count(total, "element"), old)
		shape[open] = total / rest
		rest = total
	}
	n.failIf(rest != total,
		"", "shape %v has %s, the input's %v has %d", want, human.Count(rest, "element"), old, total)
	return shape
}

// flatShape is the matrix that Flatten makes.
func (n *node) flatShape(old []int) []int {
	axis := n.intAttr("axis", 1)
	if axis != len(old) {
		axis = n.axis(axis, len(old))
	}
	return []int{graph.Elems(old[:axis]), graph.Elems(old[axis:])}
}

// squeezed is old without the axes given, or without all those of extent 1.
func (n *node) squeezed(old []int) []int {
	list, given := n.listArg("axes", 13, 1)
	drop := n.axes(list, len(old))
	shape := []int{}
	for d, e := range old {
		switch {
		case given && !slices.Contains(drop, d) || !given && e != 1:
			shape = append(shape, e)
		case e != 1:
			panic(n.fail("", "axis %d of shape %v is not 1", d, old))
		}
	}
	return shape
}

// unsqueezed is old with axes of extent 1.
func (n *node) unsqueezed(old []int) []int {
	list, _ := n.listArg("axes", 13, 1)
	n.failIf(len(list) > 16, "", "has %s", human.Count(len(list), "axis"))
	add := n.axes(list, len(old)+len(list))
	shape := []int{}
	for d, k := 0, 0; d < len(old)+len(list); d++ {
		if slices.Contains(add, d) {
			shape = append(shape, 1)
		} else {
			shape = append(shape, old[k])
			k++
		}
	}
	return shape
}

// reshaping is an op that only changes the shape, by a rule.
func reshaping(rule func(n *node, old []int) []int) (fold foldFunc, lower lowerFunc) {
	fold = func(n *node, in []*array) []*array {
		return []*array{in[0].view(rule(n, in[0].shape))}
	}
	lower = func(n *node) *tensor {
		return n.b.reshape(n.in[0], rule(n, n.in[0].shape))
	}
	return fold, lower
}

// lowerIdentity hands the tensor on. Dropout is that too, unless it is told to train.
func lowerIdentity(n *node) *tensor {
	if n.GetOpType() == "Dropout" {
		train := n.scalarOf(2, "training_mode", 0)
		n.failIf(train != 0, "export the model in evaluation mode", "training_mode is on")
	}
	return n.in[0].copied()
}
