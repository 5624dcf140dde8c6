package fusedglue

import (
	"math"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
)

// shareAlike replaces per-channel operands and thresholds that are equal in all channels by a
// single one.
func shareAlike(r *rewriter, n *graph.Node) {
	switch a := n.Attrs.(type) {
	case *graph.Elementwise:
		n.Attrs = &graph.Elementwise{Steps: sharedSteps(a.Steps)}
	case *graph.FusedConv:
		f := *a
		e := &f.Epilogue
		if e.Steps = sharedSteps(e.Steps); e.LevelRows != nil && !slices.ContainsFunc(e.LevelRows, differ) {
			for _, row := range e.LevelRows {
				e.Levels = append(e.Levels, row[0])
			}
			e.LevelRows = nil
		}
		e.Joins = slices.Clone(e.Joins)
		for i := range e.Joins {
			e.Joins[i].Steps = sharedSteps(e.Joins[i].Steps)
		}
		n.Attrs = &f
	case *graph.ThresholdAttrs:
		shareThresholds(n)
	}
}

// sharedSteps returns steps with single operands where all channels have equal ones.
func sharedSteps(steps []scalar.Step) []scalar.Step {
	out := slices.Clone(steps)
	for i, s := range out {
		if len(s.A) > 1 && !differ(s.A) {
			out[i].A = s.A[:1]
		}
		if len(s.B) > 1 && !differ(s.B) {
			out[i].B = s.B[:1]
		}
	}
	return out
}

// shareThresholds reduces n, a threshold, to one column if all columns are equal.
func shareThresholds(n *graph.Node) {
	t := n.Weights["thresholds"]
	var shared []float32
	for row := range slices.Chunk(t.Data.Floats(), t.Shape[1]) {
		if differ(row) {
			return
		}
		shared = append(shared, row[0])
	}
	n.Weights = map[string]*graph.Tensor{"thresholds": {Shape: []int{t.Shape[0], 1}, Data: graph.NumbersOf(shared)}}
}

// differ reports whether the numbers in v differ in their bits.
func differ(v []float32) bool {
	return slices.ContainsFunc(v, func(x float32) bool { return math.Float32bits(x) != math.Float32bits(v[0]) })
}
