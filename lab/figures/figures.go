// Package figures keeps the lab's measurements: one line of JSON a measurement, in files that only
// grow, with the date, the commit, the CPU and the tools of each.
package figures

import (
	"fmt"
	"slices"
	"strings"

	"ripc/internal/lists"
	"ripc/measure"
)

// Key names a figure.
type Key struct {
	Subject string `json:"subject"`           // a layer, a network, a command or a kernel
	Variant string `json:"variant,omitempty"` // such as another engine; "" is the task's usual way
	Target  string `json:"target,omitempty"`  // "" is this machine
	Threads int    `json:"threads,omitempty"` // 0 where the task has one number of threads
}

// String returns the key for people: "convB, float twin, rpi3".
func (k Key) String() string {
	words := []string{k.Subject, k.Variant, k.Target}
	if k.Threads > 0 {
		words = append(words, fmt.Sprintf("threads: %d", k.Threads))
	}
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), ", ")
}

// Figure is one measurement.
type Figure struct {
	Task string `json:"task"`
	Key
	// Values are numbers by quantity. A quantity's name ends in its unit: "min_ms",
	// "library_bytes". Of repeated measurements the least value of names that begin with "min_"
	// counts, the greatest of "max_", else the median.
	Values map[string]float64 `json:"values,omitempty"`
	Unit   string             `json:"unit,omitempty"`   // of values that name none
	Curves [][]float64        `json:"curves,omitempty"` // one for each seed
	Why    string             `json:"why,omitempty"`    // the reason why there are no values
	Mark
}

// Values returns the values of a measured run.
func Values(m measure.Figures) map[string]float64 {
	v := map[string]float64{}
	for name, x := range map[string]*float64{"min_ms": m.MinMS, "median_ms": m.MedianMS,
		"macs_per_cycle": m.MACsPerCycle, "estimated_cycles": m.EstimatedCycles} {
		if x != nil {
			v[name] = *x
		}
	}
	if m.Instructions != nil {
		v["instructions"] = float64(*m.Instructions)
	}
	return v
}

// Has reports whether the figure has a value of the name. A nil figure has none.
func (f *Figure) Has(name string) bool {
	if f == nil {
		return false
	}
	_, ok := f.Values[name]
	return ok
}

// Store is the file of a task's figures.
type Store struct {
	path    string
	keys    []Key // in the order in which they first appear
	figures map[Key][]Figure
}

// Open reads a store. One that is not there is empty.
func Open(path string) (*Store, error) {
	all, err := ReadLines[Figure](path)
	s := New(all...)
	s.path = path
	return s, err
}

// New returns a store of figures that no file has.
func New(fs ...Figure) *Store {
	s := &Store{figures: map[Key][]Figure{}}
	s.add(fs...)
	return s
}

func (s *Store) add(fs ...Figure) {
	for _, f := range fs {
		if s.figures[f.Key] == nil {
			s.keys = append(s.keys, f.Key)
		}
		s.figures[f.Key] = append(s.figures[f.Key], f)
	}
}

// Append adds figures at the file's end.
func (s *Store) Append(fs ...Figure) error {
	s.add(fs...)
	return AppendLines(s.path, fs)
}

// Count returns the number of measurements of k that accept takes.
func (s *Store) Count(k Key, accept func(Figure) bool) int {
	n := 0
	for _, f := range s.figures[k] {
		if accept(f) {
			n++
		}
	}
	return n
}

// Latest returns the newest figure of each key, in the order in which the keys first appear.
func (s *Store) Latest() []*Figure {
	return lists.Map(s.keys, s.Find)
}

// Find returns the newest figure of a key, nil if there is none: the measurements of the newest
// mark together.
func (s *Store) Find(k Key) *Figure {
	var same []Figure
	for _, f := range slices.Backward(s.figures[k]) {
		if same == nil || f.Mark == same[0].Mark {
			same = append(same, f)
		}
	}
	if same == nil {
		return nil
	}
	out := same[0]
	out.Values = map[string]float64{}
	for name := range same[0].Values {
		var vs []float64
		for _, f := range same {
			if v, ok := f.Values[name]; ok {
				vs = append(vs, v)
			}
		}
		out.Values[name] = reduce(name, vs)
	}
	return &out
}

// reduce returns one value for repeated measurements.
func reduce(name string, vs []float64) float64 {
	switch {
	case strings.HasPrefix(name, "min_"):
		return slices.Min(vs)
	case strings.HasPrefix(name, "max_"):
		return slices.Max(vs)
	}
	return Median(vs)
}

// Median returns the middle one of vs, the lower one of two, 0 of none.
func Median(vs []float64) float64 {
	if len(vs) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(vs))[(len(vs)-1)/2]
}
