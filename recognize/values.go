package recognize

import (
	"math"
	"slices"

	"ripc/graph"
	"ripc/internal/f32"
)

// maxCases bounds the cases that are tried to find the values of one tensor.
const maxCases = 1 << 16

// valueQuantizer returns a quantizer to be put behind f32 tensor t if t has few, evenly spaced
// values. Any ops may compute them: a product of two signs, or a choice by a comparison of two
// tensors. These ops stay. It returns nil for other tensors.
func (r *rewriter) valueQuantizer(t string) *stepQuantizer {
	if q, ok := r.valueQuantizers[t]; ok {
		return q
	}
	q := r.findValueQuantizer(t)
	r.valueQuantizers[t] = q
	return q
}

func (r *rewriter) findValueQuantizer(t string) *stepQuantizer {
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

// values returns a superset of the numbers of tensor t in ascending order, or nil if they are not
// few. For levels these are their real values.
func (r *rewriter) values(t string, depth int) []float32 {
	if v := r.g.Value(t); v.Encoded() {
		out := levelValues(v)
		slices.Sort(out)
		return slices.Compact(out)
	}
	n := r.Producer(t)
	if n == nil || depth > maxDepth {
		return nil
	}
	v, ok := r.knownValues[t]
	if !ok { // the depth limit may have caused this
		if v = r.valuesOf(n, depth); v != nil {
			r.knownValues[t] = v
		}
	}
	return slices.Clone(v)
}

// valuesOf returns the values of n's output.
func (r *rewriter) valuesOf(n *graph.Node, depth int) []float32 {
	if n.Op == "sign" {
		return []float32{-1, 0, 1}
	}
	var out []float32
	switch a := n.Attrs.(type) {
	case *graph.SpatialPadAttrs:
		if out = r.values(n.Inputs[0], depth+1); out == nil {
			return nil
		}
		return sortDistinct(append(out, float32(a.Value)))
	case *graph.ConcatAttrs:
		for _, in := range n.Inputs {
			v := r.values(in, depth+1)
			if v == nil {
				return nil
			}
			out = sortDistinct(append(out, v...))
		}
		return out
	case *graph.ConstantAttrs:
		return sortDistinct(slices.Clone(n.Weights["value"].Data.Floats()))
	}
	if n.Moves() {
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
	if !r.variesByChannel(n) {
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
		if out = sortDistinct(out); out == nil {
			return nil
		}
	}
	return out
}

// variesByChannel reports whether n has constants that differ between channels.
func (r *rewriter) variesByChannel(n *graph.Node) bool {
	for _, w := range n.Weights {
		if w.Data.Mixed() {
			return true
		}
	}
	return false
}

// sortDistinct sorts values and drops duplicates. It returns nil if many remain, or if one is not
// finite.
func sortDistinct(values []float32) []float32 {
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
