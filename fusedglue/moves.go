package fusedglue

import (
	"context"
	"math"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
)

// A mover only moves elements, or takes the maximum of some. An elementwise op behind it may as
// well run before it, if a layer there can fuse the op.
type mover struct {
	// goes returns the output channels of m that hold elements of channel c of input i: n of them,
	// beginning at first, step apart.
	outputChannels func(r *rewriter, m *graph.Node, i, c int) (first, step, n int)
	// takesMax reports whether m takes maxima. Only maps that never fall commute with these.
	takesMax bool
	// pays reports whether m costs less behind a quantizer or step than before it.
	cheaperBehind bool
}

// movers returns the movers by op.
func movers() map[string]mover {
	same := func(_ *rewriter, _ *graph.Node, _, c int) (int, int, int) { return c, 1, 1 }
	return map[string]mover{
		"max_pool": {same, true, true},
		"pad":      {same, false, true},
		"concat":   {outputChannels: concatenated},
		"reshape":  {outputChannels: reshaped},
		"flatten":  {outputChannels: reshaped},
		"slice":    {outputChannels: sliced},
		"resize":   {same, false, true},
		"gather":   {same, false, true},

		"depth_to_space": {outputChannels: depthToSpace},
		"space_to_depth": {outputChannels: spaceToDepth},

		"transpose": {outputChannels: func(r *rewriter, m *graph.Node, _, c int) (int, int, int) {
			if p := m.Attrs.(*graph.TransposeAttrs).Perm; p[len(p)-1] == len(p)-1 {
				return c, 1, 1
			}
			return 0, 1, r.g.Value(m.Output).Channels()
		}},
	}
}

func concatenated(r *rewriter, m *graph.Node, i, c int) (first, step, n int) {
	for _, in := range m.Inputs[:i] {
		c += r.g.Value(in).Channels()
	}
	return c, 1, 1
}

// reshaped: element e of the tensor is in channel e mod in of the input and in channel e mod out of
// the result.
func reshaped(r *rewriter, m *graph.Node, _, c int) (first, step, n int) {
	out, rest := r.g.Value(m.Output).Channels(), r.g.Value(m.Inputs[0]).Channels()
	common := out
	for rest > 0 {
		common, rest = rest, common%rest
	}
	return c % common, common, out / common
}

func sliced(_ *rewriter, m *graph.Node, _, c int) (first, step, n int) {
	a := m.Attrs.(*graph.SliceAttrs)
	last := len(a.Begin) - 1
	if c -= a.Begin[last]; c < 0 || c%a.Stride[last] != 0 || c/a.Stride[last] >= a.Size[last] {
		return 0, 1, 0 // not in the slice
	}
	return c / a.Stride[last], 1, 1
}

// depthToSpace: each input channel holds one pixel of each block.
func depthToSpace(r *rewriter, m *graph.Node, _, c int) (first, step, n int) {
	a := m.Attrs.(*graph.BlockAttrs)
	if a.Order == graph.BlockCRD {
		return c / (a.Block[0] * a.Block[1]), 1, 1
	}
	return c % r.g.Value(m.Output).Channels(), 1, 1
}

// spaceToDepth: each input channel is spread over one output channel for each pixel of a block.
func spaceToDepth(r *rewriter, m *graph.Node, _, c int) (first, step, n int) {
	a := m.Attrs.(*graph.BlockAttrs)
	pixels := a.Block[0] * a.Block[1]
	if a.Order == graph.BlockCRD {
		return c * pixels, 1, pixels
	}
	return c, r.g.Value(m.Inputs[0]).Channels(), pixels
}

// moves puts steps and quantizers in front of the movers before them, if a convolution there may
// fuse them, or if the mover is cheaper behind them. Each input of a concat gets the operands of
// its own channels.
func moves(ctx context.Context, r *rewriter) error {
	kinds := movers()
	for i := 0; i < len(r.g.Nodes) && ctx.Err() == nil; i++ {
		n := r.g.Nodes[i]
		m := r.soleProducer(n)
		if m == nil {
			continue
		}
		if k, ok := kinds[m.Op]; ok {
			if first := r.tryMove(n, m, k); first != nil {
				i = r.Place(first) - 1 // all nodes before first are unchanged
			}
		}
	}
	return nil
}

// tryMove moves n in front of m, a mover of kind k, if that is legal and useful. It returns the
// first of the nodes that replace n.
func (r *rewriter) tryMove(n, m *graph.Node, k mover) *graph.Node {
	_, step := n.Attrs.(*graph.Elementwise)
	_, quantizes := quantizerOf(n)
	switch {
	case !step && !quantizes, k.takesMax && !increasing(n), !m.DistinctInputs():
		return nil
	case !k.cheaperBehind && (!isFusible(n) || !slices.ContainsFunc(m.Inputs, r.reachesOpen)):
		return nil
	}
	return r.move(n, m, k)
}

