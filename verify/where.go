package verify

import (
	"bytes"
	"slices"

	"ripc/internal/irdata"
	"ripc/ir"
	"ripc/runtime/describe"
)

// Where says where in a tensor wrong elements lie, in the model's terms: levels by their true
// channels, not words of bits.
type Where struct {
	Axes  []WhereAxis `json:"axes"` // batch, row, column, channel, as the tensor has them
	Wrong int         `json:"wrong"`
	Elems int         `json:"elements"`
	// Padding is the number of wrong levels behind the last channel, which fill words.
	Padding int `json:"padding,omitempty"`
	// Map counts the wrong elements of parts of the tensor; nil if it has but one element.
	Map *WhereMap `json:"map,omitempty"`
}

// WhereAxis is an axis of a tensor.
type WhereAxis struct {
	Name   string `json:"name"`
	Extent int    `json:"extent"`
	Wrong  []int  `json:"wrong"` // the places along it at which something is wrong, ascending
}

// WhereMap has a cell for each part of a tensor, the parts being of Rows rows and Columns columns
// with all that lies there.
type WhereMap struct {
	Down    string  `json:"down"`   // name of the axis that goes down, "" if the map has one row
	Across  string  `json:"across"` // name of the axis from left to right
	Rows    int     `json:"rows_per_cell"`
	Columns int     `json:"columns_per_cell"`
	Wrong   [][]int `json:"wrong"`
	Elems   [][]int `json:"elements"`
}

// Size of a map, in cells.
const (
	mapRows    = 24
	mapColumns = 64
)

// locate finds where got differs from want. Both are of b, which t describes. Any NaN equals any
// NaN.
func locate(t describe.Tensor, b ir.Buffer, got, want []byte) *Where {
	shape := t.Logical()
	if !t.Packed || len(shape) == 0 {
		shape = b.Shape
	}
	if len(shape) == 0 {
		shape = []int{1}
	}
	w := &Where{Elems: 1}
	for _, e := range shape {
		w.Elems *= e
	}
	wrong := make([]bool, w.Elems)
	channels, size := shape[len(shape)-1], b.Type.Bytes()
	for i := range b.Elems() {
		x, y := got[i*size:(i+1)*size], want[i*size:(i+1)*size]
		switch {
		case bytes.Equal(x, y) || b.Type.IsFloat() && irdata.IsNaN(x) && irdata.IsNaN(y):
		case t.Packed: // words of bits, planes outermost
			words := b.Shape[len(b.Shape)-1]
			pixel, first := i/words%(w.Elems/channels), i%words*size*8
			for k := range size * 8 {
				if (x[k/8]^y[k/8])>>(k%8)&1 == 0 {
					continue
				}
				if c := first + k; c < channels {
					wrong[pixel*channels+c] = true
				} else {
					w.Padding++
				}
			}
		default:
			wrong[i] = true
		}
	}
	w.count(axisNames(t, len(shape)), shape, wrong)
	return w
}

// axisNames are those of a tensor of a rank.
func axisNames(t describe.Tensor, rank int) []string {
	letters := map[rune]string{'N': "batch", 'H': "row", 'W': "column", 'C': "channel"}
	layout := t.Layout
	if len(layout) != rank {
		layout = map[int]string{2: "NC", 3: "NWC", 4: "NHWC"}[rank]
	}
	var names []string
	for _, l := range layout {
		names = append(names, letters[l])
	}
	if len(names) != rank || slices.Contains(names, "") {
		names = slices.Repeat([]string{"index"}, rank)
	}
	return names
}

// count fills axes and map.
func (w *Where) count(names []string, shape []int, wrong []bool) {
	down, across := slices.Index(names, "row"), slices.Index(names, "column")
	if down < 0 || across < 0 || shape[down]*shape[across] == 1 { // no picture: a row of the longest axis
		down, across = -1, 0
		for k := range shape {
			if shape[k] > shape[across] {
				across = k
			}
		}
	}
	rows, columns := 1, shape[across]
	if down >= 0 {
		rows = shape[down]
	}
	m := &WhereMap{Across: names[across], Rows: perCell(rows, mapRows), Columns: perCell(columns, mapColumns)}
	if down >= 0 {
		m.Down = names[down]
	}
	for range (rows + m.Rows - 1) / m.Rows {
		m.Wrong = append(m.Wrong, make([]int, (columns+m.Columns-1)/m.Columns))
		m.Elems = append(m.Elems, make([]int, (columns+m.Columns-1)/m.Columns))
	}
	seen := make([][]bool, len(shape))
	for k := range shape {
		seen[k] = make([]bool, shape[k])
	}
	at := make([]int, len(shape))
	for i := range wrong {
		for k, rest := len(shape)-1, i; k >= 0; k-- {
			at[k], rest = rest%shape[k], rest/shape[k]
		}
		row, column := 0, at[across]/m.Columns
		if down >= 0 {
			row = at[down] / m.Rows
		}
		m.Elems[row][column]++
		if !wrong[i] {
			continue
		}
		w.Wrong++
		m.Wrong[row][column]++
		for k := range at {
			seen[k][at[k]] = true
		}
	}
	for k := range shape {
		a := WhereAxis{Name: names[k], Extent: shape[k], Wrong: []int{}}
		for i, s := range seen[k] {
			if s {
				a.Wrong = append(a.Wrong, i)
			}
		}
		w.Axes = append(w.Axes, a)
	}
	if w.Elems > 1 {
		w.Map = m
	}
}

// perCell returns the number of items per cell, for n items and at most most cells.
func perCell(n, most int) int { return max(1, (n+most-1)/most) }
