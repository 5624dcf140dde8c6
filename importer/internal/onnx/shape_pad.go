package onnx

import (
	"math"
	"slices"

	"ripc/importer/internal/kit"
	pb "ripc/importer/internal/onnx/internal/onnxpb"
	"ripc/internal/lists"
)

// pads reads how much Pad adds before and after each axis (negative numbers cut off), and the
// value.
func (n *node) pads(rank int) (before, after []int, value float32) {
	list, _ := n.listArg("pads", 11, 1)
	if n.opset < 11 {
		value = n.floatAttr("value", 0)
	} else {
		value = float32(n.scalarOf(2, "constant value", 0))
	}
	axes := kit.Identity(rank)
	if n.opset >= 18 && n.input(3) != nil {
		given := n.listOf(3, "axes")
		n.axes(given, rank)
		axes = lists.Map(given, func(a int) int { return n.axis(a, rank) })
	}
	n.failIf(len(list) != 2*len(axes), "", "%d pads for %d axes", len(list), len(axes))
	before, after = make([]int, rank), make([]int, rank)
	for i, a := range axes {
		before[a], after[a] = list[i], list[len(axes)+i]
		n.failIf(max(before[a], after[a]) > 1<<20 || min(before[a], after[a]) < -1<<31, "", "pads %v", list)
	}
	return before, after, value
}

// border is the border that Pad adds, unless it is constant.
func (n *node) border() (border kit.Border, constant bool) {
	mode := n.textAttr("mode", "constant")
	border, known := map[string]kit.Border{"edge": kit.Edge, "reflect": kit.Reflect, "wrap": kit.Wrap}[mode]
	n.failIf(!known && mode != "constant", "use constant, edge, reflect or wrap", "mode %q is unknown", mode)
	return border, !known
}

// padAround returns t with before[d] and after[d] positions of itself around each axis d.
func (n *node) padAround(t *tensor, before, after []int, border kit.Border) *tensor {
	var axes []*kit.Along
	for d, extent := range t.shape {
		lo, hi := max(0, before[d]), max(0, after[d])
		n.b.mem.take(lo+extent+hi, 8)
		axes = append(axes, kit.AlongPixels(d, extent, kit.BorderPositions(extent, lo, hi, border)))
	}
	return n.b.sampleAxes(t, axes)
}

// lowerPad cuts, pads rows and columns of an image, and appends constants along other axes.
func lowerPad(n *node) *tensor {
	b, t := n.b, n.in[0]
	before, after, value := n.pads(len(t.shape))
	border, constant := n.border()
	switch q := t.integers; {
	case t.truth || t.value.Whole:
		panic(n.fail("put Cast to float before it", "input %q holds truth values or positions, which are not padded",
			n.Input[0]))
	case q != nil: // value is one of the integers
		value = (value - float32(q.zero)) * q.scale
	case value != value:
		panic(n.fail("", "pads with NaN"))
	}
	t = b.crop(t, before, after)
	if !constant {
		t = n.padAround(t, before, after, border)
		if t == n.in[0] {
			return lowerIdentity(n)
		}
		return t
	}
	if math.IsInf(float64(value), -1) && len(t.shape) == 4 && max(before[0], before[1], after[0], after[1]) <= 0 &&
		b.onlyRead(n.Output[0], "MaxPool") {
		m := &margin{positivePads(before[2:]), positivePads(after[2:])}
		t = b.orderColumns(t)
		shape := []int{t.shape[0], t.shape[1], t.shape[2] + m.before[0] + m.after[0],
			t.shape[3] + m.before[1] + m.after[1]}
		return &tensor{shape: shape, value: t.value, perm: t.perm, integers: t.integers, truth: t.truth, margin: m}
	}
	positive := func(v int) bool { return v > 0 }
	if rank := len(t.shape); (rank == 3 || rank == 4) &&
		slices.ContainsFunc(slices.Concat(before[2:], after[2:]), positive) {
		x, axes := b.image(t)
		x = b.padImage(x, positivePads(before[2:]), positivePads(after[2:]), float64(value))
		t = b.fromImage(x, axes)
		t.integers = n.in[0].integers
		before, after = before[:2], after[:2]
	}
	for d := range before {
		fill := func(count int) []*tensor {
			if count <= 0 {
				return nil
			}
			shape := slices.Clone(t.shape)
			shape[d] = count
			k := b.mem.newArray(dtFloat, shape)
			for i := range k.f {
				k.f[i] = value
			}
			return []*tensor{{shape: shape, konst: k}}
		}
		t = b.concat(slices.Concat(fill(before[d]), []*tensor{t}, fill(after[d])), d)
	}
	if t == n.in[0] {
		return lowerIdentity(n)
	}
	return t
}

// positivePads returns the number of rows and columns that pads add. Pads that cut off count as 0.
func positivePads(pads []int) [2]int {
	p := spatial(pads, 0)
	return [2]int{max(0, p[0]), max(0, p[1])}
}

// onlyRead reports whether a tensor of the file is read by nodes of one op, which has no domain,
// and is no output.
func (b *builder) onlyRead(name, op string) bool {
	return !b.wanted[name] && !slices.ContainsFunc(b.model.Graph.Node, func(p *pb.NodeProto) bool {
		return slices.Contains(p.Input, name) && (p.GetOpType() != op || !isStandard(p.GetDomain()))
	})
}

// crop cuts off where pads are negative.
func (b *builder) crop(t *tensor, before, after []int) *tensor {
	var list []span
	for d := range before {
		lo, hi := max(0, -before[d]), max(0, -after[d])
		if lo+hi == 0 {
			continue
		}
		list = append(list, span{d, kit.Span{Begin: lo, Count: max(0, t.shape[d]-lo-hi), Step: 1}})
	}
	if list == nil {
		return t
	}
	return b.take(t, list)
}

// foldPad pads a constant.
func foldPad(n *node, in []*array) []*array {
	x := in[0]
	before, after, value := n.pads(len(x.shape))
	border, constant := n.border()
	positions := make([][]int, len(x.shape))
	for d, e := range x.shape {
		lo, hi, kept := max(0, before[d]), max(0, after[d]), e+min(0, before[d])+min(0, after[d])
		count := kept + lo + hi
		n.failIf(count < 0 || !constant && kept < 1, "", "nothing is left of axis %d of %v", d, x.shape)
		n.b.mem.take(count, 8)
		if positions[d] = kit.Identity(count); !constant {
			positions[d] = kit.BorderPositions(kept, lo, hi, border)
		}
		for i := range positions[d] {
			if positions[d][i] += max(0, -before[d]); constant {
				positions[d][i] -= lo
			}
		}
	}
	return arrays(n.b.mem.pick(x, positions, float64(value)))
}

// lowerReduceSum is the mean times the number of elements.
func lowerReduceSum(n *node) *tensor {
	axes, keep := n.readReduction(len(n.in[0].shape))
	if len(axes) == 0 {
		return lowerIdentity(n)
	}
	count := 1
	for _, d := range axes {
		count *= n.in[0].shape[d]
	}
	return n.b.scalar("mul", n.b.reduce(n.in[0], axes, keep, true), float32(math.Min(float64(count), 1<<24)))
}
