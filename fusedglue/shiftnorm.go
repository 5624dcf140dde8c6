package fusedglue

import (
	"context"
	"fmt"
	"math"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
)

// Weights of a shift_norm that absorbed layers before it: it normalizes max(x + bias, floor).
const (
	keyBias  = "bias"
	keyFloor = "floor"
)

// maxExactSum bounds the integers that f32 holds exactly, with all integers below them.
const maxExactSum = 1 << 24

// shiftNorms turns each shift_norm into integer glue. First it moves the node next to the bitserial
// layer that makes the sums, or next to levels. On the way it passes movers and pools, and absorbs
// constant addends and relu. The glue becomes the layer's epilogue if nothing else reads the sums,
// and otherwise a layer of its own.
func shiftNorms(ctx context.Context, r *rewriter) error {
	var todo []*graph.Node
	for n := range r.EachNode(ctx) {
		if _, ok := n.Attrs.(*graph.ShiftNormAttrs); ok {
			todo = append(todo, n)
		}
	}
	slices.Reverse(todo)
	behind := map[*graph.Node][]*graph.Node{} // bitserial layer -> the shift_norms of its sums
	for len(todo) > 0 && ctx.Err() == nil {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		more, err := r.moveUp(n)
		switch p := r.Producer(n.Inputs[0]); {
		case err != nil:
			return err
		case n.Op == "shift_levels": // it reads the sum of two layers
		case more != nil:
			slices.Reverse(more)
			todo = append(todo, more...)
		case r.g.Value(n.Inputs[0]).Encoded():
			if err := r.shiftLevels(n); err != nil {
				return err
			}
		default:
			behind[p] = append(behind[p], n)
		}
	}
	for p := range r.EachNode(ctx) {
		if err := r.normalizeSums(p, behind[p]); err != nil {
			return err
		}
	}
	r.Prune()
	return nil
}

// moveUp absorbs the layer before n, or moves n in front of it, and returns the nodes that replace
// n. It returns none once n stands next to integers.
func (r *rewriter) moveUp(n *graph.Node) ([]*graph.Node, error) {
	if r.g.Value(n.Inputs[0]).Encoded() {
		return nil, nil
	}
	p := r.Producer(n.Inputs[0])
	if p == nil {
		return nil, r.noIntegers(n, "is brought by the caller")
	}
	if f, ok := p.Attrs.(*graph.FusedConv); ok && p.Op == "bconv2d" {
		if f.Window == nil && len(f.Epilogue.Steps) == 0 {
			return nil, r.noIntegers(n, "is made by an integer layer")
		}
		return nil, nil
	}
	if k, ok := movers()[p.Op]; ok && p.Op != "pad" && p.DistinctInputs() {
		return r.forward(n, p, k)
	}
	switch bias, x, ok := r.addend(p); {
	case r.levelSum(n, p):
		return nil, nil
	case (p.Op == "add" || p.Op == "sub") && len(p.Inputs) == 2 && !ok:
		return nil, r.layerSum(n, p)
	case ok:
		r.addBias(n, bias)
		r.SetInputs(n, x)
	case p.Op == "relu":
		r.addRelu(n)
		r.SetInputs(n, p.Inputs[0])
	case p.Op == "dequantize":
		r.SetInputs(n, p.Inputs[0])
	default:
		if p.Op == "fconv2d" {
			return nil, r.noIntegers(n, "is made by a float layer")
		}
		return nil, r.noIntegers(n, "is made by "+p.Op)
	}
	return []*graph.Node{n}, nil
}