// move moves n, the only reader of m, in front of m. It returns the first of the nodes that replace
// n, or nil if a channel would need operands of several channels of n.
func (r *rewriter) move(n, m *graph.Node, k mover) *graph.Node {
	parts := make([]*graph.Node, len(m.Inputs))
	for i := range parts {
		if parts[i] = r.partOf(n, m, k, i); parts[i] == nil {
			return nil
		}
	}
	if a, ok := m.Attrs.(*graph.SpatialPadAttrs); ok {
		padded, ok := r.padBehind(n, a)
		if !ok {
			return nil
		}
		m.Attrs = padded
	}
	y := r.g.Value(n.Output)
	if len(parts) == 1 {
		// x -> m -> t -> n -> y becomes x -> n -> t -> m -> y; t takes the type of y and the shape
		// of x.
		x, t := r.g.Value(m.Inputs[0]), r.g.Value(m.Output)
		name := t.Name
		*t = *y
		t.Name, t.Shape, t.Layout, t.View = name, slices.Clone(x.Shape), x.Layout, graph.Bytes
		n.Attrs, n.Weights = parts[0].Attrs, parts[0].Weights
		r.Exchange(m, n)
		return n
	}
	inputs := make([]string, len(m.Inputs))
	for i, in := range m.Inputs {
		r.insertPart(m, parts[i], n, i, in, r.g.Value(in))
		inputs[i] = parts[i].Output
	}
	r.SetInputs(m, inputs...)
	r.absorb(m, n)
	return parts[0]
}

// isFusible reports whether convolutions can fuse n.
func isFusible(n *graph.Node) bool {
	q, ok := quantizerOf(n)
	return !ok || q.bits <= maxThresholdBits || q.formula != nil || isEven(n.Weights["thresholds"])
}

// reachesOpen reports whether only steps and movers lie between tensor and a convolution that may
// still fuse steps and quantizers. Steps and quantizers must be able to pass these movers.
func (r *rewriter) reachesOpen(tensor string) bool {
	kinds := movers()
	for p := r.soleProducerOf(tensor); p != nil; p = r.soleProducerOf(p.Inputs[0]) {
		if openConv(p) != nil {
			return true
		}
		if _, moves := kinds[p.Op]; !moves && p.Op != "eltwise" {
			_, joins := joinOf(p)
			return joins && slices.ContainsFunc(p.Inputs, r.reachesOpen)
		}
	}
	return false
}

// partOf returns n as it must be in front of input i of its mover m. It returns nil if a channel
// there would need several operands at once.
func (r *rewriter) partOf(n, m *graph.Node, k mover, i int) *graph.Node {
	channels := r.g.Value(m.Inputs[i]).Channels()
	all := func(v []float32) ([]float32, bool) {
		if equalRun(v, 0, 1, len(v)) {
			return slices.Repeat(v[:1], channels), true
		}
		out := make([]float32, channels)
		for c := range out {
			first, step, count := k.outputChannels(r, m, i, c)
			if out[c] = v[first]; !equalRun(v, first, step, count) {
				return nil, false
			}
		}
		return out, true
	}
	return withOperands(n, all)
}

// equalRun reports whether the n numbers of v at first, first + step, ... are equal to the bit.
func equalRun(v []float32, first, step, n int) bool {
	for j := 1; j < n; j++ {
		if math.Float32bits(v[first+j*step]) != math.Float32bits(v[first]) {
			return false
		}
	}
	return true
}

// withOperands returns n with other per-channel operands, or nil if operands fails for one of them.
func withOperands(n *graph.Node, operands func(v []float32) ([]float32, bool)) *graph.Node {
	part, ok := *n, true
	vector := func(v []float32) []float32 {
		if v == nil || !ok {
			return nil
		}
		v, ok = operands(v)
		return v
	}
	switch a := n.Attrs.(type) {
	case *graph.Elementwise:
		steps := slices.Clone(a.Steps)
		for i, s := range steps {
			steps[i].A, steps[i].B = vector(s.A), vector(s.B)
		}
		part.Attrs = &graph.Elementwise{Steps: steps}
	default:
		part.Weights = map[string]*graph.Tensor{}
		for key, w := range n.Weights {
			if part.Weights[key] = w; n.Op == "threshold" && w.Shape[len(w.Shape)-1] == 1 {
				continue // one for all channels
			}
			row, t := w.Shape[len(w.Shape)-1], &graph.Tensor{Shape: slices.Clone(w.Shape)}
			var data []float32
			for i := 0; i < w.Data.Len() && ok; i += row {
				data = append(data, vector(w.Data.Floats()[i:i+row])...)
			}
			if ok {
				t.Shape[len(t.Shape)-1] = len(data) / (w.Data.Len() / row)
			}
			t.Data = graph.NumbersOf(data)
			part.Weights[key] = t
		}
	}
	if !ok {
		return nil
	}
	return &part
}

