package onnx

import (
	"fmt"
	"slices"
	"strings"

	"ripc/graph"
)

// lowerEinsum multiplies operands and adds up along labels that the result does not have: two at a
// time, by a product of matrices.
func lowerEinsum(n *node) *tensor {
	text := n.textAttr("equation", "")
	labels, out, wrong := parseEinsum(text, n.in)
	n.failIf(wrong != nil, "", "equation %q: %v", text, wrong)
	e := &einsum{n: n, extent: map[rune]int{}}
	terms := make([]term, len(n.in))
	for i, t := range n.in {
		terms[i] = term{t, labels[i]}
		for d, l := range labels[i] {
			if was, ok := e.extent[l]; ok && was != t.shape[d] {
				panic(n.fail("", "equation %q: %q has extent %d and %d", text, l, was, t.shape[d]))
			}
			e.extent[l] = t.shape[d]
		}
	}
	acc := terms[0]
	for i, next := range terms[1:] {
		keep := slices.Clone(out)
		for _, later := range terms[i+2:] {
			keep = append(keep, later.labels...)
		}
		acc = e.product(acc, next, keep)
	}
	acc = e.sumTerm(acc, out)
	return e.permuteTerm(acc, out)
}

// term is a tensor with a label for each axis.
type term struct {
	*tensor
	labels []rune
}

// einsum is an Einsum that is being read, with the extents of its labels.
type einsum struct {
	n      *node
	extent map[rune]int
}

// parseEinsum gives the labels of each operand's axes and of the result's. Those that "..." stands
// for are upper-case Greek letters, counted from the last axis.
func parseEinsum(text string, in []*tensor) (labels [][]rune, out []rune, err error) {
	left, right, explicit := strings.Cut(strings.ReplaceAll(text, " ", ""), "->")
	parts := strings.Split(left, ",")
	if len(parts) != len(in) {
		return nil, nil, fmt.Errorf("it is of %d operands, and the node has %d", len(parts), len(in))
	}
	const first = 'Α'
	hidden := 0
	expand := func(part string, count int) ([]rune, error) {
		before, after, dots := strings.Cut(part, "...")
		var mid []rune
		for k := range count {
			mid = append(mid, first+rune(count-1-k))
		}
		if !dots {
			mid = nil
		}
		all := slices.Concat([]rune(before), mid, []rune(after))
		for i, l := range all {
			if slices.Contains(all[:i], l) {
				return nil, fmt.Errorf("label %q stands twice for axes of one tensor, which is not supported", l)
			}
			if l < 'A' || l > 'z' && l < first {
				return nil, fmt.Errorf("label %q is no letter", l)
			}
		}
		return all, nil
	}
	for i, part := range parts {
		count := len(in[i].shape) - len([]rune(strings.Replace(part, "...", "", 1)))
		if count < 0 || count > 0 && !strings.Contains(part, "...") {
			return nil, nil, fmt.Errorf("%q is for another number of axes than those of shape %v", part, in[i].shape)
		}
		l, err := expand(part, count)
		if err != nil {
			return nil, nil, err
		}
		labels, hidden = append(labels, l), max(hidden, count)
	}
	if explicit {
		out, err = expand(right, hidden)
		if err == nil {
			for _, l := range out {
				if !slices.ContainsFunc(labels, func(of []rune) bool { return slices.Contains(of, l) }) {
					return nil, nil, fmt.Errorf("the result's label %q is none of an operand", l)
				}
			}
		}
		return labels, out, err
	}
	count := map[rune]int{}
	for _, l := range slices.Concat(labels...) {
		count[l]++
	}
	for k := range hidden {
		out = append(out, first+rune(hidden-1-k))
	}
	var single []rune
	for l, c := range count {
		if c == 1 && l < first {
			single = append(single, l)
		}
	}
	slices.Sort(single)
	return labels, append(out, single...), nil
}

// sumTerm returns t added up along the labels that are not in keep.
func (e *einsum) sumTerm(t term, keep []rune) term {
	var axes []int
	count := 1
	for d, l := range t.labels {
		if !slices.Contains(keep, l) {
			axes, count = append(axes, d), count*t.shape[d]
		}
	}
	if len(axes) == 0 {
		return t
	}
	b := e.n.b
	x := b.affine(b.reduce(e.emitConstant(t.tensor), axes, false, true), float32(count), 0)
	return term{x, slices.DeleteFunc(slices.Clone(t.labels), func(l rune) bool { return !slices.Contains(keep, l) })}
}

// emitConstant returns t as a value of the graph, also if it is constant.
func (e *einsum) emitConstant(t *tensor) *tensor {
	if t.konst == nil {
		return t
	}
	return &tensor{shape: t.shape, value: e.n.b.constantNode(t.konst)}
}

// permuteTerm returns t with its axes in the order of labels, which are t's.
func (e *einsum) permuteTerm(t term, labels []rune) *tensor {
	move := make([]int, len(labels))
	for d, l := range labels {
		move[d] = slices.Index(t.labels, l)
	}
	if t.konst == nil {
		return e.n.b.permuteAxes(t.tensor, move)
	}
	a := e.n.b.mem.permute(t.konst, move)
	return &tensor{shape: a.shape, konst: a}
}

// reshapeTerm returns t with one axis for each list of labels. Together the lists are the labels of
// t.
func (e *einsum) reshapeTerm(t term, lists ...[]rune) *tensor {
	x := e.permuteTerm(t, slices.Concat(lists...))
	shape := make([]int, len(lists))
	for i, l := range lists {
		shape[i] = graph.Elems(e.extents(l))
	}
	if x.konst != nil {
		return &tensor{shape: shape, konst: x.konst.view(shape)}
	}
	return e.n.b.reshape(x, shape)
}

func (e *einsum) extents(labels []rune) []int {
	shape := make([]int, len(labels))
	for i, l := range labels {
		shape[i] = e.extent[l]
	}
	return shape
}

// product is the product of x and y, added up along labels that are not in keep.
func (e *einsum) product(x, y term, keep []rune) term {
	in := func(list []rune) func(l rune) bool { return func(l rune) bool { return slices.Contains(list, l) } }
	pick := func(from []rune, want func(l rune) bool) (out []rune) {
		for _, l := range from {
			if want(l) {
				out = append(out, l)
			}
		}
		return out
	}
	x = e.sumTerm(x, slices.Concat(y.labels, keep))
	y = e.sumTerm(y, slices.Concat(x.labels, keep))
	if x.konst != nil && y.konst == nil { // a constant matrix stands on the right
		x, y = y, x
	}
	both := pick(x.labels, in(y.labels))
	batch := pick(both, in(keep))
	inner := pick(both, func(l rune) bool { return !slices.Contains(keep, l) })
	left := pick(x.labels, func(l rune) bool { return !slices.Contains(y.labels, l) })
	right := pick(y.labels, func(l rune) bool { return !slices.Contains(x.labels, l) })
	lists := [2][][]rune{{batch, left, inner}, {batch, inner, right}}
	if len(batch) == 0 {
		lists = [2][][]rune{{left, inner}, {inner, right}}
	}
	m := *e.n
	m.in = make([]*tensor, 2)
	for i, t := range []term{x, y} {
		m.in[i] = e.reshapeTerm(t, lists[i]...)
	}
	m.in[0] = e.emitConstant(m.in[0])
	all := slices.Concat(batch, left, right)
	return term{e.n.b.reshape(lowerMatMul(&m), e.extents(all)), all}
}