// levelSum lets n read the integer sum or difference of levels instead of p, the sum or difference
// of their real values. It reports whether p is one.
func (r *rewriter) levelSum(n, p *graph.Node) bool {
	if p.Op != "add" && p.Op != "sub" || len(p.Inputs) != 2 {
		return false
	}
	var levels []string
	var types []scalar.LevelType
	for _, in := range p.Inputs {
		d := r.Producer(in)
		if d == nil || d.Op != "dequantize" || !r.g.Value(d.Inputs[0]).Encoded() {
			return false
		}
		levels, types = append(levels, d.Inputs[0]), append(types, r.g.Value(d.Inputs[0]).LevelType)
	}
	s, fault := scalar.SumOf(types[0], types[1], p.Op == "sub")
	if fault != scalar.SumExact {
		return false
	}
	sum := r.copyBefore(n, p, ".levels")
	r.SetInputs(sum, levels...)
	r.g.Value(sum.Output).LevelType = s.Type
	r.SetInputs(n, sum.Output)
	return true
}

// layerSum turns n into a layer of integers. n reads p, the sum or difference of the sums of two
// bitserial layers. Both must count in the same unit: their levels have one scale, and their
// weights have scales with equal AP2 in each channel.
func (r *rewriter) layerSum(n, p *graph.Node) error {
	refuse := func(how string) error {
		return r.g.Errorf(n, "put a shift_norm behind each of the two and add their levels, give both layers one "+
			"scale (such as weight_scale none), or use batch_norm and quantize",
			"shift_norm works on integers of one unit, but %s %q %s", p.Op, p.Name, how)
	}
	var layers []*graph.Node
	var types []scalar.LevelType
	for _, in := range p.Inputs {
		q := r.Producer(in)
		if q == nil {
			return refuse("reads an input of the network")
		}
		f, ok := q.Attrs.(*graph.FusedConv)
		if !ok || q.Op != "bconv2d" || f.Window != nil || f.Pool != nil || len(f.Epilogue.Steps) != 1 {
			return refuse(fmt.Sprintf("reads %s %q, which makes no sums of a bitserial layer", q.Op, q.Name))
		}
		layers, types = append(layers, q), append(types, r.g.Value(q.Inputs[0]).LevelType)
	}
	a, b := layers[0].Attrs.(*graph.FusedConv), layers[1].Attrs.(*graph.FusedConv)
	if types[0].Scale != types[1].Scale || types[0].Offset != 0 || types[1].Offset != 0 ||
		!slices.EqualFunc(a.Alpha, b.Alpha, sameUnit) {
		return refuse("is of layers that sum in different scales, or AP2 of scales")
	}
	bounds := func(o int) (lo, hi int64) {
		lo, hi = a.Sums(o)
		least, most := b.Sums(o)
		if p.Op == "sub" {
			least, most = -most, -least
		}
		return lo + least, hi + most
	}
	for o := range a.Out {
		lo, hi := bounds(o)
		if max(-lo, hi) > maxExactSum {
			return refuse("makes sums that f32 does not hold")
		}
	}
	widest := types[0] // mean and bias are cut to the range of the wider levels
	if graph.IntegersOf(types[1]).Largest() > graph.IntegersOf(widest).Largest() {
		widest = types[1]
	}
	shift, err := normalizer{n.Attrs.(*graph.ShiftNormAttrs), widest}.shiftAdd(r.g, n, a.Alpha, bounds)
	if err != nil {
		return err
	}
	var sums []string
	for _, q := range layers {
		raw, f := r.copyBefore(n, q, "."+n.Name), *q.Attrs.(*graph.FusedConv)
		f.Epilogue.Steps = nil
		raw.Attrs = &f
		sums = append(sums, raw.Output)
	}
	sum := r.copyBefore(n, p, ".sums")
	r.SetInputs(sum, sums...)
	r.SetInputs(n, sum.Output)
	makeShiftLevels(n, shift)
	return nil
}

// sameUnit reports whether 1 counts as the same with weights of scales a and b.
func sameUnit(a, b float64) bool { return a > 0 && b > 0 && log2AP2(a) == log2AP2(b) }

