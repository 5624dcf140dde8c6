package describe

// Layer describes the layer of the model that a stage computes, as the compiler found it in the
// network: the same on every target. Names and codes are those of ripc's package graph; a loader
// needs none of it.
type Layer struct {
	Kind string `json:"kind"` // "binary", "float", "bits" or "glue"
	// Part names the layer of the model if several layers add up to it. One of them has the layer's
	// MACs and FloatBytes, the others none. It is "" for other layers.
	Part string `json:"part,omitempty"`
	// Of convolutions and dense layers: 32 bits are f32, Weights counts each weight once,
	// FloatBytes is their size as f32.
	ActivationBits int     `json:"activation_bits,omitempty"`
	WeightBits     int     `json:"weight_bits,omitempty"`
	WeightEncoding string  `json:"weight_encoding,omitempty"` // "bipolar", "ternary", "affine" or "f32"
	Weights        int64   `json:"weights,omitempty"`
	FloatBytes     int64   `json:"float_bytes,omitempty"`
	Glue           *Glue   `json:"glue,omitempty"`
	Reason         *Reason `json:"reason,omitempty"`
	// Algorithm is how the target computes the sums: the only field that depends on it.
	Algorithm *Algorithm `json:"algorithm,omitempty"`
}

// Algorithm is how the sums of a layer with weights are computed.
type Algorithm struct {
	Name string `json:"name"` // "popcount", "float" or "dot"
	// "only" (no other gives these sums), "usual" (no model of the target), "cheaper" or "asked"
	Why   string           `json:"why"`
	Costs map[string]int64 `json:"costs,omitempty"` // predictions for all that give these sums, by name
	Unit  string           `json:"unit,omitempty"`  // of the estimates: "instructions" or "cycles"
	// Terms splits the difference to the second-best algorithm by feature: the largest differences.
	Terms map[string]int64 `json:"terms,omitempty"`
}

// Glue is the epilogue of a layer: the operations on its sums before they are stored.
type Glue struct {
	Form       string   `json:"form,omitempty"`        // "thresholds", "shift" (add, then shift) or "steps" (in f32)
	Steps      []string `json:"steps,omitempty"`       // kinds of float steps, in order
	Bits       int      `json:"bits,omitempty"`        // of the levels that it makes
	Beside     int      `json:"beside,omitempty"`      // bits of the levels that it writes beside floats
	PerChannel bool     `json:"per_channel,omitempty"` // levels behind float steps differ from channel to channel
	MaxH       int      `json:"max_h,omitempty"`       // rows and columns of a max-pooled window of sums
	MaxW       int      `json:"max_w,omitempty"`
	Mean       int      `json:"mean,omitempty"` // positions of the mean that is written
}

// Reason is why a layer, or its glue, stays float.
type Reason struct {
	Code  string `json:"code"`
	Where string `json:"where,omitempty"` // the node or step that caused it
	Args  Args   `json:"args,omitzero"`
}

// Args are the arguments of a reason. Each has those that it needs.
type Args struct {
	Op         string `json:"op,omitempty"` // of the node Where
	Bits       int    `json:"bits,omitempty"`
	Levels     string `json:"levels,omitempty"` // encoding of activations
	WeightBits int    `json:"weight_bits,omitempty"`
	Weights    string `json:"weights,omitempty"` // encoding of weights
	Count      int64  `json:"count,omitempty"`
	Most       int64  `json:"most,omitempty"`
	Channel    int    `json:"channel,omitempty"`
	Value      string `json:"value,omitempty"`
}
