package costmodel

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/dmitryikh/leaves"
)

// threads is the number of threads for training. One gives the same model each time. Tuners have
// too few samples for more.
const threads = 1

// missing marks features that a sample does not have.
func missing() float32 { return float32(math.NaN()) }

// objective is the loss that training minimizes, by XGBoost's name: of the squares of differences
// from labels.
const objective = "reg:squarederror"

// Sample is a candidate that a model learns.
type Sample struct {
	Features []float32 // NaN: the sample does not have the feature
	Label    float32   // the value to predict
}

// Options say how a model is trained.
type Options struct {
	Names  []string // of the features, in order
	Rounds int      // trees
	Depth  int      // of a tree
	Rate   float64  // learning rate
	// Subsample and Columns are the shares of samples and of features that a tree is made of, 0 for
	// all. Least is the weight of a leaf's samples, 0 for 1. Bins are those into which a feature's
	// values are sorted, 0 for 256.
	Subsample, Columns float64
	Least, Bins        int
}

// Model predicts labels. It never changes and may be used from several goroutines.
type Model struct {
	names    []string
	constant float32
	trees    []tree
	forest   *leaves.Ensemble
}

// Train makes a model of samples. It fails with *SamplesError if they are not valid, with
// *TrainError if XGBoost fails, and with ctx's error if that ends first. Equal samples and options
// give an equal model.
func (l *Library) Train(ctx context.Context, samples []Sample, o Options) (*Model, error) {
	s := l.session()
	defer s.close()
	return train(ctx, s, samples, o)
}

func train(ctx context.Context, s *session, samples []Sample, o Options) (*Model, error) {
	if err := o.check(samples); err != nil {
		return nil, err
	}
	columns := informativeFeatures(samples, len(o.Names))
	var features, labels []float32
	for _, sample := range samples {
		for _, f := range columns {
			features = append(features, sample.Features[f])
		}
		labels = append(labels, sample.Label)
	}
	constant := mean(labels)
	x := s.matrix(features, len(samples))
	s.floats(x, "label", labels)
	s.boost(o.params(constant))
	for i := range o.Rounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.round(i, x)
	}
	text := s.json()
	if s.err != nil {
		return nil, s.err
	}
	trees, err := parse(text, len(columns))
	if err != nil {
		return nil, err
	}
	for _, t := range trees {
		for i, f := range t.Feature {
			if f != leaf {
				t.Feature[i] = int32(columns[f])
			}
		}
	}
	return newModel(o.Names, constant, trees)
}

// check fails with *SamplesError if the options or the samples are not valid.
func (o Options) check(samples []Sample) error {
	switch {
	case len(samples) == 0:
		return &SamplesError{"no samples"}
	case len(o.Names) == 0 || o.Rounds < 1 || o.Depth < 1 || !(o.Rate > 0):
		return &SamplesError{"no features, rounds, depth or rate"}
	}
	for i, s := range samples {
		if len(s.Features) != len(o.Names) {
			return &SamplesError{fmt.Sprintf("sample %d has %d features of %d", i, len(s.Features), len(o.Names))}
		}
		if label := float64(s.Label); math.IsNaN(label) || math.IsInf(label, 0) {
			return &SamplesError{fmt.Sprintf("sample %d has the label %v", i, label)}
		}
		for _, v := range s.Features {
			if math.IsInf(float64(v), 0) {
				return &SamplesError{fmt.Sprintf("sample %d has a feature %v", i, v)}
			}
		}
	}
	return nil
}

