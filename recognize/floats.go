package recognize

import (
	"slices"

	"ripc/graph"
	"ripc/ir"
)

// mergePads merges a pad node of zeros into the convolutions that read it, as long as the padding
// stays smaller than the kernel.
func mergePads(r *rewriter, n *graph.Node) {
	a, ok := n.Attrs.(*graph.Conv2DAttrs)
	if !ok || a.Binary != nil {
		return
	}
	for p := r.Producer(n.Inputs[0]); p != nil; p = r.Producer(n.Inputs[0]) {
		pad, ok := p.Attrs.(*graph.SpatialPadAttrs)
		if !ok || pad.Value != 0 {
			break
		}
		c, w := *n.Attrs.(*graph.Conv2DAttrs), n.Weights["w"]
		c.Pad = graph.Padding{Mode: graph.PadExplicit, Top: c.Pad.Top + pad.Pad.Top, Bottom: c.Pad.Bottom +
			pad.Pad.Bottom, Left: c.Pad.Left + pad.Pad.Left, Right: c.Pad.Right + pad.Pad.Right}
		spanH, spanW := (w.Shape[0]-1)*c.Dilation()[0], (w.Shape[1]-1)*c.Dilation()[1]
		if max(c.Pad.Top, c.Pad.Bottom) > spanH || max(c.Pad.Left, c.Pad.Right) > spanW {
			break
		}
		r.SetInputs(n, p.Inputs[0])
		n.Attrs, r.changed = &c, true
	}
}

// fakeQuants turns dequantize nodes into fake_quant nodes if nothing else reads the quantizer's
// levels.
func fakeQuants(r *rewriter, n *graph.Node) {
	a, ok := n.Attrs.(*graph.QuantizeAttrs)
	readers := r.Consumers(n.Output)
	if !ok || r.g.IsOutput(n.Output) ||
		slices.ContainsFunc(readers, func(c *graph.Node) bool { return c.Op != "dequantize" }) {
		return
	}
	for _, d := range readers {
		if f := r.fakeQuant(d); f != nil {
			f.Note = n.Note // the quantizer goes, but the importer's note on it stays
			inputs := f.Inputs
			f.Inputs = d.Inputs
			*d, r.changed = *f, true
			r.SetInputs(d, inputs...)
			d.Verdict = graph.Verdict{Kind: graph.Glue, Reason: graph.WhyUnreadLevels, Args: ir.Args{Bits: a.Bits}}
			// keep the name by which users know the quantizer
			if quantizer, own := n.Name, d.Name; len(readers) == 1 {
				r.RenameNode(n, own)
				r.RenameNode(d, quantizer)
			}
		}
	}
}

// fakeQuant returns the fake_quant that computes dequantize d and the quantizer before it. Levels
// must count steps of the scale. It returns nil if d has no such quantizer.
func (r *rewriter) fakeQuant(d *graph.Node) *graph.Node {
	if d.Op != "dequantize" {
		return nil
	}
	n := r.Producer(d.Inputs[0])
	if n == nil {
		return nil
	}
	a, ok := n.Attrs.(*graph.QuantizeAttrs)
	if !ok || a.Unit || a.Enc != ir.Unipolar || a.Offset != 0 {
		return nil
	}
	f, weights := &graph.FakeQuantAttrs{Min: float64(-a.Zero), Max: float64(int(1)<<a.Bits - 1 - a.Zero),
		Rounding: a.Rounding}, map[string]*graph.Tensor{}
	weights["scale"] = scalarTensor(float32(a.Scale))
	if q := a.Range; q != nil {
		f.Min, f.Max = float64(q.Min), float64(q.Max)
		if zp := a.Zero + q.Min; zp != 0 {
			weights["zero_point"] = scalarTensor(float32(zp))
		}
	}
	out := *d
	out.Op, out.Attrs, out.Weights, out.Inputs = "fake_quant", f, weights, slices.Clone(n.Inputs)
	return &out
}
