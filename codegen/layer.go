package codegen

import (
	"ripc/ir"
	"ripc/runtime/describe"
)

// describeLayer returns the description of a layer, nil if nothing is known of it.
func describeLayer(l ir.Layer) *describe.Layer {
	if l.Kind == "" {
		return nil
	}
	d := &describe.Layer{
		Kind: l.Kind, Part: l.Part, ActivationBits: l.ActivationBits, WeightBits: l.WeightBits,
		WeightEncoding: l.WeightEncoding,
		Weights:        l.Weights, FloatBytes: l.FloatBytes,
	}
	if g := describe.Glue(l.Glue); g.Form != "" || g.MaxH > 0 || g.Beside > 0 {
		d.Glue = &g
	}
	if r := l.Reason; r.Code != "" {
		d.Reason = &describe.Reason{Code: r.Code, Where: r.Where, Args: describe.Args(r.Args)}
	}
	if a := describe.Algorithm(l.Algorithm); a.Name != "" {
		d.Algorithm = &a
	}
	return d
}

// LayerOf returns the layer that d describes, as Stages of Programs have it.
func LayerOf(d describe.Stage) ir.Layer {
	if d.Layer == nil {
		return ir.Layer{}
	}
	l := ir.Layer{
		Kind: d.Layer.Kind, Part: d.Layer.Part, ActivationBits: d.Layer.ActivationBits, WeightBits: d.Layer.WeightBits,
		WeightEncoding: d.Layer.WeightEncoding,
		Weights:        d.Layer.Weights, FloatBytes: d.Layer.FloatBytes,
	}
	if d.Layer.Glue != nil {
		l.Glue = ir.Glue(*d.Layer.Glue)
	}
	if r := d.Layer.Reason; r != nil {
		l.Reason = ir.Reason{Code: r.Code, Where: r.Where, Args: ir.Args(r.Args)}
	}
	if d.Layer.Algorithm != nil {
		l.Algorithm = ir.Algorithm(*d.Layer.Algorithm)
	}
	return l
}
