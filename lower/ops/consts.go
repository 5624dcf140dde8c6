package ops

import "ripc/graph"

// ConvConsts are the constants of Conv's parameters between x and y, in order: little-endian element values.
func ConvConsts(op string, a *graph.FusedConv) []any {
	o := a.Out
	if a.Epilogue.OutBits > 0 {
		o = Words(a.Out) * WordBits
	}
	var cs []any
	binary := op == "bconv2d"
	if binary {
		cs = append(cs, padLast(a.WBits, a.Out, o, 0))
		if a.Masked() {
			var mask []uint32
			for q := range a.GroupWords() {
				for k := range o {
					mask = append(mask, 0)
					if k < a.Out {
						mask[len(mask)-1] = a.Mask(q, k)
					}
				}
			}
			cs = append(cs, mask)
		}
		if a.PadCorr != nil {
			cs = append(cs, padLast(a.PadCorr.Corr, a.Out, o, 0))
		}
	} else {
		cs = append(cs, padLast(a.WFloat, a.Out, o, 0))
		if a.Bias != nil {
			cs = append(cs, padLast(a.Bias, a.Out, o, 0))
		}
	}
	e := a.Epilogue
	if e.Thresholds != nil {
		var t []int32
		for _, row := range e.Thresholds {
			t = append(t, padLast(row, a.Out, o, -1)...) // popcounts are never <= -1: padding bits stay 0
		}
		return append(cs, t)
	}
	if binary {
		cs = append(cs, padLast(a.DotBase, a.Out, o, 0))
	}
	if s := e.Shift; s != nil {
		cs = append(cs, padLast(s.Add, a.Out, o, -1)) // (0 - 1) >> r is negative: level 0
		if s.Left != nil {
			cs = append(cs, padLast(s.Left, a.Out, o, 0))
		}
		return append(cs, padLast(s.Right, a.Out, o, 0))
	}
	for _, s := range e.Steps {
		for _, v := range s.Vectors() {
			cs = append(cs, padLast(v, a.Out, o, 0))
		}
	}
	if e.LevelRows != nil {
		var rows []float32
		for _, row := range e.LevelRows {
			rows = append(rows, padLast(row, a.Out, o, 0)...)
		}
		cs = append(cs, rows)
	}
	return cs
}

// padLast widens rows of length from to length to.
func padLast[T any](v []T, from, to int, fill T) []T {
	if from == to {
		return v
	}
	out := make([]T, 0, len(v)/from*to)
	for i := 0; i < len(v); i += from {
		out = append(out, v[i:i+from]...)
		for range to - from {
			out = append(out, fill)
		}
	}
	return out
}
