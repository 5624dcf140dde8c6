package lower_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/ir"
	"ripc/lower"
	"ripc/lower/layout"
)

// TestMean: a layer writes the mean of its floats in their place where nothing else reads them and its channels nearly fill blocks, and
// the mean has the very bits that a stage of its own gives it. It has one of its own where what is asked for does not average.
func TestMean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		filters := rapid.SampledFrom([]int{1, 16, 30, 32, 33, 60, 64, 100}).Draw(t, "filters")
		h, w := rapid.IntRange(1, 5).Draw(t, "h"), rapid.IntRange(1, 5).Draw(t, "w")
		pool := rapid.Bool().Draw(t, "pool")
		padded := rapid.Bool().Draw(t, "padded")
		by := rapid.SampledFrom([]layout.Algorithm{layout.Popcount, layout.Table4, layout.Table6, layout.Table8Across, layout.Float}).Draw(t, "by")
		build := func(seen bool) *net {
			n := newNet(t, levels(true, 1, ir.Bipolar, 1, h, w, 40))
			n.binary("first", "x", filters)
			n.plain("relu", "relu", "first.sum")
			switch {
			case !pool:
				n.plain("mean", "global_avg_pool", "relu")
			case padded:
				n.add("mean", "avg_pool", &graph.PoolAttrs{Kernel: [2]int{h, w}, Strides: [2]int{1, 1}, Pad: graph.Padding{Mode: graph.PadExplicit, Top: h - 1}}, nil, "relu")
			default:
				n.add("mean", "avg_pool", &graph.PoolAttrs{Kernel: [2]int{h, w}, Strides: [2]int{1, 1}, Pad: graph.Padding{Mode: graph.PadValid}}, nil, "relu")
			}
			n.Outputs = []string{"mean"}
			if seen {
				n.Outputs = append(n.Outputs, "relu")
			}
			return n
		}
		n, apart := build(false), build(true)
		p, q := n.programBy(lower.Options{Algorithms: map[string]layout.Algorithm{"first.sum": by}}, n.Outputs...), apart.program(apart.Outputs...)
		own := func(p *ir.Program) bool {
			return slices.ContainsFunc(p.Stages, func(s ir.Stage) bool { return s.Op == "global_avg_pool" || s.Op == "avg_pool" })
		}
		full := !slices.Contains([]int{1, 16, 33, 100}, filters)
		if taken := full && by.Averages() && h*w > 1 && !(pool && padded && h > 1); own(p) == taken || !own(q) && h*w > 1 {
			t.Fatalf("%d filters, %dx%d, taken: %v\n%s\n%s", filters, h, w, taken, p, q)
		}
		x := make([]byte, 8*h*w)
		for i := range x {
			if i%8 < 5 {
				x[i] = byte(i * 37)
			}
		}
		if a, b := n.run(p, x)[0], apart.run(q, x)[0]; !slices.Equal(a, b) {
			t.Fatalf("%d filters, %dx%d: the mean is\n%v\nby %s, and by a stage of its own\n%v", filters, h, w, a, by, b)
		}
	})
}
