package main

import (
	"path/filepath"
	"testing"

	"ripc/internal/golden"
)

// TestPages: the pages have the numbers of docs/numbers.json. -update fills them from it, as -pages does; measuring is for make
// numbers.
func TestPages(t *testing.T) {
	root := filepath.Join("..", "..")
	n, err := read(filepath.Join(root, "docs", "numbers.json"))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := fill(root, n)
	if err != nil {
		t.Fatal(err)
	}
	for page, text := range pages {
		golden.Check(t, page, []byte(text))
	}
}

// TestMerged: of several rounds the shortest time counts, and the median of the others; counts are those of the first.
func TestMerged(t *testing.T) {
	var fs []Figure
	for _, v := range []float64{3, 1, 9} {
		fs = append(fs, Figure{MinMS: new(v), MedianMS: new(v + 1), MACsPerCycle: new(10 * v), MACs: 5})
	}
	if f := merged(fs); *f.MinMS != 1 || *f.MedianMS != 4 || *f.MACsPerCycle != 30 || f.MACs != 5 {
		t.Errorf("%v ms, %v ms, %v, %v", *f.MinMS, *f.MedianMS, *f.MACsPerCycle, f.MACs)
	}
	if f := merged([]Figure{{Instructions: new(uint64(7)), Simulated: true}}); f.MinMS != nil || *f.Instructions != 7 {
		t.Error("counts have times")
	}
}
