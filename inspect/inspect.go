// Package inspect describes the layers of a compiled network, and the places of its activations in
// memory.
package inspect

import (
	"ripc/compile"
	"ripc/graph"
	"ripc/graph/explain"
	"ripc/ir"
	"ripc/runtime"
	"ripc/runtime/describe"
	"ripc/schedule/strategy"
	"ripc/targets"
)

// Inspection describes the layers of a network.
type Inspection struct {
	Name    string            `json:"name"`
	Target  string            `json:"target"`
	Inputs  []describe.Tensor `json:"inputs"`
	Outputs []describe.Tensor `json:"outputs"`
	// InputNotes has the model's or the importer's remark on each input, "" for none. Artifacts do
	// not have them.
	InputNotes []string `json:"input_notes,omitempty"`
	Layers     []Layer  `json:"layers"`
	MACs       int64    `json:"macs"`
	BinaryMACs int64    `json:"binary_macs"`
	// IntegerMACs are the MACs of layers of levels with weights of 8 bits, BinaryMACs those with
	// fewer bits.
	IntegerMACs int64 `json:"integer_macs"`
	// Convolutions counts the convolutions and dense layers; one in several parts counts once.
	// Bitserial are the layers of levels with weights of fewer than 8 bits, Integers those with 8.
	Convolutions int   `json:"convolutions"`
	Bitserial    int   `json:"bitserial"`
	Integers     int   `json:"integers"`
	WeightBytes  int64 `json:"weight_bytes"` // shared constants count once
	FloatBytes   int64 `json:"float_bytes"`  // the same layers' weights as f32
	Workspace
	Memory *Memory `json:"memory"` // of all layers, with the same workspace
	// Roundings lists nodes that were taken for few bits although the model's floats differ by
	// rounding. Artifacts do not have it.
	Roundings []Rounding `json:"roundings,omitempty"`
	// ClockMHz is the specified clock of the target, which turns estimated cycles into
	// milliseconds; 0 if it is unknown.
	ClockMHz int `json:"clock_mhz,omitempty"`
	// Advice lists changes that would make more layers bitserial, or halve their work, the most
	// useful first.
	Advice []Advice `json:"advice"`
}

// Rounding is one kind of few bits that nodes of the model were taken for, though the model's
// floats differ by rounding.
type Rounding = explain.Rounding

// Advice is one change of the model that would make layers bitserial, or halve their work.
type Advice struct {
	Code   string   `json:"code"` // of the reason that the change takes away, one of package graph's
	Change string   `json:"change"`
	Layers []string `json:"layers"`
	MACs   int64    `json:"macs"`
	Share  float64  `json:"share"` // of all MACs, 0 to 1
}

// Layer is one stage: the description of its layer, which is the same for each target but for the
// algorithm, and the stage's code and buffers.
type Layer struct {
	describe.Layer
	Name string `json:"name"`
	Op   string `json:"op"`
	// Integer says that a binary layer has weights of 8 bits, as those of int8 networks.
	Integer bool `json:"integer,omitempty"`
	// Became is the kind in words: "binary NxM" (N bits of activations, M of weights), "integer
	// Nx8", "float", "float 32xM" (weights of M bits, sums in f32), "bits" or "float glue".
	Became string  `json:"became"`
	Reason *Reason `json:"reason,omitempty"` // why it or its glue stays float, or is a stage of its own
	// Changeable says that a change of the model, which Reason names, would make more of the layer
	// bits.
	Changeable bool   `json:"changeable,omitempty"`
	Note       string `json:"note,omitempty"`      // the model's own remark
	Glue       string `json:"glue,omitempty"`      // the epilogue, in words
	Algorithm  string `json:"algorithm,omitempty"` // how the target computes the sums: "popcount", "float" or "dot"
	Why        *Why   `json:"why,omitempty"`
	// ByLane names vectorize loops of an artifact's kernel that run partly lane by lane, because an
	// if differs between lanes.
	ByLane      []string          `json:"by_lane,omitempty"`
	Reads       []describe.Tensor `json:"reads"`
	Writes      []describe.Tensor `json:"writes"`
	MACs        int64             `json:"macs"`
	Share       float64           `json:"share"` // of the MACs of the network, 0 to 1
	WeightBytes int64             `json:"weight_bytes"`
	FloatBytes  int64             `json:"float_bytes"` // the weights as f32
	Kernel      string            `json:"kernel"`
	Trace       []string          `json:"trace"`
	// Strategy wrote the trace, LeftOut lists the steps that it left out as illegal or large; of
	// schedules that ripc chose.
	Strategy *Strategy          `json:"strategy,omitempty"`
	LeftOut  []strategy.LeftOut `json:"left_out,omitempty"`
	Before   string             `json:"ir_before,omitempty"` // .ripir before and after scheduling
	After    string             `json:"ir_after,omitempty"`
}

// Strategy is a way to compute a layer, with the values of its knobs.
type Strategy struct {
	Name   string          `json:"name"`
	Values strategy.Values `json:"values"`
	// Origin is "measured", on this target or "on" another one, "predicted" (by the model of the
	// machine) or "plainest" (there is no model).
	Origin string `json:"origin"`
}

