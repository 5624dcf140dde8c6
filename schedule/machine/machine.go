// Package machine predicts the cost of a scheduled Func on a machine. A machine is a file in data: a price for each count of
// features.Counts, fitted to layers drawn at random (go run ./examples/costs learn). None of its numbers stands in code.
package machine

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"ripc/ir"
	"ripc/schedule/features"
	"ripc/targets"
)

//go:embed data
var files embed.FS

// Weights are the contents of a machine's file.
type Weights struct {
	Target string `json:"target"`
	Unit   string `json:"unit"` // of costs, such as "instructions"
	// Date, Commit and Tool tell the origin of the measurements: the day, the code, and the tool that counted or timed.
	Date   string `json:"date"`
	Commit string `json:"commit"`
	Tool   string `json:"tool"`
	// Networks and Points are the numbers of measured networks and stages. Error is the model's on networks that a fit has not seen.
	Networks int   `json:"networks"`
	Points   int   `json:"points"`
	Error    Error `json:"error"`
	// Choice judges compile's choices by the model, on networks that the fit has not seen.
	Choice Choice `json:"choice"`
	// Terms are the prices of counts, by name. A price of 0 is left out.
	Terms map[string]float64 `json:"terms"`
}

// Error is quantiles of |predicted/measured - 1|.
type Error struct {
	Median float64 `json:"median"`
	P90    float64 `json:"p90"`
}

// Choice compares chosen algorithms with the best single algorithm for all layers of a network that it applies to. Mean and Worst are
// the geometric mean and the largest of the ratios of measured costs. Usual is the mean ratio of popcount for all layers.
type Choice struct {
	Networks int     `json:"networks"`
	Mean     float64 `json:"mean"`
	Worst    float64 `json:"worst"`
	Usual    float64 `json:"usual"`
}

// Model predicts costs on a target. It may be used from several goroutines.
type Model struct {
	Weights
	describe *features.Describer
	prices   []float64 // in the order of the Describer's counts
}

// Of is the model of t. ok is false where none was fitted.
func Of(t targets.Target) (m *Model, ok bool, err error) {
	data, err := files.ReadFile("data/" + t.Name + ".json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	var w Weights
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&w); err != nil {
		return nil, false, fmt.Errorf("schedule/machine/data/%s.json: %w", t.Name, err)
	}
	m, err = New(t, w)
	return m, err == nil, err
}

// New is the model of t with weights. It fails if these name what is not counted.
func New(t targets.Target, w Weights) (*Model, error) {
	m := &Model{Weights: w, describe: features.For(t)}
	names := m.describe.CountNames()
	for name := range w.Terms {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("the weights of %s have a term %q, which is not counted: fit them anew (go run ./examples/costs learn -target %s)", w.Target, name, w.Target)
		}
	}
	for _, n := range names {
		m.prices = append(m.prices, w.Terms[n])
	}
	return m, nil
}

// Cost is the predicted cost of a scheduled Func, in m.Unit.
func (m *Model) Cost(f *ir.Func) float64 {
	sum := 0.0
	for i, n := range m.describe.Counts(f) {
		sum += n * m.prices[i]
	}
	return sum
}
