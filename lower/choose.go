package lower

import (
	"fmt"
	"slices"

	"ripc/graph"
	"ripc/internal/suggest"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/targets"
)

// glued is g with the glue in each layer that costs less on target t.
func glued(g *graph.Graph, t targets.Target) *graph.Graph {
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
		x := *g.Value(n.Inputs[0])
		x.Shape = ops.Spatial(x.Shape)
		c := layout.Choose(f, &x, o.Target)
		float, bitserial := slices.Contains(o.Float, n.Name), slices.Contains(o.Bitserial, n.Name)
		switch {
		case float && bitserial:
			return nil, g.Errorf(n, "ask for one of the two", "cannot be computed both in float and bitserially")
		case float && !layout.Applies(f, &x, layout.Float):
			return nil, g.Errorf(n, "leave it bitserial", "cannot be computed in float: its sums reach %d, and f32 holds integers up to %d exactly", layout.LargestSum(f), layout.MaxExact)
		case bitserial && !layout.Applies(f, &x, layout.Popcount):
			return nil, g.Errorf(n, "the reason that it stays float says what to change in the model", "cannot be computed bitserially: its weights or its input are real numbers")
		case float:
			c = asked(c, layout.Float)
		case bitserial:
			c = asked(c, layout.Popcount)
		}
		choices[n.Name] = c
	}
	for _, name := range slices.Concat(o.Float, o.Bitserial) {
		if !slices.Contains(names, name) {
			return nil, &ir.Error{Pos: ir.Pos{File: g.File}, Op: "algorithms", Msg: fmt.Sprintf("no convolution or dense layer is called %q", name),
				Help: suggest.DidYouMean(name, names) + "there are " + suggest.List(names, 20)}
		}
	}
	return choices, nil
}

// asked is what c becomes where algorithm by is asked for.
func asked(c layout.Choice, by layout.Algorithm) layout.Choice {
	if c.Algorithm != by {
		c.Algorithm, c.Cost, c.Other = by, c.Other, c.Cost
	}
	c.Why = layout.Asked
	return c
}
