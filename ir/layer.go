package ir

import "reflect"

// Layer is what became of the layer of the model that a stage computes. It is found in the graph,
// before anything is laid out for a target: reports have it from here, whatever the stage's
// operands look like in memory. The IR itself gives it no meaning; kinds and codes are those of
// package graph.
type Layer struct {
	Kind string // graph.Kind: "binary", "float", "bits" or "glue"
	Part string // the layer of the model that it is a part of, with others whose sums are added up; "" where it is all of its layer

	// Of layers with weights (Weights > 0): the types of the factors, where 32 bits are f32.
	// WeightEncoding is "bipolar", "ternary", "affine" or "f32". Weights is the number of weights,
	// each counted once. FloatBytes is the size of all of them as f32, as the layer's float twin
	// stores them: of a layer in parts, the first part has it for all.
	ActivationBits, WeightBits int
	WeightEncoding             string
	Weights, FloatBytes        int64

	Glue   Glue
	Reason Reason

	// Algorithm is how the sums are computed, which each target has a choice of: the one field that
	// differs between them.
	Algorithm Algorithm
}

// Algorithm is how the sums of a layer with weights are computed.
type Algorithm struct {
	Name string // a layout.Algorithm; "" of other stages
	Why  string // layout.Why: "only", "usual", "cheaper" or "asked"
	// Costs are what each algorithm that gives these sums takes by estimate, this one included, by
	// name; nil where there is no other, or nothing is known of the target.
	Costs map[string]int64
	Unit  string // of the estimates: "instructions" or "cycles"
	// Terms are what the next best algorithm takes more, by what is counted (features.Counts): the
	// largest differences, which may be less than 0. nil where nothing is counted.
	Terms map[string]int64
}

// Glue is what a layer with weights does with its sums before it stores them.
type Glue struct {
	Form       string   // graph.GlueForm: "steps" in f32, or a form in integers; "" for nothing
	Steps      []string // kinds of the float steps, in order
	Bits       int      // of the levels that it makes, 0: none
	Beside     int      // bits of the levels that it writes beside floats, 0: none
	PerChannel bool     // the levels behind float steps differ from channel to channel
	MaxH, MaxW int      // rows and columns of sums of which the largest counts; 0: each counts
	Mean       int      // positions whose mean it stores, all that there are; 0: each of them
}

// Reason is why a layer, or its glue, stays float.
type Reason struct {
	Code  string // graph.Reason, "" if there is none
	Where string // the node or step that caused it, "" for the layer itself
	Args  Args
}

// Args are the arguments of a reason. Each has those that it needs.
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

// Facts are the fields of l in the order of .ripir text.
func (l *Layer) Facts() []Fact {
	g, r := &l.Glue, &l.Reason
	facts := []Fact{
		{"layer", &l.Kind}, {"part", &l.Part}, {"activation_bits", &l.ActivationBits}, {"weight_bits", &l.WeightBits}, {"weight_encoding", &l.WeightEncoding},
		{"weights", &l.Weights}, {"float_bytes", &l.FloatBytes},
		{"glue", &g.Form}, {"steps", &g.Steps}, {"levels", &g.Bits}, {"beside", &g.Beside}, {"per_channel", &g.PerChannel}, {"max_h", &g.MaxH}, {"max_w", &g.MaxW}, {"mean", &g.Mean},
		{"reason", &r.Code}, {"where", &r.Where},
		{"algorithm", &l.Algorithm.Name}, {"why", &l.Algorithm.Why}, {"costs", &l.Algorithm.Costs}, {"unit", &l.Algorithm.Unit}, {"terms", &l.Algorithm.Terms},
	}
	for _, f := range r.Args.Facts() {
		facts = append(facts, Fact{"arg_" + f.Name, f.Value})
	}
	return facts
}

// Facts are the arguments by their names in model files.
func (a *Args) Facts() []Fact {
	return []Fact{
		{"op", &a.Op}, {"bits", &a.Bits}, {"levels", &a.Levels}, {"weight_bits", &a.WeightBits}, {"weights", &a.Weights},
		{"count", &a.Count}, {"most", &a.Most}, {"channel", &a.Channel}, {"value", &a.Value},
	}
}

// Get is the fact itself.
func (f Fact) Get() any { return reflect.ValueOf(f.Value).Elem().Interface() }

// Zero reports whether there is nothing to say.
func (f Fact) Zero() bool { return reflect.ValueOf(f.Value).Elem().IsZero() }
