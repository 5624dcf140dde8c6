package fusedglue

import (
	"slices"

	"ripc/graph"
)

// blocksAfter moves float steps and quantizers that stand behind depth_to_space, space_to_depth, resize or a slice of rows and
// columns in front of it: there the convolution that made the pixels may take them in, and fewer floats move.
func blocksAfter(r *rewriter) error {
	for i := 0; i < len(r.g.Nodes); i++ {
		n := r.g.Nodes[i]
		p := r.only(n)
		if p == nil || len(p.Inputs) != 1 || r.g.Value(p.Inputs[0]).Encoded() || !r.before(n, p) {
			continue
		}
		// x -> p -> t -> n -> y   becomes   x -> n -> t -> p -> y; t takes the type of y and the shape of x.
		x, t, y := r.g.Value(p.Inputs[0]), r.g.Value(p.Output), r.g.Value(n.Output)
		name, shape := t.Name, slices.Clone(x.Shape)
		*t = *y
		t.Name, t.Shape, t.Layout, t.View = name, shape, x.Layout, graph.Bytes
		r.Exchange(p, n)
		i = slices.Index(r.g.Nodes, n) - 1 // what is before n's new place is as it was
	}
	return nil
}

// before makes n, which reads what p makes, one that can stand in front of p; false if it cannot, or if nothing is won.
func (r *rewriter) before(n, p *graph.Node) bool {
	_, steps := n.Attrs.(*graph.Elementwise)
	if _, quantizer := quantizerOf(n); !steps && !quantizer {
		return false
	}
	switch a := p.Attrs.(type) {
	case *graph.ResizeAttrs:
		return true
	case *graph.SliceAttrs:
		x := r.g.Value(p.Inputs[0])
		last := len(x.Shape) - 1
		return a.Size[last] == x.Shape[last] && 2*r.g.Value(p.Output).Elems() >= x.Elems() && r.fromConvolution(p)
	case *graph.BlockAttrs:
		in, pixels := r.g.Value(p.Inputs[0]).Channels(), a.Block[0]*a.Block[1]
		if p.Op == "space_to_depth" {
			if !sameForAll(n) {
				return false
			}
			n.Attrs, n.Weights = ofChannels(n, in, func(int) int { return 0 })
			return true
		}
		n.Attrs, n.Weights = ofChannels(n, in, func(c int) int {
			if a.Order == graph.BlockCRD {
				return c / pixels
			}
			return c % (in / pixels)
		})
		return true
	}
	return false
}

// fromConvolution reports whether p is a convolution that could take steps in, or what only moves what one makes.
func (r *rewriter) fromConvolution(p *graph.Node) bool {
	for p != nil {
		if open(p) != nil {
			return true
		}
		switch p.Attrs.(type) {
		case *graph.PoolAttrs:
			if p.Op != "max_pool" {
				return false
			}
			p = r.sole(p.Inputs[0])
		case *graph.BlockAttrs, *graph.SliceAttrs, *graph.ResizeAttrs, *graph.Elementwise:
			p = r.sole(p.Inputs[0])
		case *graph.ConcatAttrs:
			p = r.sole(p.Inputs[len(p.Inputs)-1])
		default:
			return false
		}
	}
	return false
}

// sameForAll reports whether n does the same in all channels.
func sameForAll(n *graph.Node) bool {
	differ := func(v []float32) bool { return slices.ContainsFunc(v, func(x float32) bool { return x != v[0] }) }
	switch a := n.Attrs.(type) {
	case *graph.Elementwise:
		for _, s := range a.Steps {
			if slices.ContainsFunc(s.Vectors(), differ) {
				return false
			}
		}
	case *graph.ThresholdAttrs:
		t := n.Weights["thresholds"]
		for i := 0; i < len(t.Data); i += t.Shape[1] {
			if differ(t.Data[i : i+t.Shape[1]]) {
				return false
			}
		}
	}
	return true
}

// ofChannels are n's attributes and weights for so many channels, of which channel c is done as from(c) was.
func ofChannels(n *graph.Node, channels int, from func(c int) int) (any, map[string]*graph.Tensor) {
	spread := func(v []float32) []float32 {
		if v == nil {
			return nil
		}
		out := make([]float32, channels)
		for c := range out {
			out[c] = v[from(c)]
		}
		return out
	}
	switch a := n.Attrs.(type) {
	case *graph.Elementwise:
		steps := slices.Clone(a.Steps)
		for i, s := range steps {
			steps[i].A, steps[i].B = spread(s.A), spread(s.B)
		}
		return &graph.Elementwise{Steps: steps}, n.Weights
	case *graph.ThresholdAttrs:
		t := n.Weights["thresholds"]
		if t.Shape[1] == 1 {
			break
		}
		out := &graph.Tensor{Shape: []int{t.Shape[0], channels}}
		for i := 0; i < len(t.Data); i += t.Shape[1] {
			out.Data = append(out.Data, spread(t.Data[i:i+t.Shape[1]])...)
		}
		return a, map[string]*graph.Tensor{"thresholds": out}
	}
	return n.Attrs, n.Weights
}
