package search

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"fmt"
	"io"
	"strings"
	"sync"

	"ripc/autotune/space"
	"ripc/schedule/costmodel"
	"ripc/schedule/features"
)

// looker gives the features of the candidates of a space.
type looker struct {
	names    []string
	describe *features.Describer
	from     []float32 // of the default schedule; 0 of what is not given by it
}

func newLooker(s *space.Space) (*looker, error) {
	d, err := s.Default()
	if err != nil {
		return nil, err
	}
	l := &looker{names: ModelFeatures(), describe: features.For(s.Task.Target)}
	l.from = l.describe.Of(d.Func, d.Point.Values)
	for i, n := range features.Names() {
		if ofTarget(n) {
			l.from[i] = 0
		}
	}
	return l, nil
}

// ofTarget says that a feature is the target's, which has all schedules.
func ofTarget(name string) bool { return strings.HasPrefix(name, "target.") }

// ModelFeatures are the names of the features of models that searches use: by how much what package features says of a candidate differs
// from what it says of the default schedule. Most are logarithms, so these are ratios, which mean the same in layers of any size: what is
// learned of some layers holds for others. Figures of the target are as they are.
func ModelFeatures() []string {
	names := features.Names()
	for i, n := range names {
		if !ofTarget(n) {
			names[i] = n + "/default"
		}
	}
	return names
}

func (l *looker) features(c space.Candidate) []float32 {
	x := l.describe.Of(c.Func, c.Point.Values)
	for i, v := range l.from {
		x[i] -= v
	}
	return x
}

// Measured are candidates of a space with what they cost.
type Measured struct {
	Space    *space.Space
	Outcomes []Outcome
}

// Learn makes a model of what was measured in several spaces, of any targets, for searches in others (Options.Model). base, if not nil, is
// what was known before. It fails as costmodel.Library.Train.
func Learn(ctx context.Context, l *costmodel.Library, base *costmodel.Model, all []Measured) (*costmodel.Model, error) {
	var samples []costmodel.Sample
	for i, m := range all {
		look, err := newLooker(m.Space)
		if err != nil {
			return nil, err
		}
		for _, o := range m.Outcomes {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			samples = append(samples, o.sample(look.features(o.Candidate), fmt.Sprint(i)))
		}
	}
	o := costmodel.Defaults(ModelFeatures())
	o.Base = base
	return l.Train(ctx, samples, o)
}

//go:embed model.json.gz
var shipped []byte

// Shipped is the model that comes with ripc, of the tasks of bench/tuner. It fails with *costmodel.FormatError if it was made for other
// features than there are now: make bench-tuner makes it anew.
func Shipped() (*costmodel.Model, error) { return decodeShipped() }

// decodeShipped reads it once, for the searches of all tasks.
var decodeShipped = sync.OnceValues(func() (*costmodel.Model, error) {
	z, err := gzip.NewReader(bytes.NewReader(shipped))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	return costmodel.Decode(text, ModelFeatures())
})
