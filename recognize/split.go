package recognize

import (
	"fmt"
	"slices"

	"ripc/graph"
	"ripc/internal/lists"
)

// part is one of the layers that add up to a layer.
type part struct {
	input string
	graph.WeightPart
}

// partsOf replaces layer n by a sum of layers with few-bit weights and levels, and returns these.
// It returns none if n has no such parts. ofLevels reports that n reads levels: then its weights
// are split, and otherwise its input.
func (r *rewriter) partsOf(n *graph.Node, ofLevels bool) []*graph.Node {
	var parts []part
	groups := 0
	switch {
	case !ofLevels:
		parts = r.levelParts(n)
	case r.nearWeights[n] != nil: // refused before
	default:
		if parts = r.weightParts(n); parts == nil {
			parts = r.groupParts(n)
			groups = len(parts)
		}
	}
	if parts == nil {
		return nil
	}
	return r.split(n, parts, groups)
}

// weightParts splits a layer by its weights: weights such as {-a, 0, b} are sums of 1-bit weights.
func (r *rewriter) weightParts(n *graph.Node) []part {
	weights, exact := graph.SplitWeights(n.Weights["w"])
	if weights == nil || !exact && r.options.ExactFloats {
		return nil
	}
	if !exact {
		few, _ := graph.Decompose(weights[0].W)
		r.nameRounding(n, few)
	}
	return lists.Map(weights, func(w graph.WeightPart) part { return part{n.Inputs[0], w} })
}

// groupParts splits a layer with weights scaled per group of input channels: each part reads the
// channels of one group.
func (r *rewriter) groupParts(n *graph.Node) []part {
	if a, conv := n.Attrs.(*graph.Conv2DAttrs); n.Op == "conv_transpose2d" || conv && a.GroupCount() > 1 {
		return nil
	}
	w := n.Weights["w"]
	groups, _ := graph.InputGroups(w)
	if groups == 0 || r.options.ExactFloats && !exactGroups(w, groups) {
		return nil
	}
	x := r.g.Value(n.Inputs[0])
	after := r.Producer(x.Name)
	var parts []part
	for g := range groups {
		last := len(x.Shape) - 1
		a := &graph.SliceAttrs{Begin: make([]int, len(x.Shape)), Size: slices.Clone(x.Shape),
			Stride: slices.Repeat([]int{1}, len(x.Shape))}
		a.Size[last] /= groups
		a.Begin[last] = g * a.Size[last]
		slice := &graph.Node{Name: n.Name + ".group", Op: "slice", Attrs: a, Inputs: []string{x.Name}}
		out := r.TensorName(n.Output + ".group")
		r.insert(after, slice, out)
		after = slice
		parts = append(parts, part{out, graph.WeightPart{W: w.InputGroup(g, groups)}})
	}
	return parts
}

// exactGroups reports whether the weights of all groups are few-bit exactly.
func exactGroups(w *graph.Tensor, groups int) bool {
	for g := range groups {
		if graph.DecomposeExactly(w.InputGroup(g, groups)) == nil {
			return false
		}
	}
	return true
}

// split replaces layer n by one layer for each part and their sum, and returns the layers. groups
// is the number of groups of input channels if each part reads one group, and 0 if all parts read
// all channels.
func (r *rewriter) split(n *graph.Node, parts []part, groups int) []*graph.Node {
	r.changed = true
	layers := []*graph.Node{n}
	out, bias, name := n.Output, n.Weights["b"], n.Name
	if n.Part.Of == "" {
		n.Part.Of = name
	}
	if groups > 0 {
		n.Part.Groups = groups
	}
	n.Weights = map[string]*graph.Tensor{"w": parts[0].W}
	r.SetInputs(n, parts[0].input)
	r.SetOutput(n, r.TensorName(out+".part"))
	r.RenameNode(n, r.NodeName(name+".part"))
	r.retype(n)
	sum, last := n.Output, n
	for i, p := range parts[1:] {
		m := *n
		m.Name, m.Inputs, m.Weights = fmt.Sprintf("%s.part%d", name, i+2), []string{p.input},
			map[string]*graph.Tensor{"w": p.W}
		m.Part.Repeats = true
		part := r.TensorName(out + ".part")
		r.insert(last, &m, part)
		add := &graph.Node{Name: name + ".sum", Op: "add", Attrs: &graph.BinaryOpAttrs{}, Inputs: []string{sum, part}}
		if p.Minus {
			add.Op = "sub"
		}
		if sum = out; i < len(parts)-2 || bias != nil {
			sum = r.TensorName(out + ".sum")
		}
		r.insert(&m, add, sum)
		last, layers = add, append(layers, &m)
	}
	if bias == nil {
		return layers
	}
	r.insert(last, withConstant(name+".bias", "add", sum, bias), out)
	return layers
}