// noIntegers returns the error for a shift_norm without integer input.
func (r *rewriter) noIntegers(n *graph.Node, how string) error {
	return r.g.Errorf(n, "put it behind bitserial_conv2d or bitserial_dense, or behind levels or their sum; "+
		"max_pool, reshape, concat, a constant that is added and relu may stand between",
		"shift_norm works on the integers of bitserial layers and on levels, but its input %q %s", n.Inputs[0], how)
}

// forward moves n in front of the mover m, or of a copy if m has other readers. It returns the
// nodes that replace n.
func (r *rewriter) forward(n, m *graph.Node, k mover) ([]*graph.Node, error) {
	if r.soleProducerOf(m.Output) == nil {
		m = r.copyBefore(n, m, "."+n.Name)
		r.SetInputs(n, m.Output)
	}
	first := r.move(n, m, k)
	if first == nil {
		return nil, r.g.Errorf(n, "put it in front of the "+m.Op,
			"%s %q before it joins channels that have different means or variances", m.Op, m.Name)
	}
	if len(m.Inputs) == 1 {
		return []*graph.Node{n}, nil
	}
	var parts []*graph.Node
	for _, in := range m.Inputs {
		parts = append(parts, r.Producer(in))
	}
	return parts, nil
}

// addend returns the per-channel constant that p adds to or subtracts from tensor x.
func (r *rewriter) addend(p *graph.Node) (bias []float32, x string, ok bool) {
	if p.Op != "add" && p.Op != "sub" {
		return nil, "", false
	}
	b, x := p.Weights["b"], p.Inputs[0]
	a := p.Attrs.(*graph.BinaryOpAttrs)
	minus := p.Op == "sub"
	if minus && a.Reverse {
		return nil, "", false
	}
	for i := range p.Inputs { // a constant of one pixel is one, too
		if q := r.Producer(p.Inputs[i]); b == nil && q != nil && q.Op == "constant" && (i == 1 || !minus) {
			w, y := q.Weights["value"], r.g.Value(p.Inputs[1-i])
			if w.Shape[len(w.Shape)-1] == w.Elems() && slices.Equal(y.Shape, r.g.Value(p.Output).Shape) {
				b, x = w, p.Inputs[1-i]
			}
		}
	}
	if b == nil {
		return nil, "", false
	}
	channels := r.g.Value(p.Output).Channels()
	for o := range channels {
		v := b.Data.At(o % b.Data.Len())
		if minus {
			v = -v
		}
		bias = append(bias, v)
	}
	return bias, x, true
}

// addBias lets n add bias first: max(x + bias + b, floor).
func (r *rewriter) addBias(n *graph.Node, bias []float32) {
	r.changeOperand(n, keyBias, 0, func(o int, old float32) float32 { return old + bias[o] })
}

// addRelu lets n clip its input at 0 first: max(max(x, 0) + b, floor) = max(x + b, max(b, floor)).
func (r *rewriter) addRelu(n *graph.Node) {
	b := n.Weights[keyBias]
	r.changeOperand(n, keyFloor, float32(math.Inf(-1)), func(o int, old float32) float32 {
		if b == nil {
			return max(old, 0)
		}
		return max(old, b.Data.At(o))
	})
}

// changeOperand changes each number of a weight of n, [C]. A missing weight counts as C numbers
// initial.
func (r *rewriter) changeOperand(n *graph.Node, key string, initial float32, change func(o int, old float32) float32) {
	w := make([]float32, n.Weights["mean"].Data.Len())
	for o := range w {
		old := initial
		if before := n.Weights[key]; before != nil {
			old = before.Data.At(o)
		}
		w[o] = change(o, old)
	}
	n.Weights[key] = &graph.Tensor{Shape: []int{len(w)}, Data: graph.NumbersOf(w)}
}

