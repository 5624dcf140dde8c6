package ripc

import (
	"context"

	"ripc/eval"
	"ripc/ir"
	"ripc/runtime/npy"
)

// EvalRequest says how a classifier is evaluated.
type EvalRequest struct {
	// Run names the network and its inputs, and says how to run it.
	Run RunRequest
	// Labels is a .npy file of whole numbers: the true class of each picture. "" is none.
	Labels string
	// Expect is a .npy file of the expected first output, "" for none. Tolerance is the largest
	// distance allowed.
	Expect    string
	Tolerance float64
}

// EvalResult is the result of Eval.
type EvalResult = eval.Result

// Eval runs a network on pictures and compares its first output with labels and expected outputs.
// It fails with *ir.Error where a file does not fit the network or the other files.
func Eval(ctx context.Context, r EvalRequest) (*EvalResult, error) {
	var labels, expected []float64
	var labelShape []int
	var err error
	if r.Labels != "" {
		if labels, labelShape, err = readNumbers(r.Labels); err != nil {
			return nil, err
		}
	}
	if r.Expect != "" {
		if expected, _, err = readNumbers(r.Expect); err != nil {
			return nil, err
		}
	}
	out, err := Run(ctx, r.Run)
	if err != nil {
		return nil, err
	}
	o := out.Outputs[0]
	got, err := (&npy.Array{DType: o.Tensor.DType, Data: o.Data}).Float64s()
	if err != nil {
		return nil, err
	}
	res := &EvalResult{Name: out.Name, Target: out.Target, Engine: out.Engine, Simulated: out.Simulated}
	if len(o.Tensor.Shape) > 0 {
		res.Images = o.Tensor.Shape[0]
	}
	if res.Images < 1 || len(got) == 0 {
		return nil, notComparable(r.Run.Path, "the first output has no row for each picture")
	}
	res.Classes = len(got) / res.Images
	partial := r.Run.First > 0
	if labels != nil {
		if err := res.CompareLabels(o.Tensor, got, labels, labelShape, partial); err != nil {
			return nil, notComparable(r.Labels, err.Error())
		}
	}
	if expected != nil {
		if err := res.CompareOutputs(got, expected, r.Tolerance, partial); err != nil {
			return nil, notComparable(r.Expect, err.Error())
		}
		res.Difference.Steps = append([]string{}, out.Steps...)
	}
	return res, nil
}

// notComparable says that a file does not fit the network or the other files.
func notComparable(file, msg string) error {
	return &ir.Error{Msg: "cannot compare: " + file + ": " + msg}
}

// readNumbers reads the numbers and the shape of an array.
func readNumbers(path string) (numbers []float64, shape []int, err error) {
	a, err := npy.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	numbers, err = a.Float64s()
	return numbers, a.Shape, err
}
