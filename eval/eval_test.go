package eval

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestRank: the order of likelihood is a total one, so that each row has one most likely class and ranks count what stands before.
func TestRank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		row := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 1, 2, -1, math.Inf(1), math.Inf(-1), math.NaN()}), 1, 8).Draw(t, "row")
		order := make([]int, len(row))
		for c := range row {
			for d := range row {
				if isLikelier(row, d, c) {
					order[c]++
				}
			}
		}
		slices.Sort(order)
		for i, n := range order {
			if i != n {
				t.Fatalf("%v: ranks %v", row, order)
			}
		}
	})
}

// TestRight: top 1, top 5 and the confusion of a few rows; of equal values the first is the answer, and a NaN never is.
func TestRight(t *testing.T) {
	nan := math.NaN()
	res := &Result{Images: 4, Classes: 6}
	r, err := res.countRight([]float64{
		0, 5, 5, 0, 0, 0, // 1
		nan, 1, 2, 3, 4, 5, // 5, and class 0 last
		9, 8, 7, 6, 5, 4, // 0
		nan, nan, nan, nan, nan, nan, // no answer, which stands as 0
	}, []float64{2, 0, 0, 0}, false)
	if err != nil {
		t.Fatal(err)
	}
	if r.Top1 != 1 || r.Top5 != 2 || r.Confusion[2][1] != 1 || r.Confusion[0][5] != 1 || r.Confusion[0][0] != 2 {
		t.Errorf("%+v", r)
	}
	if _, err := res.countRight(make([]float64, 24), []float64{0, 0, 0, 6}, false); err == nil {
		t.Error("class 6 of 6 is a label")
	}
	if _, err := res.countRight(make([]float64, 24), []float64{0, 0, 0, nan}, false); err == nil {
		t.Error("NaN is a label")
	}
}

// TestDifference: the worst element is found, and numbers that are not there are as far off as can be.
func TestDifference(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	res := &Result{Images: 2, Classes: 2}
	for _, c := range []struct {
		got, want []float64
		worst     float64
		image     int
		within    bool
		beyond    [2]int // values and pictures
		rest      float64
	}{
		{[]float64{1, 2, 3, 4}, []float64{1, 2, 3, 4}, 0, 0, true, [2]int{}, 0},
		{[]float64{1, 2, 3, 4}, []float64{1, 2, 3.5, 4}, 0.5, 1, true, [2]int{}, 0.5},
		{[]float64{nan, inf, 3, 4}, []float64{nan, inf, 3, 4}, 0, 0, true, [2]int{}, 0},
		{[]float64{1, 2, nan, 4}, []float64{1, 2, 3, 4}, math.MaxFloat64, 1, false, [2]int{1, 1}, 0},
		{[]float64{1, inf, 3, 4}, []float64{1, -inf, 3, 4}, math.MaxFloat64, 0, false, [2]int{1, 1}, 0},
		{[]float64{1, 2, 3, 4}, []float64{1.25, 2, 4, 6}, 2, 1, false, [2]int{2, 1}, 0.25},
		{[]float64{1, 2, 3, 4}, []float64{2, 2, 3, 6}, 2, 1, false, [2]int{2, 2}, 0},
	} {
		d := res.measureDifference(c.got, c.want, 0.5)
		if d.Worst != c.worst || d.Image != c.image || d.Within != c.within || [2]int{d.Beyond, d.BeyondImages} != c.beyond || d.Rest != c.rest {
			t.Errorf("%v against %v: %+v", c.got, c.want, d)
		}
	}
}

// TestMiscountedLabels: labels in rows are named as what they are, with the number of columns, and nothing is in a false plural.
func TestMiscountedLabels(t *testing.T) {
	const help = ", as one-hot labels are; give one label for each picture, the number of its class, such as np.argmax(labels, axis=1)"
	for _, c := range []struct {
		shape []int
		want  string
	}{
		{[]int{4, 10}, "40 labels for 4 pictures: 4 rows of 10 numbers" + help},
		{[]int{4, 9}, "36 labels for 4 pictures: 4 rows of 9 numbers" + help + "; the output has 10 classes"},
		{[]int{5, 10}, "50 labels for 4 pictures: 5 rows of 10 numbers" + help},
		{[]int{40}, "40 labels for 4 pictures: 4 rows of 10 numbers" + help},
		{[]int{1}, "1 label for 4 pictures"},
		{[]int{5}, "5 labels for 4 pictures"},
		{[]int{3, 1}, "3 labels for 4 pictures"},
		{[]int{4, 4, 4}, "64 labels for 4 pictures"},
	} {
		n := 1
		for _, d := range c.shape {
			n *= d
		}
		if got := (&Result{Images: 4, Classes: 10}).miscountText(make([]float64, n), c.shape); got != c.want {
			t.Errorf("%v: %s\nwant %s", c.shape, got, c.want)
		}
	}
}
