package describe

import (
	"slices"
	"strings"
)

// Layer describes the layer of the model that a stage computes. The compiler finds it in the graph,
// before the target's layout. Stages of the IR carry it (ir.Layer), descriptions store it, and
// reports read it. Kinds and codes are those of ripc's package graph. Neither the IR nor a loader
// gives them a meaning.
type Layer struct {
	Kind string `json:"kind"` // "binary", "float", "bits" or "glue"; "" if the layer is unknown
	// Merged lists the layers of a stage that computes several, in order, its own among them.
	Merged []string `json:"merged,omitempty"`
	// Part is the layer of the model that this layer is a part of; the parts' sums are added. ""
	// for a whole layer.
	Part string `json:"part,omitempty"`
	// The types of the factors of a convolution or dense layer; 32 bits are f32.
	ActivationBits int    `json:"activation_bits,omitempty"`
	WeightBits     int    `json:"weight_bits,omitempty"`
	WeightEncoding string `json:"weight_encoding,omitempty"` // "bipolar", "ternary", "affine" or "f32"
	Weights        int64  `json:"weights,omitempty"`         // each counted once
	// FloatBytes is the size of the weights as f32, as the layer's float twin stores them. The
	// first part of a layer has it for all parts.
	FloatBytes int64  `json:"float_bytes,omitempty"`
	Glue       Glue   `json:"glue,omitzero"`
	Reason     Reason `json:"reason,omitzero"`
	// Algorithm is the only field that depends on the target.
	Algorithm Algorithm `json:"algorithm,omitzero"`
}

// Names lists the layers of a stage.
func (l Layer) Names(stage string) []string {
	if len(l.Merged) == 0 {
		return []string{stage}
	}
	return l.Merged
}

// Title is the name of a stage for people: all of its layers.
func (l Layer) Title(stage string) string { return strings.Join(l.Names(stage), "+") }

// IsCalled reports whether name stands for a stage: its title, or one of its layers.
func (l Layer) IsCalled(stage, name string) bool {
	return name == l.Title(stage) || slices.Contains(l.Names(stage), name)
}

// Algorithm is how the sums of a layer with weights are computed.
type Algorithm struct {
	Name string `json:"name"` // of layout.Algorithm
	// Why is of layout.Why: "only" (no other gives these sums), "usual" (no model of the target),
	// "cheaper" or "asked".
	Why string `json:"why"`
	// Costs are the costs of all algorithms that give these sums, by name.
	Costs map[string]int64 `json:"costs,omitempty"`
	Unit  string           `json:"unit,omitempty"` // of the costs: "instructions" or "cycles"
	// Measured lists the algorithms with costs of a measured schedule; the others are predicted.
	Measured []string `json:"measured,omitempty"`
	// Terms are the largest differences to the next best algorithm, by feature (features.Counts).
	// They may be negative.
	Terms map[string]int64 `json:"terms,omitempty"`
}

// Glue is the epilogue of a layer: the operations on its sums before they are stored.
type Glue struct {
	// Form is of graph.GlueForm: "thresholds", "shift" (add, then shift) or "steps" (in f32).
	Form       string   `json:"form,omitempty"`
	Steps      []string `json:"steps,omitempty"`       // kinds of float steps, in order
	Bits       int      `json:"bits,omitempty"`        // of the levels that it makes
	Beside     int      `json:"beside,omitempty"`      // bits of the levels that it writes beside floats
	PerChannel bool     `json:"per_channel,omitempty"` // levels behind float steps differ from channel to channel
	MaxH       int      `json:"max_h,omitempty"`       // window of the max_pool over the sums
	MaxW       int      `json:"max_w,omitempty"`
	Mean       int      `json:"mean,omitempty"` // number of positions that the mean is over
}

// Reason is why a layer, or its glue, stays float.
type Reason struct {
	Code  string `json:"code"`            // graph.Reason
	Where string `json:"where,omitempty"` // the node or step that caused it; "" for the layer itself
	Args  Args   `json:"args,omitzero"`
}

// Args are the arguments of a reason. Each reason has its own.
type Args struct {
	Op         string `json:"op,omitempty"`     // of the node Where
	Bits       int    `json:"bits,omitempty"`   // of activations
	Levels     string `json:"levels,omitempty"` // encoding of activations
	WeightBits int    `json:"weight_bits,omitempty"`
	Weights    string `json:"weights,omitempty"` // encoding of weights
	Count      int64  `json:"count,omitempty"`
	Most       int64  `json:"most,omitempty"` // limit that was passed
	Channel    int    `json:"channel,omitempty"`
	Value      string `json:"value,omitempty"` // a number, which may be infinite or NaN
}