// params returns the options by XGBoost's names. It also sets parameters with defaults that differ
// between versions.
func (o Options) params(constant float32) [][2]string {
	return [][2]string{
		{"verbosity", "0"}, {"nthread", strconv.Itoa(threads)}, {"tree_method", "hist"}, {"booster", "gbtree"},
		{"objective", objective}, {"base_score", strconv.FormatFloat(float64(constant), 'g', -1, 32)},
		{"max_depth", strconv.Itoa(o.Depth)}, {"eta", strconv.FormatFloat(o.Rate, 'g', -1, 64)},
		{"seed", "0"}, {"min_child_weight", strconv.Itoa(cmp.Or(o.Least, 1))},
		{"lambda", "1"}, {"max_bin", strconv.Itoa(cmp.Or(o.Bins, 256))},
		{"subsample", share(o.Subsample)}, {"colsample_bytree", share(o.Columns)},
	}
}

// share is x as XGBoost reads it, 1 if it is 0.
func share(x float64) string { return strconv.FormatFloat(cmp.Or(x, 1), 'g', -1, 64) }

// informativeFeatures returns the indices of the features that differ between samples, or the first
// feature if none does. No split asks for the others, and XGBoost would read them in each round.
func informativeFeatures(samples []Sample, width int) []int {
	var out []int
	for f := range width {
		first := samples[0].Features[f]
		// a feature with NaN differs
		if slices.ContainsFunc(samples, func(s Sample) bool { return s.Features[f] != first }) {
			out = append(out, f)
		}
	}
	if len(out) == 0 {
		out = append(out, 0)
	}
	return out
}

func mean(v []float32) float32 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x)
	}
	return float32(sum / float64(len(v)))
}

func newModel(names []string, constant float32, trees []tree) (*Model, error) {
	m := &Model{names: slices.Clone(names), constant: constant, trees: trees}
	var err error
	m.forest, err = leaves.XGEnsembleFromReader(bufio.NewReader(bytes.NewReader(m.binary())), false)
	if err != nil {
		return nil, errors.Join(formatf("leaves cannot read the converted model"), err)
	}
	return m, nil
}

// Predict returns the predicted label of each row of features, in the order of the Options.
// Each row must have all features.
func (m *Model) Predict(rows [][]float32) []float64 {
	out := make([]float64, len(rows))
	x := make([]float64, len(m.names))
	for i, r := range rows {
		for j := range x {
			x[j] = float64(r[j])
		}
		out[i] = m.forest.PredictSingle(x, 0)
	}
	return out
}

// Mean is a model with predictions that are the means of those of models, which have the same
// features. It knows no Importance.
func Mean(models ...*Model) (*Model, error) {
	var constant float32
	var trees []tree
	n := float32(len(models))
	for _, m := range models {
		constant += m.constant / n
		for _, t := range m.trees {
			t.Value, t.Gain = slices.Clone(t.Value), make([]float32, len(t.Gain))
			for i, f := range t.Feature {
				if f == leaf {
					t.Value[i] = short(t.Value[i] / n)
				}
			}
			trees = append(trees, t)
		}
	}
	return newModel(models[0].names, constant, trees)
}

// short is x with few digits, so that files are short.
func short(x float32) float32 {
	const steps = 1 << 16
	return float32(math.Round(float64(x)*steps)) / steps
}

// Importance is the contribution of a feature to a model.
type Importance struct {
	Feature string  `json:"feature"`
	Gain    float64 `json:"gain"`   // share of the loss that all splits remove
	Splits  int     `json:"splits"` // of trees
}

// Importance lists the features that splits of the model use, by falling gain.
func (m *Model) Importance() []Importance {
	all := make([]Importance, len(m.names))
	total := 0.0
	for i, n := range m.names {
		all[i].Feature = n
	}
	for _, t := range m.trees {
		for i, f := range t.Feature {
			if f >= 0 {
				all[f].Splits++
				all[f].Gain += float64(t.Gain[i])
				total += float64(t.Gain[i])
			}
		}
	}
	all = slices.DeleteFunc(all, func(i Importance) bool { return i.Splits == 0 })
	for i := range all {
		all[i].Gain /= max(total, math.SmallestNonzeroFloat64)
	}
	slices.SortStableFunc(all, func(a, b Importance) int { return cmp.Compare(b.Gain, a.Gain) })
	return all
}
