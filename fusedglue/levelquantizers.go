package fusedglue

import (
	"ripc/graph"
)

// levelQuantizers replaces thresholds on the real values of levels, as behind the sum of two
// tensors of levels, by thresholds on their integers. Levels have few real values, so each is
// tried.
func levelQuantizers(r *rewriter, n *graph.Node) {
	a, ok := n.Attrs.(*graph.ThresholdAttrs)
	if !ok {
		return
	}
	d := r.Producer(n.Inputs[0])
	if d == nil || d.Op != "dequantize" || !r.g.Value(d.Inputs[0]).Encoded() {
		return
	}
	n.Attrs = &graph.LevelThresholds{Thresholds: integerThresholds(a, n.Weights["thresholds"],
		r.g.Value(d.Inputs[0]))}
	n.Op, n.Weights = "level_thresholds", nil
	r.SetInputs(n, d.Inputs...)
	r.removeUnread(d)
}

// integerThresholds translates thresholds t of a on the real values of v into thresholds on its
// integers. A threshold that no integer reaches lies above them all.
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
