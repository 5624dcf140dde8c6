package main

import (
	"slices"
	"testing"

	"ripc/verify"
)

func TestWhereLines(t *testing.T) {
	w := &verify.Where{Wrong: 9, Elems: 96, Padding: 1,
		Axes: []verify.WhereAxis{{Name: "batch", Extent: 1, Wrong: []int{0}}, {Name: "row", Extent: 4, Wrong: []int{0, 1, 2, 3}}, {Name: "column", Extent: 6, Wrong: []int{0, 1, 2, 4}}, {Name: "channel", Extent: 4, Wrong: []int{3}}},
		Map:  &verify.WhereMap{Down: "row", Across: "column", Rows: 2, Columns: 3, Wrong: [][]int{{24, 0}, {1, 23}}, Elems: [][]int{{24, 24}, {24, 24}}}}
	want := []string{
		"9 of 96 wrong: all 4 rows; columns 0 to 2, 4 of 6; channel 3 of 4",
		"and 1 bit behind the last channel",
		"map (rows downwards, columns from left to right, 2x3 a character; . is right, # wrong, 1 to 9 in tenths):",
		"#.",
		"19",
	}
	if got := whereLines(w); !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	// Where all is wrong there is nothing to map; where much is wrong the places are not all named.
	all := &verify.Where{Wrong: 10, Elems: 10, Axes: []verify.WhereAxis{{Name: "channel", Extent: 10, Wrong: []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}}}, Map: &verify.WhereMap{}}
	if got := whereLines(all); !slices.Equal(got, []string{"10 of 10 wrong: all 10 channels"}) {
		t.Errorf("%q", got)
	}
	odd := verify.WhereAxis{Name: "channel", Extent: 99, Wrong: []int{1, 3, 5, 7, 9, 11, 13, 15}}
	if got := alongText(odd); got != "8 of 99 channels, the first 1, 3, 5, 7, 9, 11" {
		t.Error(got)
	}
	if got := alongText(verify.WhereAxis{Name: "index", Extent: 5, Wrong: []int{2}}); got != "indices 2 of 5" {
		t.Error(got)
	}
}
