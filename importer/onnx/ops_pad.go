package onnx

import (
	"math"
	"slices"

	"ripc/graph"
	"ripc/importer/internal/source"
	pb "ripc/importer/onnx/internal/onnxpb"
)

// pads reads how much Pad adds before and after each axis (negative numbers cut off), and the value.
func (n *node) pads(rank int) (before, after []int, value float32, err error) {
	list, _, err := n.listArg("pads", 11, 1)
	if err != nil {
		return nil, nil, 0, err
	}
	if n.opset < 11 {
		value, err = n.floatAttr("value", 0)
	} else {
		var v float64
		v, err = n.scalarOf(2, "constant value", 0)
		value = float32(v)
	}
	if err != nil {
		return nil, nil, 0, err
	}
	axes := identity(rank)
	if n.opset >= 18 && n.input(3) != nil {
		given, err := n.listOf(3, "axes")
		if err != nil {
			return nil, nil, 0, err
		}
		if _, err := n.axes(given, rank); err != nil {
			return nil, nil, 0, err
		}
		axes = nil
		for _, a := range given {
			k, _ := n.axis(a, rank)
			axes = append(axes, k)
		}
	}
	if len(list) != 2*len(axes) {
		return nil, nil, 0, n.fail("", "%d pads for %d axes", len(list), len(axes))
	}
	before, after = make([]int, rank), make([]int, rank)
	for i, a := range axes {
		before[a], after[a] = list[i], list[len(axes)+i]
		if max(before[a], after[a]) > 1<<20 || min(before[a], after[a]) < -1<<31 {
			return nil, nil, 0, n.fail("", "pads %v", list)
		}
	}
	return before, after, value, nil
}

// border is what Pad puts around its input, where that is no constant.
func (n *node) border() (border source.Border, constant bool, err error) {
	mode, err := n.textAttr("mode", "constant")
	if err != nil {
		return 0, false, err
	}
	border, known := map[string]source.Border{"edge": source.Edge, "reflect": source.Reflect, "wrap": source.Wrap}[mode]
	if !known && mode != "constant" {
		return 0, false, n.fail("use constant, edge, reflect or wrap", "mode %q is unknown", mode)
	}
	return border, !known, nil
}

// around is t with so many positions of itself before and after each axis.
func (n *node) around(t *tensor, before, after []int, border source.Border) (*tensor, error) {
	var axes []*source.Along
	for d, extent := range t.shape {
		lo, hi := max(0, before[d]), max(0, after[d])
		if err := n.b.mem.take(lo+extent+hi, 8); err != nil {
			return nil, err
		}
		axes = append(axes, source.AlongPixels(d, extent, source.Around(extent, lo, hi, border)))
	}
	return n.b.at(t, axes)
}

// lowerPad cuts, pads rows and columns of an image, and appends constants along other axes.
func lowerPad(n *node) ([]*tensor, error) {
	b, t := n.b, n.in[0]
	before, after, value, err := n.pads(len(t.shape))
	if err != nil {
		return nil, err
	}
	border, constant, err := n.border()
	if err != nil {
		return nil, err
	}
	switch q := t.integers; {
	case t.truth || t.value.Whole:
		return nil, n.fail("put Cast to float before it", "input %q holds truth values or positions, which are not padded", n.Input[0])
	case q != nil: // value is one of the integers
		value = (value - float32(q.zero)) * q.scale
	case value != value:
		return nil, n.fail("", "pads with NaN")
	}
	if t, err = b.crop(t, before, after); err != nil {
		return nil, err
	}
	if !constant {
		if t, err = n.around(t, before, after, border); err != nil {
			return nil, err
		}
		if t == n.in[0] {
			return lowerIdentity(n)
		}
		return []*tensor{t}, nil
	}
	if math.IsInf(float64(value), -1) && len(t.shape) == 4 && max(before[0], before[1], after[0], after[1]) <= 0 && b.onlyRead(n.Output[0], "MaxPool") {
		m := &margin{added(before[2:]), added(after[2:])}
		if t, err = b.plain(t); err != nil {
			return nil, err
		}
		shape := []int{t.shape[0], t.shape[1], t.shape[2] + m.before[0] + m.after[0], t.shape[3] + m.before[1] + m.after[1]}
		return []*tensor{{shape: shape, value: t.value, perm: t.perm, integers: t.integers, truth: t.truth, margin: m}}, nil
	}
	positive := func(v int) bool { return v > 0 }
	if rank := len(t.shape); (rank == 3 || rank == 4) && slices.ContainsFunc(slices.Concat(before[2:], after[2:]), positive) {
		x, axes, err := b.image(t)
		if err != nil {
			return nil, err
		}
		if x, err = b.padImage(x, added(before[2:]), added(after[2:]), float64(value)); err != nil {
			return nil, err
		}
		if t, err = b.fromImage(x, axes); err != nil {
			return nil, err
		}
		t.integers = n.in[0].integers
		before, after = before[:2], after[:2]
	}
	for d := range before {
		fill := func(count int) *tensor {
			shape := slices.Clone(t.shape)
			shape[d] = count
			return &tensor{shape: shape}
		}
		parts := []*tensor{fill(max(0, before[d])), t, fill(max(0, after[d]))}
		for _, i := range []int{0, 2} {
			p := parts[i]
			if p.shape[d] == 0 {
				continue
			}
			if p.konst, err = b.mem.newArray(dtFloat, p.shape); err != nil {
				return nil, err
			}
			for k := range p.konst.f {
				p.konst.f[k] = value
			}
		}
		parts = slices.DeleteFunc(parts, func(p *tensor) bool { return p.shape[d] == 0 })
		if t, err = b.concat(parts, d); err != nil {
			return nil, err
		}
	}
	if t == n.in[0] {
		return lowerIdentity(n)
	}
	return []*tensor{t}, nil
}

