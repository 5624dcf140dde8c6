package ir

import "reflect"

// Layer describes the layer of the model that a stage computes. It is recorded in the graph, before
// layout, so reports do not depend on the target's memory layout. The IR itself gives it no
// meaning; kinds and codes are those of package graph.
type Layer struct {
	Kind string // graph.Kind: "binary", "float", "bits" or "glue"
	Part string // the model's layer, if several layers add up to it; else ""

	// Of layers with weights (Weights > 0): the types of the factors; 32 bits are f32.
	// WeightEncoding is "bipolar", "ternary", "affine" or "f32". Weights is the number of weights,
	// each counted once. FloatBytes is the size of all of them as f32, as the layer's float twin
	// stores them. For a layer in parts, the first part has the total.
	ActivationBits, WeightBits int
	WeightEncoding             string
	Weights, FloatBytes        int64

	Glue   Glue
	Reason Reason

	// Algorithm computes the sums. It is the only field that differs between targets.
	Algorithm Algorithm
}

// Algorithm is the algorithm for the sums of a layer with weights.
type Algorithm struct {
	Name string // a layout.Algorithm; "" of other stages
	Why  string // layout.Why: "only", "usual", "cheaper" or "asked"
	// Costs are the estimates of all algorithms for these sums by name, this one included. nil if
	// there is only one, or if the target has no cost model.
	Costs map[string]int64
	Unit  string // of the estimates: "instructions" or "cycles"
	// Terms splits the difference between the second-best algorithm and this one by feature
	// (features.Counts). It has the largest differences, which may be negative. nil without counts.
	Terms map[string]int64
}

// Glue is the work of a layer with weights on its sums before it stores them.
type Glue struct {
	Form       string   // graph.GlueForm: "steps" in f32, or a form in integers; "" for nothing
	Steps      []string // kinds of the float steps, in order
	Bits       int      // of the levels that it makes, 0: none
	Beside     int      // bits of the levels that it writes in addition to floats, 0: none
	PerChannel bool     // the levels behind float steps differ between channels
	MaxH, MaxW int      // rows and columns of a window that keeps its largest sum only; 0: no window
	Mean       int      // positions of the mean that it stores, all of them; 0: no mean
}

// Reason is the reason why a layer, or its glue, stays float.
type Reason struct {
	Code  string // graph.Reason, "" if there is none
	Where string // the node or step that caused it, "" for the layer itself
	Args  Args
}

// Args are the arguments of a reason. Each reason uses some of them.
type Args struct {
	Op         string // of the node Where
	Bits       int    // of activations
	Levels     string // encoding of activations
	WeightBits int
	Weights    string // encoding of weights
	Count      int64
	Most       int64 // limit that was passed
	Channel    int
	Value      string // a number, which may be infinite or none
}

// Fact is one field of a Layer by its name in text. Value points to it: a *string, *int, *int64,
// *bool, *[]string or *map[string]int64.
type Fact struct {
	Name  string
	Value any
}

// Facts returns the fields of l in the order of .ripir text.
func (l *Layer) Facts() []Fact {
	g, r := &l.Glue, &l.Reason
	facts := []Fact{
		{"layer", &l.Kind}, {"part", &l.Part}, {"activation_bits", &l.ActivationBits}, {"weight_bits", &l.WeightBits},
		{"weight_encoding", &l.WeightEncoding},
		{"weights", &l.Weights}, {"float_bytes", &l.FloatBytes},
		{"glue", &g.Form}, {"steps", &g.Steps}, {"levels", &g.Bits}, {"beside", &g.Beside},
		{"per_channel", &g.PerChannel}, {"max_h", &g.MaxH}, {"max_w", &g.MaxW}, {"mean", &g.Mean},
		{"reason", &r.Code}, {"where", &r.Where},
		{"algorithm", &l.Algorithm.Name}, {"why", &l.Algorithm.Why}, {"costs", &l.Algorithm.Costs},
		{"unit", &l.Algorithm.Unit}, {"terms", &l.Algorithm.Terms},
	}
	for _, f := range r.Args.Facts() {
		facts = append(facts, Fact{"arg_" + f.Name, f.Value})
	}
	return facts
}

// Facts returns the arguments by their names in model files.
func (a *Args) Facts() []Fact {
	return []Fact{
		{"op", &a.Op}, {"bits", &a.Bits}, {"levels", &a.Levels}, {"weight_bits", &a.WeightBits}, {"weights", &a.Weights},
		{"count", &a.Count}, {"most", &a.Most}, {"channel", &a.Channel}, {"value", &a.Value},
	}
}

// Get returns the field's value.
func (f Fact) Get() any { return reflect.ValueOf(f.Value).Elem().Interface() }

// Zero reports whether the field is unset.
func (f Fact) Zero() bool { return reflect.ValueOf(f.Value).Elem().IsZero() }
