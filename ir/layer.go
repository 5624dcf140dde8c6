package ir

import (
	"reflect"

	"ripc/runtime/describe"
)

// The description of a layer, which Stages carry and which the IR gives no meaning.
type (
	Layer     = describe.Layer
	Algorithm = describe.Algorithm
	Glue      = describe.Glue
	Reason    = describe.Reason
	Args      = describe.Args
)

// Fact is one field of a Layer by its name in text. Value points to it: a *string, *int, *int64,
// *bool, *[]string or *map[string]int64.
type Fact struct {
	Name  string
	Value any
}

// Facts returns the fields of l in the order of .ripir text.
func Facts(l *Layer) []Fact {
	g, r, a := &l.Glue, &l.Reason, &l.Algorithm
	facts := []Fact{
		{"layer", &l.Kind}, {"merged", &l.Merged}, {"part", &l.Part}, {"activation_bits", &l.ActivationBits},
		{"weight_bits", &l.WeightBits}, {"weight_encoding", &l.WeightEncoding},
		{"weights", &l.Weights}, {"float_bytes", &l.FloatBytes},
		{"glue", &g.Form}, {"steps", &g.Steps}, {"levels", &g.Bits}, {"beside", &g.Beside},
		{"per_channel", &g.PerChannel}, {"max_h", &g.MaxH}, {"max_w", &g.MaxW}, {"mean", &g.Mean},
		{"reason", &r.Code}, {"where", &r.Where},
		{"algorithm", &a.Name}, {"why", &a.Why}, {"costs", &a.Costs}, {"unit", &a.Unit},
		{"measured", &a.Measured}, {"terms", &a.Terms},
	}
	for _, f := range ArgFacts(&r.Args) {
		facts = append(facts, Fact{"arg_" + f.Name, f.Value})
	}
	return facts
}

// ArgFacts returns the arguments of a reason by their names in model files.
func ArgFacts(a *Args) []Fact {
	return []Fact{
		{"op", &a.Op}, {"bits", &a.Bits}, {"levels", &a.Levels}, {"weight_bits", &a.WeightBits},
		{"weights", &a.Weights},
		{"count", &a.Count}, {"most", &a.Most}, {"channel", &a.Channel}, {"value", &a.Value},
	}
}

// Get returns the value of the field.
func (f Fact) Get() any { return reflect.ValueOf(f.Value).Elem().Interface() }

// Zero reports whether the field is empty.
func (f Fact) Zero() bool { return reflect.ValueOf(f.Value).Elem().IsZero() }