// normalizeSums turns the shift_norms ns, which read the sums of p, into integer glue. It becomes
// p's epilogue, or, if the sums have other readers, layers that load the sums from memory.
func (r *rewriter) normalizeSums(p *graph.Node, ns []*graph.Node) error {
	if len(ns) == 0 {
		return nil
	}
	f, x := p.Attrs.(*graph.FusedConv), r.g.Value(p.Inputs[0])
	shifts, exact := make([]*graph.ShiftAdd, len(ns)), true
	for i, n := range ns {
		if x.Offset != 0 {
			return r.g.Errorf(n, "use batch_norm and quantize",
				"shift_norm works on integers, but the levels that %q reads have the offset %g", p.Name, x.Offset)
		}
		if f.Window != nil {
			return r.g.Errorf(n, "use batch_norm and quantize",
				"shift_norm works on integers, but the weights of %q have offsets", p.Name)
		}
		var err error
		if shifts[i], err = (normalizer{n.Attrs.(*graph.ShiftNormAttrs), x.LevelType}).shiftAdd(r.g, n, f.Alpha,
			f.Sums); err != nil {
			return err
		}
	}
	for o := range f.Out {
		lo, hi := f.Sums(o)
		exact = exact && max(-lo, hi) <= maxExactSum
	}
	if r.soleProducerOf(p.Output) != nil {
		r.absorbGlue(p, ns[0], shifts[0])
		return nil
	}
	if !exact { // f32 does not hold the sums: compute them once more for each
		for i, n := range ns {
			own, copied := r.copyBefore(n, p, "."+n.Name), *f
			own.Attrs = &copied
			r.SetInputs(n, own.Output)
			r.absorbGlue(own, n, shifts[i])
		}
		return nil
	}
	// The layer stores its sums as they are. A layer behind it makes the real values for their
	// other readers.
	real, steps := p.Output, f.Epilogue.Steps
	sums, v := r.TensorName(real+".sums"), *r.g.Value(real)
	v.Shape = slices.Clone(v.Shape)
	own := *f
	own.Epilogue.Steps = nil
	p.Attrs = &own
	r.RenameTensor(real, sums)
	for i, n := range ns {
		makeShiftLevels(n, shifts[i])
	}
	others := slices.DeleteFunc(r.Consumers(sums), func(n *graph.Node) bool { return slices.Contains(ns, n) })
	if len(others) == 0 && !r.g.IsOutput(real) {
		return nil
	}
	scale := &graph.Node{Name: r.NodeName(p.Name + ".scale"), Op: "eltwise", Attrs: &graph.Elementwise{Steps: steps},
		Inputs: []string{sums}, Output: real, Pos: p.Pos}
	r.InsertBefore(r.g.Nodes[slices.Index(r.g.Nodes, p)+1], scale, &v)
	for _, n := range others {
		inputs := slices.Clone(n.Inputs)
		for i, in := range inputs {
			if in == sums {
				inputs[i] = real
			}
		}
		r.SetInputs(n, inputs...)
	}
	return nil
}

// absorbGlue makes n, the only reader of p's sums, p's epilogue.
func (r *rewriter) absorbGlue(p, n *graph.Node, s *graph.ShiftAdd) {
	f, y := p.Attrs.(*graph.FusedConv), r.g.Value(n.Output)
	f.Epilogue = graph.Epilogue{OutBits: y.Bits, OutEnc: y.Enc, Shift: s}
	r.absorb(p, n)
}

// shiftLevels turns n, which reads levels, into a layer of integers.
func (r *rewriter) shiftLevels(n *graph.Node) error {
	x := r.g.Value(n.Inputs[0]).LevelType
	s, err := normalizer{n.Attrs.(*graph.ShiftNormAttrs), x}.shiftAdd(r.g, n, nil, func(int) (lo, hi int64) {
		l, h := x.Range()
		return int64(l), int64(h)
	})
	if err == nil {
		makeShiftLevels(n, s)
	}
	return err
}

// makeShiftLevels turns n into the layer that applies s to integers in memory.
func makeShiftLevels(n *graph.Node, s *graph.ShiftAdd) {
	n.Op, n.Attrs, n.Weights = "shift_levels", &graph.ShiftLevels{Shift: s}, nil
}
