package autotune

import (
	"testing"

	"pgregory.net/rapid"
)

// TestMinimize: eliminating variables finds a sum as small as going through all values.
func TestMinimize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 6).Draw(t, "variables")
		var sizes []int
		for range n {
			sizes = append(sizes, rapid.IntRange(1, 4).Draw(t, "size"))
		}
		var factors []factor
		for range rapid.IntRange(0, 8).Draw(t, "factors") {
			f := factor{vars: rapid.Permutation(all(n)).Draw(t, "vars")}
			f.vars = f.vars[:min(n, rapid.IntRange(0, 4).Draw(t, "width"))]
			for range sizeOf(sizes, f.vars) {
				f.costs = append(f.costs, float64(rapid.IntRange(0, 20).Draw(t, "cost")))
			}
			factors = append(factors, f)
		}
		got, ok := minimize(sizes, factors)
		at := make([]int, n)
		least := sum(sizes, factors, at)
		for range sizeOf(sizes, all(n)) {
			least = min(least, sum(sizes, factors, at))
			next(sizes, all(n), at)
		}
		if !ok || sum(sizes, factors, got) != least {
			t.Fatalf("%v costs %v, the best %v", got, sum(sizes, factors, got), least)
		}
	})
}

// TestMinimizeWide: a long chain is no wider than two of its variables, and what is too wide is said to be so.
func TestMinimizeWide(t *testing.T) {
	var sizes []int
	var chain, clique []factor
	for i := range 200 {
		sizes = append(sizes, 3)
		if i > 0 {
			chain = append(chain, factor{[]int{i - 1, i}, []float64{5, 0, 5, 5, 5, 0, 0, 5, 5}})
		}
		for j := range min(i, 30) {
			clique = append(clique, factor{[]int{j, i}, make([]float64, 9)})
		}
	}
	if got, ok := minimize(sizes, chain); !ok || sum(sizes, chain, got) != 0 {
		t.Errorf("%v costs %v", got, sum(sizes, chain, got))
	}
	if _, ok := minimize(sizes, clique); ok {
		t.Error("a clique of 30 variables is not too wide")
	}
}
