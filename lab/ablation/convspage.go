package ablation

import (
	"fmt"
	"slices"
	"strings"
)

// precisions are those that convolutions are measured in, with the speedups of binary convolutions
// on a Pixel 1 by Larq Compute Engine's Table 2: mean, weighted mean, range.
func precisions(t string) []precision {
	return []precision{
		{"binary", setOf(features(t)...).String(), ""},
		{"8 bits", eightBits, "10.8, 11.6, 6.1 to 13.4"},
		{"floats", floatTwin, "15.0, 15.1, 8.5 to 18.5"},
	}
}

type precision struct{ name, variant, speedup string }

// completeShapes are those of the shapes that were measured in all precisions.
func (r results) completeShapes(t string, shapes []shape) []shape {
	return slices.DeleteFunc(slices.Clone(shapes), func(s shape) bool {
		return slices.ContainsFunc(precisions(t), func(p precision) bool {
			return r.find(t, s.name(), p.variant) == nil
		})
	})
}

// speedups writes the rows of Larq Compute Engine's Table 2, for the shapes of its Figure 3.
func (r results) speedups(b *strings.Builder, t string) {
	shapes, all := r.completeShapes(t, sweep()), precisions(t)
	if len(shapes) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%d of the %d convolutions:\n\n| binary beside | mean | weighted mean | range | the paper's |\n"+
		"|---|---|---|---|---|\n", len(shapes), len(sweep()))
	for _, p := range all[1:] {
		var times []float64
		sum, weighted, costs := 0.0, 0.0, 0.0
		for _, s := range shapes {
			other := r.find(t, s.name(), p.variant).Cost
			x := other / r.find(t, s.name(), all[0].variant).Cost
			times, sum, weighted, costs = append(times, x), sum+x, weighted+x*other, costs+other
		}
		fmt.Fprintf(b, "| %s | %.1f | %.1f | %.1f to %.1f | %s |\n", p.name, sum/float64(len(shapes)), weighted/costs,
			slices.Min(times), slices.Max(times), p.speedup)
	}
}
