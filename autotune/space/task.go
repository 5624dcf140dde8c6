package space

import (
	"fmt"
	"strings"

	"ripc/autotune/records"
	"ripc/ir"
	"ripc/targets"
)

// Task is a kernel that is to be made fast: the Func of one layer, or of several equal ones, for
// one target.
type Task struct {
	Workload records.Workload
	Func     *ir.Func // the definition
	Target   targets.Target
	// Algorithm is the layout.Algorithm by which the Func computes its layer, "" of stages without
	// a choice.
	Algorithm string
	// Stage is the first of the network's stages that the Func is for, and Constants are the
	// contents of its parameters that are constants.
	Stage     ir.Stage
	Constants map[string][]byte
	// Layers are the names of all stages that it is for.
	Layers []string
}

// TaskOf is the task to schedule f, by which a stage with these constants is computed.
func TaskOf(f *ir.Func, t targets.Target, s ir.Stage, constants map[string][]byte) *Task {
	return &Task{Workload: WorkloadOf(f, s), Func: f, Target: t, Algorithm: s.Layer.Algorithm.Name, Stage: s,
		Constants: constants, Layers: []string{s.Layer.Title(s.Name)}}
}

// WorkloadOf describes the computation of f, as records name it. s is the stage that it is for. The
// key is a hash of f's text without its name and comments: names of loops and buffers count, since
// the steps of a trace are about these.
func WorkloadOf(f *ir.Func, s ir.Stage) records.Workload {
	return records.Workload{Op: s.Op, Shape: shapeText(f, s.Layer), Key: f.Key(), MACs: s.MACs}
}

// shapeText is, for people, "28x28x128 -> 28x28x64, 3x3, 1 bit by 2": images, window, and bits of
// activations and weights.
func shapeText(f *ir.Func, l ir.Layer) string {
	var in, out string
	for i, p := range f.Params {
		switch {
		case i == 0:
			in = imageText(p.Buffer)
		case p.Out && out == "":
			out = imageText(p.Buffer)
		}
	}
	text := in + " -> " + out
	window := map[ir.Axis]int{}
	for l := range ir.StmtsOf[*ir.For](f.Body) {
		if window[l.Axis] == 0 {
			window[l.Axis] = l.Extent
		}
	}
	if h, w := window[ir.TapRow], window[ir.TapCol]; h > 0 && w > 0 {
		text += fmt.Sprintf(", %dx%d", h, w)
	}
	if l.WeightBits > 0 {
		text += ", " + BitsText(l)
	}
	return text
}

// BitsText is, for people, "2 bits by 1": activations and weights.
func BitsText(l ir.Layer) string {
	if l.ActivationBits == 1 {
		return fmt.Sprintf("1 bit by %d", l.WeightBits)
	}
	return fmt.Sprintf("%d bits by %d", l.ActivationBits, l.WeightBits)
}

// imageText is ImageText of a buffer.
func imageText(b ir.Buffer) string {
	shape := b.Shape
	if b.Enc.Kind != ir.NoEncoding && len(shape) > 1 { // [planes, ..., words]
		shape = append(append([]int{}, shape[1:len(shape)-1]...), b.Enc.Channels)
	}
	return ImageText(shape)
}

// ImageText is, for people, the shape of a tensor without a batch of 1: "28x28x128".
func ImageText(shape []int) string {
	if len(shape) > 1 && shape[0] == 1 {
		shape = shape[1:]
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", "x"), "[]")
}
