package ripc

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ripc/codegen"
	"ripc/ir"
	"ripc/lower/ops"
	"ripc/runtime"
	"ripc/runtime/describe"
)

// ParseEmit reads a list of kinds of files, such as "so,h", for Options.Emit.
func ParseEmit(list string) ([]codegen.Kind, error) { return codegen.ParseKinds(list) }

// Inspection is what became of a model's layers.
type Inspection struct {
	Name       string            `json:"name"`
	Target     string            `json:"target"`
	Inputs     []describe.Tensor `json:"inputs"`
	Outputs    []describe.Tensor `json:"outputs"`
	Layers     []Layer           `json:"layers"`
	MACs       int64             `json:"macs"`
	BinaryMACs int64             `json:"binary_macs"`
	// Convolutions counts the convolutions and dense layers, Bitserial those of them that are bitserial.
	Convolutions int   `json:"convolutions"`
	Bitserial    int   `json:"bitserial"`
	WeightBytes  int64 `json:"weight_bytes"` // constants that layers share count once
	FloatBytes   int64 `json:"float_bytes"`  // the same layers' weights as f32
	ArenaBytes   int64 `json:"arena_bytes"`
}

// Layer is one stage.
type Layer struct {
	Name string `json:"name"`
	Op   string `json:"op"`
	// Became is "binary NxM" (N bits of activations, M of weights), "float", "bits" (glue on packed bits, or into or out
	// of them) or "float glue".
	Became      string            `json:"became"`
	Note        string            `json:"note,omitempty"` // what it became, or why it stays float
	Glue        string            `json:"glue,omitempty"` // what follows the sums
	Reads       []describe.Tensor `json:"reads"`
	Writes      []describe.Tensor `json:"writes"`
	MACs        int64             `json:"macs"`
	Share       float64           `json:"share"` // of the MACs of the network, 0 to 1
	WeightBytes int64             `json:"weight_bytes"`
	FloatBytes  int64             `json:"float_bytes"`
	Kernel      string            `json:"kernel"`
	Trace       []string          `json:"trace"`
	Before      string            `json:"ir_before,omitempty"` // .ripir before and after scheduling
	After       string            `json:"ir_after,omitempty"`
}

// Inspect looks into a model, compiled up to its schedules, or into an artifact. If layer is not "" only layers of that
// name are listed. withIR adds the layers' Funcs as text, which artifacts do not have.
func Inspect(ctx context.Context, path string, o Options, layer string, withIR bool) (*Inspection, error) {
	var d *describe.Artifact
	var c *Compiled
	var err error
	if IsArtifact(path) {
		if withIR {
			return nil, &ir.Error{Pos: ir.Pos{File: path}, Op: "--ir", Msg: "an artifact does not carry its IR", Help: "inspect the model"}
		}
		d, err = runtime.ReadDescription(path)
	} else {
		o.Emit = nil
		if c, err = Compile(ctx, path, o); err == nil {
			d = codegen.Describe(c.Artifact())
		}
	}
	if err != nil {
		return nil, err
	}
	return inspection(path, d, c, layer, withIR)
}

// InspectCompiled is Inspect for a model that is compiled already.
func InspectCompiled(c *Compiled) *Inspection {
	in, err := inspection(c.Graph.File, codegen.Describe(c.Artifact()), c, "", false)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return in
}

// inspection reads d; c is nil for artifacts.
func inspection(path string, d *describe.Artifact, c *Compiled, layer string, withIR bool) (*Inspection, error) {
	in := &Inspection{Name: d.Name, Target: d.Target, Inputs: d.Inputs, Outputs: d.Outputs, WeightBytes: d.WeightBytes, ArenaBytes: d.ArenaBytes, Layers: []Layer{}}
	var names []string
	for i, s := range d.Stages {
		l := layerOf(s)
		names = append(names, l.Name)
		in.MACs += l.MACs
		in.FloatBytes += l.FloatBytes
		if l.MACs > 0 {
			in.Convolutions++
		}
		if strings.HasPrefix(l.Became, "binary") {
			in.BinaryMACs += l.MACs
			in.Bitserial++
		}
		if layer != "" && layer != l.Name {
			continue
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
	if len(in.Layers) == 0 && layer != "" {
		return nil, &ir.Error{Pos: ir.Pos{File: path}, Msg: fmt.Sprintf("no layer is called %q", layer), Help: "there are " + strings.Join(names, ", ")}
	}
	return in, nil
}

// layerOf reads what a stage is off its description.
func layerOf(s describe.Stage) Layer {
	l := Layer{Name: s.Name, Op: s.Op, Became: "float glue", Note: s.Note, Glue: s.Glue, Reads: s.Reads, Writes: s.Writes, MACs: s.MACs, Kernel: s.Kernel, Trace: s.Trace}
	packed := func(t describe.Tensor) bool { return t.Packed }
	switch {
	case s.MACs > 0 && packed(s.Reads[0]):
		l.Became = fmt.Sprintf("binary %dx%d", s.Reads[0].Bits, weightPlanes(s))
	case s.MACs > 0:
		l.Became = "float"
	case slices.ContainsFunc(s.Reads, packed) || slices.ContainsFunc(s.Writes, packed):
		l.Became = "bits"
	}
	for _, t := range s.Reads {
		if n, err := runtime.TensorBytes(t); err == nil && t.Where == ir.ConstBuf.String() {
			l.WeightBytes += int64(n)
			l.FloatBytes += floatBytes(s, t)
		}
	}
	return l
}

// floatBytes is the size of constant t as f32. Weights [KH, KW, channels or words of them, outputs] are stored with their
// channels packed (binary layers) and with outputs that only fill up words.
func floatBytes(s describe.Stage, t describe.Tensor) int64 {
	elems := int64(1)
	for _, d := range t.Shape {
		elems *= int64(d)
	}
	if s.MACs == 0 || len(t.Shape) < 4 {
		return 0 // thresholds and shifts have no counterpart: float glue is folded as well
	}
	x, y := s.Reads[0], s.Writes[0]
	channels, outputs := t.Shape[2], t.Shape[len(t.Shape)-1]
	if x.Packed {
		channels = min(x.Channels, channels*ops.WordBits)
	}
	if y.Packed {
		outputs = min(outputs, y.Channels)
	}
	return 4 * int64(t.Shape[0]*t.Shape[1]) * int64(channels) * int64(outputs)
}

// weightPlanes is the number of planes of a binary layer's weights, which have an axis of their own if there are several.
func weightPlanes(s describe.Stage) int {
	for _, t := range s.Reads[1:] {
		if len(t.Shape) == 5 && t.Where == ir.ConstBuf.String() {
			return t.Shape[3]
		}
	}
	return 1
}
