package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"ripc"
	"ripc/internal/files"
	"ripc/internal/human"
	"ripc/internal/tensorio"
	"ripc/runtime"
	"ripc/runtime/npy"
)

// outputOptions say where outputs are written and which numbers are printed.
type outputOptions struct {
	output string // folder for files, or ""
	top    int
	labels []string
	json   bool
}

// report writes outputs and prints a summary.
func (o outputOptions) report(cmd *cobra.Command, out *ripc.RunResult, seed uint64) error {
	if o.output != "" {
		if err := writeOutputs(o.output, out); err != nil {
			return err
		}
	}
	res, err := newRunResult(out, seed, o.output)
	if err != nil {
		return err
	}
	if o.top > 0 {
		if res.Top, err = topValues(out, o.top, o.labels); err != nil {
			return err
		}
	}
	if o.json {
		return printJSON(cmd.OutOrStdout(), res)
	}
	res.print(cmd.OutOrStdout(), o.output)
	return nil
}

// runResult is the result of `ripc run --json`.
type runResult struct {
	Model     string      `json:"model"`
	Target    string      `json:"target"` // empty for the interpreter
	Engine    string      `json:"engine"`
	Simulated bool        `json:"simulated"`
	Threads   int         `json:"threads"`
	Seed      uint64      `json:"seed"`
	Runs      int         `json:"runs"`
	MS        float64     `json:"ms"` // all runs together; of simulated code no measure of anything
	Outputs   []outputRow `json:"outputs"`
	Top       [][]ranked  `json:"top,omitempty"` // by row
}

// outputRow is one output. outputs.json has its name, type, shape and file, the screen its numbers
// too.
type outputRow struct {
	Name  string    `json:"name"`
	DType string    `json:"dtype"`
	Shape []int     `json:"shape"`
	File  string    `json:"file,omitempty"`
	Min   *float64  `json:"min,omitempty"`
	Max   *float64  `json:"max,omitempty"`
	First []float64 `json:"first,omitempty"`
}

// ranked is one of the largest values of a row.
type ranked struct {
	Index int     `json:"index"`
	Label string  `json:"label,omitempty"`
	Value float64 `json:"value"`
}

func outputFile(i int) string { return fmt.Sprintf("output_%d.npy", i) }

// writeOutputs fills dir, with all files or none.
func writeOutputs(dir string, r *ripc.RunResult) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	rows, written := []outputRow{}, []files.New{}
	for i, o := range r.Outputs {
		a, err := runtime.ToArray(o.Tensor, o.Data)
		if err != nil {
			return err
		}
		var file bytes.Buffer
		if err := a.Write(&file); err != nil {
			return err
		}
		written = append(written, files.New{Path: filepath.Join(dir, outputFile(i)), Data: file.Bytes(), Mode: 0o666})
		rows = append(rows, outputRow{Name: o.Tensor.Title(), DType: o.Tensor.DType, Shape: o.Tensor.Shape,
			File: outputFile(i)})
	}
	text, err := json.MarshalIndent(map[string]any{"model": r.Name, "outputs": rows}, "", "  ")
	if err != nil {
		return err
	}
	return files.ReplaceAll(append(written, files.New{Path: filepath.Join(dir, "outputs.json"),
		Data: append(text, '\n'), Mode: 0o666})...)
}

// values returns o's elements as numbers.
func values(o ripc.Output) ([]float64, error) {
	n, err := runtime.TensorBytes(o.Tensor)
	if err != nil || n != len(o.Data) {
		return nil, fmt.Errorf("output %s: %d bytes for shape %v (%v)", o.Tensor.Title(), len(o.Data), o.Tensor.Shape,
			err)
	}
	return (&npy.Array{DType: o.Tensor.DType, Data: o.Data}).Float64s()
}

func newRunResult(r *ripc.RunResult, seed uint64, dir string) (*runResult, error) {
	res := &runResult{Model: r.Name, Target: r.Target, Engine: r.Engine, Simulated: r.Simulated,
		Threads: r.Threads, Seed: seed, Runs: r.Runs, MS: r.Took.Seconds() * 1e3}
	for i, o := range r.Outputs {
		row := outputRow{Name: o.Tensor.Title(), DType: o.Tensor.DType, Shape: o.Tensor.Shape}
		if dir != "" {
			row.File = filepath.Join(dir, outputFile(i))
		}
		v, err := values(o)
		if err != nil {
			return nil, err
		}
		// JSON has neither
		finite := slices.DeleteFunc(v, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
		if len(finite) > 0 {
			lo, hi := slices.Min(finite), slices.Max(finite)
			row.Min, row.Max, row.First = &lo, &hi, finite[:min(5, len(finite))]
		}
		res.Outputs = append(res.Outputs, row)
	}
	return res, nil
}

// topValues ranks each row (all indices but the last) of the first output.
func topValues(r *ripc.RunResult, k int, labels []string) ([][]ranked, error) {
	v, err := values(r.Outputs[0])
	if err != nil {
		return nil, err
	}
	t := r.Outputs[0].Tensor
	n := 1
	if len(t.Shape) > 0 {
		n = t.Shape[len(t.Shape)-1]
	}
	if labels != nil && len(labels) != n {
		return nil, usagef("--labels: %s for rows of %s", human.Count(len(labels), "line"), human.Count(n, "value"))
	}
	rows := [][]ranked{}
	for row := range slices.Chunk(v, max(n, 1)) {
		var all []ranked
		for i, x := range row {
			e := ranked{Index: i, Value: x}
			if labels != nil {
				e.Label = labels[i]
			}
			all = append(all, e)
		}
		slices.SortStableFunc(all, func(a, b ranked) int {
			switch {
			case a.Value > b.Value:
				return -1
			case a.Value < b.Value:
				return 1
			}
			return 0
		})
		rows = append(rows, all[:min(k, len(all))])
	}
	return rows, nil
}

// print writes the summary for people.
func (r *runResult) print(w io.Writer, dir string) {
	for i, o := range r.Outputs {
		fmt.Fprintf(w, "output %d  %s: %s %s", i, o.Name, o.DType, tensorio.ShapeText(o.Shape))
		if o.Min != nil {
			fmt.Fprintf(w, "  min %.6g  max %.6g  first", *o.Min, *o.Max)
			for _, v := range o.First {
				fmt.Fprintf(w, " %.6g", v)
			}
		}
		fmt.Fprintln(w)
	}
	for i, row := range r.Top {
		fmt.Fprintf(w, "row %d:", i)
		for _, e := range row {
			name := fmt.Sprint(e.Index)
			if e.Label != "" {
				name += " " + e.Label
			}
			fmt.Fprintf(w, "  %s (%.6g)", name, e.Value)
		}
		fmt.Fprintln(w)
	}
	if dir != "" {
		fmt.Fprintf(w, "wrote %s to %s\n", human.Count(len(r.Outputs), "output"), dir)
	}
}
