// Package eval measures the quality of a network on pictures with known classes or outputs.
package eval

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"ripc/internal/human"
	"ripc/internal/tensorio"
	"ripc/ir"
	"ripc/runtime/describe"
)

// Result is the quality of a network on pictures with known classes or outputs.
type Result struct {
	Name   string `json:"model"`
	Target string `json:"target"`
	Engine string `json:"engine"`
	// Simulated says that another machine's code ran in simulation.
	Simulated bool `json:"simulated"`
	Images    int  `json:"images"`
	Classes   int  `json:"classes"`
	// Right counts right answers; nil without labels.
	Right *Right `json:"right,omitempty"`
	// Difference is the distance from the expected outputs; nil without them.
	Difference *Difference `json:"difference,omitempty"`
}

// Right counts right answers. Of classes of the same value the first is more likely. A NaN is less
// likely than anything, and no right answer.
type Right struct {
	Top1 int `json:"top1"`
	Top5 int `json:"top5"`
	// Confusion[t][a] counts the pictures of class t that were taken for class a.
	Confusion [][]int `json:"confusion"`
}

// Difference is the distance of the output from the expected output: the largest one, and the
// numbers and pictures beyond the tolerance. A NaN is far from everything but a NaN.
type Difference struct {
	Worst     float64 `json:"worst"` // math.MaxFloat64 stands for the distance of a NaN
	Image     int     `json:"image"`
	Index     int     `json:"index"` // in the picture's row
	Got       string  `json:"got"`
	Want      string  `json:"want"`
	Tolerance float64 `json:"tolerance"`
	Within    bool    `json:"within"`
	// Beyond counts the numbers at a distance of more than Tolerance, BeyondImages the pictures
	// that have such numbers.
	Beyond       int `json:"beyond"`
	BeyondImages int `json:"beyond_images"`
	// Rest is the largest distance in all other pictures.
	Rest float64 `json:"rest"`
	// Steps names the layers that make levels by a sign, a threshold or a quantizer. A sum within
	// rounding of a step's edge may fall on either side, and then the picture's outputs jump.
	Steps []string `json:"steps"`
}

// CompareLabels sets Right from the numbers of output t and the true classes. With partial, labels
// may be more than the pictures.
func (res *Result) CompareLabels(t describe.Tensor, got, labels []float64, shape []int, partial bool) error {
	if long := slices.DeleteFunc(slices.Clone(t.Shape[1:]), func(n int) bool { return n == 1 }); len(long) > 1 {
		return fmt.Errorf("labels are of pictures that have a number for each class, and the first output, %s, has %s",
			t.Title(), tensorio.ShapeText(t.Shape))
	}
	if len(labels) < res.Images || len(labels) > res.Images && !partial {
		return errors.New(res.miscountText(labels, shape))
	}
	var err error
	res.Right, err = res.countRight(got, labels, t.DType == ir.I32.String() && res.Classes == 1)
	return err
}

// CompareOutputs sets Difference from the numbers of the first output and the expected numbers.
// With partial, these may be more.
func (res *Result) CompareOutputs(got, want []float64, tolerance float64, partial bool) error {
	if len(want) < len(got) || len(want) > len(got) && !partial {
		return fmt.Errorf("%s, and the output has %d (%s, %d each)", human.Count(len(want), "number"),
			len(got), human.Count(res.Images, "picture"), res.Classes)
	}
	res.Difference = res.measureDifference(got, want, tolerance)
	return nil
}

// miscountText explains labels that are not one for each picture.
func (res *Result) miscountText(labels []float64, shape []int) string {
	msg := fmt.Sprintf("%s for %s", human.Count(len(labels), "label"), human.Count(res.Images, "picture"))
	switch {
	case len(shape) == 2 && shape[1] > 1: // whatever number of rows there is
	case len(shape) == 1 && len(labels) == res.Images*res.Classes && res.Classes > 1:
		shape = []int{res.Images, res.Classes}
	default:
		return msg
	}
	msg += fmt.Sprintf(": %s of %s, as one-hot labels are; give one label for each picture, the number of its "+
		"class, such as np.argmax(labels, axis=1)",
		human.Count(shape[0], "row"), human.Count(shape[1], "number"))
	if shape[1] != res.Classes {
		msg += fmt.Sprintf("; the output has %s", human.Count(res.Classes, "class"))
	}
	return msg
}

// countRight counts the pictures with their true class among the most likely ones. positions says
// that the network returns classes itself, one for each picture.
func (res *Result) countRight(got, labels []float64, positions bool) (*Right, error) {
	classes := res.Classes
	if positions {
		classes = 0
		for i := range res.Images {
			classes = max(classes, int(got[i])+1, int(labels[i])+1)
		}
	}
	const most = 1 << 16
	if classes > most {
		return nil, fmt.Errorf("%s; %d are possible", human.Count(classes, "class"), most)
	}
	r := &Right{}
	for range classes {
		r.Confusion = append(r.Confusion, make([]int, classes))
	}
	for i := range res.Images {
		label := int(labels[i])
		if label < 0 || label >= classes || float64(label) != labels[i] {
			return nil, fmt.Errorf("label %v of picture %d is none of %s", labels[i], i, human.Count(classes, "class"))
		}
		if positions {
			answer := int(got[i])
			if answer < 0 || answer >= classes {
				return nil, fmt.Errorf("picture %d: the network gives class %d of %d", i, answer, classes)
			}
			r.Confusion[label][answer]++
			if answer == label {
				r.Top1, r.Top5 = r.Top1+1, r.Top5+1
			}
			continue
		}
		row := got[i*res.Classes:][:res.Classes]
		answer, before := 0, 0
		for c := range row {
			if isLikelier(row, c, answer) {
				answer = c
			}
			if isLikelier(row, c, label) {
				before++
			}
		}
		r.Confusion[label][answer]++
		if math.IsNaN(row[label]) { // no answer, wherever it stands
			continue
		}
		if before == 0 {
			r.Top1++
		}
		const five = 5
		if before < five {
			r.Top5++
		}
	}
	return r, nil
}

// isLikelier reports whether class a is more likely than b.
func isLikelier(row []float64, a, b int) bool {
	switch x, y := row[a], row[b]; {
	case math.IsNaN(x) && math.IsNaN(y), x == y:
		return a < b
	case math.IsNaN(x) || math.IsNaN(y):
		return math.IsNaN(y)
	default:
		return x > y
	}
}

// measureDifference measures the distance of got from want.
func (res *Result) measureDifference(got, want []float64, tolerance float64) *Difference {
	d := &Difference{Worst: -1, Tolerance: tolerance}
	for image := range res.Images {
		beyond, worst := 0, 0.0
		for index := range res.Classes {
			v, w := got[image*res.Classes+index], want[image*res.Classes+index]
			off := distance(v, w)
			if worst = max(worst, off); off > tolerance {
				beyond++
			}
			if off > d.Worst {
				d.Worst, d.Image, d.Index, d.Got, d.Want = off, image, index, fmt.Sprint(v), fmt.Sprint(w)
			}
		}
		if d.Beyond += beyond; beyond > 0 {
			d.BeyondImages++
		} else {
			d.Rest = max(d.Rest, worst)
		}
	}
	d.Within = d.Beyond == 0
	return d
}

// distance returns the distance of two numbers, math.MaxFloat64 if it is not finite.
func distance(v, w float64) float64 {
	off := math.Abs(v - w)
	switch {
	case v == w || math.IsNaN(v) && math.IsNaN(w):
		return 0
	case math.IsNaN(off) || math.IsInf(off, 0):
		return math.MaxFloat64
	}
	return off
}