// Reason is why a layer or its glue stays float.
type Reason struct {
	describe.Reason
	Args describe.Args `json:"args"`
	Text string        `json:"text"`
}

// Why is why a layer's algorithm was taken (describe.Algorithm).
type Why struct {
	Code  string           `json:"code"`            // "only", "usual", "cheaper" or "asked"
	Costs map[string]int64 `json:"costs,omitempty"` // of all algorithms that give the same sums, by name
	Unit  string           `json:"unit,omitempty"`  // of the costs: "instructions" or "cycles"
	// Measured lists the algorithms with costs of a measured schedule; the others are predicted.
	Measured []string         `json:"measured,omitempty"`
	Terms    map[string]int64 `json:"terms,omitempty"` // the largest differences to the next best algorithm, by feature
	Text     string           `json:"text"`
}

// Of returns the inspection of the network that d describes, of all its layers or of those of one
// name. path is for messages. c, if not nil, is the network as it was compiled: it has schedules,
// and withIR adds the Funcs as text.
func Of(path string, d *describe.Artifact, c *compile.Compiled, layer string, withIR bool) (*Inspection, error) {
	in := &Inspection{Name: d.Name, Target: d.Target, Inputs: d.Inputs, Outputs: d.Outputs,
		WeightBytes: d.WeightBytes, Memory: memoryOf(d, c), Layers: []Layer{}}
	in.Workspace = in.Memory.Workspace
	if t, err := targets.Lookup(d.Target); err == nil {
		in.ClockMHz = t.ClockMHz
	}
	if c != nil {
		noted := false
		for _, name := range c.Graph.Inputs {
			in.InputNotes = append(in.InputNotes, c.Graph.Value(name).Note)
			noted = noted || c.Graph.Value(name).Note != ""
		}
		if !noted {
			in.InputNotes = nil
		}
		in.Roundings = explain.Roundings(c.Graph.Roundings)
	}
	var names []string
	for i, s := range d.Stages {
		l := layerOf(s)
		names = append(names, l.Names(s.Name)...)
		in.MACs += l.MACs
		in.FloatBytes += l.FloatBytes
		if l.MACs > 0 {
			in.Convolutions++
		}
		switch {
		case l.MACs == 0: // a part of a layer, which another part stands for
		case l.Integer:
			in.IntegerMACs += l.MACs
			in.Integers++
		case l.Kind == graph.Binary.String():
			in.BinaryMACs += l.MACs
			in.Bitserial++
		}
		if layer != "" && !l.IsCalled(s.Name, layer) {
			continue
		}
		if c != nil {
			if choice, own := c.Choices[c.Program.Stages[i].Func]; own {
				l.Strategy, l.LeftOut = &Strategy{choice.Strategy, choice.Values, choice.Origin}, choice.LeftOut
			}
		}
		if withIR {
			f := c.Program.Stages[i].Func
			l.Before, l.After = c.Program.FuncByName(f).String(), c.Scheduled.FuncByName(f).String()
		}
		in.Layers = append(in.Layers, l)
	}
	for i := range in.Layers {
		if in.MACs > 0 {
			in.Layers[i].Share = float64(in.Layers[i].MACs) / float64(in.MACs)
		}
	}
	in.Advice = []Advice{}
	for _, a := range explain.Advise(d.Stages) {
		in.Advice = append(in.Advice, Advice{Code: a.Reason.Code, Change: a.Change(), Layers: a.Layers,
			MACs: a.MACs, Share: float64(a.MACs) / float64(max(1, in.MACs))})
	}
	if len(in.Layers) == 0 && layer != "" {
		return nil, compile.UnknownLayer(path, layer, names)
	}
	return in, nil
}

// layerOf makes a Layer of a stage's description.
func layerOf(s describe.Stage) Layer {
	f := s.Layer
	l := Layer{
		Layer: f, Name: f.Title(s.Name), Op: s.Op, Integer: explain.Integer(f), Became: explain.Became(f),
		Changeable: explain.Changeable(f), Note: s.Note,
		Glue: explain.Glue(f.Glue), ByLane: s.ByLane, Reads: s.Reads, Writes: s.Writes, MACs: s.MACs,
		FloatBytes: f.FloatBytes, Kernel: s.Kernel, Trace: s.Trace,
	}
	if f.Reason.Code != "" {
		l.Reason = &Reason{f.Reason, f.Reason.Args, explain.Reason(f.Reason)}
	}
	if a := f.Algorithm; a.Name != "" {
		l.Algorithm, l.Why = a.Name, &Why{a.Why, a.Costs, a.Unit, a.Measured, a.Terms, explain.Algorithm(a)}
	}
	for _, t := range s.Reads {
		if n, err := runtime.OperandBytes(t); err == nil && t.Where == ir.ConstBuf.String() {
			l.WeightBytes += int64(n)
		}
	}
	return l
}