// added is what is added to rows and columns, where pads that cut off count as 0.
func added(pads []int) [2]int {
	p := spatial(pads, 0)
	return [2]int{max(0, p[0]), max(0, p[1])}
}

// onlyRead reports whether a tensor of the file is read by nodes of one op, which has no domain, and is no output.
func (b *builder) onlyRead(name, op string) bool {
	return !b.wanted[name] && !slices.ContainsFunc(b.model.Graph.Node, func(p *pb.NodeProto) bool {
		return slices.Contains(p.Input, name) && (p.GetOpType() != op || !isStandard(p.GetDomain()))
	})
}

// crop cuts off where pads are negative.
func (b *builder) crop(t *tensor, before, after []int) (*tensor, error) {
	var list []span
	for d := range before {
		lo, hi := max(0, -before[d]), max(0, -after[d])
		if lo+hi == 0 {
			continue
		}
		list = append(list, span{axis: d, begin: lo, count: max(0, t.shape[d]-lo-hi), step: 1})
	}
	if list == nil {
		return t, nil
	}
	return b.take(t, list)
}

// foldPad pads a constant.
func foldPad(n *node, in []*array) ([]*array, error) {
	x := in[0]
	before, after, value, err := n.pads(len(x.shape))
	if err != nil {
		return nil, err
	}
	border, constant, err := n.border()
	if err != nil {
		return nil, err
	}
	shape := make([]int, len(x.shape))
	for d, e := range x.shape {
		if shape[d] = e + before[d] + after[d]; shape[d] < 0 {
			return nil, n.fail("", "nothing is left of axis %d of %v", d, x.shape)
		}
	}
	out, err := n.b.mem.newArray(x.dt, shape)
	if err != nil {
		return nil, err
	}
	var places [][]int // by axis: the positions, counted from what is cut off, that the result's hold
	for d, e := range x.shape {
		if constant {
			break
		}
		lo, hi := max(0, before[d]), max(0, after[d])
		if e += min(0, before[d]) + min(0, after[d]); e < 1 {
			return nil, n.fail("", "nothing is left of axis %d of %v", d, x.shape)
		}
		if err := n.b.mem.take(lo+e+hi, 8); err != nil {
			return nil, err
		}
		places = append(places, source.Around(e, lo, hi, border))
	}
	s := strides(x.shape)
	idx := make([]int, len(shape))
	for k := range out.len() {
		at, inside := 0, true
		for d := range idx {
			p := idx[d] - before[d]
			if !constant {
				p = max(0, -before[d]) + places[d][idx[d]]
			}
			inside = inside && p >= 0 && p < x.shape[d]
			at += p * s[d]
		}
		if inside {
			out.copyFrom(k, x, at)
		} else {
			out.set(k, float64(value))
		}
		for d := len(idx) - 1; d >= 0; d-- {
			if idx[d]++; idx[d] < shape[d] {
				break
			}
			idx[d] = 0
		}
	}
	return []*array{out}, nil
}

// lowerReduceSum is the mean times the number of elements.
func lowerReduceSum(n *node) ([]*tensor, error) {
	axes, keep, err := n.reduced(len(n.in[0].shape))
	if err != nil {
		return nil, err
	}
	if len(axes) == 0 {
		return lowerIdentity(n)
	}
	count := 1
	for _, d := range axes {
		count *= n.in[0].shape[d]
	}
	y, err := n.b.reduce(n.in[0], axes, keep, true)
	if err != nil {
		return nil, err
	}
	return one(n.b.elementwise(y, "mul", &graph.BinaryOpAttrs{}, map[string]*graph.Tensor{"b": {Shape: []int{1}, Data: graph.NumbersOf([]float32{float32(math.Min(float64(count), 1<<24))})}}))
}
