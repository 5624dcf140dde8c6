package main

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ripc/lower/layout"
)

// TestAllShapes: each shape is there once, and with it the one that it is compared with, before it.
func TestAllShapes(t *testing.T) {
	all := allShapes()
	if len(all) != 133*6 {
		t.Errorf("%d shapes", len(all))
	}
	for i, s := range all {
		a := slices.IndexFunc(all, s.aligned().same)
		if a < 0 || a > i || s.aligned().Channels%layout.WordBits != 0 || s.aligned().Channels-s.Channels >= layout.WordBits {
			t.Errorf("%s is compared with %s, number %d", s, s.aligned(), a)
		}
		if slices.IndexFunc(all, s.same) != i {
			t.Errorf("%s is there twice", s)
		}
	}
	if n := len(sampled(5)); n != 5+6*9 {
		t.Errorf("a sample of 5 has %d shapes", n)
	}
}

// TestShapesText: what is slow is listed, and nothing else; a report is read as it was written.
func TestShapesText(t *testing.T) {
	at := func(channels int, cycles float64) shape {
		return shape{Channels: channels, Kernel: 3, Stride: 1, Algorithm: "popcount", Strategy: "words", Word: 8, Cycles: cycles}
	}
	r := report{Target: "here", Size: 28, Filters: 64, Bits: 1}
	r.Shapes = []shape{at(8, 600), at(16, 900), at(32, 1000), at(70, 1)} // with 96 channels nothing was measured
	called := r
	called.Call, called.Shapes = 100, []shape{at(8, 700), at(16, 1000), at(32, 1100), at(70, 101)}
	if got, want := called.slowerBy(at(8, 700)), r.slowerBy(at(8, 600)); got != want || called.floor(at(8, 700)) != r.floor(at(8, 600)) || called.atBest(at(8, 700)) != r.atBest(at(8, 600)) {
		t.Errorf("with a call that takes time a shape is slower by %g, not %g", got, want)
	}
	text := shapesText([]report{r, called})
	for _, want := range []string{"A call from Go in which no stage runs takes 100 cycles", "2 of 756 shapes are compared, 1 are slow", "| 3x3, 1 | 8 | 2.4 | 1.2 | 600 | 50 % | popcount |\n", "| 3x3, 1 | | | 2.4 | | 1.8 |"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q:\n%s", want, text)
		}
	}
	file := filepath.Join(t.TempDir(), "r.json")
	if err := writeReport(file, r); err != nil {
		t.Fatal(err)
	}
	if got, err := readReport(file); err != nil || !reflect.DeepEqual(got, r) {
		t.Errorf("%v, read %+v", err, got)
	}
}

// TestShapesPage: the page is made of the figures that are kept.
func TestShapesPage(t *testing.T) {
	t.Chdir("../..")
	was, err := os.ReadFile(shapesPage)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(shapesDir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	var all []report
	for _, file := range files {
		r, err := readReport(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	if string(was) != shapesText(all) {
		t.Errorf("%s is out of date; run go run ./examples/costs shapes -pages", shapesPage)
	}
}