// padBehind returns pad a as it must be behind n. It needs n to map a's value to the same number in
// all channels.
func (r *rewriter) padBehind(n *graph.Node, a *graph.SpatialPadAttrs) (*graph.SpatialPadAttrs, bool) {
	out := *a
	y, value := r.g.Value(n.Output), float32(a.Value)
	for o := range y.Channels() {
		var v float64
		switch b := n.Attrs.(type) {
		case *graph.Elementwise:
			v = float64(scalar.EvalSteps(b.Steps, o, value))
		default:
			q, _ := quantizerOf(n)
			v = y.Real(y.StoredLevel(q.level(o, value)))
		}
		if v-v != 0 || o > 0 && v != out.Value {
			return nil, false
		}
		out.Value = v
	}
	return &out, true
}

// stepsBehind moves steps that no convolution fused behind a mover of their output, if they can
// merge with steps or a quantizer there.
func stepsBehind(ctx context.Context, r *rewriter) error {
	kinds, joins := movers(), r.feedsSteps(ctx)
	for m := range r.EachNode(ctx) { // nothing changes behind m before it is its turn
		k, ok := kinds[m.Op]
		if !ok || k.cheaperBehind || len(m.Inputs) != 1 || !joins[m] {
			continue
		}
		// One layer takes at most that many, and rows of movers would each pass all steps.
		for range maxSteps {
			e := r.soleProducer(m)
			if e == nil {
				break
			}
			if _, steps := e.Attrs.(*graph.Elementwise); !steps {
				break
			}
			behind := r.operandsBehind(e, m, k)
			if behind == nil {
				break
			}
			// x -> e -> t -> m -> y becomes x -> m -> t -> e -> y.
			t, y := r.g.Value(m.Inputs[0]), r.g.Value(m.Output)
			t.Shape, t.Layout = slices.Clone(y.Shape), y.Layout
			e.Attrs = behind.Attrs
			r.Exchange(e, m)
		}
	}
	return nil
}

// feedsSteps returns the nodes with an output that only steps or a quantizer read, directly or
// behind movers.
func (r *rewriter) feedsSteps(ctx context.Context) map[*graph.Node]bool {
	kinds, joining := movers(), map[*graph.Node]bool{}
	for _, n := range slices.Backward(slices.Collect(r.EachNode(ctx))) {
		if r.ConsumerCount(n.Output) != 1 || r.g.IsOutput(n.Output) {
			continue
		}
		m := r.Consumers(n.Output)[0]
		_, steps := m.Attrs.(*graph.Elementwise)
		_, quantizes := quantizerOf(m)
		k, moves := kinds[m.Op]
		joining[n] = steps || quantizes || moves && !k.cheaperBehind && len(m.Inputs) == 1 && joining[m]
	}
	return joining
}

// operandsBehind returns e as it must be behind mover m. It returns nil if a channel there would
// need several operands at once.
func (r *rewriter) operandsBehind(e, m *graph.Node, k mover) *graph.Node {
	in, out := r.g.Value(m.Inputs[0]).Channels(), r.g.Value(m.Output).Channels()
	return withOperands(e, func(v []float32) ([]float32, bool) {
		w := make([]float32, out)
		if equalRun(v, 0, 1, len(v)) {
			return slices.Repeat(v[:1], out), true
		}
		from := make([]int, out) // the channel before m, counted from 1
		for c := range in {
			first, step, n := k.outputChannels(r, m, 0, c)
			for j := range n {
				o := first + j*step
				if from[o] > 0 && math.Float32bits(v[c]) != math.Float32bits(w[o]) {
					return nil, false
				}
				w[o], from[o] = v[c], c+1
			}
		}
		return w, true
	})
}

// mergeMoves merges two reshapes or transposes in a row, and removes one that changes nothing.
func mergeMoves(r *rewriter, n *graph.Node) {
	shape, order := shapeAfter(r.g, n)
	if shape == nil {
		return
	}
	for p := r.Producer(n.Inputs[0]); p != nil; p = r.Producer(n.Inputs[0]) {
		s, before := shapeAfter(r.g, p)
		if s == nil || (order == nil) != (before == nil) {
			break
		}
		r.SetInputs(n, p.Inputs...)
		r.removeUnread(p)
		if order == nil {
			n.Op, n.Attrs = "reshape", &graph.ReshapeAttrs{Shape: shape}
			continue
		}
		for d, a := range order {
			order[d] = before[a]
		}
		n.Attrs = &graph.TransposeAttrs{Perm: order}
	}
	if slices.Equal(shape, r.g.Value(n.Inputs[0]).Shape) && slices.IsSorted(order) {
		r.bypass(n)
	}
}

// shapeAfter returns the output shape of n, a reshape or transpose, and the order of axes of a
// transpose. Both are nil for other nodes.
func shapeAfter(g *graph.Graph, n *graph.Node) (shape, order []int) {
	switch a := n.Attrs.(type) {
	case *graph.ReshapeAttrs:
		return a.Shape, nil
	case *graph.TransposeAttrs:
		return g.Value(n.Output).Shape, slices.Clone(a.Perm)
	}
	if n.Op == "flatten" {
		return g.Value(n.Output).Shape, nil
	}
	return nil, nil
}
