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

// Objective is the training objective of a model.
type Objective string

// The objectives, by XGBoost's names.
const (
	// Rank learns which of two candidates of a group is the better one.
	Rank Objective = "rank:pairwise"
	// Squared learns the score itself.
	Squared Objective = "reg:squarederror"
)

// Sample is a candidate that was measured.
type Sample struct {
	Features []float32 // NaN: the sample does not have the feature
	// Cost was measured, in any unit that all samples of the group share. 0 means failure, which
	// ranks last.
	Cost  float64
	Label float32 // the value to learn, where Options.Labels says so
	// Group names the task. Costs are comparable within a group only.
	Group string
}

// Options say how a model is trained.
type Options struct {
	Objective Objective
	Names     []string // of the features, in order
	Rounds    int      // trees
	Depth     int      // of a tree
	Rate      float64  // learning rate
	// Labels says that each sample's Label is learned, in place of a score by its Cost. The
	// objective is Squared.
	Labels bool
	// Subsample and Columns are the shares of samples and of features that a tree is made of, 0 for
	// all. Least is the weight of a leaf's samples, 0 for 1. Bins are those into which a feature's
	// values are sorted, 0 for 256.
	Subsample, Columns float64
	Least, Bins        int
}

// Defaults are the options for features of the given names.
func Defaults(names []string) Options {
	return Options{Objective: Rank, Names: names, Rounds: 60, Depth: 5, Rate: 0.2}
}

// Model predicts scores. It never changes and may be used from several goroutines.
type Model struct {
	objective Objective
	names     []string
	constant  float32
	trees     []tree
	forest    *leaves.Ensemble
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
	d := newData(samples, columns, o.Labels)
	constant := float32(0)
	if o.Objective == Squared {
		constant = mean(d.scores)
	}
	x := s.matrix(d.features, len(samples))
	s.floats(x, "label", d.scores)
	if o.Objective == Rank {
		s.groups(x, d.sizes)
	}
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
	return newModel(o.Objective, o.Names, constant, trees)
}

// check fails with *SamplesError if the options or the samples are not valid.
func (o Options) check(samples []Sample) error {
	switch {
	case len(samples) == 0:
		return &SamplesError{"no samples"}
	case o.Objective != Rank && o.Objective != Squared:
		return &SamplesError{fmt.Sprintf("no objective %q", o.Objective)}
	case len(o.Names) == 0 || o.Rounds < 1 || o.Depth < 1 || !(o.Rate > 0):
		return &SamplesError{"no features, rounds, depth or rate"}
	case o.Labels && o.Objective != Squared:
		return &SamplesError{"labels are learned by the objective " + string(Squared)}
	}
	for i, s := range samples {
		if len(s.Features) != len(o.Names) {
			return &SamplesError{fmt.Sprintf("sample %d has %d features of %d", i, len(s.Features), len(o.Names))}
		}
		if !(s.Cost >= 0) || math.IsInf(s.Cost, 0) {
			return &SamplesError{fmt.Sprintf("sample %d costs %v", i, s.Cost)}
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
		{"objective", string(o.Objective)}, {"base_score", strconv.FormatFloat(float64(constant), 'g', -1, 32)},
		{"max_depth", strconv.Itoa(o.Depth)}, {"eta", strconv.FormatFloat(o.Rate, 'g', -1, 64)},
		{"seed", "0"}, {"min_child_weight", strconv.Itoa(cmp.Or(o.Least, 1))},
		{"lambda", "1"}, {"max_bin", strconv.Itoa(cmp.Or(o.Bins, 256))},
		{"subsample", share(o.Subsample)}, {"colsample_bytree", share(o.Columns)},
	}
}

// share is x as XGBoost reads it, 1 if it is 0.
func share(x float64) string { return strconv.FormatFloat(cmp.Or(x, 1), 'g', -1, 64) }

// data holds samples in the layout of XGBoost, sorted by group.
type data struct {
	features []float32
	scores   []float32
	sizes    []uint32
}

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

func newData(samples []Sample, columns []int, labels bool) data {
	order := map[string]int{}
	best := map[string]float64{}
	for _, s := range samples {
		if _, ok := order[s.Group]; !ok {
			order[s.Group] = len(order)
		}
		if b := best[s.Group]; s.Cost > 0 && (b == 0 || s.Cost < b) {
			best[s.Group] = s.Cost
		}
	}
	sorted := slices.Clone(samples)
	slices.SortStableFunc(sorted, func(a, b Sample) int { return cmp.Compare(order[a.Group], order[b.Group]) })
	d := data{features: make([]float32, 0, len(samples)*len(columns)), sizes: make([]uint32, len(order))}
	for _, s := range sorted {
		for _, f := range columns {
			d.features = append(d.features, s.Features[f])
		}
		d.sizes[order[s.Group]]++
		score := float32(0)
		if s.Cost > 0 {
			score = float32(best[s.Group] / s.Cost)
		}
		if labels {
			score = s.Label
		}
		d.scores = append(d.scores, score)
	}
	return d
}

func mean(v []float32) float32 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x)
	}
	return float32(sum / float64(len(v)))
}

func newModel(o Objective, names []string, constant float32, trees []tree) (*Model, error) {
	m := &Model{objective: o, names: slices.Clone(names), constant: constant, trees: trees}
	var err error
	m.forest, err = leaves.XGEnsembleFromReader(bufio.NewReader(bytes.NewReader(m.binary())), false)
	if err != nil {
		return nil, errors.Join(formatf("leaves cannot read the converted model"), err)
	}
	return m, nil
}

// Predict returns the score of each row of features, in the order of the Options. Higher is better.
// Scores of Rank are comparable within a group only. Scores of Squared are speeds relative
// to the group's best. Each row must have all features.
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

// Mean is a model with scores that are the means of those of models, which have the same features.
// It knows no Importance.
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
	return newModel(models[0].objective, models[0].names, constant, trees)
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
