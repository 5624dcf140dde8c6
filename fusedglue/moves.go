package fusedglue

import (
	"context"
	"fmt"
	"math"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
)

// A mover only moves elements about, or takes the largest of some: what is computed of each element
// by itself may as well be computed before it, where a layer may take that in.
type mover struct {
	// goes gives, for input i of m, the channels of m's result that hold elements of its channel c:
	// n of them, from first on, each step further.
	goes func(r *rewriter, m *graph.Node, i, c int) (first, step, n int)
	// ordered says that m takes the largest of some elements, which only maps that never fall leave
	// the same.
	ordered bool
	// pays says that m costs less behind any quantizer or step than before it.
	pays bool
}

// movers has them by op.
func movers() map[string]mover {
	same := func(_ *rewriter, _ *graph.Node, _, c int) (int, int, int) { return c, 1, 1 }
	return map[string]mover{
		"max_pool": {same, true, true},
		"pad":      {same, false, true},
		"concat":   {goes: concatenated},
		"reshape":  {goes: reshaped},
		"flatten":  {goes: reshaped},
		"slice":    {goes: sliced},
		"resize":   {same, false, true},
		"gather":   {same, false, true},

		"depth_to_space": {goes: depthToSpace},
		"space_to_depth": {goes: spaceToDepth},

		"transpose": {goes: func(r *rewriter, m *graph.Node, _, c int) (int, int, int) {
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
		return 0, 1, 0 // nobody reads it
	}
	return c / a.Stride[last], 1, 1
}

// depthToSpace: each channel before it holds one pixel of each block.
func depthToSpace(r *rewriter, m *graph.Node, _, c int) (first, step, n int) {
	a := m.Attrs.(*graph.BlockAttrs)
	if a.Order == graph.BlockCRD {
		return c / (a.Block[0] * a.Block[1]), 1, 1
	}
	return c % r.g.Value(m.Output).Channels(), 1, 1
}

// spaceToDepth: each channel before it is cut into as many as blocks have pixels.
func spaceToDepth(r *rewriter, m *graph.Node, _, c int) (first, step, n int) {
	a := m.Attrs.(*graph.BlockAttrs)
	pixels := a.Block[0] * a.Block[1]
	if a.Order == graph.BlockCRD {
		return c * pixels, 1, pixels
	}
	return c, r.g.Value(m.Inputs[0]).Channels(), pixels
}

// moves puts steps and quantizers in front of the movers before them, where a convolution there may
// take them in, or where the mover costs less behind them. Each input of a concat gets its own
// channels' operands.
func moves(ctx context.Context, r *rewriter) error {
	kinds := movers()
	for i := 0; i < len(r.g.Nodes) && ctx.Err() == nil; i++ {
		n := r.g.Nodes[i]
		m := r.only(n)
		if m == nil {
			continue
		}
		if k, ok := kinds[m.Op]; ok {
			if first := r.passes(n, m, k); first != nil {
				i = r.Place(first) - 1 // what is before is as it was
			}
		}
	}
	return nil
}

// passes moves n in front of m, a mover of kind k, if it can and should, and gives the first of the
// nodes that n became.
func (r *rewriter) passes(n, m *graph.Node, k mover) *graph.Node {
	_, step := n.Attrs.(*graph.Elementwise)
	_, quantizes := quantizerOf(n)
	switch {
	case !step && !quantizes, k.ordered && !increasing(n), !m.DistinctInputs():
		return nil
	case !k.pays && (!takenIn(n) || !slices.ContainsFunc(m.Inputs, r.reachesOpen)):
		return nil
	}
	return r.move(n, m, k)
}

// move moves n in front of m, which n alone reads, and gives the first of the nodes that n became;
// nil where operands of several channels of n would meet.
func (r *rewriter) move(n, m *graph.Node, k mover) *graph.Node {
	parts := make([]*graph.Node, len(m.Inputs))
	for i := range parts {
		if parts[i] = r.partOf(n, m, k, i); parts[i] == nil {
			return nil
		}
	}
	if a, ok := m.Attrs.(*graph.SpatialPadAttrs); ok {
		padded, ok := r.padded(n, a)
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
		v, part := *y, parts[i]
		v.Shape, v.Layout, v.View = slices.Clone(r.g.Value(in).Shape), r.g.Value(in).Layout, graph.Bytes
		part.Name, part.Inputs, part.Output = r.NodeName(fmt.Sprintf("%s.%d", n.Name, i)), []string{in}, r.TensorName(fmt.Sprintf("%s.%s", in, n.Name))
		r.InsertBefore(m, part, &v)
		inputs[i] = part.Output
	}
	r.SetInputs(m, inputs...)
	r.absorb(m, n)
	return parts[0]
}

// takenIn reports whether n is something that convolutions take in.
func takenIn(n *graph.Node) bool {
	q, ok := quantizerOf(n)
	return !ok || q.bits <= maxThresholdBits || q.formula != nil || evenly(n.Weights["thresholds"])
}

// reachesOpen reports whether nothing but steps and movers, which steps and quantizers may pass,
// stands between a convolution that may take these in and the tensor.
func (r *rewriter) reachesOpen(tensor string) bool {
	kinds := movers()
	for p := r.sole(tensor); p != nil; p = r.sole(p.Inputs[0]) {
		if open(p) != nil {
			return true
		}
		if _, moves := kinds[p.Op]; !moves && p.Op != "eltwise" {
			_, joins := joinOf(p)
			return joins && slices.ContainsFunc(p.Inputs, r.reachesOpen)
		}
	}
	return false
}

// partOf is n as it is in front of input i of its mover m; nil where a channel there would need
// several operands at once.
func (r *rewriter) partOf(n, m *graph.Node, k mover, i int) *graph.Node {
	channels := r.g.Value(m.Inputs[i]).Channels()
	all := func(v []float32) ([]float32, bool) {
		if alike(v, 0, 1, len(v)) {
			return slices.Repeat(v[:1], channels), true
		}
		out := make([]float32, channels)
		for c := range out {
			first, step, count := k.goes(r, m, i, c)
			if out[c] = v[first]; !alike(v, first, step, count) {
				return nil, false
			}
		}
		return out, true
	}
	return withOperands(n, all)
}

// alike reports whether the n numbers of v from first on, each step further, are the same to the
// bit.
func alike(v []float32, first, step, n int) bool {
	for j := 1; j < n; j++ {
		if math.Float32bits(v[first+j*step]) != math.Float32bits(v[first]) {
			return false
		}
	}
	return true
}

// withOperands is n with other per-channel operands, nil if of does not give them.
func withOperands(n *graph.Node, of func(v []float32) ([]float32, bool)) *graph.Node {
	part, ok := *n, true
	vector := func(v []float32) []float32 {
		if v == nil || !ok {
			return nil
		}
		v, ok = of(v)
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

// padded is a as it is behind n, if n makes the same number of what a adds in all channels.
func (r *rewriter) padded(n *graph.Node, a *graph.SpatialPadAttrs) (*graph.SpatialPadAttrs, bool) {
	out := *a
	y, value := r.g.Value(n.Output), float32(a.Value)
	for o := range y.Channels() {
		var v float64
		switch b := n.Attrs.(type) {
		case *graph.Elementwise:
			v = float64(scalar.EvalSteps(b.Steps, o, value))
		default:
			q, _ := quantizerOf(n)
			v = y.Real(y.Stored(q.level(o, value)))
		}
		if v-v != 0 || o > 0 && v != out.Value {
			return nil, false
		}
		out.Value = v
	}
	return &out, true
}

// stepsBehind moves steps behind what moves their tensor, where other steps or a quantizer stand
// there, with which they become one. Nothing before took them in.
func stepsBehind(ctx context.Context, r *rewriter) error {
	kinds, joins := movers(), r.joining(ctx)
	for m := range r.Each(ctx) { // nothing changes behind m before it is its turn
		k, ok := kinds[m.Op]
		if !ok || k.pays || len(m.Inputs) != 1 || !joins[m] {
			continue
		}
		// No more of them become one layer, and rows of movers would each pass all steps.
		for range maxSteps {
			e := r.only(m)
			if e == nil {
				break
			}
			if _, steps := e.Attrs.(*graph.Elementwise); !steps {
				break
			}
			behind := r.behind(e, m, k)
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

// joining are the nodes whose tensor steps or a quantizer alone read, directly or behind movers.
func (r *rewriter) joining(ctx context.Context) map[*graph.Node]bool {
	kinds, joining := movers(), map[*graph.Node]bool{}
	for _, n := range slices.Backward(slices.Collect(r.Each(ctx))) {
		if r.ConsumerCount(n.Output) != 1 || r.g.IsOutput(n.Output) {
			continue
		}
		m := r.Consumers(n.Output)[0]
		_, steps := m.Attrs.(*graph.Elementwise)
		_, quantizes := quantizerOf(m)
		k, moves := kinds[m.Op]
		joining[n] = steps || quantizes || moves && !k.pays && len(m.Inputs) == 1 && joining[m]
	}
	return joining
}

// behind is e as it is behind mover m; nil where a channel there would need several operands at
// once.
func (r *rewriter) behind(e, m *graph.Node, k mover) *graph.Node {
	in, out := r.g.Value(m.Inputs[0]).Channels(), r.g.Value(m.Output).Channels()
	return withOperands(e, func(v []float32) ([]float32, bool) {
		w := make([]float32, out)
		if alike(v, 0, 1, len(v)) {
			return slices.Repeat(v[:1], out), true
		}
		from := make([]int, out) // the channel before m, counted from 1
		for c := range in {
			first, step, n := k.goes(r, m, 0, c)
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

// mergeMoves makes one of two reshapes or transposes in a row, and none of one that leaves its
// tensor as it is.
func mergeMoves(ctx context.Context, r *rewriter) error {
	for n := range r.Each(ctx) {
		shape, order := shapeAfter(r.g, n)
		if shape == nil {
			continue
		}
		for p := r.Producer(n.Inputs[0]); p != nil; p = r.Producer(n.Inputs[0]) {
			s, before := shapeAfter(r.g, p)
			if s == nil || (order == nil) != (before == nil) {
				break
			}
			r.SetInputs(n, p.Inputs...)
			if r.ConsumerCount(p.Output) == 0 && !r.g.IsOutput(p.Output) {
				r.Remove(p)
			}
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
	return nil
}

// shapeAfter is the shape of what n, a reshape or transpose, makes, and the order of axes of a
// transpose; nil of others.
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
