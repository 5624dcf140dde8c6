package fusedglue

import (
	"context"

	"ripc/graph"
)

// levelQuantizers makes thresholds on integers of those on the real values of levels, as behind the
// sum of two tensors of levels: levels have few real values, each of which is tried.
func levelQuantizers(ctx context.Context, r *rewriter) error {
	for n := range r.Each(ctx) {
		a, ok := n.Attrs.(*graph.ThresholdAttrs)
		if !ok {
			continue
		}
		d := r.Producer(n.Inputs[0])
		if d == nil || d.Op != "dequantize" || !r.g.Value(d.Inputs[0]).Encoded() {
			continue
		}
		n.Attrs = &graph.LevelThresholds{Thresholds: integerThresholds(a, n.Weights["thresholds"], r.g.Value(d.Inputs[0]))}
		n.Op, n.Weights = "level_thresholds", nil
		r.SetInputs(n, d.Inputs...)
		if r.ConsumerCount(d.Output) == 0 && !r.g.IsOutput(d.Output) {
			r.Remove(d)
		}
	}
	return nil
}

// integerThresholds are those on the integers of v that thresholds t of a are on its real values.
// One that no integer reaches is above them all.
func integerThresholds(a *graph.ThresholdAttrs, t *graph.Tensor, v *graph.Value) [][]int32 {
	rows := make([][]int32, t.Shape[0])
	for j := range rows {
		rows[j] = make([]int32, t.Shape[1])
	}
	lo, hi := v.Range()
	step := graph.IntegersOf(v.LevelType).Step
	for o := range t.Shape[1] {
		j := 0
		for i := lo; i <= hi; i += step {
			level, _ := v.Level(v.Scale*float64(i) + v.Offset)
			for count := a.Level(t, o, v.Float(level)); j < count; j++ {
				rows[j][o] = int32(i)
			}
		}
		for ; j < len(rows); j++ {
			rows[j][o] = int32(hi + 1)
		}
	}
	return rows
}
