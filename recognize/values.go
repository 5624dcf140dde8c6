package recognize

import (
	"math"
	"slices"

	"ripc/graph"
	"ripc/internal/f32"
)

// maxCases bounds the cases that are tried to find the values of one tensor.
const maxCases = 1 << 16

// valued is the quantizer behind f32 tensor t that makes levels of the few values which t has,
// whatever they are made from: a product of two signs, a choice by a comparison of two tensors. The
// ops before it stay as they are. nil if there are no few values, or not in even steps.
func (r *rewriter) valued(t string) *stepped {
	if q, ok := r.finals[t]; ok {
		return q
	}
	q := r.findValued(t)
	r.finals[t] = q
	return q
}

func (r *rewriter) findValued(t string) *stepped {
	values := r.values(t, 0)
	if len(values) < 2 {
		return nil
	}
	row := make([]piece, len(values))
	for i, v := range values {
		row[i] = piece{first: f32.Order(v), last: f32.Order(v), value: v}
	}
	row[0].first = f32.Order(float32(math.Inf(-1)))
	q := quantizerOfPieces(&region{from: t, to: t, channels: 1}, [][]piece{row})
	if q == nil || q.quantize != nil || q.uneven != nil {
		return nil
	}
	return q
}

// values are all that tensor t may hold, ascending, or more; nil if these are not few. Those of
// levels are their real values.
func (r *rewriter) values(t string, depth int) []float32 {
	if v := r.g.Value(t); v.Encoded() {
		out := reals(v)
		slices.Sort(out)
		return slices.Compact(out)
	}
	n := r.Producer(t)
	if n == nil || depth > maxDepth {
		return nil
	}
	v, ok := r.held[t]
	if !ok { // that there are none may be only for the depth
		if v = r.valuesOf(n, depth); v != nil {
			r.held[t] = v
		}
	}
	return slices.Clone(v)
}

// valuesOf is values of what n makes.
func (r *rewriter) valuesOf(n *graph.Node, depth int) []float32 {
	if n.Op == "sign" {
		return []float32{-1, 0, 1}
	}
	var out []float32
	switch a := n.Attrs.(type) {
	case *graph.PoolAttrs:
		if n.Op != "max_pool" {
			return nil
		}
		return r.values(n.Inputs[0], depth+1)
	case *graph.ReshapeAttrs, *graph.TransposeAttrs, *graph.SliceAttrs, *graph.BlockAttrs, *graph.ResizeAttrs, *graph.GatherAttrs:
		return r.values(n.Inputs[0], depth+1)
	case *graph.SpatialPadAttrs:
		if out = r.values(n.Inputs[0], depth+1); out == nil {
			return nil
		}
		return few(append(out, float32(a.Value)))
	case *graph.ConcatAttrs:
		for _, in := range n.Inputs {
			v := r.values(in, depth+1)
			if v == nil {
				return nil
			}
			out = few(append(out, v...))
		}
		return out
	case *graph.ConstantAttrs:
		return few(slices.Clone(n.Weights["value"].Data.Floats()))
	}
	if n.Op == "flatten" {
		return r.values(n.Inputs[0], depth+1)
	}
	f := graph.ElementFunction(r.g, n)
	if f == nil {
		return nil
	}
	cases, args := 1, make([][]float32, len(n.Inputs))
	for i, in := range n.Inputs {
		if args[i] = r.values(in, depth+1); args[i] == nil {
			return nil
		}
		cases *= len(args[i])
	}
	channels := r.g.Value(n.Output).Channels()
	if !r.varies(n) {
		channels = 1
	}
	if cases > maxCases/channels {
		return nil
	}
	x := make([]float32, len(args))
	for o := range channels {
		for k := range cases {
			for i, v := range args {
				x[i] = v[k%len(v)]
				k /= len(v)
			}
			out = append(out, f(o, x))
		}
		if out = few(out); out == nil {
			return nil
		}
	}
	return out
}

// varies reports whether n has constants that differ between channels.
func (r *rewriter) varies(n *graph.Node) bool {
	for _, w := range n.Weights {
		if w.Data.Mixed() {
			return true
		}
	}
	return false
}

// few sorts values and drops those that are there twice; nil if many are left, or one that is not
// finite.
func few(values []float32) []float32 {
	for i, v := range values {
		if v-v != 0 {
			return nil
		}
		values[i] = v + 0
	}
	slices.Sort(values)
	if values = slices.Compact(values); len(values) > maxValues {
		return nil
	}
	return values
}
