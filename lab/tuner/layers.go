package tuner

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"ripc/autotune/space"
	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/stop"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/targets"
)

//go:embed tasks.json
var tasksText []byte

// row is a convolution of 3x3 or 1x1 windows, padded to keep its size: a small layer. The rules
// behind its default schedule were made for others.
type row struct {
	Name      string `json:"name"`
	Target    string `json:"target"`
	Bits      int    `json:"bits"` // of its levels; 0 for a layer over real numbers
	Algorithm string `json:"algorithm"`
	Size      int    `json:"size"` // rows and columns of the image
	In        int    `json:"in"`   // channels
	Out       int    `json:"out"`
	Window    int    `json:"window"`
	Groups    int    `json:"groups"`
	OutBits   int    `json:"out_bits"` // of the levels that it makes; 0: floats
}

// rows are the tasks that are committed.
func rows() ([]row, error) {
	var all []row
	return all, json.Unmarshal(tasksText, &all)
}

// layer is a row with its space.
type layer struct {
	row
	space *space.Space
}

// open makes the layer of a row.
func (r row) open() (_ *layer, err error) {
	defer stop.Catch(&err)
	t := stop.Must(targets.Lookup(r.Target))
	by := stop.Must(layout.ParseAlgorithm(r.Algorithm))
	a := &graph.FusedConv{KH: r.Window, KW: r.Window, SH: 1, SW: 1, In: r.In, Out: r.Out, Groups: r.Groups}
	p := r.Window / 2
	a.Pad = graph.Padding{Mode: graph.PadExplicit, Top: p, Bottom: p, Left: p, Right: p}
	x := graph.Value{Name: "x", Shape: []int{1, r.Size, r.Size, r.In}}
	e := &a.Epilogue
	if r.Bits > 0 {
		x.LevelType = scalar.LevelType{Enc: ir.Bipolar, Bits: r.Bits}
		a.X, a.W = graph.IntegersOf(x.LevelType), graph.Integers{Min: -1, Max: 1, Step: 2}
		a.PadValue = a.X.Max
	} else {
		a.Bias = make([]float32, r.Out)
	}
	switch {
	case r.OutBits > 0 && r.Bits > 0:
		e.OutBits, e.OutEnc = r.OutBits, ir.Bipolar
		for range 1<<r.OutBits - 1 {
			e.Thresholds = append(e.Thresholds, make([]int32, r.Out))
		}
	case r.OutBits > 0:
		e.OutBits, e.OutEnc, e.Levels = r.OutBits, ir.Bipolar, make([]float32, 1<<r.OutBits-1)
	default:
		e.Steps = []scalar.Step{{Kind: scalar.Relu}}
	}
	f, _ := ops.Conv(layout.NewConv(a, x, t, by), ops.Slice{})
	f.Name = "layer"
	stage := ir.Stage{Name: r.Name, Op: "conv2d", MACs: int64(r.Size * r.Size * r.Out * r.In / max(1,
		r.Groups) * r.Window * r.Window)}
	stage.Layer.Algorithm.Name = r.Algorithm
	s, err := space.New(space.TaskOf(f, t, stage, nil))
	if err != nil {
		return nil, fmt.Errorf("task %s: %w", r.Name, err)
	}
	return &layer{row: r, space: s}, nil
}
