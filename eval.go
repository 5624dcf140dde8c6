package ripc

import (
	"context"

	"ripc/eval"
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

// EvalError says that a file does not fit the network or the other files.
type EvalError struct{ File, Msg string }

func (e *EvalError) Error() string { return "cannot compare: " + e.File + ": " + e.Msg }

// BadInput reports that the input is at fault.
func (*EvalError) BadInput() bool { return true }

// Eval runs a network on pictures and compares its first output with labels and expected outputs.
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
		return nil, &EvalError{r.Run.Path, "the first output has no row for each picture"}
	}
	res.Classes = len(got) / res.Images
	partial := r.Run.First > 0
	if labels != nil {
		if err := res.CompareLabels(o.Tensor, got, labels, labelShape, partial); err != nil {
			return nil, &EvalError{r.Labels, err.Error()}
		}
	}
	if expected != nil {
		if err := res.CompareOutputs(got, expected, r.Tolerance, partial); err != nil {
			return nil, &EvalError{r.Expect, err.Error()}
		}
		res.Difference.Steps = append([]string{}, out.Steps...)
	}
	return res, nil
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
