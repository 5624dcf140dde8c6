package machine

import (
	"context"
	"math"
	"slices"

	"ripc/internal/lists"
	"ripc/ir"
	"ripc/schedule/costmodel"
	"ripc/schedule/features"
	"ripc/targets"
)

// A sieve guesses the costs of points before there is a Func, from the definition and the values of
// knobs. It learns from the model itself.

// Sifts reports whether m has a sieve.
func (m *Model) Sifts() bool { return m.trees().sieve != nil }

// Definition is a Func without a schedule, as a sieve sees it.
type Definition struct {
	describe *features.Describer
	features []float32
	extents  map[ir.Axis]float64 // the largest of each axis
	cores    float64
}

// Define describes a Func without a schedule.
func (m *Model) Define(f *ir.Func) Definition { return define(m.describe, m.target, f) }

func define(d *features.Describer, t targets.Target, f *ir.Func) Definition {
	def := Definition{describe: d, features: d.Of(f, nil), extents: map[ir.Axis]float64{},
		cores: float64(max(1, t.Cores))}
	for l := range ir.StmtsOf[*ir.For](f.Body) {
		def.extents[l.Axis] = max(def.extents[l.Axis], float64(l.Extent))
	}
	return def
}

// Sketch is a schedule that there is no Func of.
type Sketch struct {
	Strategy string
	Values   map[string]int // of knobs
	features []float32      // of its definition, with Values, and the extents that follow from them
	extents  []float64      // of axes
}

// Sketch is a point of the space of a strategy.
func (d Definition) Sketch(strategy string, values map[string]int) Sketch {
	s := Sketch{Strategy: strategy, Values: values, features: d.describe.Turn(d.features, values)}
	for _, a := range axes() {
		s.extents = append(s.extents, d.extents[a])
		s.features = append(s.features, float32(math.Log2(1+d.extents[a])))
	}
	for _, c := range cuts() {
		n, ok := values[c.knob]
		if extent := d.extents[c.axis]; ok && n > 0 && extent > 0 {
			parts := math.Ceil(extent / float64(n))
			turns := math.Ceil(parts/d.cores) * d.cores / parts
			s.features = append(s.features, float32(math.Log2(extent/float64(n))), float32(parts*float64(n)/extent),
				float32(turns))
		} else {
			s.features = append(s.features, none, none, none)
		}
	}
	return s
}

var none = float32(math.NaN()) // the feature of a knob or extent that a point does not have

// axes are those with extents that a sieve asks for.
func axes() []ir.Axis {
	return []ir.Axis{ir.Batch, ir.Row, ir.Col, ir.Channel, ir.Word, ir.Bit, ir.TapRow, ir.TapCol, ir.Reduce, ir.Plane,
		ir.WeightPlane}
}

// cut is a knob with a value that cuts loops of an axis.
type cut struct {
	knob string
	axis ir.Axis
}

func cuts() []cut {
	return []cut{
		{"tile_h", ir.Row}, {"tile_w", ir.Col}, {"width", ir.Col}, {"lanes", ir.Channel}, {"filters", ir.Channel},
		{"vectors", ir.Channel},
		{"part", ir.Bit}, {"blocks", ir.Word}, {"words", ir.Reduce}, {"run", ir.Reduce},
	}
}

// sieveQuestions are the names of a sieve's features.
func sieveQuestions(strategies []string) []string {
	names := features.Names()
	for _, a := range axes() {
		names = append(names, "extent."+a.String())
	}
	for _, c := range cuts() {
		names = append(names, "parts."+c.knob, "waste."+c.knob, "turns."+c.knob)
	}
	for _, s := range strategies {
		names = append(names, "strategy."+s)
	}
	return names
}

// guess are the answers of a sketch.
func (m *Model) guess(s Sketch) []float32 {
	x := slices.Clone(s.features)
	for _, name := range m.Strategies {
		is := float32(0)
		if name == s.Strategy {
			is = 1
		}
		x = append(x, is)
	}
	return x
}

// work is the logarithm of the work of a sketch's definition.
func (m *Model) work(s Sketch) float64 {
	return math.Ln2 * float64(s.features[m.worked])
}

// Sift is, of each sketch, a number that is less where Predict times Turns is expected to be less;
// 0 where m has no sieve.
func (m *Model) Sift(sketches []Sketch) []float64 {
	if !m.Sifts() {
		return make([]float64, len(sketches))
	}
	out := m.trees().sieve.Predict(lists.Map(sketches, m.guess))
	for i, s := range sketches {
		out[i] += m.work(s)
	}
	return out
}

// Guess is a sample that a sieve learns: a point's sketch, and the model's Predict times Turns.
type Guess struct {
	Group    string // the layer that it is of
	features []float32
	Label    float32
}

// Guess is that of a point with a Func.
func (m *Model) Guess(p Point) Guess {
	return Guess{p.Group, m.guess(p.Sketch), float32(math.Log(m.Predict(p)*m.Turns(p)) - m.work(p.Sketch))}
}

// Unbuilt is the sample of a point without a Func. The caller sets its Label.
func (m *Model) Unbuilt(group string, s Sketch) Guess {
	return Guess{Group: group, features: m.guess(s)}
}

// LearnSieve makes m's sieve of m's predictions for other points: as many as there is time to
// build, since none is measured.
func (m *Model) LearnSieve(ctx context.Context, l *costmodel.Library, guesses []Guess) error {
	trees := m.trees()
	var err error
	trees.sieve, err = trainSieve(ctx, l, m.Strategies, guesses)
	m.setTrees(trees)
	return err
}

func trainSieve(ctx context.Context, l *costmodel.Library, strategies []string,
	guesses []Guess) (*costmodel.Model, error) {
	samples := lists.Map(guesses, func(g Guess) costmodel.Sample {
		return costmodel.Sample{Features: g.features, Label: g.Label}
	})
	o := forest(sieveQuestions(strategies))
	o.Depth, o.Columns, o.Bins = 8, 0.8, 256 // there are more samples, and fewer questions that matter
	return l.Train(ctx, samples, o)
}

// SieveError is the root of the mean square of the differences between guessed and predicted
// logarithms of costs. It is measured on held groups, by a sieve that was fitted to the others.
func (m *Model) SieveError(ctx context.Context, l *costmodel.Library, guesses []Guess,
	held func(group string) bool) (float64, error) {
	var seen []Guess
	var rows [][]float32
	var labels []float64
	for _, g := range guesses {
		if held(g.Group) {
			rows, labels = append(rows, g.features), append(labels, float64(g.Label))
		} else {
			seen = append(seen, g)
		}
	}
	sieve, err := trainSieve(ctx, l, m.Strategies, seen)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for i, x := range sieve.Predict(rows) {
		sum += (x - labels[i]) * (x - labels[i])
	}
	return math.Sqrt(sum / float64(len(rows))), nil
}
