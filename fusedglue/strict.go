package fusedglue

import (
	"errors"

	"ripc/ir/graph"
)

// Strict fails, naming every layer, where a network with binary layers has glue that stayed float: a bitserial layer
// whose sums leave as f32 though levels are made from them later, or a float step that nothing took in. Float
// convolutions, and what follows the last binary layer, are the model's own wish.
func Strict(g *graph.Graph) error {
	var errs []error
	for _, n := range g.Nodes {
		_, step := n.Attrs.(*graph.Elementwise)
		f, conv := n.Attrs.(*graph.FusedConv)
		if !step && (!conv || n.Op != "bconv2d" || f.Epilogue.OutBits > 0 && f.Epilogue.Levels == nil) {
			continue
		}
		if conv && f.Epilogue.Levels != nil {
			errs = append(errs, g.Errorf(n, "use slopes from 0 up", "stays float: a prelu of negative slope turns the sums around, so no thresholds equal it"))
		} else if q := laterQuantizer(g, n); q != nil {
			errs = append(errs, g.Errorf(n, "see what stands between the two; batch_norm and relu fold, and nothing else may read these tensors",
				"stays float: the glue up to %q does not fold to integers", q.Name))
		}
	}
	return errors.Join(errs...)
}

// laterQuantizer finds a quantizer that is reached from n through float glue.
func laterQuantizer(g *graph.Graph, n *graph.Node) *graph.Node {
	for _, out := range n.Outputs {
		for _, c := range g.Consumers(out) {
			switch a := c.Attrs.(type) {
			case *graph.QuantizeAttrs:
				return c
			case *graph.FusedConv:
				if a.Epilogue.OutBits > 0 {
					return c
				}
				continue
			}
			if q := laterQuantizer(g, c); q != nil {
				return q
			}
		}
	}
	return nil
}
