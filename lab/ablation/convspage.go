package ablation

import (
	"fmt"
	"slices"
	"strings"

	"ripc/measure"
)

// precisions are what convolutions are measured in. Larq Compute Engine's Table 1 has the multiplications and additions that a Cortex-A76 has
// room for in a cycle, and its Table 2 the speedups of binary convolutions on a Pixel 1.
func precisions(t string) []precision {
	return []precision{
		{"binary", setOf(features(t)...).String(), "78", ""},
		{"8 bits", eightBits, "32", "10.8, 11.6, 6.1 to 13.4"},
		{"floats", floatTwin, "8", "15.0, 15.1, 8.5 to 18.5"},
	}
}

type precision struct{ name, variant, cycle, speedup string }

// convsOf compares convolutions in all precisions.
func (r results) convsOf(b *strings.Builder, t string) {
	r.shapesOf(b, t, "The convolutions of ResNet-18, Larq Compute Engine's Figure 2", resnetShapes())
	r.shapesOf(b, t, fmt.Sprintf("%d of the %d convolutions of Larq Compute Engine's Figure 3", len(r.measured(t, sweep())), len(sweep())), sweep())
	r.speedups(b, t)
	r.rates(b, t)
}

// measured are those of the shapes that were measured in all precisions.
func (r results) measured(t string, shapes []shape) []shape {
	return slices.DeleteFunc(slices.Clone(shapes), func(s shape) bool {
		return slices.ContainsFunc(precisions(t), func(p precision) bool { return r.find(t, s.name(), p.variant) == nil })
	})
}

func (r results) shapesOf(b *strings.Builder, t, title string, shapes []shape) {
	shapes = r.measured(t, shapes)
	if len(shapes) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n\n| kernel | input and output | MACs | binary | 8 bits | floats | times 8 bits' speed | times floats' |\n|---|---|---|---|---|---|---|---|\n", title)
	for _, s := range shapes {
		var f []*figure
		for _, p := range precisions(t) {
			f = append(f, r.find(t, s.name(), p.variant))
		}
		fmt.Fprintf(b, "| %dx%d | %dx%dx%d | %.1f M | %s | %s | %s | %.1f | %.1f |\n", s.kernel, s.kernel, s.size, s.size, s.channels, f[0].Values["macs"]/1e6,
			f[0].text(), f[1].text(), f[2].text(), f[1].Cost/f[0].Cost, f[2].Cost/f[0].Cost)
	}
}

// speedups are what Larq Compute Engine's Table 2 has, of the shapes of its Figure 3.
func (r results) speedups(b *strings.Builder, t string) {
	shapes, all := r.measured(t, sweep()), precisions(t)
	if len(shapes) == 0 {
		return
	}
	b.WriteString("\nTheir speedups, as in its Table 2, weighted by what the other takes:\n\n| binary beside | mean | weighted mean | range | the paper's on a Pixel 1 |\n|---|---|---|---|---|\n")
	for _, p := range all[1:] {
		var times []float64
		sum, weighted, costs := 0.0, 0.0, 0.0
		for _, s := range shapes {
			other := r.find(t, s.name(), p.variant).Cost
			x := other / r.find(t, s.name(), all[0].variant).Cost
			times, sum, weighted, costs = append(times, x), sum+x, weighted+x*other, costs+other
		}
		fmt.Fprintf(b, "| %s | %.1f | %.1f | %.1f to %.1f | %s |\n", p.name, sum/float64(len(shapes)), weighted/costs, slices.Min(times), slices.Max(times), p.speedup)
	}
}

// rates are the most products an estimated cycle of each precision, what Larq Compute Engine's Table 1 counts in instructions. Times of
// this machine are no cycles of one core, so there are none of it.
func (r results) rates(b *strings.Builder, t string) {
	var rows strings.Builder
	for _, p := range precisions(t) {
		best, of := 0.0, shape{}
		for _, s := range r.measured(t, append(resnetShapes(), sweep()...)) {
			f := r.find(t, s.name(), p.variant)
			rate := f.Values["macs"] / f.Cost
			if f.Unit == string(measure.EstimatedCycles) && rate > best { // the paper's are for a cycle of one core
				best, of = rate, s
			}
		}
		if best > 0 {
			fmt.Fprintf(&rows, "| %s | %.1f | %dx%d, %dx%dx%d | %s |\n", p.name, best, of.kernel, of.kernel, of.size, of.size, of.channels, p.cycle)
		}
	}
	if rows.Len() > 0 {
		fmt.Fprintf(b, "\nThe most MACs an estimated cycle in whole convolutions, beside those that its Table 1 finds room for in a cycle of a Cortex-A76's instructions:\n\n| | MACs a cycle | in | the paper's, on a Cortex-A76 |\n|---|---|---|---|\n%s", rows.String())
	}
}
