// Package measured has what layers were measured to cost by each algorithm: what the constants of package targets are fitted to, by
// a command (go run ./examples/costs), and what a test compares the estimates of schedule/cost with.
package measured

import (
	"bufio"
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

//go:embed layers.txt
var layers []byte

// File is where the measurements lie, from the module's root.
const File = "schedule/cost/measured/layers.txt"

// Set is what was measured on one target.
type Set struct {
	Target  string
	Date    string // YYYY-MM-DD
	Unit    string // of the costs
	Machine string // that they were measured on, or whose model estimated them
	Layers  []Layer
}

// Layer is a convolution with same padding over levels, with what it costs by the algorithms that it was measured by.
type Layer struct {
	Rows, Cols, In, Out, Kernel int
	Activations, Weights        int  // planes
	Floats                      bool // sums leave as f32
	Costs                       map[string]float64
}

// Conv is the layer as it is after fusedglue, but for its weights' values, and its input. Its sums become levels of as many bits as the input has, by thresholds, unless
// they leave as f32, which they do as well where those would be more than 15.
func (l Layer) Conv() (*graph.FusedConv, graph.Value) {
	a := &graph.FusedConv{KH: l.Kernel, KW: l.Kernel, SH: 1, SW: 1, In: l.In, Out: l.Out}
	half := l.Kernel / 2
	a.Pad = graph.Padding{Mode: graph.PadExplicit, Top: half, Bottom: half, Left: half, Right: half}
	x := graph.Value{Name: "x", LevelType: scalar.LevelType{Enc: ir.Unipolar, Bits: l.Activations}, Shape: []int{1, l.Rows, l.Cols, l.In}}
	a.X = graph.IntegersOf(x.LevelType)
	a.W = map[int]graph.Integers{1: {Min: -1, Max: 1, Step: 2}, 2: {Min: -1, Max: 1, Step: 1}, 4: {Min: -15, Max: 15, Step: 2}, 5: {Min: -16, Max: 15, Step: 1}}[l.Weights]
	if l.Activations <= 4 && !l.Floats {
		a.Epilogue = graph.Epilogue{OutBits: l.Activations, OutEnc: ir.Unipolar}
		for range 1<<l.Activations - 1 {
			a.Epilogue.Thresholds = append(a.Epilogue.Thresholds, make([]int32, l.Out))
		}
	}
	return a, x
}

// floats is the word for Layer.Floats.
const floats = "f32"

// String is the layer without its costs.
func (l Layer) String() string {
	s := fmt.Sprintf("%d %d %d %d %d %d %d", l.Rows, l.Cols, l.In, l.Out, l.Kernel, l.Activations, l.Weights)
	if l.Floats {
		s += " " + floats
	}
	return s
}

// All are the measurements that are kept.
func All() ([]Set, error) { return Read(layers) }

// Read reads the text that Write gives.
func Read(text []byte) ([]Set, error) {
	var all []Set
	n := 0
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		n++
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) == 0 || fields[0] == "#":
			continue
		case fields[0] == "on" && len(fields) > 4:
			all = append(all, Set{Target: fields[1], Date: fields[2], Unit: fields[3], Machine: strings.Join(fields[4:], " ")})
			continue
		}
		float := len(fields) > 7 && fields[7] == floats
		if float {
			fields = slices.Delete(fields, 7, 8)
		}
		if len(all) == 0 || len(fields) < 9 || len(fields)%2 == 0 {
			return nil, fmt.Errorf("%s:%d: %q is no layer", File, n, lines.Text())
		}
		l := Layer{Floats: float}
		for i, to := range []*int{&l.Rows, &l.Cols, &l.In, &l.Out, &l.Kernel, &l.Activations, &l.Weights} {
			var err error
			if *to, err = strconv.Atoi(fields[i]); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", File, n, err)
			}
		}
		l.Costs = map[string]float64{}
		for i := 7; i < len(fields); i += 2 {
			c, err := strconv.ParseFloat(fields[i+1], 64)
			if err != nil || c <= 0 {
				return nil, fmt.Errorf("%s:%d: cost %q", File, n, fields[i+1])
			}
			l.Costs[fields[i]] = c
		}
		s := &all[len(all)-1]
		s.Layers = append(s.Layers, l)
	}
	return all, nil
}

// Write is the text of sets, by target.
func Write(all []Set) []byte {
	var b bytes.Buffer
	fmt.Fprintln(&b, "# What layers cost by each algorithm, written by go run ./examples/costs measure. After the target, with date, unit and machine, a line")
	fmt.Fprintln(&b, "# has a layer's rows, columns, channels, filters and kernel, planes of activations and of weights, f32 if its sums leave as such, then algorithms with costs.")
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b Set) int { return cmp.Compare(a.Target, b.Target) })
	for _, s := range sorted {
		fmt.Fprintf(&b, "\non %s %s %s %s\n", s.Target, s.Date, s.Unit, s.Machine)
		for _, l := range s.Layers {
			fmt.Fprint(&b, l)
			for _, name := range slices.Sorted(maps.Keys(l.Costs)) {
				fmt.Fprintf(&b, " %s %.0f", name, l.Costs[name])
			}
			fmt.Fprintln(&b)
		}
	}
	return b.Bytes()
}
