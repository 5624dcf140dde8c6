package source

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ripc/graph"
	"ripc/importer"
	"ripc/internal/suggest"
	"ripc/ir"
)

// Sizes gives the inputs of one model their shapes: as the file says, or as the options do.
type Sizes struct {
	file    string
	options importer.Options
	names   []string // of all inputs
	batch   Batch
}

// Batch says that all inputs have another first extent than the file says: whatever a file computed
// of the first extent when it was written, such as the shapes of its reshapes, holds for Old. Both
// are 0 where nothing has changed.
type Batch struct{ Old, New int }

// NewSizes checks that the options name inputs of the model only.
func NewSizes(file string, o importer.Options, names []string) (*Sizes, error) {
	s := &Sizes{file: file, options: o, names: names}
	check := func(what, name string) error {
		if name == "" || slices.Contains(names, name) {
			return nil
		}
		help := strings.TrimSpace(suggest.DidYouMean(name, names))
		if help == "" {
			help = "the inputs are " + suggest.List(names, 8)
		}
		return s.errorf(help, "%s of %q: there is no such input", what, name)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Shapes)) {
		if err := check(importer.Shape.String(), name); err != nil {
			return nil, err
		}
		if name == "" && len(names) > 1 {
			return nil, s.errorf("the inputs are "+suggest.List(names, 8), "%s without a name, but there are %d inputs",
				importer.Shape, len(names))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Inputs)) {
		if err := check("an option", name); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *Sizes) errorf(help, format string, args ...any) error {
	return &ir.Error{Pos: ir.Pos{File: s.file}, Msg: fmt.Sprintf(format, args...), Help: help}
}

// Given is the shape that the options give an input, nil if they do not.
func (s *Sizes) Given(name string) []int {
	if g, ok := s.options.Shapes[name]; ok {
		return g
	}
	if len(s.names) == 1 {
		return s.options.Shapes[""]
	}
	return nil
}

// Shape is the shape of an input after the options. shape is the file's, with extents below 1 where
// it leaves them open, and open names these for the note. note is a remark on the input, or "".
func (s *Sizes) Shape(name string, shape []int, open map[int]string) (got []int, note string, err error) {
	got = slices.Clone(shape)
	given := s.Given(name)
	switch {
	case given != nil && len(given) != len(shape):
		return nil, "", s.errorf(fmt.Sprintf("the file's shape is %s", shapeText(shape)), "%s: the input has %d axes",
			importer.Shape.With(name+"="+shapeText(given)), len(shape))
	case given != nil:
		got = slices.Clone(given)
	case s.options.Batch != 0 && len(shape) > 1:
		got[0] = s.options.Batch
	}
	for d, n := range got {
		switch {
		case n >= 1 && n <= graph.MaxElems:
		case shape[d] >= 1 || given != nil || d == 0 && s.options.Batch != 0:
			return nil, "", s.errorf("", "input %q: axis %d is to have %d elements", name, d, n)
		case d == 0:
			got[d] = 1
			note = fmt.Sprintf("the file leaves the batch size open, so it is 1 here (%s)", importer.Batch)
			if open[d] != "" {
				note = fmt.Sprintf("the file leaves the batch size %s open, so it is 1 here (%s)", open[d],
					importer.Batch)
			}
		default:
			return nil, "", s.errorf("give all of them: "+importer.Shape.With(name+"="+exampleShape(shape)),
				"input %q: axis %d (%q) has no fixed size", name, d, open[d])
		}
	}
	if n := elems(got); n > graph.MaxElems {
		return nil, "", s.errorf("", "input %q: shape %v has more than %d elements", name, got, graph.MaxElems)
	}
	if len(shape) > 0 && shape[0] >= 1 {
		s.Written(shape[0], got[0])
	}
	return got, note, nil
}

// Written says that the file was written for another first extent of an input, old, than it has
// now.
func (s *Sizes) Written(old, now int) {
	if old != now && old > 0 && s.batch.New == 0 {
		s.batch = Batch{old, now}
	}
}

// Batch is the change of the first extent of the inputs that Shape was called for.
func (s *Sizes) Batch() Batch { return s.batch }

// Reshape is the shape want of a reshape of a tensor of shape x. Its first extent changes in
// proportion if want does not fit.
func (b Batch) Reshape(x, want []int) []int {
	if b.New == 0 || len(want) == 0 || want[0] < 1 || want[0]%b.Old != 0 {
		return want
	}
	scaled := slices.Clone(want)
	scaled[0] = want[0] / b.Old * b.New
	open := slices.Contains(want, -1)
	switch {
	case open && want[0] == b.Old && len(x) > 0 && x[0] == b.New, !open && elems(want) != elems(x) &&
		elems(scaled) == elems(x):
		return scaled
	}
	return want
}

// Slice gives the number of positions size along the first axis of a tensor of shape x, where all
// were meant.
func (b Batch) Slice(x []int, begin, stride, size int) int {
	if b.New != 0 && begin == 0 && stride == 1 && size == b.Old && len(x) > 0 && x[0] == b.New {
		return b.New
	}
	return size
}

// elems is the number of elements of a shape, at most graph.MaxElems+1. Open extents count as none.
func elems(shape []int) int {
	n := 1
	for _, d := range shape {
		if d > 0 && n > graph.MaxElems/d {
			return graph.MaxElems + 1
		}
		n *= max(d, 0)
	}
	return n
}

func shapeText(shape []int) string {
	var parts []string
	for _, n := range shape {
		if n < 1 {
			parts = append(parts, "?")
			continue
		}
		parts = append(parts, fmt.Sprint(n))
	}
	return strings.Join(parts, ",")
}

// exampleShape is shape with 1 for an open batch and 32 for other open extents, for a message.
func exampleShape(shape []int) string {
	s := slices.Clone(shape)
	for d := range s {
		if s[d] < 1 {
			s[d] = 32
			if d == 0 {
				s[d] = 1
			}
		}
	}
	return shapeText(s)
}
