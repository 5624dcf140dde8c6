package lower

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"

	"ripc/graph"
	"ripc/internal/lists"
	"ripc/internal/suggest"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/targets"
)

// ApplyGlue is g with the glue of target t in each layer. Program does it, too: the second time
// changes nothing.
func ApplyGlue(g *graph.Graph, t targets.Target) *graph.Graph {
	g = g.Clone()
	for _, n := range g.Nodes {
		if f, ok := n.Attrs.(*graph.FusedConv); ok {
			n.Attrs = layout.Glue(f, t)
		}
	}
	return g
}

// choose finds the algorithm of each fused layer of g, by its node's name.
func choose(g *graph.Graph, o Options) (map[string]layout.Choice, error) {
	choices := map[string]layout.Choice{}
	var names []string
	for _, n := range g.Nodes {
		f, ok := n.Attrs.(*graph.FusedConv)
		if !ok {
			continue
		}
		names = append(names, n.Name)
		x := imageOf(g, n)
		if !slices.ContainsFunc(layout.Algorithms(), func(a layout.Algorithm) bool { return a.Lacks(f, &x) == "" }) {
			help := graph.FewerProducts
			if f.W.Min < math.MinInt8 || f.W.Max > math.MaxInt8 {
				help = "quantize its weights to int8 with zero point 0, or uint8 with 128: products of bytes have " +
					"room for more; or " + help
			}
			return nil, g.Errorf(n, help, "sums of %d products of %d-bit activations by %d-bit weights could pass "+
				"32 bits: by %s, %s; by %s, %s",
				f.Products(), x.Bits, f.WeightBits, layout.Dot, layout.Dot.Lacks(f, &x), layout.Popcount,
				layout.Popcount.Lacks(f, &x))
		}
		c, known := o.Chosen[n.Name]
		if !known {
			c = layout.Choose(f, &x)
		}
		by, asked := o.Algorithms[n.Name]
		if !asked && slices.Contains(o.Bitserial, n.Name) {
			if by, asked = c.Algorithm, true; !by.Counts() {
				by = firstCounting(f, &x)
			}
		}
		if asked {
			if why := by.Lacks(f, &x); why != "" {
				apply := lists.Map(layout.Applying(f, &x), layout.Algorithm.String)
				return nil, g.Errorf(n, "its sums can be computed by "+suggest.List(apply, 20),
					"cannot be computed by %s: %s", by, why)
			}
			c.Algorithm, c.Why = by, layout.Asked
		}
		choices[n.Name] = c
	}
	for _, name := range append(slices.Sorted(maps.Keys(o.Algorithms)), o.Bitserial...) {
		if !slices.Contains(names, name) {
			return nil, &ir.Error{Pos: ir.Pos{File: g.File}, Op: "algorithms",
				Msg:  fmt.Sprintf("no convolution or dense layer is called %q", name),
				Help: suggest.DidYouMean(name, names) + "there are " + suggest.List(names, 20)}
		}
	}
	return choices, nil
}

// imageOf is the first input of n as an image.
func imageOf(g *graph.Graph, n *graph.Node) graph.Value {
	x := *g.Value(n.Inputs[0])
	x.Shape = ops.Spatial(x.Shape)
	return x
}

// firstCounting is the first of the algorithms that count bits and apply to f, a layer over x;
// popcount where none does.
func firstCounting(f *graph.FusedConv, x *graph.Value) layout.Algorithm {
	for _, by := range layout.Applying(f, x) {
		if by.Counts() {
			return by
		}
	}
	return layout.Popcount
}

// Applying lists the algorithms that give exactly the sums of each fused layer of g, by its node's
// name.
func Applying(g *graph.Graph) map[string][]layout.Algorithm {
	all := map[string][]layout.Algorithm{}
	for _, n := range g.Nodes {
		if f, ok := n.Attrs.(*graph.FusedConv); ok {
			x := imageOf(g, n)
			all[n.Name] = layout.Applying(f, &x)
		}
	}
	return all
}

// Free is Applying of the layers that have a choice, of those that o leaves open. Those of
// o.Bitserial have the choice of the algorithms that count bits.
func Free(g *graph.Graph, o Options) map[string][]layout.Algorithm {
	all := Applying(g)
	for layer, by := range all {
		if slices.Contains(o.Bitserial, layer) {
			all[layer] = slices.DeleteFunc(by, func(a layout.Algorithm) bool { return !a.Counts() })
		}
	}
	maps.DeleteFunc(all, func(layer string, by []layout.Algorithm) bool {
		_, given := o.Algorithms[layer]
		return len(by) < 2 || given
	})
	return all
}

// Uniform goes through the algorithms that some layer of free can have, each with the choice of it
// for all layers that can.
func Uniform(free map[string][]layout.Algorithm) iter.Seq2[layout.Algorithm, map[string]layout.Algorithm] {
	return func(yield func(layout.Algorithm, map[string]layout.Algorithm) bool) {
		for _, a := range layout.Algorithms() {
			choice := map[string]layout.Algorithm{}
			for layer, by := range free {
				if slices.Contains(by, a) {
					choice[layer] = a
				}
			}
			if len(choice) > 0 && !yield(a, choice) {
				return
			}
		}
	}
}

// algorithmOf returns a stage's description of c.
func algorithmOf(c layout.Choice) ir.Algorithm {
	a := ir.Algorithm{Name: c.Algorithm.String(), Why: c.Why.String(), Unit: c.Unit, Terms: c.Terms}
	for _, e := range c.Estimates {
		if a.Costs == nil {
			a.Costs = map[string]int64{}
		}
		a.Costs[e.Algorithm.String()] = int64(e.Cost)
		if e.Measured {
			a.Measured = append(a.Measured, e.Algorithm.String())
		}
	}
	return a
}
