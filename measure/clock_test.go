package measure

import (
	"testing"
	"time"
)

// TestClock: measurements of the clock give a possible one, and most of them about the same.
func TestClock(t *testing.T) {
	var runs []Timing
	for range 50 {
		runs = append(runs, Since(time.Now()))
	}
	ghz := Median(runs, func(t Timing) float64 { return t.GHz })
	if ghz < 0.1 || ghz > 10 {
		t.Fatalf("%v GHz", ghz)
	}
	near := 0
	for _, r := range runs {
		if r.GHz > 0.8*ghz && r.GHz < 1.2*ghz {
			near++
		}
	}
	if near < len(runs)/2 {
		t.Errorf("%d of %d measurements give about %v GHz: %v", near, len(runs), ghz, runs)
	}
}

// TestFigures: runs and clocks that were disturbed do not count, and each run is taken with the clock that was measured behind it.
func TestFigures(t *testing.T) {
	var runs []Timing
	for i := range 100 {
		r := Timing{100 * time.Nanosecond, 4}
		switch {
		case i < 10:
			r = Timing{80 * time.Nanosecond, 5} // the same cycles at a higher clock
		case i%7 == 0:
			r.Took *= 3
		}
		if i%4 == 1 {
			r.GHz /= 2
		}
		runs = append(runs, r)
	}
	f := Reduce(runs, 4000)
	if *f.MinMS != 80e-6 || *f.MedianMS != 100e-6 || *f.P90MS != 300e-6 || *f.MACsPerCycle != 10 {
		t.Errorf("%v ms, %v ms, %v ms, %v MACs/cycle", *f.MinMS, *f.MedianMS, *f.P90MS, *f.MACsPerCycle)
	}
	if f := Reduce(nil, 4000); f.MinMS != nil || f.MACsPerCycle != nil {
		t.Error("figures of no runs")
	}
	if n := len(Fastest(runs[:3])); n != 3 {
		t.Errorf("%d of 3 runs", n)
	}
}
